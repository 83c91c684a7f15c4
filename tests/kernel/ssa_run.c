/* See ssa_run.h. Invocations of a workgroup run one after the other from barrier to barrier. */
#include "tests/kernel/ssa_run.h"
#include "codegen/interp/eval.h"
#include "codegen/kernel.h"
#include "codegen/passes/edit.h"
#include "codegen/passes/widen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_NAN 0xffc00123u

typedef struct memory {
    uint32_t *words;
    uint32_t count;
} memory;

typedef struct invocation {
    uint32_t block, from, ins; /* ins 0: at the block's start */
    bool done;
    uint32_t *values; /* by instruction */
    uint32_t *words;  /* likewise, four of them: of wide values */
    memory *arrays;   /* by private array */
} invocation;

typedef struct runner {
    const vyre_program *program;
    const ssa_run_params *params;
    vyre_kernel *kernel;
    vy_arena arena;
    vy_split split;
    vy_ssa *forms;        /* by segment */
    memory buffers[128];  /* by declaration */
    uint32_t lengths[64]; /* by binding */
    uint32_t *spill;      /* word * invocations + invocation */
    uint32_t volume, invocations;
    const vy_execution *execution;
    uint32_t group[3], linear_group, pass;
    bool recorded; /* in this execution */
    uint32_t record_site;
    uint64_t steps;
    ssa_run_report *report;
    const char *error;
    char text[300];
} runner;

static void fail(runner *r, const char *error)
{
    r->error = r->error ? r->error : error;
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static bool make_forms(runner *r)
{
    vyre_diag diag;
    uint32_t count = 0;
    const vy_pass *passes = vy_passes_get(&count);
    const vy_pass_context context = {.eval = vy_interp_eval, .is_apart = !r->params->overlaps};
    if (vy_split_program(r->program, VY_PRINTS_DROPPED, &r->arena, &r->split, &diag) != VYRE_OK) {
        snprintf(r->text, sizeof r->text, "split: %.200s", diag.message);
        fail(r, r->text);
        return false;
    }
    r->forms = vy_arena_alloc(&r->arena, r->split.segments.count, sizeof *r->forms);
    for (uint32_t s = 0; s < r->split.segments.count; s++) {
        if (vy_ssa_build(r->program, &r->split, s, &r->arena, &r->arena, &r->forms[s], &diag) !=
            VYRE_OK) {
            snprintf(r->text, sizeof r->text, "build: %.200s", diag.message);
            fail(r, r->text);
            return false;
        }
        const char *problem = vy_ssa_verify(&r->forms[s]);
        for (uint32_t p = 0; p < count && p < r->params->pass_count && !problem; p++) {
            if (!passes[p].run(&r->forms[s], &context)) {
                fail(r, "a pass failed");
                return false;
            }
            problem = vy_ssa_verify(&r->forms[s]);
            if (problem) {
                snprintf(r->text, sizeof r->text, "segment %u after %s: %.200s", s, passes[p].name,
                         problem);
                fail(r, r->text);
                return false;
            }
        }
        uint64_t streams = 0;
        if (!problem && r->params->is_widened) {
            if (!vy_ssa_widen(&r->forms[s], &streams)) {
                fail(r, "widening failed");
                return false;
            }
            problem = vy_ssa_verify(&r->forms[s]);
        }
        if (problem) {
            snprintf(r->text, sizeof r->text, "segment %u: %.200s", s, problem);
            fail(r, r->text);
            return false;
        }
        for (uint32_t b = 1; b < r->forms[s].blocks.count; b++) {
            r->report->loops += r->forms[s].blocks.data[b].merge_kind == VY_MERGE_LOOP;
        }
    }
    return true;
}

/* The memory that an earlier buffer has of the same data, or NULL. */
static uint32_t *find_shared(const runner *r, uint32_t i, const void *data)
{
    for (uint32_t j = 1; r->params->overlaps && data && j < i; j++) {
        const vy_buffer *buffer = &r->program->buffers.data[j];
        if (buffer->mode != VYRE_BUFFER_SHARED &&
            r->params->buffers[buffer->binding].data == data) {
            return r->buffers[j].words;
        }
    }
    return NULL;
}

static void make_buffers(runner *r, const vy_kernel_env *env)
{
    const vyre_program *program = r->program;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        const vy_buffer *buffer = &program->buffers.data[i];
        if (buffer->mode == VYRE_BUFFER_SHARED) {
            r->buffers[i].count = (uint32_t)program->exprs.data[buffer->count.root].bits[0];
            r->buffers[i].words = calloc(r->buffers[i].count + 1u, 4);
            continue;
        }
        vyre_host_buffer *given = &r->params->buffers[buffer->binding];
        uint32_t count = given->count;
        if (count == UINT32_MAX) {
            count = vy_kernel_eval_count(r->kernel, buffer->binding, env);
        }
        r->lengths[buffer->binding] = count;
        r->buffers[i].count = count;
        uint32_t *shared = find_shared(r, i, given->data);
        r->buffers[i].words = shared ? shared : calloc(count + 1u, 4);
        if (given->data && vy_buffer_mode_is_input((vyre_buffer_mode)buffer->mode)) {
            memcpy(r->buffers[i].words, given->data, count * 4u);
        }
    }
}

