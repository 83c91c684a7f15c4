/* OpenCL 1.2 through the loader: one context and queue, all kernels of kernels.cl as one program.
 * Empty where there are no headers of it. */
#include "tools/vyre-bench/peers/opencl.h"

#include "codegen/base/base.h"

#ifdef VYRE_BENCH_HAVE_OPENCL

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "bench_kernels_cl.h" /* bench_kernels_cl: peers/kernels.cl */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS(X)                                                                                   \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clCreateContext)                                                                             \
    X(clReleaseContext)                                                                            \
    X(clCreateCommandQueue)                                                                        \
    X(clReleaseCommandQueue)                                                                       \
    X(clCreateProgramWithSource)                                                                   \
    X(clBuildProgram)                                                                              \
    X(clGetProgramBuildInfo)                                                                       \
    X(clReleaseProgram)                                                                            \
    X(clCreateKernel)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clSetKernelArg)                                                                              \
    X(clCreateBuffer)                                                                              \
    X(clReleaseMemObject)                                                                          \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clGetEventProfilingInfo)                                                                     \
    X(clReleaseEvent)                                                                              \
    X(clFinish)

enum { MAX_PLATFORMS = 8, MAX_BUFFERS = 6, MAX_LAUNCHES = 3, MAX_ARGUMENTS = 6, GROUP = 256 };
enum { CHUNKS = BENCH_CPU_CHUNKS };

struct peer_opencl {
    void *loader;
#define MEMBER(name) __typeof__(&name) name;
    CALLS(MEMBER)
#undef MEMBER
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    char name[256];
};

/* ---- Opening --------------------------------------------------------------------------------- */

static vyre_result check(cl_int result, const char *call, vyre_diag *diag)
{
    if (result == CL_SUCCESS) {
        return VYRE_OK;
    }
    return vy_diag_set(diag, VYRE_ERROR_DISPATCH_FAILED, (vy_loc){0, 0},
                       "%s of the OpenCL peer failed with %d. Fix: update the OpenCL driver, or "
                       "remove it to leave the peer out",
                       call, (int)result);
}

static vyre_result load(peer_opencl *cl, vyre_diag *diag)
{
    cl->loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    bool is_whole = cl->loader != NULL;
#define LOAD(name)                                                                                 \
    if (is_whole) {                                                                                \
        void *symbol = dlsym(cl->loader, #name);                                                   \
        memcpy(&cl->name, &symbol, sizeof symbol);                                                 \
        is_whole = symbol != NULL;                                                                 \
    }
    CALLS(LOAD)
#undef LOAD
    return is_whole ? VYRE_OK
                    : vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                                  "there is no OpenCL loader. Fix: install ocl-icd-libopencl1 and "
                                  "pocl-opencl-icd for the OpenCL peer");
}

static vyre_result find_device(peer_opencl *cl, vyre_diag *diag)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    if (cl->clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS) {
        count = 0;
    }
    count = count < MAX_PLATFORMS ? count : MAX_PLATFORMS;
    for (cl_uint i = 0; i < count; i++) {
        cl_uint found = 0;
        char platform[120] = "", device[120] = "";
        if (cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl->device, &found) ==
                CL_SUCCESS &&
            found) {
            (void)cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform - 1,
                                        platform, NULL);
            (void)cl->clGetDeviceInfo(cl->device, CL_DEVICE_NAME, sizeof device - 1, device, NULL);
            snprintf(cl->name, sizeof cl->name, "%s, %s", platform, device);
            return VYRE_OK;
        }
    }
    return vy_diag_set(diag, VYRE_ERROR_NO_DEVICE, (vy_loc){0, 0},
                       "no OpenCL platform has a processor. Fix: install pocl-opencl-icd for the "
                       "OpenCL peer");
}

static vyre_result build(peer_opencl *cl, vyre_diag *diag)
{
    const char *text = bench_kernels_cl;
    cl_int result;
    cl->program = cl->clCreateProgramWithSource(cl->context, 1, &text, NULL, &result);
    if (result == CL_SUCCESS) {
        result = cl->clBuildProgram(cl->program, 1, &cl->device, "-cl-std=CL1.2", NULL, NULL);
    }
    if (result == CL_SUCCESS) {
        return VYRE_OK;
    }
    char log[200] = "";
    (void)cl->clGetProgramBuildInfo(cl->program, cl->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1,
                                    log, NULL);
    return vy_diag_set(diag, VYRE_ERROR_KERNEL_COMPILE_FAILED, (vy_loc){0, 0},
                       "OpenCL does not build the peer's kernels (%d): %s. Fix: update the OpenCL "
                       "driver, or remove it to leave the peer out",
                       (int)result, log);
}

