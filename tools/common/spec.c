/* The options that describe a run: what they are, and what they say. Reads no program. */
#include "tools/common/run.h"

#include <stdlib.h>
#include <string.h>

static const vy_loc nowhere = {0, 0};

enum {
    OPTION_IN = VY_RUN_OPTION,
    OPTION_PARAM,
    OPTION_SIZE,
    OPTION_OUT,
    OPTION_GRID,
    OPTION_ELEMENTS,
    OPTION_WORKGROUP,
    OPTION_PASSES,
    OPTION_MAX_GROUPS,
    OPTION_TOLERANCE
};

const vy_option vy_run_options[] = {
    {"--in", OPTION_IN, "NAME=V",
     "contents of an in, inout or uniform buffer. V is a list 1,2,3, or\n"
     "@FILE: .npy, or else raw little-endian elements; or with NAME[COUNT]\n"
     "a generator: zero, iota[:START[:STEP]], fill:V, random:SEED[:LO:HI]\n"
     "([COUNT] may be left out where the program states the count)"},
    {"--param", OPTION_PARAM, "NAME=V", "value of a parameter, a vector as x:y or x:y:z:w"},
    {"--size", OPTION_SIZE, "NAME=COUNT",
     "elements of an out buffer for which the program states no count"},
    {"--out", OPTION_OUT, "NAME[=FILE]",
     "print that output whole, or write it to FILE: .npy, or else raw.\n"
     "Without --out every output's first elements are printed"},
    {"--grid", OPTION_GRID, "X[,Y[,Z]]", "grid in workgroups"},
    {"--elements", OPTION_ELEMENTS, "X[,Y[,Z]]", "grid in invocations, rounded up to workgroups"},
    {"--workgroup", OPTION_WORKGROUP, "X[,Y[,Z]]",
     "another workgroup size, where the program cannot tell"},
    {"--passes", OPTION_PASSES, "N", "another limit of passes than the program's fixpoint states"},
    {"--max-groups", OPTION_MAX_GROUPS, "N", "with `grid from`: no more workgroups run than that"},
    {"--tolerance", OPTION_TOLERANCE, "ULP",
     "how far floats may differ in comparisons, for programs that use\n"
     "functions which are not exact (default: as documented for these)"},
};
const uint32_t vy_run_option_count = VY_COUNT_OF(vy_run_options);

void vy_run_spec_init(vy_run_spec *spec, vy_arena *arena)
{
    *spec = (vy_run_spec){.arena = arena, .tolerance = -1};
}

static vyre_result refuse(vyre_diag *diag, int id, const char *value)
{
    const vy_option *option = &vy_run_options[id - VY_RUN_OPTION];
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, nowhere,
                       "'%.100s' is no value of %s. Fix: write %s %s", value, option->name,
                       option->name, option->value);
}

/* NAME, NAME=V or NAME[COUNT]=V. */
static bool split_assignment(vy_arena *arena, const char *text, vy_assignment *out)
{
    *out = (vy_assignment){0};
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    out->value = equals ? equals + 1 : NULL;
    const char *bracket = memchr(text, '[', length);
    if (bracket) {
        char digits[12] = "";
        size_t digit_count = length - (size_t)(bracket - text) - 1;
        if (digit_count < 2 || digit_count > sizeof digits || text[length - 1] != ']') {
            return false;
        }
        memcpy(digits, bracket + 1, digit_count - 1);
        out->has_count = true;
        if (!vy_parse_u32(digits, 0, UINT32_MAX - 1, &out->count)) {
            return false;
        }
        length = (size_t)(bracket - text);
    }
    out->name = vy_arena_text(arena, text, length);
    return length > 0;
}

static vyre_result take_assignment(vy_run_spec *spec, int id, const char *text, vyre_diag *diag)
{
    vy_assignment assignment;
    bool right = split_assignment(spec->arena, text, &assignment);
    if (right && assignment.value) {
        size_t length = strlen(assignment.value);
        assignment.value = vy_arena_text(spec->arena, assignment.value, length);
    }
    right = right && (assignment.value || id == OPTION_OUT || spec->arena->failed);
    right = right && (!assignment.has_count || id == OPTION_IN);
    if (right && id == OPTION_SIZE && assignment.value) {
        right = vy_parse_u32(assignment.value, 0, UINT32_MAX - 1, &assignment.count);
    }
    if (!right) {
        return refuse(diag, id, text);
    }
    if (id == OPTION_IN) {
        (void)vy_vec_push(spec->arena, &spec->inputs, assignment);
    } else if (id == OPTION_PARAM) {
        (void)vy_vec_push(spec->arena, &spec->params, assignment);
    } else if (id == OPTION_SIZE) {
        (void)vy_vec_push(spec->arena, &spec->sizes, assignment);
    } else {
        (void)vy_vec_push(spec->arena, &spec->outputs, assignment);
    }
    return spec->arena->failed ? vy_diag_no_memory(diag) : VYRE_OK;
}

vyre_result vy_run_spec_take(vy_run_spec *spec, int id, const char *value, vyre_diag *diag)
{
    char *end = NULL;
    bool right = true;
    switch (id) {
    case OPTION_GRID:
        right = vy_parse_triple(value, spec->groups);
        break;
    case OPTION_ELEMENTS:
        right = vy_parse_triple(value, spec->elements);
        break;
    case OPTION_WORKGROUP:
        right = vy_parse_triple(value, spec->workgroup);
        break;
    case OPTION_PASSES:
        right = vy_parse_u32(value, 1, UINT32_MAX, &spec->passes);
        break;
    case OPTION_MAX_GROUPS:
        right = vy_parse_u32(value, 1, UINT32_MAX, &spec->max_groups);
        break;
    case OPTION_TOLERANCE:
        spec->tolerance = strtod(value, &end);
        right = end != value && !*end && spec->tolerance >= 0 && spec->tolerance < 4294967296.0;
        break;
    default:
        return take_assignment(spec, id, value, diag);
    }
    return right ? VYRE_OK : refuse(diag, id, value);
}
