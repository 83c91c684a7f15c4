/* The transfers of a dispatch. Where recorded commands must not name the caller's buffers, kernels
 * do what vkCmdFillBuffer and vkCmdCopyBuffer would. */
#include "engine/exec/moves.h"

#include "engine/exec/bind.h"
#include "engine/exec/own_kernels.h"

#include <string.h>

#define COPY_ALIGNMENT 16u

static uint64_t align(uint64_t value)
{
    return (value + COPY_ALIGNMENT - 1) / COPY_ALIGNMENT * COPY_ALIGNMENT;
}

/* A copy command costs more than a small dispatch (NVIDIA H200: 1.7 and 0.2 us). */
#define SMALL_SIZE 65536u

/* Buffers of the caller's must not be named; of the rest what is small. `binding` VYRE_MAX_BUFFERS:
 * memory of the engine's. */
static bool is_by_kernel(const vy_job *job, uint32_t binding, uint64_t size)
{
    return !job->binder->is_by_handle &&
           (size <= SMALL_SIZE || (binding < VYRE_MAX_BUFFERS && job->is_resident[binding]));
}

static vy_command *add(vy_command *list, uint32_t *count, vy_command_kind kind)
{
    vy_command *command = &list[(*count)++];
    *command = (vy_command){.kind = (uint8_t)kind};
    return command;
}

static void mark(vy_moves *m, const vy_job *job, uint32_t binding, vy_command *command)
{
    if (is_by_kernel(job, binding, command->size)) {
        command->is_by_kernel = true;
        command->block = m->block_count;
        m->block_count += vy_move_pieces(command->size);
    }
}

static void add_fill(vy_moves *m, const vy_job *job, uint32_t binding, uint64_t size)
{
    vy_command *fill = add(m->prologue, &m->prologue_count, VY_COMMAND_FILL);
    fill->target = (uint8_t)binding;
    fill->size = (size + 3) / 4 * 4; /* fills are of whole words */
    mark(m, job, binding, fill);
}

static void add_upload(vy_moves *m, const vy_job *job, uint32_t binding, uint64_t size)
{
    vy_command *copy = add(m->prologue, &m->prologue_count, VY_COMMAND_COPY);
    copy->target = (uint8_t)binding;
    copy->source = VY_MEM_UPLOAD;
    copy->source_offset = m->upload_size;
    copy->size = size;
    m->upload_size = align(m->upload_size + size);
    mark(m, job, binding, copy);
}

static vy_command *add_readback(vy_moves *m, uint32_t memory, uint64_t offset, uint64_t size)
{
    vy_command *copy = add(m->epilogue, &m->epilogue_count, VY_COMMAND_COPY);
    copy->target = VY_MEM_READBACK;
    copy->source = (uint8_t)memory;
    copy->source_offset = offset;
    copy->target_offset = m->readback_size;
    copy->size = size;
    m->readback_size = align(m->readback_size + size);
    return copy;
}

/* Where the strategy has the flag in the state. A kernel has a block for each of its words. */
static void add_flag(const vy_job *job, uint32_t binding, vy_moves *m)
{
    m->flag = (vy_command){.kind = VY_COMMAND_COPY,
                           .target = (uint8_t)binding,
                           .source = VY_MEM_FLAGS,
                           .size = sizeof(uint32_t)};
    m->has_flag = true;
    mark(m, job, binding, &m->flag);
    m->block_count += m->flag.is_by_kernel ? VY_STATE_TURNS - 1 : 0;
}

vy_command vy_moves_flag(const vy_moves *m, uint32_t turn)
{
    vy_command flag = m->flag;
    flag.source = (uint8_t)(VY_MEM_FLAGS + turn % VY_STATE_TURNS);
    flag.block += flag.is_by_kernel ? turn % VY_STATE_TURNS : 0;
    return flag;
}