static void give_outputs(runner *r)
{
    for (uint32_t i = 1; i < r->program->buffers.count; i++) {
        const vy_buffer *buffer = &r->program->buffers.data[i];
        if (buffer->mode != VYRE_BUFFER_SHARED) {
            void *data = r->params->buffers[buffer->binding].data;
            if (data && vy_buffer_mode_is_output((vyre_buffer_mode)buffer->mode)) {
                memcpy(data, r->buffers[i].words, r->buffers[i].count * 4u);
            }
        }
    }
    for (uint32_t i = r->program->buffers.count; i-- > 1;) {
        const vy_buffer *buffer = &r->program->buffers.data[i];
        bool is_bound = buffer->mode != VYRE_BUFFER_SHARED;
        if (!is_bound || !find_shared(r, i, r->params->buffers[buffer->binding].data)) {
            free(r->buffers[i].words);
        }
    }
}

/* ---- Claims ----------------------------------------------------------------------------------
 */

/* What a pass has proved holds, whenever the instruction runs. */
static void check_claim(runner *r, const vy_ssa *form, const invocation *at, uint32_t index)
{
    const vy_ins *ins = &form->ins.data[index];
    uint32_t x = at->values[ins->arg[0]], y = at->values[ins->arg[1]], count = 0;
    bool holds = false;
    switch ((int)ins->op) {
    case VYRE_OP_LOAD:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
        count = r->buffers[ins->ref].count;
        holds = x < count;
        break;
    case VYRE_OP_TABLE:
        count = r->program->tables.data[ins->ref].count;
        holds = x < count;
        break;
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        count = form->arrays.data[ins->ref].count;
        holds = x < count;
        break;
    case VYRE_OP_SHL:
    case VYRE_OP_SHR:
    case VYRE_OP_ROTATE_LEFT:
    case VYRE_OP_ROTATE_RIGHT:
        holds = y < vyre_type_size((vyre_type)ins->type) * 8;
        break;
    case VYRE_OP_DIV:
    case VYRE_OP_REM:
        holds = y != 0 && (!vy_type_is_signed((vyre_type)ins->type) ||
                           vy_type_signed_value((vyre_type)ins->type, y) != -1 ||
                           x != 1u << (vy_type_width((vyre_type)ins->type) - 1));
        break;
    default:
        break;
    }
    if (!holds && !r->error) {
        snprintf(r->text, sizeof r->text,
                 "%%%u is unchecked and wrong: operands %u, %u, count %u, line %u", (unsigned)index,
                 (unsigned)x, (unsigned)y, (unsigned)count, (unsigned)ins->loc.line);
        fail(r, r->text);
    }
}

/* ---- Instructions -----------------------------------------------------------------------------
 */