vyre_result peer_opencl_create(peer_opencl **out_opencl, vyre_diag *diag)
{
    cl_int code = CL_SUCCESS;
    peer_opencl *cl = calloc(1, sizeof *cl);
    *out_opencl = cl;
    if (!cl) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = load(cl, diag);
    if (result == VYRE_OK) {
        result = find_device(cl, diag);
    }
    if (result == VYRE_OK) {
        cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &code);
        result = check(code, "clCreateContext", diag);
    }
    if (result == VYRE_OK) {
        cl->queue =
            cl->clCreateCommandQueue(cl->context, cl->device, CL_QUEUE_PROFILING_ENABLE, &code);
        result = check(code, "clCreateCommandQueue", diag);
    }
    if (result == VYRE_OK) {
        result = build(cl, diag);
    }
    if (result != VYRE_OK) {
        peer_opencl_destroy(out_opencl);
    }
    return result;
}

/* The loader stays: drivers do not always survive being unloaded. */
void peer_opencl_destroy(peer_opencl **opencl)
{
    peer_opencl *cl = *opencl;
    *opencl = NULL;
    if (cl && cl->program) {
        (void)cl->clReleaseProgram(cl->program);
    }
    if (cl && cl->queue) {
        (void)cl->clReleaseCommandQueue(cl->queue);
    }
    if (cl && cl->context) {
        (void)cl->clReleaseContext(cl->context);
    }
    free(cl);
}

const char *peer_opencl_name(const peer_opencl *opencl)
{
    return opencl->name;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Arguments: inputs from 0, the output, what lies between, and words. */
enum { OUT = 4, PART, COUNT, ROWS, ALL, ODD, END };
/* Items: one for each so many elements, or a number. */
typedef struct launch_kind {
    const char *kernel;
    uint32_t per_item, items; /* per_item 0: so many items */
    uint8_t arguments[MAX_ARGUMENTS];
} launch_kind;

typedef struct way_kind {
    bench_kernel_id id;
    const char *name;
    launch_kind launches[MAX_LAUNCHES];
} way_kind;

#define SUMS(mask)                                                                                 \
    {                                                                                              \
        "sums", 0, CHUNKS,                                                                         \
        {                                                                                          \
            COUNT, mask, 0, PART, END                                                              \
        }                                                                                          \
    }
#define BEFORE                                                                                     \
    {                                                                                              \
        "before", 0, 1,                                                                            \
        {                                                                                          \
            PART, END                                                                              \
        }                                                                                          \
    }
#define WORD_EACH    "a word an item"
#define SIXTEEN_EACH "16 bytes an item"
#define IN_PARTS     "64 parts"
static const way_kind way_kinds[] = {
    {BENCH_KERNEL_COPY, WORD_EACH, {{"copy", 1, 0, {COUNT, 0, OUT, END}}}},
    {BENCH_KERNEL_COPY, SIXTEEN_EACH, {{"copy_wide", 4, 0, {COUNT, 0, OUT, END}}}},
    {BENCH_KERNEL_MAP, WORD_EACH, {{"map", 1, 0, {COUNT, 0, OUT, END}}}},
    {BENCH_KERNEL_MAP, SIXTEEN_EACH, {{"map_wide", 4, 0, {COUNT, 0, OUT, END}}}},
    {BENCH_KERNEL_SUM, IN_PARTS, {SUMS(ALL), {"total", 0, 1, {PART, OUT, END}}}},
    {BENCH_KERNEL_ODD, IN_PARTS, {SUMS(ODD), {"total", 0, 1, {PART, OUT, END}}}},
    {BENCH_KERNEL_HISTOGRAM,
     IN_PARTS,
     {{"bins", 0, CHUNKS, {COUNT, 0, PART, END}}, {"join", 0, BENCH_BINS, {PART, OUT, END}}}},
    {BENCH_KERNEL_SCAN,
     IN_PARTS,
     {SUMS(ALL), BEFORE, {"scan", 0, CHUNKS, {COUNT, 0, PART, OUT, END}}}},
    {BENCH_KERNEL_COMPACT,
     IN_PARTS,
     {SUMS(ODD), BEFORE, {"compact", 0, CHUNKS, {COUNT, 0, PART, OUT, END}}}},
    {BENCH_KERNEL_SPMV_BAND, "a row an item", {{"spmv", BENCH_ROW, 0, {ROWS, 0, 1, 2, 3, OUT}}}},
    {BENCH_KERNEL_SPMV, "a row an item", {{"spmv", BENCH_ROW, 0, {ROWS, 0, 1, 2, 3, OUT}}}},
    {BENCH_KERNEL_MATMUL, "4 by 8 an item", {{"matmul", 8, 0, {COUNT, 0, 1, OUT, END}}}},
};

struct peer_opencl_work {
    peer_opencl *cl;
    const way_kind *kind;
    uint32_t count, out_words;
    cl_mem buffers[MAX_BUFFERS]; /* by argument */
    cl_kernel kernels[MAX_LAUNCHES];
    uint32_t launch_count;
};

static const way_kind *find_way(bench_kernel_id id, uint32_t variant)
{
    for (size_t i = 0; i < VY_COUNT_OF(way_kinds); i++) {
        if (way_kinds[i].id == id && variant-- == 0) {
            return &way_kinds[i];
        }
    }
    return NULL;
}

const char *peer_opencl_way(bench_kernel_id id, uint32_t variant)
{
    const way_kind *kind = find_way(id, variant);
    return kind ? kind->name : NULL;
}

static vyre_result make_buffer(peer_opencl_work *work, uint32_t at, uint64_t words,
                               const uint32_t *contents, vyre_diag *diag)
{
    peer_opencl *cl = work->cl;
    size_t size = (size_t)words * sizeof *contents;
    cl_int code;
    work->buffers[at] = cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code == CL_SUCCESS && contents) {
        code = cl->clEnqueueWriteBuffer(cl->queue, work->buffers[at], CL_TRUE, 0, size, contents, 0,
                                        NULL, NULL);
    }
    return check(code, "clCreateBuffer or clEnqueueWriteBuffer", diag);
}

