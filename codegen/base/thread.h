/* The one file that knows which thread library there is: mutexes, conditions, threads and a clock.
 * C11 threads are not used, since ThreadSanitizer does not understand glibc's. */
#ifndef VY_THREAD_H
#define VY_THREAD_H

#include <stdint.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOGDI
#define NOMINMAX
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

typedef CONDITION_VARIABLE vy_condition;

static inline int vy_condition_init(vy_condition *condition)
{
    InitializeConditionVariable(condition);
    return 0;
}
static inline void vy_condition_finish(vy_condition *condition)
{
    (void)condition;
}
static inline void vy_condition_signal_all(vy_condition *condition)
{
    WakeAllConditionVariable(condition);
}
/* Gives the mutex up while it waits, at most so long; may end early. */
static inline void vy_condition_wait(vy_condition *condition, vy_mutex *mutex, uint64_t timeout_ns)
{
    uint64_t ms = timeout_ns / 1000000u + 1;
    SleepConditionVariableSRW(condition, mutex, ms < 0xfffffffeu ? (DWORD)ms : INFINITE, 0);
}

typedef HANDLE vy_thread;
typedef DWORD vy_thread_result;
#define VY_THREAD_CALL WINAPI

static inline int vy_thread_start(vy_thread *thread, vy_thread_result(VY_THREAD_CALL *run)(void *),
                                  void *argument)
{
    *thread = CreateThread(NULL, 0, run, argument, 0, NULL);
    return *thread == NULL;
}
static inline void vy_thread_join(vy_thread thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
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

typedef pthread_cond_t vy_condition;

static inline int vy_condition_init(vy_condition *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return 1;
    }
#if !defined(__APPLE__)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
    int result = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return result;
}
static inline void vy_condition_finish(vy_condition *condition)
{
    pthread_cond_destroy(condition);
}
static inline void vy_condition_signal_all(vy_condition *condition)
{
    pthread_cond_broadcast(condition);
}
/* Gives the mutex up while it waits, at most so long; may end early. */
static inline void vy_condition_wait(vy_condition *condition, vy_mutex *mutex, uint64_t timeout_ns)
{
#if defined(__APPLE__)
    const clockid_t clock = CLOCK_REALTIME;
#else
    const clockid_t clock = CLOCK_MONOTONIC;
#endif
    struct timespec until = {0, 0};
    clock_gettime(clock, &until);
    uint64_t most = 1000000000u * (uint64_t)86400u;
    uint64_t left = (uint64_t)until.tv_nsec + (timeout_ns < most ? timeout_ns : most);
    until.tv_sec += (time_t)(left / 1000000000u);
    until.tv_nsec = (long)(left % 1000000000u);
    pthread_cond_timedwait(condition, mutex, &until);
}

typedef pthread_t vy_thread;
typedef void *vy_thread_result;
#define VY_THREAD_CALL

static inline int vy_thread_start(vy_thread *thread, vy_thread_result (*run)(void *),
                                  void *argument)
{
    return pthread_create(thread, NULL, run, argument);
}
static inline void vy_thread_join(vy_thread thread)
{
    pthread_join(thread, NULL);
}
static inline uint64_t vy_clock_ns(void)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif

#endif