static uint32_t local_id(const runner *r, uint32_t lane, uint32_t dimension)
{
    const uint32_t *size = r->program->workgroup;
    return dimension == 0   ? lane % size[0]
           : dimension == 1 ? lane / size[0] % size[1]
                            : lane / (size[0] * size[1]);
}

static uint32_t builtin(const runner *r, uint32_t lane, uint32_t ref)
{
    uint32_t d = ref % 3;
    switch (ref / 3) {
    case 0:
        return r->group[d] * r->program->workgroup[d] + local_id(r, lane, d);
    case 1:
        return local_id(r, lane, d);
    case 2:
        return r->group[d];
    case 3:
        return r->program->workgroup[d];
    case 4:
        return r->params->groups[d];
    default:
        return r->pass;
    }
}

static uint32_t atomic(uint32_t old, const vy_ins *ins, vyre_type type, uint32_t x, uint32_t y)
{
    static const vyre_op ops[VYRE_ATOMIC_COUNT] = {
        [VYRE_ATOMIC_ADD] = VYRE_OP_ADD, [VYRE_ATOMIC_SUB] = VYRE_OP_SUB,
        [VYRE_ATOMIC_MIN] = VYRE_OP_MIN, [VYRE_ATOMIC_MAX] = VYRE_OP_MAX,
        [VYRE_ATOMIC_AND] = VYRE_OP_AND, [VYRE_ATOMIC_OR] = VYRE_OP_OR,
        [VYRE_ATOMIC_XOR] = VYRE_OP_XOR,
    };
    uint64_t operands[4] = {old, x, 0, 0};
    switch (ins->atomic) {
    case VYRE_ATOMIC_LOAD:
        return old;
    case VYRE_ATOMIC_STORE:
    case VYRE_ATOMIC_EXCHANGE:
        return x;
    case VYRE_ATOMIC_COMPARE_EXCHANGE:
        return old == x ? y : old;
    default:
        return (uint32_t)vy_interp_eval(ops[ins->atomic], type, type, operands, false);
    }
}

static void record(runner *r, uint32_t lane, uint32_t site)
{
    uint32_t number = r->linear_group * r->volume + lane;
    vyre_fault_record *out = &r->report->record;
    if (out->kind != VYRE_RECORD_NONE && (!r->recorded || number > out->invocation ||
                                          (number == out->invocation && site >= r->record_site))) {
        return;
    }
    const vy_kernel_site *info = vy_kernel_get_site(r->kernel, site);
    *out = (vyre_fault_record){
        info->kind, info->code, info->line, info->column, r->pass, r->execution->segment, number};
    r->recorded = true;
    r->record_site = site;
}

static uint32_t pure(runner *r, const vy_ssa *form, const invocation *at, const vy_ins *ins)
{
    uint64_t operands[4] = {0, 0, 0, 0};
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = at->values[ins->arg[i]];
    }
    vyre_type type = (vyre_type)form->ins.data[ins->arg[0]].type;
    uint32_t value = (uint32_t)vy_interp_eval((vyre_op)ins->op, (vyre_type)ins->type, type,
                                              operands, r->params->flush_denormals);
    bool keeps = ins->op == VYRE_OP_SELECT || ins->op == VYRE_OP_BITCAST ||
                 (ins->op == VYRE_OP_CAST && type == VYRE_TYPE_F32);
    bool is_nan = (value & 0x7fffffffu) > 0x7f800000u;
    return ins->type == VYRE_TYPE_F32 && !keeps && is_nan ? DEVICE_NAN : value;
}

static uint32_t access(runner *r, invocation *at, const vy_ins *ins)
{
    memory *m = &r->buffers[ins->ref];
    vyre_type type = (vyre_type)r->program->buffers.data[ins->ref].type;
    uint32_t index = at->values[ins->arg[0]];
    bool is_bool = type == VYRE_TYPE_BOOL;
    if (index >= m->count) {
        return 0;
    }
    uint32_t old = is_bool ? m->words[index] != 0 : m->words[index];
    if (ins->op == VY_SSA_STORE) {
        m->words[index] = at->values[ins->arg[1]];
    } else if (ins->op == VY_SSA_ATOMIC) {
        m->words[index] = atomic(old, ins, type, at->values[ins->arg[1]], at->values[ins->arg[2]]);
    }
    return old;
}

