/* The generator: a small grammar walked at random. Invariants that make programs race-free:
 *   - `in_T` and `steady` are inputs, read anywhere;
 *   - in an even segment every invocation writes only its own elements of `even_out` and may read
 *     any of `odd_out`; in an odd segment the other way round;
 *   - `own_T`, `mine_a`, `mine_b`, `kept`, `slots` and `tallies` are touched at the invocation's
 * own element alone; `mine_a` and `mine_b` may be one memory;
 *   - shared memory is written at the own element, then a barrier, then read anywhere, then a
 *     barrier;
 *   - atomics on common elements drop their old value and each element sees one commuting
 *     operation; atomics whose value is used touch only the invocation's own element. */
#include "tests/support/generate_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cut ends the segment: what the invocation returned from is over. */
static void cut(vy_gen *g)
{
    g->segment++;
    g->returned = false;
}

static void grid_sync(vy_gen *g)
{
    uint32_t part = vy_gen_begin(g);
    vy_gen_mark(g, "grid_sync");
    vy_gen_put(g, "grid_sync");
    vy_gen_end(g, part);
    cut(g);
}

/* A value made before a cut and used after it, by recomputation or through memory. */
static uint32_t live_value(vy_gen *g)
{
    uint32_t name = g->next_name++;
    uint32_t part = vy_gen_begin(g);
    vy_gen_printf(g, "var v%u: u32 = ", name);
    vy_gen_expr(g, T_U32, 3);
    vy_gen_end(g, part);
    vy_gen_declare(g, name, T_U32, true, false);
    return name;
}

static void use_live_value(vy_gen *g, uint32_t name)
{
    uint32_t part = vy_gen_begin(g);
    vy_gen_mark(g, "live across");
    vy_gen_printf(g, "mine_a[%s] = v%u ^ ", g->me, name);
    vy_gen_expr(g, T_U32, 2);
    vy_gen_end(g, part);
}

static void host_head(vy_gen *g)
{
    static const char *const conditions[] = {"(p_u32 & 1u) == 0u", "len(in_u32) > 100u", "p_bool",
                                             "p_i32 < 0i"};
    static const char *const ranges[] = {"0u .. 1u + (p_u32 & 1u)", "0u .. p_u32 % 4u step 2u",
                                         "1u .. 3u down", "p_i32 % 2i .. 2i",
                                         "0u .. len(in_i32) & 1u"};
    if (vy_gen_chance(g, 60)) {
        uint32_t name = g->next_name++;
        uint32_t range = vy_gen_below(g, VY_COUNT_OF(ranges));
        vy_gen_mark(g, "host for");
        vy_gen_mark(g, "loop");
        vy_gen_printf(g, "for v%u in %s", name, ranges[range]);
        vy_gen_declare(g, name, range == 3 ? T_I32 : T_U32, false, false);
    } else {
        vy_gen_mark(g, "host if");
        vy_gen_printf(g, "if %s", conditions[vy_gen_below(g, VY_COUNT_OF(conditions))]);
    }
}

/* A loop or condition that the host evaluates, with cuts around and in it. */
static void host_construct(vy_gen *g, uint32_t live, int nesting)
{
    int vars = g->var_count;
    uint32_t part = vy_gen_begin(g);
    host_head(g);
    cut(g);
    uint32_t list = vy_gen_open_list(g);
    g->depth--; /* what stands here stands at the host's level */
    vy_gen_statements(g, 1 + (int)vy_gen_below(g, 2));
    if (nesting < 1 && vy_gen_chance(g, 25)) {
        host_construct(g, live, nesting + 1);
    } else {
        grid_sync(g);
    }
    use_live_value(g, live);
    vy_gen_statements(g, (int)vy_gen_below(g, 2));
    g->depth++;
    vy_gen_close_list(g, list);
    vy_gen_end(g, part);
    cut(g);
    g->var_count = vars;
}

/* ---- Header -----------------------------------------------------------------------------------
 */

static void line(vy_gen *g, const char *text)
{
    uint32_t part = vy_gen_open(g, VY_PART_DECLARATION, 0);
    vy_gen_put(g, text);
    vy_gen_put(g, "\n");
    vy_gen_close(g, part);
}

