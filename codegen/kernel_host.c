/* What the host evaluates at a dispatch: element counts, and the walk over segments whose loops and
 * conditions stand around a grid_sync. Owns copies of those expressions, so that a kernel outlives
 * its program. */
#include "codegen/interp/eval.h"
#include "codegen/kernel_parts.h"

#include <string.h>

#define MAX_EXECUTIONS 65536u
#define SMALL_RANGE    64u

/* ---- Copying --------------------------------------------------------------------------------- */

static vy_range copy_range(vyre_kernel *kernel, const vyre_program *program, const vy_split *split,
                           vy_range range)
{
    vy_range copy = {kernel->host.exprs.count, 0, 0};
    if (range.root == 0) {
        return (vy_range){0, 0, 0};
    }
    for (uint32_t i = range.begin; i < range.end; i++) {
        vy_expr expr = program->exprs.data[i];
        uint32_t operands = vy_op_get((vyre_op)expr.op)->operand_count;
        for (uint32_t k = 0; k < operands; k++) {
            expr.arg[k] = expr.arg[k] - range.begin + copy.begin;
        }
        if (expr.op == VYRE_OP_VARIABLE) {
            expr.ref = split->vars[expr.ref].slot;
        }
        (void)vy_vec_push(&kernel->arena, &kernel->host.exprs, expr);
    }
    copy.end = kernel->host.exprs.count;
    copy.root = copy.end - 1;
    uint32_t length = copy.end - copy.begin;
    kernel->longest_range = length > kernel->longest_range ? length : kernel->longest_range;
    return copy;
}

static void copy_steps(vyre_kernel *kernel, const vyre_program *program, const vy_split *split)
{
    for (uint32_t i = 1; i < split->steps.count; i++) {
        const vy_step *from = &split->steps.data[i];
        vy_host_step *to = &kernel->steps[i];
        to->kind = from->kind;
        to->next = from->next;
        to->body = from->body;
        to->other = from->other;
        to->segment = from->segment;
        to->slot = from->slot;
        if (from->kind == VY_STEP_SEGMENT) {
            continue;
        }
        const vy_stmt *stmt = &program->stmts.data[from->stmt];
        to->x = copy_range(kernel, program, split, stmt->x);
        if (from->kind == VY_STEP_LOOP) {
            to->y = copy_range(kernel, program, split, stmt->y);
            to->z = copy_range(kernel, program, split, stmt->z);
            to->down = stmt->down != 0;
            to->is_signed = program->vars.data[stmt->result].type == VYRE_TYPE_I32;
        }
    }
}

void vy_kernel_copy_host(vyre_kernel *kernel, const vyre_program *program, const vy_split *split)
{
    vy_arena *arena = &kernel->arena;
    (void)vy_vec_push(arena, &kernel->host.exprs, (vy_expr){0});
    kernel->bindings = vy_arena_alloc(arena, program->binding_count, sizeof *kernel->bindings);
    kernel->steps = vy_arena_alloc(arena, split->steps.count, sizeof *kernel->steps);
    if (!kernel->bindings || !kernel->steps) {
        return;
    }
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        vy_buffer buffer = program->buffers.data[i];
        if (i > 0 && buffer.mode != VYRE_BUFFER_SHARED) {
            vy_host_binding *binding = &kernel->bindings[buffer.binding];
            binding->info.name = vy_arena_text(arena, buffer.name, strlen(buffer.name));
            binding->info.mode = (vyre_buffer_mode)buffer.mode;
            binding->info.type = (vyre_type)buffer.type;
            binding->info.has_count = buffer.count.root != 0;
            binding->count = copy_range(kernel, program, split, buffer.count);
        }
        buffer.name = NULL;
        buffer.count = (vy_range){0, 0, 0};
        (void)vy_vec_push(arena, &kernel->host.buffers, buffer);
    }
    kernel->host.params.data = program->params.data; /* which the kernel holds */
    kernel->host.params.count = program->params.count;
    kernel->binding_count = program->binding_count;
    for (uint32_t i = 0; i < 3; i++) {
        kernel->grid_of[i] = copy_range(kernel, program, split, program->grid_of[i]);
    }
    copy_steps(kernel, program, split);
    kernel->first_step = split->first_step;
}