/* Elements are words here; arg[0] counts blocks of as many as are accessed. */
static void wide_access(runner *r, const vy_ssa *form, invocation *at, const vy_ins *ins,
                        uint32_t *words)
{
    memory *m = &r->buffers[ins->ref];
    bool stores = ins->op == VY_SSA_STORE_WIDE;
    uint8_t type = stores ? form->ins.data[ins->arg[1]].type : ins->type;
    uint32_t count = vy_type_components((vyre_type)type);
    uint64_t first = (uint64_t)at->values[ins->arg[0]] * count;
    if (first + count > m->count) {
        fail(r, "a wide access is out of bounds");
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (stores) {
            m->words[first + k] = at->words[4 * (size_t)ins->arg[1] + k];
        } else {
            words[k] = m->words[first + k];
        }
    }
    r->report->wide++;
}

static uint32_t unpack(const runner *r, const invocation *at, const vy_ins *ins)
{
    uint32_t word = at->words[4 * (size_t)ins->arg[0] + ins->bits];
    bool is_bool = r->program->buffers.data[ins->ref].type == VYRE_TYPE_BOOL;
    return is_bool ? word != 0 : word;
}

static uint32_t private_access(invocation *at, const vy_ins *ins)
{
    memory *m = &at->arrays[ins->ref];
    if (ins->op == VY_SSA_ARRAY_ZERO) {
        memset(m->words, 0, m->count * 4u);
        return 0;
    }
    uint32_t index = at->values[ins->arg[0]];
    if (index >= m->count) {
        return 0;
    }
    if (ins->op == VY_SSA_ARRAY_STORE) {
        m->words[index] = at->values[ins->arg[1]];
    }
    return m->words[index];
}

static uint32_t execute(runner *r, const vy_ssa *form, invocation *at, uint32_t lane,
                        const vy_ins *ins)
{
    size_t place = (size_t)ins->ref * r->invocations + r->linear_group * r->volume + lane;
    uint32_t value, index;
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return (uint32_t)ins->bits;
    case VYRE_OP_BUILTIN:
        return builtin(r, lane, ins->ref);
    case VYRE_OP_PARAM:
        value = r->params->params[r->program->params.data[ins->ref].word + ins->bits];
        return ins->type == VYRE_TYPE_BOOL ? value != 0 : value;
    case VYRE_OP_LENGTH:
        return r->buffers[ins->ref].count;
    case VYRE_OP_TABLE:
        index = at->values[ins->arg[0]];
        return (uint32_t)vy_table_value(&r->program->tables.data[ins->ref], index, 0);
    case VYRE_OP_LOAD:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
        return access(r, at, ins);
    case VY_SSA_ARRAY_ZERO:
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        return private_access(at, ins);
    case VY_SSA_HOST_INDEX:
        return r->execution->indices[ins->ref];
    case VY_SSA_SPILL_LOAD:
        return r->spill[place];
    case VY_SSA_SPILL_STORE:
        r->spill[place] = at->values[ins->arg[0]];
        return 0;
    case VY_SSA_RECORD:
        record(r, lane, ins->ref);
        return 0;
    case VY_SSA_CANONICAL_NAN:
        value = at->values[ins->arg[0]];
        return (value & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : value;
    case VY_SSA_LOAD_WIDE:
    case VY_SSA_STORE_WIDE:
        wide_access(r, form, at, ins, &at->words[4 * (size_t)(ins - form->ins.data)]);
        return 0;
    case VY_SSA_UNPACK:
        return unpack(r, at, ins);
    case VY_SSA_PACK:
        return at->values[ins->arg[0]];
    case VY_SSA_COMPOSE:
        for (uint32_t k = 0; k < vy_ssa_operand_count(ins); k++) {
            at->words[4 * (size_t)(ins - form->ins.data) + k] = at->values[ins->arg[k]];
        }
        return 0;
    default:
        return pure(r, form, at, ins);
    }
}