/* `text` with the type's name for each %s (at most two) and the number for %u. */
static void typed_line(vy_gen *g, const char *head, uint32_t type, uint32_t count)
{
    const char *name = vy_gen_types[type].name;
    uint32_t part = vy_gen_open(g, VY_PART_DECLARATION, 0);
    vy_gen_put(g, head);
    if (head[strlen(head) - 1] == '_') {
        vy_gen_put(g, name);
    }
    vy_gen_printf(g, ": %s[", name);
    if (count) {
        uint32_t number = vy_gen_open(g, VY_PART_NUMBER, 0);
        vy_gen_printf(g, "%u", count);
        vy_gen_close(g, number);
    }
    vy_gen_put(g, "]\n");
    vy_gen_close(g, part);
}

/* One that has atomics whose order cannot be told. */
static uint8_t integer_type(vy_gen *g)
{
    uint32_t t;
    do {
        t = vy_gen_below(g, g->language->type_count);
    } while (!g->active[t] || !g->language->atomics[VY_GEN_XOR][t]);
    return (uint8_t)t;
}

static void choose_types(vy_gen *g)
{
    /* Some programs have what every device and every judge knows. */
    uint32_t extras = 0, most = vy_gen_chance(g, 30) ? 0 : 3;
    for (uint32_t t = 0; t < g->language->type_count; t++) {
        g->active[t] = t <= T_F32;
    }
    /* Three more at most, or programs would have too many buffers. */
    for (uint32_t i = 0; i < 12 && extras < most; i++) {
        uint32_t t = T_F32 + 1 + vy_gen_below(g, g->language->type_count - T_F32 - 1);
        if (g->language->has_type[t] && !g->active[t] && vy_gen_chance(g, 50)) {
            g->active[t] = true;
            extras++;
        }
    }
    do {
        g->cross = (uint8_t)vy_gen_below(g, g->language->type_count);
    } while (!g->active[g->cross] || !g->language->is_element[g->cross]);
    do {
        g->tile = (uint8_t)vy_gen_below(g, g->language->type_count);
    } while (!g->active[g->tile] || !g->language->is_element[g->tile] ||
             !g->language->is_value[g->tile]);
    do {
        g->slots = (uint8_t)vy_gen_below(g, g->language->type_count);
    } while (!g->active[g->slots] || !g->language->atomics[VY_GEN_ADD][g->slots]);
    g->common = integer_type(g);
    g->tally = integer_type(g);
    do {
        g->rows = (uint8_t)vy_gen_below(g, g->language->type_count);
    } while (!g->active[g->rows] || !g->language->is_table[g->rows]);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t t = vy_gen_below(g, g->language->type_count);
        g->owns[t] = g->active[t] && g->language->is_element[t] && (t > T_F32 || i < 4);
    }
}