static cl_int set_arguments(peer_opencl_work *work, cl_kernel kernel, const uint8_t *arguments)
{
    const uint32_t words[END] = {
        [COUNT] = work->count, [ROWS] = work->count / BENCH_ROW, [ALL] = UINT32_MAX, [ODD] = 1};
    cl_int code = CL_SUCCESS;
    for (uint32_t i = 0; i < MAX_ARGUMENTS && arguments[i] != END && code == CL_SUCCESS; i++) {
        uint32_t at = arguments[i];
        bool is_buffer = at < MAX_BUFFERS;
        const void *value = is_buffer ? (const void *)&work->buffers[at] : &words[at];
        code = work->cl->clSetKernelArg(kernel, i, is_buffer ? sizeof(cl_mem) : sizeof(cl_uint),
                                        value);
    }
    return code;
}

static vyre_result make_kernels(peer_opencl_work *work, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < MAX_LAUNCHES; i++) {
        const launch_kind *launch = &work->kind->launches[i];
        cl_int code = CL_SUCCESS;
        if (!launch->kernel) {
            break;
        }
        work->kernels[i] = work->cl->clCreateKernel(work->cl->program, launch->kernel, &code);
        work->launch_count = i + 1;
        if (code == CL_SUCCESS) {
            code = set_arguments(work, work->kernels[i], launch->arguments);
        }
        result = check(code, "clCreateKernel or clSetKernelArg", diag);
    }
    return result;
}