/* ---- Evaluating ------------------------------------------------------------------------------ */

static vy_host_env host_env(const vy_kernel_env *env, const uint32_t *indices)
{
    vy_host_env host = {.params = env->params, .lengths = env->lengths, .indices = indices};
    memcpy(host.num_groups, env->groups, sizeof host.num_groups);
    memcpy(host.group_size, env->workgroup, sizeof host.group_size);
    return host;
}

static uint32_t eval_count(const vyre_kernel *kernel, vy_range range, const vy_kernel_env *env)
{
    static const uint32_t no_indices[VYRE_MAX_HOST_LOOPS];
    vy_host_env host = host_env(env, no_indices);
    uint32_t small[SMALL_RANGE], length = range.end - range.begin;
    uint32_t *scratch = small;
    if (length > SMALL_RANGE) {
        scratch = vy_alloc_zeroed(&kernel->arena.allocator, length, sizeof *scratch);
        if (!scratch) {
            return UINT32_MAX; /* more than anything holds: the caller's size check refuses it */
        }
    }
    uint32_t count = vy_host_evaluate(&kernel->host, range, &host, vy_interp_eval, scratch);
    if (scratch != small) {
        vy_free(&kernel->arena.allocator, scratch, length * sizeof *scratch);
    }
    return count;
}

uint32_t vy_kernel_eval_count(const vyre_kernel *kernel, uint32_t binding, const vy_kernel_env *env)
{
    return eval_count(kernel, kernel->bindings[binding].count, env);
}

bool vy_kernel_has_grid(const vyre_kernel *kernel)
{
    return kernel->grid_of[0].root != 0;
}

void vy_kernel_eval_grid(const vyre_kernel *kernel, const vy_kernel_env *env,
                         uint32_t out_groups[3])
{
    for (uint32_t i = 0; i < 3; i++) {
        out_groups[i] = kernel->grid_of[i].root ? eval_count(kernel, kernel->grid_of[i], env) : 1;
    }
}

/* ---- The schedule ---------------------------------------------------------------------------- */

bool vy_kernel_is_schedule_fixed(const vyre_kernel *kernel)
{
    uint32_t step = kernel->first_step;
    while (step && kernel->steps[step].kind == VY_STEP_SEGMENT) {
        step = kernel->steps[step].next;
    }
    return step == 0;
}

/* A loop or an if whose body is being walked. */
typedef struct frame {
    uint32_t step;  /* 0: the whole program */
    uint32_t at;    /* the next step of its list */
    uint32_t trips; /* still to come after this one */
    uint32_t index, stride;
} frame;

typedef struct scheduler {
    const vyre_kernel *kernel;
    vy_host_env env;
    const vyre_allocator *allocator;
    uint32_t *scratch;
    uint32_t indices[VYRE_MAX_HOST_LOOPS];
    frame *frames;
    uint32_t depth;
    vy_execution *list;
    uint32_t count, capacity;
} scheduler;

static uint32_t evaluate(scheduler *s, vy_range range, uint32_t otherwise)
{
    return range.root
               ? vy_host_evaluate(&s->kernel->host, range, &s->env, vy_interp_eval, s->scratch)
               : otherwise;
}

static vyre_result add_execution(scheduler *s, uint32_t segment, vyre_diag *diag)
{
    if (s->count == MAX_EXECUTIONS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "one pass of %s executes more than %u segments. Fix: give the loops "
                           "around grid_sync fewer trips, or use fixpoint passes",
                           s->kernel->name, MAX_EXECUTIONS);
    }
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 16;
        vy_execution *list =
            vy_realloc(s->allocator, s->list, s->capacity * sizeof *list, capacity * sizeof *list);
        if (!list) {
            return vy_diag_no_memory(diag);
        }
        s->list = list;
        s->capacity = capacity;
    }
    vy_execution *execution = &s->list[s->count++];
    execution->segment = segment;
    memcpy(execution->indices, s->indices, sizeof s->indices);
    return VYRE_OK;
}