static void choose_grid(vy_gen *g)
{
    static const uint32_t sizes[][3] = {{8, 1, 1},  {16, 1, 1}, {20, 1, 1}, {32, 1, 1}, {64, 1, 1},
                                        {33, 1, 1}, {1, 1, 1},  {4, 4, 1},  {8, 2, 1},  {2, 3, 4}};
    vy_generated *info = g->info;
    g->agnostic = vy_gen_chance(g, 12);
    memcpy(g->size, sizes[vy_gen_below(g, g->agnostic ? 7 : (uint32_t)VY_COUNT_OF(sizes))],
           sizeof g->size);
    uint32_t total[3], groups[3] = {1 + vy_gen_below(g, 4), 1, 1};
    bool is_flat = g->size[1] * g->size[2] == 1;
    if (!is_flat) {
        groups[1] = 1 + vy_gen_below(g, 2);
        groups[2] = g->size[2] > 1 ? 1 + vy_gen_below(g, 2) : 1;
        vy_gen_mark(g, "several dimensions");
    }
    g->volume = g->size[0] * g->size[1] * g->size[2];
    for (int i = 0; i < 3; i++) {
        total[i] = groups[i] * g->size[i];
    }
    g->elements = total[0] * total[1] * total[2];
    snprintf(g->me, sizeof g->me, is_flat ? "gid.x" : "(gid.x + %uu * (gid.y + %uu * gid.z))",
             total[0], total[1]);
    snprintf(g->here, sizeof g->here, is_flat ? "lid.x" : "(lid.x + %uu * (lid.y + %uu * lid.z))",
             g->size[0], g->size[1]);
    info->grid = is_flat && vy_gen_chance(g, 20) ? VY_GRID_OVER : VY_GRID_GROUPS;
    if (g->agnostic && info->grid == VY_GRID_GROUPS) {
        info->grid = VY_GRID_ELEMENTS;
    }
    if (info->grid == VY_GRID_GROUPS && vy_gen_chance(g, 12)) {
        info->grid = VY_GRID_FROM;
        info->more_groups = is_flat && vy_gen_chance(g, 35) ? 1 + vy_gen_below(g, 3) : 0;
        vy_gen_mark(g, "grid from");
    }
    /* Takes no random number: programs of other grids stay what they were. */
    if (info->grid == VY_GRID_GROUPS && info->seed % 7 == 3) {
        info->grid = VY_GRID_OF;
        vy_gen_mark(g, "grid of");
    }
    memcpy(info->groups, groups, sizeof groups);
    memcpy(info->elements, total, sizeof total);
    if (info->grid == VY_GRID_OVER || info->grid == VY_GRID_ELEMENTS) {
        /* The last workgroup may be part of one. */
        uint32_t missing = vy_gen_below(g, g->size[0]);
        g->elements -= missing;
        info->elements[0] -= missing;
        vy_gen_mark(g, info->grid == VY_GRID_OVER ? "grid over" : "elements");
    }
    if (g->agnostic && vy_gen_chance(g, 70)) {
        info->workgroup[0] = 1 + vy_gen_below(g, 70);
        vy_gen_mark(g, "workgroup override");
    }
}

static void directives(vy_gen *g)
{
    char text[64];
    snprintf(text, sizeof text, "workgroup %u, %u, %u", g->size[0], g->size[1], g->size[2]);
    if (g->size[1] * g->size[2] == 1) {
        snprintf(text, sizeof text, "workgroup %u", g->size[0]);
    }
    line(g, text);
    if (g->info->grid == VY_GRID_OVER) {
        line(g, "grid over tallies");
    }
    if (g->info->grid == VY_GRID_FROM) {
        line(g, "grid from sizes");
    }
    g->has_subgroups = !g->agnostic && vy_gen_chance(g, 30);
    g->has_divergent = g->has_subgroups && vy_gen_chance(g, 50);
    /* Widths that devices have: not all of them each. */
    uint32_t width = vy_gen_chance(g, 50) ? 8 : 32;
    if (g->has_subgroups && g->size[0] % width == 0 && vy_gen_chance(g, 60)) {
        vy_gen_mark(g, "subgroup width");
        snprintf(text, sizeof text, "subgroup %u", width);
        line(g, text);
    }
    if (vy_gen_chance(g, 40)) {
        bool until = vy_gen_chance(g, 50);
        vy_gen_mark(g, "fixpoint");
        if (until) {
            vy_gen_mark(g, "until");
        }
        snprintf(text, sizeof text, "fixpoint %u%s", 2 + vy_gen_below(g, 2),
                 until ? " until again" : "");
        line(g, text);
    }
    line(g, "loop_limit 4096");
}

static void inputs(vy_gen *g)
{
    char text[64];
    for (uint32_t t = 0; t < g->language->type_count; t++) {
        if (!g->active[t]) {
            continue;
        }
        if (g->language->is_param[t]) {
            snprintf(text, sizeof text, "param p_%s: %s", vy_gen_types[t].name,
                     vy_gen_types[t].name);
            line(g, text);
            uint64_t *bits = g->info->params[t];
            vy_generate_input(g->info, t, 77 + t, bits);
            bits[0] = t == T_U32 ? bits[0] % 1000 : bits[0];
        }
        if (g->language->is_element[t]) {
            typed_line(g, "in in_", t, 0);
        }
    }
    for (uint32_t t = 0; t < VY_GEN_TYPES; t++) {
        g->info->lengths[t] =
            vy_gen_below(g, 8) == 0 ? vy_gen_below(g, 3) : 60 + vy_gen_below(g, 300);
    }
    line(g, "uniform steady: u32[16]");
    if (g->info->grid == VY_GRID_FROM) {
        line(g, vy_gen_chance(g, 50) ? "in sizes: u32[3]" : "uniform sizes: u32[3]");
    }
}

