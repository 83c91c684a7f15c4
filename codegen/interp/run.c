/* vyre_interp_run: buffers in, passes over segments over workgroups, buffers out. Reads the plan
 * and the bound arguments; owns the arena in which everything of a run lives. */
#include "codegen/interp/machine.h"

#include <fenv.h>
#if defined(__MINGW32__) && defined(__SSE__)
#include <xmmintrin.h>
#endif
#include <string.h>

#define TICK_GROUPS 16u

static const vy_loc nowhere = {0, 0};

static uint32_t host_value(const vy_machine *m, vy_range range)
{
    vy_host_env env = {
        .params = m->bound->params, .lengths = m->bound->lengths, .indices = m->host_indices};
    for (int i = 0; i < 3; i++) {
        env.num_groups[i] = m->bound->groups[i];
        env.group_size[i] = m->bound->size[i];
    }
    return vy_host_evaluate(m->program, range, &env, vy_interp_eval, m->host_scratch);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static void set_element(vy_memory *memory, vyre_type type)
{
    uint32_t size = vyre_type_size(type), components = vy_type_components(type);
    memory->type = (uint8_t)type;
    memory->element_size = (uint8_t)size;
    memory->components = (uint8_t)components;
    memory->component_size = (uint8_t)(size / components);
}

/* Inputs are read where they are; what is written lies in our own memory until the end. */
static void allocate_buffer(vy_machine *m, uint32_t index, const vyre_interp_params *params,
                            vy_arena *arena)
{
    const vy_buffer *buffer = &m->program->buffers.data[index];
    vy_memory *memory = &m->buffers[index];
    const vyre_host_buffer *given = NULL;
    if (buffer->mode == VYRE_BUFFER_SHARED) {
        memory->count = host_value(m, buffer->count);
    } else {
        memory->count = m->bound->lengths[buffer->binding];
        given = &params->buffers[buffer->binding];
    }
    set_element(memory, (vyre_type)buffer->type);
    if (vy_buffer_mode_writes((vyre_buffer_mode)buffer->mode)) {
        memory->bytes = vy_arena_alloc(arena, memory->count, memory->element_size);
        if (memory->bytes && memory->count && buffer->mode == VYRE_BUFFER_INOUT) {
            memcpy(memory->bytes, given->data, (size_t)memory->count * memory->element_size);
        }
    } else if (given) {
        memory->bytes = given->data;
    }
    if (params->detect_races) {
        memory->shadows = vy_arena_alloc(arena, memory->count, sizeof *memory->shadows);
    }
}

static vyre_result allocate_buffers(vy_machine *m, const vyre_interp_params *params,
                                    vy_arena *arena, vyre_diag *diag)
{
    m->buffers = vy_arena_alloc(arena, (size_t)m->program->buffers.count + 1, sizeof *m->buffers);
    for (uint32_t i = 1; m->buffers && i < m->program->buffers.count; i++) {
        allocate_buffer(m, i, params, arena);
    }
    return arena->failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

static void return_buffers(const vy_machine *m, const vyre_interp_params *params)
{
    for (uint32_t i = 1; i < m->program->buffers.count; i++) {
        const vy_buffer *buffer = &m->program->buffers.data[i];
        vyre_buffer_mode mode = (vyre_buffer_mode)buffer->mode;
        if (mode == VYRE_BUFFER_SHARED || !vy_buffer_mode_writes(mode)) {
            continue;
        }
        void *data = params->buffers[buffer->binding].data;
        if (data && m->buffers[i].count) {
            memcpy(data, m->buffers[i].bytes,
                   (size_t)m->buffers[i].count * m->buffers[i].element_size);
        }
    }
}

/* ---- The host's walk over segments ----------------------------------------------------------- */

typedef struct host_loop {
    uint32_t index, step, trips;
} host_loop;

typedef struct host_walk {
    host_loop loops[VYRE_MAX_HOST_LOOPS];
    uint32_t depth, at;
    uint32_t segments, trips;
} host_walk;

/* Kernel code reads the index like any variable. */
static void set_host_index(vy_machine *m, uint32_t var, uint32_t value)
{
    m->host_indices[var] = value;
    for (uint32_t lane = 0; lane < m->volume; lane++) {
        m->vars[var][lane] = value;
    }
}

static void enter_loop(vy_machine *m, host_walk *walk, const vy_host_step *step)
{
    const vy_stmt *stmt = &m->program->stmts.data[step->stmt];
    vyre_type type = (vyre_type)m->program->vars.data[stmt->result].type;
    uint32_t bounds[2] = {host_value(m, stmt->x), host_value(m, stmt->y)};
    uint32_t by = stmt->z.root ? host_value(m, stmt->z) : 1;
    if (!vy_interp_eval(VYRE_OP_LT, VYRE_TYPE_BOOL, type, (const uint64_t[]){bounds[0], bounds[1]},
                        false)) {
        walk->at = step->target;
        return;
    }
    by = by ? by : 1;
    walk->loops[walk->depth++] = (host_loop){.index = stmt->down ? bounds[1] - 1 : bounds[0],
                                             .step = by,
                                             .trips = (bounds[1] - bounds[0] - 1) / by + 1};
    set_host_index(m, stmt->result, walk->loops[walk->depth - 1].index);
    walk->trips++;
    walk->at++;
}

static void leave_trip(vy_machine *m, host_walk *walk, const vy_host_step *step)
{
    const vy_stmt *stmt = &m->program->stmts.data[step->stmt];
    host_loop *loop = &walk->loops[walk->depth - 1];
    if (--loop->trips == 0) {
        walk->depth--;
        walk->at++;
        return;
    }
    loop->index = stmt->down ? loop->index - loop->step : loop->index + loop->step;
    set_host_index(m, stmt->result, loop->index);
    walk->trips++;
    walk->at = step->target + 1;
}

/* Goes on to the next segment, NULL behind the last one. */
static const vy_host_step *next_segment(vy_machine *m, host_walk *walk)
{
    while (walk->at < m->plan->steps.count && walk->trips <= VY_INTERP_MAX_HOST_TRIPS) {
        const vy_host_step *step = &m->plan->steps.data[walk->at];
        switch ((vy_host_kind)step->kind) {
        case VY_HOST_STRETCH:
            walk->at++;
            walk->segments++;
            return step;
        case VY_HOST_FOR:
            enter_loop(m, walk, step);
            break;
        case VY_HOST_FOR_END:
            leave_trip(m, walk, step);
            break;
        case VY_HOST_IF:
            walk->at =
                host_value(m, m->program->stmts.data[step->stmt].x) ? walk->at + 1 : step->target;
            break;
        case VY_HOST_JUMP:
            walk->at = step->target;
            break;
        }
    }
    return NULL;
}

/* A walk without work: host conditions do not depend on memory or the pass. */
static vyre_result check_segments(vy_machine *m, uint32_t *out_count, vyre_diag *diag)
{
    host_walk walk = {.depth = 0};
    while (walk.segments <= VY_INTERP_MAX_SEGMENTS && next_segment(m, &walk)) {
    }
    if (walk.segments > VY_INTERP_MAX_SEGMENTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "one pass executes more than %u segments. Fix: make the loops around "
                           "grid_sync shorter, or use fixpoint for them",
                           VY_INTERP_MAX_SEGMENTS);
    }
    if (walk.trips > VY_INTERP_MAX_HOST_TRIPS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "one pass makes more than %u trips through loops around grid_sync. Fix: "
                           "make them shorter",
                           VY_INTERP_MAX_HOST_TRIPS);
    }
    *out_count = walk.segments;
    return VYRE_OK;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static vy_interp_place place_of(const vy_machine *m, const vy_host_step *step)
{
    vy_interp_place place = {.pass = m->pass,
                             .execution = m->execution,
                             .segment = step->segment,
                             .segments = m->plan->segment_count};
    if (step->count) {
        uint32_t stmt = m->plan->stretch_stmts.data[step->first];
        place.line = m->program->stmts.data[stmt].loc.line;
    }
    return place;
}

/* What a run is, and what looks on. */
typedef struct interp_run {
    const vyre_interp_params *params;
    uint32_t executions; /* of a pass */
    bool is_stopped;     /* who looks on has seen enough */
} interp_run;

static void show_step(vy_machine *m, interp_run *run, const vy_host_step *step)
{
    if (m->watch && m->watch->step) {
        vy_interp_place place = place_of(m, step);
        place.executions = run->executions;
        return_buffers(m, run->params);
        run->is_stopped = !m->watch->step(m->watch->user, &place);
    }
}

static void show_group(const vy_machine *m, const interp_run *run, const vy_host_step *step,
                       uint32_t group)
{
    bool is_due = (group + 1) % TICK_GROUPS == 0 || group + 1 == m->bound->group_count;
    if (m->watch && m->watch->tick && is_due) {
        vy_interp_place place = place_of(m, step);
        place.executions = run->executions;
        m->watch->tick(m->watch->tick_user, &place, group, m->bound->group_count);
    }
}

static void run_pass(vy_machine *m, interp_run *run)
{
    host_walk walk = {.depth = 0};
    const vy_host_step *step;
    bool is_last = m->pass + 1 == m->bound->passes;
    uint32_t end = m->watch && is_last && m->watch->last_count ? m->watch->last_count : UINT32_MAX;
    while (!run->is_stopped && walk.segments < end && (step = next_segment(m, &walk)) != NULL) {
        m->segment = step->segment;
        m->execution = walk.segments - 1;
        m->stretch_first = step->first;
        m->stretch_count = step->count;
        vy_machine_begin_segment(m);
        for (uint32_t group = 0; group < m->bound->group_count; group++) {
            vy_machine_run_group(m, group);
            show_group(m, run, step, group);
        }
        show_step(m, run, step);
    }
}

/* Of the flag's first word. */
static bool is_flag_zero(const vy_memory *flag)
{
    uint32_t word = 0;
    if (flag->count) {
        memcpy(&word, flag->bytes, sizeof word);
    }
    return word == 0;
}

static void run_passes(vy_machine *m, interp_run *run, vyre_interp_report *report)
{
    vy_memory none = {0};
    vy_memory *flag = m->program->until ? &m->buffers[m->program->until] : &none;
    bool until = m->program->until != 0;
    report->convergence = until ? VYRE_CONVERGENCE_LIMIT : VYRE_CONVERGENCE_NONE;
    report->segments = m->bound->passes ? run->executions : 0;
    for (m->pass = 0; m->pass < m->bound->passes && !run->is_stopped; m->pass++) {
        if (flag->count) {
            memset(flag->bytes, 0, flag->element_size);
        }
        run_pass(m, run);
        report->passes = m->pass + 1;
        if (until && is_flag_zero(flag)) {
            report->convergence = VYRE_CONVERGENCE_YES;
            return;
        }
    }
}

static vyre_result make_ready(const vyre_program *program, const vyre_interp_params *params,
                              vy_arena *arena, vy_plan *plan, vy_bound *bound, vy_machine *machine,
                              uint32_t *out_executions, vyre_diag *diag)
{
    vy_prints prints = params->print ? VY_PRINTS_KEPT : VY_PRINTS_DROPPED;
    vyre_result result = vy_plan_build(program, prints, arena, plan, diag);
    if (result == VYRE_OK) {
        result = vy_bind(program, params, plan, arena, bound, diag);
    }
    if (result == VYRE_OK) {
        result = vy_machine_init(machine, program, plan, bound, arena, diag);
    }
    return result == VYRE_OK ? check_segments(machine, out_executions, diag) : result;
}

static vyre_result run_in(const vyre_program *program, const vyre_interp_params *params,
                          vy_interp_watch *watch, vy_arena *arena, vyre_interp_report *report,
                          vyre_diag *diag)
{
    vy_plan plan;
    vy_bound bound;
    vy_machine machine;
    interp_run run = {.params = params};
    vyre_result result =
        make_ready(program, params, arena, &plan, &bound, &machine, &run.executions, diag);
    if (result == VYRE_OK) {
        result = allocate_buffers(&machine, params, arena, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    machine.flush_denormals = params->flush_denormals != 0;
    machine.watch = watch;
    machine.print = params->print;
    machine.print_user = params->print_user;
    run_passes(&machine, &run, report);
    return_buffers(&machine, params);
    report->record = machine.record;
    if (machine.record_stmt && machine.record_stmt->outside) {
        report->outside_name = machine.record_stmt->name;
        report->outside_index = machine.outside_index;
        report->outside_length = machine.outside_length;
    }
    report->race_count = machine.races.count;
    report->is_grid_clamped = bound.is_grid_clamped;
    memcpy(report->groups, bound.groups, sizeof report->groups);
    if (machine.races.count) {
        report->first_race = machine.races.first;
    }
    return VYRE_OK;
}

vyre_result vyre_interp_run(const vyre_program *program, const vyre_interp_params *params,
                            vyre_interp_report *out_report, vyre_diag *diag)
{
    return vy_interp_run_watched(program, params, NULL, out_report, diag);
}

vyre_result vy_interp_schedule(const vyre_program *program, const vyre_interp_params *params,
                               vy_arena *arena, vy_interp_place **out_list, uint32_t *out_count,
                               vyre_diag *diag)
{
    vy_plan plan;
    vy_bound bound;
    vy_machine machine;
    *out_list = NULL;
    *out_count = 0;
    uint32_t count = 0;
    vyre_result result = make_ready(program, params, arena, &plan, &bound, &machine, &count, diag);
    vy_interp_place *list =
        result == VYRE_OK ? vy_arena_alloc(arena, (size_t)count + 1, sizeof *list) : NULL;
    if (!list) {
        return result == VYRE_OK ? vy_diag_no_memory(diag) : result;
    }
    host_walk walk = {.depth = 0};
    for (uint32_t i = 0; i < count; i++) {
        const vy_host_step *step = next_segment(&machine, &walk);
        machine.execution = i;
        list[i] = place_of(&machine, step);
        list[i].executions = count;
    }
    *out_list = list;
    *out_count = count;
    return VYRE_OK;
}

/* Rounding to nearest, denormals kept. What MinGW's FE_DFL_ENV sets is the x87's alone, and sums
 * are SSE's. */
static bool set_default_environment(void)
{
    if (fesetenv(FE_DFL_ENV) != 0) {
        return false;
    }
#if defined(__MINGW32__) && defined(__SSE__)
    _mm_setcsr(0x1f80); /* as a process begins: all exceptions masked */
#endif
    return true;
}

vyre_result vy_interp_run_watched(const vyre_program *program, const vyre_interp_params *params,
                                  vy_interp_watch *watch, vyre_interp_report *out_report,
                                  vyre_diag *diag)
{
    vyre_interp_params given = {0};
    vyre_interp_report report = {0};
    vy_diag_clear(diag);
    vy_diag_clear(&report.first_race);
    if (out_report) {
        *out_report = report;
    }
    if (!program || !params) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                           "program or params is NULL. Fix: give both");
    }
    size_t size = params->struct_size ? params->struct_size : sizeof given;
    memcpy(&given, params, size < sizeof given ? size : sizeof given);

    /* Directed rounding and flushed denormals are the caller's, and theirs again afterwards. */
    fenv_t environment;
    if (fegetenv(&environment) != 0 || !set_default_environment()) {
        return vy_diag_set(diag, VYRE_ERROR_INTERNAL, nowhere,
                           "the floating-point environment cannot be set. Fix: call from a thread "
                           "with the default one");
    }
    vy_arena arena;
    vy_arena_init(&arena, given.allocator);
    vyre_result result = VYRE_OK;
    const char *fault = vy_interp_self_check();
    if (fault) {
        result = vy_diag_set(diag, VYRE_ERROR_INTERNAL, nowhere, "%s", fault);
    } else {
        result = run_in(program, &given, watch, &arena, &report, diag);
    }
    vy_arena_finish(&arena);
    (void)fesetenv(&environment);
    if (out_report && result == VYRE_OK) {
        *out_report = report;
    }
    return result;
}
