/* --step: what each segment execution of a run changed, on the device or on the interpreter. On a
 * terminal it waits behind each. The device's states are those of runs that end there. */
#include "tools/common/system.h"
#include "tools/vyre-run/session.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_CHANGES  3u
#define SHOWN_ELEMENTS 32u
#define LINE_SIZE      512

typedef struct stepper {
    session *s;
    vy_run_result before, now;
    bool is_asking, has_quit;
} stepper;

/* ---- What changed ---------------------------------------------------------------------------- */

/* By bytes: a NaN that became another one has changed. */
static void show_changes(const stepper *t, uint32_t binding, bool *has_changed)
{
    const vy_run_buffer *buffer = &t->s->data.buffers[binding];
    const char *before = t->before.out[binding], *now = t->now.out[binding];
    size_t size = vyre_type_size(buffer->type);
    uint32_t changed = 0, first[SHOWN_CHANGES] = {0};
    for (uint32_t i = 0; before && now && i < buffer->count; i++) {
        if (memcmp(before + i * size, now + i * size, size) != 0) {
            if (changed < SHOWN_CHANGES) {
                first[changed] = i;
            }
            changed++;
        }
    }
    if (changed == 0) {
        return;
    }
    *has_changed = true;
    fprintf(t->s->out, "  %s: %u of %u elements changed:", buffer->name, changed, buffer->count);
    for (uint32_t k = 0; k < changed && k < SHOWN_CHANGES; k++) {
        char old[256], new[256];
        session_element_text(buffer, before, first[k], old);
        session_element_text(buffer, now, first[k], new);
        fprintf(t->s->out, "%s %s[%u] %s -> %s", k ? "," : "", buffer->name, first[k], old, new);
    }
    fprintf(t->s->out, "%s\n", changed > SHOWN_CHANGES ? ", ..." : "");
}