static void outputs(vy_gen *g)
{
    uint32_t n = g->elements;
    typed_line(g, "out even_out", g->cross, n * VY_GEN_OWN);
    typed_line(g, "out odd_out", g->cross, n * VY_GEN_OWN);
    typed_line(g, "out common", g->common, 8);
    typed_line(g, "out totals", T_F32, 2);
    typed_line(g, "out slots", g->slots, n);
    typed_line(g, "out tallies", T_U32, n);
    typed_line(g, "out mine_a", T_U32, n);
    typed_line(g, "out mine_b", T_U32, n);
    typed_line(g, "scratch keep kept", T_U32, n);
    for (uint32_t t = 0; t < g->language->type_count; t++) {
        if (g->owns[t]) {
            typed_line(g, vy_gen_chance(g, 40) ? "inout own_" : "out own_", t, n);
        }
    }
    typed_line(g, "scratch again", T_U32, 1);
    if (g->info->grid == VY_GRID_OF) {
        const uint32_t *groups = g->info->groups;
        uint32_t part = vy_gen_open(g, VY_PART_DECLARATION, 0);
        vy_gen_printf(g, "grid of (len(tallies) + %u) / %u / %u, ", g->volume - 1, g->volume,
                      groups[1] * groups[2]);
        vy_gen_printf(g, "min(len(steady), %u), select(len(again) == 1, %u, 0)\n", groups[1],
                      groups[2]);
        vy_gen_close(g, part);
    }
    if (!g->agnostic) {
        typed_line(g, "shared tile", g->tile, g->volume + vy_gen_below(g, 3));
        typed_line(g, "shared tally", g->tally, 4);
    }
    line(g, "const primes: u32[] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]");
    uint32_t table = vy_gen_open(g, VY_PART_DECLARATION, 0);
    vy_gen_printf(g, "const rows: %s[] = [", vy_gen_types[g->rows].name);
    for (uint32_t i = 0; i < VY_GEN_TABLE; i++) {
        vy_gen_put(g, i ? ", " : "");
        vy_gen_constant(g, g->rows);
    }
    vy_gen_put(g, "]\n");
    vy_gen_close(g, table);
    g->big_table = vy_gen_chance(g, 3);
    if (g->big_table) {
        /* Too large for a module. */
        uint32_t part = vy_gen_open(g, VY_PART_DECLARATION, 0);
        vy_gen_put(g, "const big: u32[] = [0");
        for (uint32_t i = 1; i < 4100; i++) {
            vy_gen_printf(g, ", %u", i * 3);
        }
        vy_gen_put(g, "]\n");
        vy_gen_close(g, part);
    }
}

/* ---- Functions --------------------------------------------------------------------------------
 */

static void pure_function(vy_gen *g, uint32_t index)
{
    vy_gen_function *f = &g->functions[index];
    uint32_t part = vy_gen_open(g, VY_PART_DECLARATION, 0);
    int vars = g->var_count;
    f->result = (uint8_t)(index == 0 ? T_U32 : vy_gen_value_type(g));
    f->parameter_count = (uint8_t)(1 + vy_gen_below(g, 3));
    g->in_function = true;
    vy_gen_printf(g, "fn f%u(", index);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        uint32_t name = g->next_name++;
        f->parameters[i] = (uint8_t)vy_gen_value_type(g);
        vy_gen_printf(g, "%sv%u: %s", i ? ", " : "", name, vy_gen_types[f->parameters[i]].name);
        vy_gen_declare(g, name, f->parameters[i], false, false);
    }
    vy_gen_printf(g, ") -> %s {\n    if ", vy_gen_types[f->result].name);
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " { return ");
    vy_gen_expr(g, f->result, 2);
    uint32_t name = g->next_name++;
    vy_gen_printf(g, " }\n    for v%u in 0u .. 4u {\n        if ", name);
    vy_gen_declare(g, name, T_U32, false, false);
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " { return ");
    vy_gen_expr(g, f->result, 1);
    vy_gen_put(g, " }\n    }\n    return ");
    g->var_count--;
    vy_gen_expr(g, f->result, 3);
    vy_gen_put(g, "\n}\n");
    vy_gen_close(g, part);
    g->var_count = vars;
    g->in_function = false;
    g->function_count = index + 1;
}

