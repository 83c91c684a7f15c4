// The one C++ file of the project: VMA's implementation and nothing else. It owns no state and
// makes the vma* functions for the rest of engine/memory/.
//
// The library links as C, without libstdc++. VMA needs three things from it, given here instead:
// two lock types (std::mutex can throw) and the deallocation functions that a virtual destructor
// names. How VMA is configured (function pointers, Vulkan version) is set by the build for every
// file that includes its header, because its structures change with those macros.

#include <cstddef>
#include <cstdlib>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <pthread.h>
#endif

namespace {

#if defined(_WIN32)

class VyreRwMutex {
  public:
    VyreRwMutex() = default;
    VyreRwMutex(const VyreRwMutex &) = delete;
    VyreRwMutex &operator=(const VyreRwMutex &) = delete;
    void LockRead()
    {
        AcquireSRWLockShared(&lock_);
    }
    void UnlockRead()
    {
        ReleaseSRWLockShared(&lock_);
    }
    bool TryLockRead()
    {
        return TryAcquireSRWLockShared(&lock_) != 0;
    }
    void LockWrite()
    {
        AcquireSRWLockExclusive(&lock_);
    }
    void UnlockWrite()
    {
        ReleaseSRWLockExclusive(&lock_);
    }
    bool TryLockWrite()
    {
        return TryAcquireSRWLockExclusive(&lock_) != 0;
    }

  private:
    SRWLOCK lock_ = SRWLOCK_INIT;
};

#else

class VyreRwMutex {
  public:
    VyreRwMutex() = default;
    ~VyreRwMutex()
    {
        pthread_rwlock_destroy(&lock_);
    }
    VyreRwMutex(const VyreRwMutex &) = delete;
    VyreRwMutex &operator=(const VyreRwMutex &) = delete;
    void LockRead()
    {
        pthread_rwlock_rdlock(&lock_);
    }
    void UnlockRead()
    {
        pthread_rwlock_unlock(&lock_);
    }
    bool TryLockRead()
    {
        return pthread_rwlock_tryrdlock(&lock_) == 0;
    }
    void LockWrite()
    {
        pthread_rwlock_wrlock(&lock_);
    }
    void UnlockWrite()
    {
        pthread_rwlock_unlock(&lock_);
    }
    bool TryLockWrite()
    {
        return pthread_rwlock_trywrlock(&lock_) == 0;
    }

  private:
    pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
};

#endif

class VyreMutex {
  public:
    void Lock()
    {
        lock_.LockWrite();
    }
    void Unlock()
    {
        lock_.UnlockWrite();
    }
    bool TryLock()
    {
        return lock_.TryLockWrite();
    }

  private:
    VyreRwMutex lock_;
};

} // namespace

#define VMA_MUTEX    VyreMutex
#define VMA_RW_MUTEX VyreRwMutex
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

// Named by the deleting destructors of VMA's metadata classes, and never called: VMA destroys in
// place and frees through its callbacks. File-local definitions under the linker's names for
// operator delete(void *), operator delete(void *, size_t) and the pure virtual handler, so that
// neither a host nor a C++ library linked beside us can be given ours.
#if defined(_WIN64)
#define DELETE_SIZED "_ZdlPvy" // size_t is unsigned long long
#else
#define DELETE_SIZED "_ZdlPvm"
#endif
static void deletePlain(void *p) __asm__("_ZdlPv") __attribute__((used));
static void deleteSized(void *p, std::size_t size) __asm__(DELETE_SIZED) __attribute__((used));
static void callPureVirtual() __asm__("__cxa_pure_virtual") __attribute__((used));

static void deletePlain(void *p)
{
    std::free(p);
}

static void deleteSized(void *p, std::size_t)
{
    std::free(p);
}

static void callPureVirtual()
{
    std::abort();
}