/* What `until` looks at, behind a pass. */
static void show_flag(const stepper *t, const vy_interp_place *place)
{
    const session *s = t->s;
    const vyre_program *program = s->source.program;
    if (!program->until || place->execution + 1 < place->executions) {
        return;
    }
    uint32_t binding = program->buffers.data[program->until].binding, flag = 0;
    const vy_run_buffer *buffer = &s->data.buffers[binding];
    if (buffer->count) {
        memcpy(&flag, t->now.out[binding], sizeof flag);
    }
    fprintf(s->out, "pass %u ends with %s[0] = %u: %s\n", place->pass, buffer->name, flag,
            flag == 0                                             ? "it has converged"
            : place->pass + 1 >= vy_run_passes(program, &s->data) ? "the limit of passes is reached"
                                                                  : "another pass follows");
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void print_elements(const stepper *t, uint32_t binding, uint32_t from, uint32_t to)
{
    const vy_run_buffer *buffer = &t->s->data.buffers[binding];
    const void *elements = t->now.out[binding] ? t->now.out[binding] : buffer->in;
    fprintf(t->s->out, "%s[%u..%u] =", buffer->name, from, to);
    for (uint32_t i = from; i < to; i++) {
        char text[256];
        session_element_text(buffer, elements, i, text);
        fprintf(t->s->out, "%s %s", i > from ? "," : "", text);
    }
    fprintf(t->s->out, to < buffer->count ? ", ... (%u elements)\n" : "\n", buffer->count);
}

/* NAME, NAME[i] or NAME[i..j]; false for anything else. */
static bool parse_range(char *text, uint32_t *out_from, uint32_t *out_to, bool *out_has_range)
{
    char *bracket = strchr(text, '[');
    *out_has_range = bracket != NULL;
    if (!bracket) {
        return true;
    }
    char *end = strchr(bracket, ']');
    if (!end || end[1]) {
        return false;
    }
    *bracket = *end = 0;
    char *dots = strstr(bracket + 1, "..");
    if (dots) {
        *dots = 0;
        return vy_parse_u32(bracket + 1, 0, UINT32_MAX, out_from) &&
               vy_parse_u32(dots + 2, *out_from, UINT32_MAX, out_to);
    }
    bool is_right = vy_parse_u32(bracket + 1, 0, UINT32_MAX - 1, out_from);
    *out_to = *out_from + 1;
    return is_right;
}

static void print_named(const stepper *t, char *text)
{
    const session *s = t->s;
    uint32_t from = 0, to = 0, binding = 0;
    bool has_range;
    if (!parse_range(text, &from, &to, &has_range)) {
        fprintf(s->out, "write p NAME, p NAME[i] or p NAME[i..j], which is i to j - 1\n");
        return;
    }
    while (binding < s->data.buffer_count && strcmp(s->data.buffers[binding].name, text) != 0) {
        binding++;
    }
    if (binding == s->data.buffer_count) {
        fprintf(s->out, "there is no buffer '%.100s'; the buffers:", text);
        for (uint32_t i = 0; i < s->data.buffer_count; i++) {
            fprintf(s->out, " %s", s->data.buffers[i].name);
        }
        fputc('\n', s->out);
        return;
    }
    uint32_t count = s->data.buffers[binding].count;
    if (!has_range) {
        to = count < SHOWN_ELEMENTS ? count : SHOWN_ELEMENTS;
    }
    if (to > count) {
        fprintf(s->out, "'%s' has %u elements\n", text, count);
        return;
    }
    print_elements(t, binding, from, to);
}

/* Until the user goes on; false: no further. */
static bool ask(stepper *t)
{
    char line[LINE_SIZE];
    for (;;) {
        fprintf(t->s->out, "(step) ");
        fflush(t->s->out);
        if (!fgets(line, sizeof line, stdin)) {
            t->is_asking = false;
            return true;
        }
        char *text = line + strspn(line, " \t");
        text[strcspn(text, "\r\n")] = 0;
        if (!*text || strcmp(text, "n") == 0) {
            return true;
        } else if (strcmp(text, "c") == 0) {
            t->is_asking = false;
            return true;
        } else if (strcmp(text, "q") == 0) {
            t->has_quit = true;
            return false;
        } else if (text[0] == 'p' && text[1] == ' ') {
            print_named(t, text + 1 + strspn(text + 1, " \t"));
        } else {
            fprintf(t->s->out, "Enter or n: next segment; c: go on to the end; q: stop here; "
                               "p NAME[i..j]: print elements\n");
        }
    }
}

/* ---- Stepping -------------------------------------------------------------------------------- */

static void keep_state(stepper *t)
{
    for (uint32_t i = 0; i < t->s->data.buffer_count; i++) {
        const vy_run_buffer *buffer = &t->s->data.buffers[i];
        if (t->now.out[i]) {
            memcpy(t->before.out[i], t->now.out[i],
                   (size_t)buffer->count * vyre_type_size(buffer->type));
        }
    }
}

static bool show_step(void *user, const vy_interp_place *place)
{
    stepper *t = user;
    char where[128];
    bool has_changed = false;
    session_place_text(place, where, sizeof where);
    fprintf(t->s->out, "pass %u, %s\n", place->pass, where);
    for (uint32_t i = 0; i < t->s->data.buffer_count; i++) {
        show_changes(t, i, &has_changed);
    }
    if (!has_changed) {
        fprintf(t->s->out, "  nothing changed\n");
    }
    show_flag(t, place);
    keep_state(t);
    return t->is_asking ? ask(t) : true;
}

static vyre_result step_reference(stepper *t, vyre_diag *diag)
{
    session *s = t->s;
    vy_reference how = session_reference(s);
    vy_interp_watch watch = {.step = show_step, .user = t};
    s->data.progress = NULL; /* the steps show it */
    vyre_result result = vy_run_watched(s->source.program, &s->data, &how, &watch, &t->now, diag);
    s->data.progress = &s->progress;
    return result;
}

static vyre_result step_device(stepper *t, vyre_diag *diag)
{
    session *s = t->s;
    vy_arena arena;
    vy_interp_place *schedule;
    uint32_t count = 0;
    vy_arena_init(&arena, NULL);
    vyre_result result = session_schedule(s, &arena, &schedule, &count, diag);
    bool is_over = count == 0;
    for (uint32_t pass = 0;
         result == VYRE_OK && pass < vy_run_passes(s->source.program, &s->data) && !is_over;
         pass++) {
        for (uint32_t e = 0; result == VYRE_OK && e < count && !is_over; e++) {
            vyre_report report;
            vy_prefix whole = {pass + 1, 0}, part = {pass, e + 1};
            result = session_run_prefix(s, e + 1 == count ? whole : part, &t->now, &report, diag);
            if (result == VYRE_OK) {
                schedule[e].pass = pass;
                is_over = !show_step(t, &schedule[e]);
                is_over = is_over || report.convergence == VYRE_CONVERGENCE_YES;
            }
        }
    }
    vy_arena_finish(&arena);
    return result;
}

vyre_result session_step(session *s, bool *out_has_quit, vyre_diag *diag)
{
    stepper t = {.s = s, .is_asking = vy_is_terminal(stdin) && vy_is_terminal(s->out)};
    bool is_reference = s->command->reference;
    vyre_strategy strategy = s->data.strategy;
    s->data.has_scratch = true;
    s->data.strategy = VYRE_STRATEGY_REPLAY;
    vyre_result result = is_reference ? VYRE_OK : session_open(s, diag);
    if (result == VYRE_OK) {
        result = vy_run_start_state(&s->data, &t.before, diag);
    }
    if (result == VYRE_OK) {
        result = is_reference ? step_reference(&t, diag) : step_device(&t, diag);
    }
    s->data.has_scratch = false;
    s->data.strategy = strategy;
    *out_has_quit = t.has_quit;
    vy_run_result_finish(&t.before);
    vy_run_result_finish(&t.now);
    return result;
}
