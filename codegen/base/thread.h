/* The one file that knows which thread library there is: mutexes and a clock. C11 threads are not
 * used, since ThreadSanitizer does not understand glibc's. */
#ifndef VY_THREAD_H
#define VY_THREAD_H

#include <stdint.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef SRWLOCK vy_mutex;

static inline int vy_mutex_init(vy_mutex *mutex)
{
    InitializeSRWLock(mutex);
    return 0;
}
static inline void vy_mutex_finish(vy_mutex *mutex)
{
    (void)mutex;
}
static inline void vy_mutex_lock(vy_mutex *mutex)
{
    AcquireSRWLockExclusive(mutex);
}
static inline void vy_mutex_unlock(vy_mutex *mutex)
{
    ReleaseSRWLockExclusive(mutex);
}
static inline uint64_t vy_clock_ns(void)
{
    LARGE_INTEGER ticks, rate;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&rate);
    uint64_t t = (uint64_t)ticks.QuadPart, r = (uint64_t)rate.QuadPart;
    return t / r * 1000000000u + t % r * 1000000000u / r;
}
#else
#include <pthread.h>
#include <time.h>

typedef pthread_mutex_t vy_mutex;

static inline int vy_mutex_init(vy_mutex *mutex)
{
    return pthread_mutex_init(mutex, NULL);
}
static inline void vy_mutex_finish(vy_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}
static inline void vy_mutex_lock(vy_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}
static inline void vy_mutex_unlock(vy_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}
static inline uint64_t vy_clock_ns(void)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif

#endif