/* ---- Control flow -----------------------------------------------------------------------------
 */

static void enter_block(runner *r, const vy_ssa *form, invocation *at)
{
    uint32_t values[512], count = 0, i = form->blocks.data[at->block].first;
    uint32_t first = i;
    for (; i && form->ins.data[i].op == VY_SSA_PHI; i = form->ins.data[i].next) {
        const vy_ins *phi = &form->ins.data[i];
        uint32_t e = 0;
        while (e < phi->bits && form->phi_edges.data[phi->ref + e].block != at->from) {
            e++;
        }
        if (e == phi->bits || count == 512) {
            fail(r, "a phi has no value for the way that was taken");
            return;
        }
        values[count++] = at->values[form->phi_edges.data[phi->ref + e].value];
    }
    count = 0;
    for (uint32_t p = first; p != i; p = form->ins.data[p].next) {
        at->values[p] = values[count++];
    }
    at->ins = i;
}

static void leave_block(runner *r, const vy_ssa *form, invocation *at)
{
    const vy_block *block = &form->blocks.data[at->block];
    uint32_t cond = at->values[block->cond], target = block->target[0];
    switch ((vy_end_kind)block->end) {
    case VY_END_JUMP:
        break;
    case VY_END_BRANCH:
        target = block->target[cond ? 0 : 1];
        break;
    case VY_END_SWITCH:
        for (uint32_t i = 0; i < block->case_count; i++) {
            if (form->cases.data[block->first_case + i].value == cond) {
                target = form->cases.data[block->first_case + i].block;
            }
        }
        break;
    case VY_END_RETURN:
        at->done = true;
        return;
    case VY_END_NONE:
    case VY_END_UNREACHABLE:
        fail(r, "an unreachable place was reached");
        return;
    }
    at->from = at->block;
    at->block = target;
    enter_block(r, form, at);
}

/* Up to the next barrier or the end; whether it stands at a barrier. */
static bool run_invocation(runner *r, const vy_ssa *form, invocation *at, uint32_t lane)
{
    while (!at->done && !r->error) {
        if (++r->steps > 400000000ull) {
            fail(r, "it runs too long");
        }
        if (at->ins == 0) {
            leave_block(r, form, at);
            continue;
        }
        const vy_ins *ins = &form->ins.data[at->ins];
        uint32_t index = at->ins;
        at->ins = ins->next;
        if (ins->op == VY_SSA_BARRIER) {
            return true;
        }
        if (ins->unchecked) {
            check_claim(r, form, at, index);
        }
        r->report->unchecked += ins->unchecked;
        at->values[index] = execute(r, form, at, lane, ins);
    }
    return false;
}

static void run_group(runner *r, const vy_ssa *form)
{
    invocation *lanes = calloc(r->volume, sizeof *lanes);
    for (uint32_t i = 1; i < r->program->buffers.count; i++) {
        if (r->program->buffers.data[i].mode == VYRE_BUFFER_SHARED) {
            memset(r->buffers[i].words, 0, r->buffers[i].count * 4u);
        }
    }
    for (uint32_t l = 0; l < r->volume; l++) {
        lanes[l].values = calloc(form->ins.count, 4);
        lanes[l].words = calloc(form->ins.count, 16);
        lanes[l].arrays = calloc(form->arrays.count, sizeof *lanes[l].arrays);
        for (uint32_t a = 1; a < form->arrays.count; a++) {
            lanes[l].arrays[a].count = form->arrays.data[a].count;
            lanes[l].arrays[a].words = malloc(form->arrays.data[a].count * 4u);
            memset(lanes[l].arrays[a].words, 0x77, form->arrays.data[a].count * 4u);
        }
        lanes[l].block = 1;
        enter_block(r, form, &lanes[l]);
    }
    for (bool more = true; more && !r->error;) {
        uint32_t waiting = 0, running = 0;
        for (uint32_t l = 0; l < r->volume; l++) {
            running += !lanes[l].done;
            waiting += run_invocation(r, form, &lanes[l], l);
        }
        if (waiting && waiting != running) {
            fail(r, "a barrier stands in flow that is not uniform");
        }
        more = waiting != 0;
    }
    for (uint32_t l = 0; l < r->volume; l++) {
        for (uint32_t a = 1; a < form->arrays.count; a++) {
            free(lanes[l].arrays[a].words);
        }
        free(lanes[l].arrays);
        free(lanes[l].values);
        free(lanes[l].words);
    }
    free(lanes);
}