static void enter_loop(scheduler *s, uint32_t index)
{
    const vy_host_step *step = &s->kernel->steps[index];
    uint32_t from = evaluate(s, step->x, 0), to = evaluate(s, step->y, 0);
    uint32_t stride = evaluate(s, step->z, 1);
    /* Flipping the sign bit makes signed order unsigned. */
    uint32_t flip = step->is_signed ? 0x80000000u : 0;
    stride = stride ? stride : 1;
    if ((from ^ flip) >= (to ^ flip)) {
        return;
    }
    uint32_t trips = (to - from - 1) / stride; /* after the first */
    s->indices[step->slot] = step->down ? to - 1 : from;
    s->frames[++s->depth] = (frame){index, step->body, trips, s->indices[step->slot],
                                    step->down ? 0u - stride : stride};
}

/* The end of a list: the next trip, or out of the construct. */
static void leave_list(scheduler *s)
{
    frame *top = &s->frames[s->depth];
    const vy_host_step *step = &s->kernel->steps[top->step];
    if (top->step && step->kind == VY_STEP_LOOP) {
        if (top->trips) {
            top->trips--;
            top->index += top->stride;
            s->indices[step->slot] = top->index;
            top->at = step->body;
            return;
        }
        s->indices[step->slot] = 0;
    }
    s->depth--;
}

static vyre_result run_schedule(scheduler *s, vyre_diag *diag)
{
    uint64_t walked = 0; /* trips that execute no segment count too */
    s->frames[++s->depth] = (frame){0, s->kernel->first_step, 0, 0, 0};
    while (s->depth) {
        uint32_t index = s->frames[s->depth].at;
        if (++walked > 64ull * MAX_EXECUTIONS) {
            s->count = MAX_EXECUTIONS;
            return add_execution(s, 0, diag);
        }
        if (index == 0) {
            leave_list(s);
            continue;
        }
        const vy_host_step *step = &s->kernel->steps[index];
        s->frames[s->depth].at = step->next;
        if (step->kind == VY_STEP_SEGMENT) {
            vyre_result result = add_execution(s, step->segment, diag);
            if (result != VYRE_OK) {
                return result;
            }
        } else if (step->kind == VY_STEP_LOOP) {
            enter_loop(s, index);
        } else {
            uint32_t list = evaluate(s, step->x, 0) ? step->body : step->other;
            if (list) {
                s->frames[++s->depth] = (frame){index, list, 0, 0, 0};
            }
        }
    }
    return VYRE_OK;
}

vyre_result vy_kernel_schedule(const vyre_kernel *kernel, const vy_kernel_env *env,
                               const vyre_allocator *allocator, vy_execution **out_list,
                               uint32_t *out_count, vyre_diag *diag)
{
    const size_t frame_count = VYRE_MAX_NESTING + 4;
    size_t scratch_count = kernel->longest_range + 1u;
    scheduler s = {.kernel = kernel, .allocator = allocator};
    s.env = host_env(env, s.indices);
    s.scratch = vy_alloc_zeroed(allocator, scratch_count, sizeof *s.scratch);
    s.frames = vy_alloc_zeroed(allocator, frame_count, sizeof *s.frames);
    *out_list = NULL;
    *out_count = 0;
    vyre_result result = s.scratch && s.frames ? run_schedule(&s, diag) : vy_diag_no_memory(diag);
    if (result == VYRE_OK && s.count) {
        *out_list =
            vy_realloc(allocator, s.list, s.capacity * sizeof *s.list, s.count * sizeof *s.list);
        if (*out_list) {
            s.list = NULL;
            *out_count = s.count;
        } else {
            result = vy_diag_no_memory(diag);
        }
    }
    vy_free(allocator, s.list, s.capacity * sizeof *s.list);
    vy_free(allocator, s.frames, frame_count * sizeof *s.frames);
    vy_free(allocator, s.scratch, scratch_count * sizeof *s.scratch);
    return result;
}
