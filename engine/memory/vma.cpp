// The one C++ file of the project: VMA's implementation and nothing else. It owns no state and
// makes the vma* functions for the rest of engine/memory/.
//
// The library links as C, without libstdc++. VMA needs three things from it, given here instead:
// two lock types (std::mutex can throw) and the deallocation functions that a virtual destructor
// names. How VMA is configured (function pointers, Vulkan version) is set by the build for every
// file that includes its header, because its structures change with those macros.

#include <cstddef>
#include <cstdlib>

#include <pthread.h>

namespace {

class VyreMutex {
  public:
    VyreMutex() = default;
    ~VyreMutex()
    {
        pthread_mutex_destroy(&mutex_);
    }
    VyreMutex(const VyreMutex &) = delete;
    VyreMutex &operator=(const VyreMutex &) = delete;
    void Lock()
    {
        pthread_mutex_lock(&mutex_);
    }
    void Unlock()
    {
        pthread_mutex_unlock(&mutex_);
    }
    bool TryLock()
    {
        return pthread_mutex_trylock(&mutex_) == 0;
    }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

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

} // namespace

#define VMA_MUTEX    VyreMutex
#define VMA_RW_MUTEX VyreRwMutex
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

// Named by the deleting destructors of VMA's metadata classes, and never called: VMA destroys in
// place and frees through its callbacks. File-local definitions under the linker's names for
// operator delete(void *), operator delete(void *, size_t) and the pure virtual handler, so that
// neither a host nor a C++ library linked beside us can be given ours.
static void deletePlain(void *p) __asm__("_ZdlPv") __attribute__((used));
static void deleteSized(void *p, std::size_t size) __asm__("_ZdlPvm") __attribute__((used));
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
