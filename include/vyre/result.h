/* Results, diagnostics and the host allocator: what every other header uses. */
#ifndef VYRE_RESULT_H
#define VYRE_RESULT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(_WIN32)
#define VYRE_API __attribute__((visibility("default")))
#else
#define VYRE_API
#endif
#if defined(__GNUC__)
#define VYRE_CHECK __attribute__((warn_unused_result))
#else
#define VYRE_CHECK
#endif

/* Error codes. Numbers are stable, the list is append-only, and each code is defined by what the
 * caller does next. 1003 and 1007 are reserved. */
#define VYRE_RESULTS(X)                                                                            \
    /* name, number, text, what the caller does next */                                            \
    X(OK, 0, "success", "go on")                                                                   \
    X(ERROR_DEVICE_OUT_OF_MEMORY, 1001, "device out of memory", "free or bind smaller buffers")    \
    X(ERROR_UNSUPPORTED_FEATURE, 1002, "unsupported feature", "use another device or program")     \
    X(ERROR_KERNEL_COMPILE_FAILED, 1004, "kernel compilation failed",                              \
      "report it with the program")                                                                \
    X(ERROR_DISPATCH_FAILED, 1005, "dispatch failed", "read the VkResult; the device is usable")   \
    X(ERROR_INVALID_PROGRAM, 1006, "invalid program", "correct the program at the place given")    \
    X(ERROR_DEVICE_LOST, 1008, "device lost", "destroy the device and open it again")              \
    X(ERROR_TIMEOUT, 1009, "timeout", "wait again; everything stays owned")                        \
    X(ERROR_INVALID_ARGUMENT, 1010, "invalid argument", "correct the call")                        \
    X(ERROR_BUSY, 1011, "busy", "wait for the work in flight, then call again")                    \
    X(ERROR_OUT_OF_HOST_MEMORY, 1012, "out of host memory", "free memory and call again")          \
    X(ERROR_NO_DEVICE, 1013, "no device", "install a Vulkan driver or name another device")        \
    X(ERROR_IO, 1014, "input or output failed", "check the file named")                            \
    X(ERROR_INTERNAL, 1999, "internal error", "report it; nothing can be assumed")

typedef enum vyre_result {
#define VYRE_X(name, number, text, next) VYRE_##name = number,
    VYRE_RESULTS(VYRE_X)
#undef VYRE_X
} vyre_result;

/* The text of a result, never NULL ("unknown result" for a number that is none). */
VYRE_API const char *vyre_result_text(vyre_result result);
/* Its symbolic name, such as "INVALID_PROGRAM" or "OK"; never NULL. */
VYRE_API const char *vyre_result_name(vyre_result result);

#define VYRE_DIAG_MESSAGE_SIZE 768
#define VYRE_DIAG_FILE_SIZE    256
#define VYRE_DIAG_NONE         0xffffffffu

/* Where and why a call failed. Owned by the caller, filled by the callee, no pointers inside.
 * Fields that do not apply are 0 (line, column: from 1) or VYRE_DIAG_NONE (segment, pass, binding).
 * The message is one sentence saying what is wrong, then "Fix: " and what to do. */
typedef struct vyre_diag {
    vyre_result code;
    uint32_t line, column;
    uint32_t segment, pass, binding;
    int32_t vk_result; /* the VkResult behind the error, 0 when there is none */
    char file[VYRE_DIAG_FILE_SIZE];
    char message[VYRE_DIAG_MESSAGE_SIZE];
} vyre_diag;

/* Host memory. `reallocate` is malloc (old NULL), realloc, and free (new_size 0) in one; it returns
 * NULL on failure, leaving the old block alone, and must return memory aligned as malloc's.
 * A struct of zeros (or NULL where a pointer is taken) means malloc and free.
 * Thread-safety: called from every thread that calls into the library. */
typedef struct vyre_allocator {
    void *user;
    void *(*reallocate)(void *user, void *old, size_t old_size, size_t new_size);
} vyre_allocator;

#ifdef __cplusplus
}
#endif
#endif