vyre_result peer_opencl_work_create(peer_opencl *opencl, bench_kernel_id id, uint32_t variant,
                                    uint32_t count, uint32_t *const *in, const uint32_t *in_words,
                                    uint32_t in_count, uint32_t out_words,
                                    peer_opencl_work **out_work, vyre_diag *diag)
{
    peer_opencl_work *work = calloc(1, sizeof *work);
    *out_work = work;
    if (!work) {
        return vy_diag_no_memory(diag);
    }
    work->cl = opencl;
    work->kind = find_way(id, variant);
    work->count = count;
    work->out_words = out_words;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < in_count && i < OUT; i++) {
        result = make_buffer(work, i, in_words[i], in[i], diag);
    }
    if (result == VYRE_OK) {
        result = make_buffer(work, OUT, out_words, NULL, diag);
    }
    if (result == VYRE_OK) {
        result = make_buffer(work, PART, CHUNKS * BENCH_BINS, NULL, diag);
    }
    if (result == VYRE_OK) {
        result = make_kernels(work, diag);
    }
    if (result != VYRE_OK) {
        peer_opencl_work_destroy(out_work);
    }
    return result;
}

void peer_opencl_work_destroy(peer_opencl_work **work)
{
    peer_opencl_work *old = *work;
    *work = NULL;
    for (uint32_t i = 0; old && i < old->launch_count; i++) {
        if (old->kernels[i]) {
            (void)old->cl->clReleaseKernel(old->kernels[i]);
        }
    }
    for (uint32_t i = 0; old && i < MAX_BUFFERS; i++) {
        if (old->buffers[i]) {
            (void)old->cl->clReleaseMemObject(old->buffers[i]);
        }
    }
    free(old);
}

/* ---- Running --------------------------------------------------------------------------------- */

static cl_int enqueue(peer_opencl_work *work, uint32_t i, cl_event *out_event)
{
    const launch_kind *launch = &work->kind->launches[i];
    bool is_square = work->kind->id == BENCH_KERNEL_MATMUL;
    size_t items = launch->items, local = 1;
    if (launch->per_item) {
        items = (work->count + launch->per_item - 1) / launch->per_item;
        local = is_square ? 1 : GROUP;
        items = (items + local - 1) / local * local;
    }
    const size_t global[2] = {items, work->count / 4}, locals[2] = {local, 1};
    /* Of a square the driver chooses. */
    return work->cl->clEnqueueNDRangeKernel(work->cl->queue, work->kernels[i], is_square ? 2 : 1,
                                            NULL, global, is_square ? NULL : locals, 0, NULL,
                                            out_event);
}

static cl_int read_times(peer_opencl *cl, cl_event first, cl_event last, uint64_t *out_ns)
{
    cl_ulong start = 0, end = 0;
    cl_int code =
        cl->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (code == CL_SUCCESS) {
        code = cl->clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    }
    *out_ns = end - start;
    return code;
}

vyre_result peer_opencl_work_run(peer_opencl_work *work, uint64_t *out_ns, vyre_diag *diag)
{
    peer_opencl *cl = work->cl;
    cl_event events[MAX_LAUNCHES] = {NULL};
    cl_int code = CL_SUCCESS;
    *out_ns = 0;
    for (uint32_t i = 0; code == CL_SUCCESS && i < work->launch_count; i++) {
        code = enqueue(work, i, &events[i]);
    }
    cl_int finished = cl->clFinish(cl->queue);
    code = code == CL_SUCCESS ? finished : code;
    if (code == CL_SUCCESS) {
        code = read_times(cl, events[0], events[work->launch_count - 1], out_ns);
    }
    for (uint32_t i = 0; i < work->launch_count; i++) {
        if (events[i]) {
            (void)cl->clReleaseEvent(events[i]);
        }
    }
    return check(code, "clEnqueueNDRangeKernel or clFinish", diag);
}

vyre_result peer_opencl_work_write(peer_opencl_work *work, const uint32_t *words, vyre_diag *diag)
{
    cl_int code = work->cl->clEnqueueWriteBuffer(work->cl->queue, work->buffers[OUT], CL_TRUE, 0,
                                                 (size_t)work->out_words * sizeof *words, words, 0,
                                                 NULL, NULL);
    return check(code, "clEnqueueWriteBuffer", diag);
}

vyre_result peer_opencl_work_read(peer_opencl_work *work, uint32_t *out_words, vyre_diag *diag)
{
    cl_int code = work->cl->clEnqueueReadBuffer(work->cl->queue, work->buffers[OUT], CL_TRUE, 0,
                                                (size_t)work->out_words * sizeof *out_words,
                                                out_words, 0, NULL, NULL);
    return check(code, "clEnqueueReadBuffer", diag);
}

#endif