static void functions(vy_gen *g)
{
    for (uint32_t i = 0; i < 1 + vy_gen_below(g, VY_GEN_FUNCTIONS); i++) {
        pure_function(g, i);
    }
    uint32_t part = vy_gen_open(g, VY_PART_DECLARATION, 0);
    vy_gen_put(g, "fn bump(x: u32) -> u32 {\n    atomic_add(common[0u], ");
    vy_gen_as(g, g->common, "x & 7u");
    vy_gen_put(g, ")\n    return x + 1u\n}\n");
    vy_gen_close(g, part);
    if (g->agnostic) {
        return;
    }
    char element[80];
    part = vy_gen_open(g, VY_PART_DECLARATION, 0);
    vy_gen_put(g, "fn relay(x: u32) -> u32 {\n    atomic_max(tally[x & 3u], ");
    vy_gen_as(g, g->tally, "x");
    vy_gen_put(g, ")\n    barrier\n    let y = ");
    snprintf(element, sizeof element, "tally[%s & 3u]", g->here);
    vy_gen_as_u32(g, g->tally, element);
    vy_gen_put(g, "\n    barrier\n    return y\n}\n");
    vy_gen_close(g, part);
}

/* ---- The kernel -------------------------------------------------------------------------------
 */

static void kernel_body(vy_gen *g)
{
    uint32_t live = live_value(g);
    vy_gen_statements(g, 2 + (int)vy_gen_below(g, 4));
    uint32_t cuts = vy_gen_chance(g, 75) ? 1 + vy_gen_below(g, 3) : 0;
    for (uint32_t i = 0; i < cuts; i++) {
        if (vy_gen_chance(g, 40)) {
            host_construct(g, live, 0);
        } else {
            grid_sync(g);
        }
        use_live_value(g, live);
        if (!g->agnostic && vy_gen_chance(g, 60)) {
            uint32_t part = vy_gen_begin(g);
            vy_gen_shared(g);
            vy_gen_end(g, part);
        }
        vy_gen_statements(g, 1 + (int)vy_gen_below(g, 4));
    }
    uint32_t part = vy_gen_begin(g);
    vy_gen_put(g, "if ");
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " { atomic_store(again[0u], 1u) }");
    vy_gen_end(g, part);
}

static void generate(uint64_t seed, vy_text *out, vy_generated *out_info, vy_gen_case *parts)
{
    vy_gen state = {.out = out,
                    .parts = parts,
                    .info = out_info,
                    .language = vy_gen_language(),
                    .state = seed * 0x2545f4914f6cdd1du + 1,
                    .uniform = true,
                    .budget = 40};
    vy_gen *g = &state;
    memset(out_info, 0, sizeof *out_info);
    out_info->seed = seed;
    choose_types(g);
    choose_grid(g);
    vy_gen_printf(g, "program generated_%llu\n", (unsigned long long)seed);
    directives(g);
    inputs(g);
    outputs(g);
    functions(g);
    vy_gen_put(g, "kernel {\n");
    g->indent = 1;
    uint32_t part = vy_gen_open(g, VY_PART_BODY, 0);
    kernel_body(g);
    vy_gen_close(g, part);
    vy_gen_put(g, "}\n");
}

void vy_generate(uint64_t seed, vy_text *out, vy_generated *out_info)
{
    generate(seed, out, out_info, NULL);
}

void vy_gen_case_generate(uint64_t seed, vy_gen_case *out_case)
{
    *out_case = (vy_gen_case){0};
    vy_text_init(&out_case->text, NULL);
    generate(seed, &out_case->text, &out_case->info, out_case);
}