static void run_execution(runner *r)
{
    const uint32_t *groups = r->params->groups;
    r->recorded = false;
    r->linear_group = 0;
    for (uint32_t z = 0; z < groups[2]; z++) {
        for (uint32_t y = 0; y < groups[1]; y++) {
            for (uint32_t x = 0; x < groups[0] && !r->error; x++) {
                r->group[0] = x;
                r->group[1] = y;
                r->group[2] = z;
                run_group(r, &r->forms[r->execution->segment]);
                r->linear_group++;
            }
        }
    }
}

static void run_passes(runner *r, const vy_kernel_env *env)
{
    vy_execution *list = NULL;
    uint32_t count = 0;
    vyre_diag diag;
    vyre_allocator allocator = vy_allocator_or_default(NULL);
    if (vy_kernel_schedule(r->kernel, env, &allocator, &list, &count, &diag) != VYRE_OK) {
        snprintf(r->text, sizeof r->text, "schedule: %.200s", diag.message);
        fail(r, r->text);
        return;
    }
    r->report->segments = count;
    uint32_t flag = r->program->until;
    for (uint32_t p = 0; p < r->program->passes && !r->error; p++) {
        r->pass = p;
        if (flag && r->buffers[flag].count) {
            r->buffers[flag].words[0] = 0;
        }
        for (uint32_t e = 0; e < count && !r->error; e++) {
            r->execution = &list[e];
            run_execution(r);
        }
        r->report->passes = p + 1;
        if (flag && (!r->buffers[flag].count || !r->buffers[flag].words[0])) {
            break;
        }
    }
    vy_free(&allocator, list, count * sizeof *list);
}

bool ssa_run(const vyre_program *program, const ssa_run_params *params, ssa_run_report *out_report,
             char *message, size_t message_size)
{
    runner *r = calloc(1, sizeof *r);
    vyre_diag diag;
    r->program = program;
    r->params = params;
    r->report = out_report;
    memset(out_report, 0, sizeof *out_report);
    vy_arena_init(&r->arena, NULL);
    if (vyre_kernel_compile(program, NULL, &r->kernel, &diag) != VYRE_OK) {
        snprintf(r->text, sizeof r->text, "compile: %.200s", diag.message);
        fail(r, r->text);
    }
    if (!r->error && make_forms(r)) {
        vy_kernel_env env = {.params = params->params, .lengths = r->lengths};
        memcpy(env.groups, params->groups, sizeof env.groups);
        memcpy(env.workgroup, program->workgroup, sizeof env.workgroup);
        make_buffers(r, &env);
        r->volume = program->workgroup[0] * program->workgroup[1] * program->workgroup[2];
        r->invocations = r->volume * params->groups[0] * params->groups[1] * params->groups[2];
        size_t words = (size_t)r->split.spill_words * r->invocations;
        r->spill = malloc((words + 1) * 4);
        memset(r->spill, 0x99, (words + 1) * 4);
        run_passes(r, &env);
        give_outputs(r);
        free(r->spill);
    }
    bool right = r->error == NULL;
    snprintf(message, message_size, "%s", right ? "" : r->error);
    vyre_kernel_destroy(&r->kernel);
    vy_arena_finish(&r->arena);
    free(r);
    return right;
}