static void list_binding(const vyre_pipeline *p, const vy_job *job, uint32_t b, vy_moves *m)
{
    vyre_binding_info info;
    vyre_kernel_binding(p->kernel, b, &info);
    const vyre_binding *given = &job->bindings[b];
    uint64_t size = vy_job_size(job, b), offset = 0, out_size = 0;
    bool is_zeroed = info.mode == VYRE_BUFFER_OUT || info.mode == VYRE_BUFFER_SCRATCH;
    if (given->kind == VYRE_BINDING_HOST && given->in && !is_zeroed &&
        info.mode != VYRE_BUFFER_SCRATCH_KEEP) {
        add_upload(m, job, b, size);
    }
    /* An empty grid stores nothing, whatever the program would, and another binding may read what
     * lies in the same memory first. */
    bool is_proven = job->dispatch_count > 0 && job->alias[b] == (uint64_t)1 << b &&
                     vy_kernel_is_fill_needless(p->kernel, b);
    bool is_flag = vy_kernel_until(p->kernel) == (int32_t)b;
    bool is_seen = info.mode == VYRE_BUFFER_INOUT || given->kind != VYRE_BINDING_NONE;
    /* Nobody looks into the buffer of such a flag. */
    is_proven = is_proven || (is_flag && !is_seen && vy_kernel_is_flag_single(p->kernel));
    if (is_zeroed && !is_proven) {
        add_fill(m, job, b, size);
    }
    if (is_flag && is_seen && !job->is_whole) {
        add_flag(job, b, m);
    }
    vy_job_output(p, job, b, &offset, &out_size);
    if (out_size) {
        mark(m, job, b, add_readback(m, b, offset, out_size));
    }
}

void vy_moves_list(const vyre_pipeline *p, const vy_job *job, vy_moves *m)
{
    m->prologue_count = m->epilogue_count = m->block_count = 0;
    m->upload_size = m->records_offset = m->mapped = 0;
    m->readback_size = VY_STATE_STRIDE * VY_MAX_LANES;
    m->has_flag = false;
    m->flag = m->state = (vy_command){.kind = 0};
    if (p->has_state && !job->is_whole) {
        vy_command *copy = add(m->prologue, &m->prologue_count, VY_COMMAND_COPY);
        copy->target = VY_MEM_STATE;
        copy->source = VY_MEM_STATE_START;
        copy->size = VY_STATE_WORDS * sizeof(uint32_t);
        mark(m, job, VYRE_MAX_BUFFERS, copy);
        m->state = (vy_command){.kind = VY_COMMAND_COPY,
                                .target = VY_MEM_READBACK,
                                .source = VY_MEM_STATE,
                                .size = VY_STATE_WORDS * sizeof(uint32_t)};
        mark(m, job, VYRE_MAX_BUFFERS, &m->state);
    }
    if (job->records_size) {
        vy_command *fill = add(m->prologue, &m->prologue_count, VY_COMMAND_FILL);
        fill->target = VY_MEM_RECORDS;
        fill->size = job->records_size;
        mark(m, job, VYRE_MAX_BUFFERS, fill);
        m->records_offset = m->readback_size;
        mark(m, job, VYRE_MAX_BUFFERS, add_readback(m, VY_MEM_RECORDS, 0, job->records_size));
    }
    for (uint32_t b = 0; b < p->binding_count; b++) {
        if (vy_job_size(job, b) > 0) {
            list_binding(p, job, b, m);
            m->mapped |= (uint64_t)(job->is_resident[b] && job->residents[b].is_mapped) << b;
        }
    }
}

uint64_t vy_moves_host_reads(const vy_moves *m, bool has_readback)
{
    return m->mapped | (has_readback ? (uint64_t)1 << VY_MEM_READBACK : 0);
}

static bool are_same(const vy_command *a, const vy_command *b, uint32_t count)
{
    bool same = true;
    for (uint32_t i = 0; same && i < count; i++) {
        same = a[i].kind == b[i].kind && a[i].target == b[i].target && a[i].source == b[i].source &&
               a[i].target_offset == b[i].target_offset &&
               a[i].source_offset == b[i].source_offset && a[i].size == b[i].size &&
               a[i].is_by_kernel == b[i].is_by_kernel;
    }
    return same;
}

bool vy_moves_are_same(const vy_moves *a, const vy_moves *b)
{
    return a->mapped == b->mapped && a->has_flag == b->has_flag &&
           are_same(&a->flag, &b->flag, 1) && are_same(&a->state, &b->state, 1) &&
           a->prologue_count == b->prologue_count && a->epilogue_count == b->epilogue_count &&
           are_same(a->prologue, b->prologue, a->prologue_count) &&
           are_same(a->epilogue, b->epilogue, a->epilogue_count);
}
