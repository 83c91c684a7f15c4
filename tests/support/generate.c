/* The generator: a small grammar walked at random. Invariants that make programs race-free:
 *   - `words`, `ints`, `floats`, `flags` are inputs, read anywhere;
 *   - in an even segment every invocation writes only its own elements of `even_out` and may read
 * any of `odd_out`; in an odd segment the other way round;
 *   - shared memory is written at the own element, then a barrier, then read anywhere, then a
 * barrier;
 *   - atomics on common elements drop their old value and each element sees one commuting
 * operation; atomics whose value is used touch only the invocation's own element. */
#include "tests/support/generate_parts.h"

#include <string.h>

static void line_start(vy_gen *g)
{
    for (int i = 0; i < g->indent; i++) {
        vy_gen_put(g, "    ");
    }
}

/* The same value at every invocation of a workgroup. */
static void uniform_condition(vy_gen *g)
{
    static const char *const texts[] = {"(p & 1u) == 0u",   "(wid.x & 1u) == 0u",
                                        "words[wid.x] > p", "flags[p & 63u]",
                                        "q < ints[2]",      "r < floats[wid.x + 1u]"};
    vy_gen_put(g, texts[vy_gen_below(g, VY_COUNT_OF(texts))]);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void statements(vy_gen *g, int count);

static void declare(vy_gen *g, uint32_t name, int type, bool assignable, bool array)
{
    if (g->var_count < (int)VY_COUNT_OF(g->vars)) {
        g->vars[g->var_count].name = name;
        g->vars[g->var_count].type = (uint8_t)type;
        g->vars[g->var_count].assignable = assignable;
        g->vars[g->var_count].array = array;
        g->vars[g->var_count].host_level = g->depth == 0;
        g->var_count++;
    }
}

static void open_list(vy_gen *g)
{
    vy_gen_put(g, " {\n");
    g->indent++;
    g->depth++;
}

static void close_list(vy_gen *g, int var_count)
{
    g->var_count = var_count;
    g->depth--;
    g->indent--;
    line_start(g);
    vy_gen_put(g, "}");
}

/* A nested list of statements whose flow is uniform only if it was and `uniform` says so. */
static void body(vy_gen *g, int count, bool uniform)
{
    int vars = g->var_count;
    bool was = g->uniform;
    g->uniform = was && uniform;
    open_list(g);
    statements(g, count);
    close_list(g, vars);
    g->uniform = was;
}

static void stmt_declaration(vy_gen *g)
{
    int type = (int)vy_gen_below(g, T_COUNT);
    uint32_t name = g->next_name++;
    if (vy_gen_chance(g, 12) && !g->in_function) {
        vy_gen_mark(g, "array");
        vy_text_printf(g->out, "var v%u: %s[8]\n", name, vy_gen_type_names[type]);
        declare(g, name, type, true, true);
        return;
    }
    bool assignable = vy_gen_chance(g, 50);
    vy_gen_mark(g, assignable ? "var" : "let");
    vy_text_printf(g->out, "%s v%u: %s = ", assignable ? "var" : "let", name,
                   vy_gen_type_names[type]);
    vy_gen_expr(g, type, 3);
    vy_gen_put(g, "\n");
    declare(g, name, type, assignable, false);
}

static bool stmt_assign(vy_gen *g)
{
    int start = g->var_count ? (int)vy_gen_below(g, (uint32_t)g->var_count) : 0;
    for (int i = 0; i < g->var_count; i++) {
        int at = (start + i) % g->var_count;
        if (!g->vars[at].assignable) {
            continue;
        }
        vy_text_printf(g->out, "v%u", g->vars[at].name);
        if (g->vars[at].array) {
            vy_gen_mark(g, "array store");
            vy_gen_put(g, "[");
            vy_gen_expr(g, vy_gen_chance(g, 70) ? T_U32 : T_I32, 1);
            vy_gen_put(g, "]");
        } else {
            vy_gen_mark(g, "assign");
        }
        vy_gen_put(g, " = ");
        vy_gen_expr(g, g->vars[at].type, 3);
        vy_gen_put(g, "\n");
        return true;
    }
    return false;
}

static void stmt_store(vy_gen *g)
{
    vy_gen_mark(g, "store");
    vy_text_printf(g->out, "%s[gid.x * %uu + (", g->segment % 2 ? "odd_out" : "even_out",
                   VY_GEN_OWN);
    vy_gen_expr(g, T_U32, 1);
    vy_text_printf(g->out, ") %% %uu] = ", VY_GEN_OWN);
    vy_gen_expr(g, T_U32, 3);
    vy_gen_put(g, "\n");
}

static void stmt_atomic(vy_gen *g)
{
    static const char *const common[] = {"add", "min", "max", "and", "or", "xor", "sub"};
    static const char *const own[] = {"add", "sub", "min", "max", "and", "or", "xor", "exchange"};
    if (vy_gen_chance(g, 55)) {
        /* Element k of `common` sees operation k only; sub shares with add. */
        uint32_t op = vy_gen_below(g, VY_COUNT_OF(common));
        vy_gen_mark(g, "common atomic");
        vy_text_printf(g->out, "atomic_%s(common[%uu], ", common[op], op == 6 ? 0u : op);
        vy_gen_expr(g, T_U32, 2);
        vy_gen_put(g, ")\n");
        return;
    }
    vy_gen_mark(g, "own atomic");
    uint32_t name = g->next_name++;
    if (vy_gen_chance(g, 15)) {
        vy_gen_put(g, "atomic_store(slots[gid.x], ");
        vy_gen_expr(g, T_I32, 2);
        vy_gen_put(g, ")\n");
        return;
    }
    if (vy_gen_chance(g, 25)) {
        vy_text_printf(g->out, "let v%u = atomic_compare_exchange(slots[gid.x], ", name);
        vy_gen_expr(g, T_I32, 1);
        vy_gen_put(g, ", ");
    } else if (vy_gen_chance(g, 15)) {
        vy_text_printf(g->out, "let v%u = atomic_load(slots[gid.x]", name);
        vy_gen_put(g, ")\n");
        declare(g, name, T_I32, false, false);
        return;
    } else {
        vy_text_printf(g->out, "let v%u = atomic_%s(slots[gid.x], ", name,
                       own[vy_gen_below(g, VY_COUNT_OF(own))]);
    }
    vy_gen_expr(g, T_I32, 2);
    vy_gen_put(g, ")\n");
    declare(g, name, T_I32, false, false);
}

static void stmt_if(vy_gen *g)
{
    bool uniform = g->uniform && vy_gen_chance(g, 40);
    vy_gen_mark(g, "if");
    vy_gen_put(g, "if ");
    if (uniform) {
        uniform_condition(g);
    } else {
        vy_gen_expr(g, T_BOOL, 3);
    }
    body(g, 1 + (int)vy_gen_below(g, 3), uniform);
    if (vy_gen_chance(g, 45)) {
        vy_gen_mark(g, "else");
        vy_gen_put(g, " else");
        body(g, 1 + (int)vy_gen_below(g, 3), uniform);
    }
    vy_gen_put(g, "\n");
}

static void stmt_switch(vy_gen *g)
{
    vy_gen_mark(g, "switch");
    vy_gen_put(g, "switch ");
    vy_gen_expr(g, T_U32, 2);
    vy_gen_put(g, " % 6u");
    open_list(g);
    uint32_t next = 0;
    for (uint32_t i = 0; i < 1 + vy_gen_below(g, 3); i++) {
        line_start(g);
        vy_text_printf(g->out, "case %u", next++);
        if (vy_gen_chance(g, 30)) {
            vy_text_printf(g->out, ", %u", next++);
        }
        body(g, 1 + (int)vy_gen_below(g, 2), false);
        vy_gen_put(g, "\n");
    }
    if (vy_gen_chance(g, 60)) {
        line_start(g);
        vy_gen_put(g, "default");
        body(g, 1, false);
        vy_gen_put(g, "\n");
    }
    close_list(g, g->var_count);
    vy_gen_put(g, "\n");
}

static void loop_body(vy_gen *g, int count, bool uniform)
{
    bool was = g->in_loop;
    vy_gen_mark(g, "loop");
    g->in_loop = true;
    body(g, count, uniform);
    g->in_loop = was;
    vy_gen_put(g, "\n");
}

static void stmt_for(vy_gen *g)
{
    uint32_t name = g->next_name++;
    int vars = g->var_count;
    vy_gen_mark(g, "for");
    vy_text_printf(g->out, "for v%u in ", name);
    if (vy_gen_chance(g, 60)) {
        vy_gen_put(g, "0u .. (");
        vy_gen_expr(g, T_U32, 2);
        vy_gen_put(g, ") % 7u");
        declare(g, name, T_U32, false, false);
    } else {
        vy_gen_put(g, "(");
        vy_gen_expr(g, T_I32, 1);
        vy_gen_put(g, ") % 4i .. (");
        vy_gen_expr(g, T_I32, 1);
        vy_gen_put(g, ") % 6i");
        declare(g, name, T_I32, false, false);
    }
    if (vy_gen_chance(g, 35)) {
        vy_gen_mark(g, "for step");
        vy_text_printf(g->out, " step %u%s", 1 + vy_gen_below(g, 3),
                       g->vars[g->var_count - 1].type == T_I32 ? "i" : "u");
    }
    if (vy_gen_chance(g, 30)) {
        vy_gen_mark(g, "for down");
        vy_gen_put(g, " down");
    }
    loop_body(g, 1 + (int)vy_gen_below(g, 3), false);
    g->var_count = vars;
}

static void stmt_while(vy_gen *g)
{
    uint32_t name = g->next_name++;
    int vars = g->var_count;
    vy_gen_mark(g, "while");
    vy_text_printf(g->out, "var v%u = ", name);
    vy_gen_expr(g, T_U32, 1);
    vy_gen_put(g, " % 9u\n");
    line_start(g);
    vy_text_printf(g->out, "while v%u > 0u && ", name);
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " {\n");
    g->indent++;
    line_start(g);
    /* One program in a few runs into its loop limit here. */
    vy_text_printf(g->out, "v%u = v%u - %s\n", name, name, vy_gen_chance(g, 92) ? "1u" : "0u");
    line_start(g);
    vy_gen_put(g, "if true");
    declare(g, name, T_U32, false, false);
    loop_body(g, 1 + (int)vy_gen_below(g, 2), false);
    g->indent--;
    line_start(g);
    vy_gen_put(g, "}\n");
    g->var_count = vars;
}

static void stmt_shared(vy_gen *g)
{
    uint32_t name = g->next_name++;
    vy_gen_mark(g, "shared");
    vy_gen_mark(g, "barrier");
    vy_gen_put(g, "tile[lid.x] = ");
    vy_gen_expr(g, T_U32, 2);
    vy_gen_put(g, "\n");
    line_start(g);
    vy_gen_put(g, "barrier\n");
    line_start(g);
    if (vy_gen_chance(g, 35)) {
        vy_gen_mark(g, "uniform load");
        vy_text_printf(g->out, "let v%u = uniform tile[%u]\n", name, vy_gen_below(g, 40));
    } else {
        vy_text_printf(g->out, "let v%u = tile[(", name);
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, ") % 40u]\n");
    }
    line_start(g);
    vy_gen_put(g, "barrier\n");
    if (vy_gen_chance(g, 40)) {
        line_start(g);
        vy_gen_put(g, "atomic_add(tally[(");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, ") % 4u], ");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, ")\n");
        line_start(g);
        vy_gen_put(g, "barrier\n");
        line_start(g);
        vy_text_printf(g->out, "even_odd_%u[gid.x] = tally[lid.x & 3u]\n", g->segment % 2);
        line_start(g);
        vy_gen_put(g, "barrier\n");
    }
    declare(g, name, T_U32, false, false);
}

static bool stmt_jump(vy_gen *g)
{
    if (g->in_loop && vy_gen_chance(g, 60)) {
        bool is_break = vy_gen_chance(g, 50);
        vy_gen_mark(g, is_break ? "break" : "continue");
        vy_gen_put(g, "if ");
        vy_gen_expr(g, T_BOOL, 2);
        vy_text_printf(g->out, " { %s }\n", is_break ? "break" : "continue");
        return true;
    }
    if (vy_gen_chance(g, 35)) {
        vy_gen_mark(g, "return");
        vy_gen_put(g, "if ");
        vy_gen_expr(g, T_BOOL, 3);
        vy_gen_put(g, " { return }\n");
        g->returned = true;
        return true;
    }
    vy_gen_mark(g, "trap");
    vy_gen_put(g, "if ");
    vy_gen_expr(g, T_BOOL, 3);
    vy_text_printf(g->out, " { trap(%u) }\n", vy_gen_below(g, 1000));
    return true;
}

static void statement(vy_gen *g)
{
    line_start(g);
    bool barrier_ok = g->uniform && !g->returned && !g->in_loop;
    uint32_t pick = vy_gen_below(g, 100);
    if (g->depth > 4 && pick >= 46) {
        pick = vy_gen_below(g, 46);
    }
    if (pick < 18) {
        stmt_declaration(g);
    } else if (pick < 28) {
        if (!stmt_assign(g)) {
            stmt_store(g);
        }
    } else if (pick < 38) {
        stmt_store(g);
    } else if (pick < 46) {
        stmt_atomic(g);
    } else if (pick < 58) {
        stmt_if(g);
    } else if (pick < 63) {
        stmt_switch(g);
    } else if (pick < 71) {
        stmt_for(g);
    } else if (pick < 77) {
        stmt_while(g);
    } else if (pick < 80) {
        vy_gen_mark(g, "block");
        body(g, 2, true);
        vy_gen_put(g, "\n");
    } else if (pick < 83) {
        vy_gen_mark(g, "region");
        vy_text_printf(g->out, "region \"part %u\"", g->next_name);
        body(g, 2, true);
        vy_gen_put(g, "\n");
    } else if (pick < 90 && barrier_ok) {
        stmt_shared(g);
    } else if (pick < 94) {
        uint32_t name = g->next_name++;
        vy_gen_mark(g, "call statement");
        vy_text_printf(g->out, "let v%u = bump(", name);
        vy_gen_expr(g, T_U32, 2);
        vy_gen_put(g, ")\n");
        declare(g, name, T_U32, false, false);
    } else {
        stmt_jump(g);
    }
}

static void statements(vy_gen *g, int count)
{
    for (int i = 0; i < count && g->budget > 0; i++) {
        g->budget--;
        statement(g);
    }
}

/* A cut ends the segment: what the invocation returned from is over. */
static void cut(vy_gen *g)
{
    g->segment++;
    g->returned = false;
}

/* A value made before a cut and used after it, by recomputation or through memory. */
static void live_value(vy_gen *g, uint32_t *out_name)
{
    *out_name = g->next_name++;
    line_start(g);
    vy_text_printf(g->out, "var v%u: u32 = ", *out_name);
    vy_gen_expr(g, T_U32, 3);
    vy_gen_put(g, "\n");
    declare(g, *out_name, T_U32, true, false);
}

static void use_live_value(vy_gen *g, uint32_t name)
{
    vy_gen_mark(g, "live across");
    line_start(g);
    vy_text_printf(g->out, "%s[gid.x * %uu] = v%u ^ ", g->segment % 2 ? "odd_out" : "even_out",
                   VY_GEN_OWN, name);
    vy_gen_expr(g, T_U32, 2);
    vy_gen_put(g, "\n");
}

static void host_construct(vy_gen *g, uint32_t live)
{
    int vars = g->var_count;
    line_start(g);
    bool loop = vy_gen_chance(g, 60);
    if (loop) {
        uint32_t name = g->next_name++;
        vy_gen_mark(g, "host for");
        vy_gen_mark(g, "loop");
        vy_text_printf(g->out, "for v%u in 0u .. 1u + (p & 1u)", name);
        declare(g, name, T_U32, false, false);
    } else {
        vy_gen_mark(g, "host if");
        vy_gen_put(g, vy_gen_chance(g, 50) ? "if (p & 1u) == 0u" : "if len(words) > 100u");
    }
    cut(g);
    vy_gen_put(g, " {\n");
    g->indent++;
    statements(g, 1 + (int)vy_gen_below(g, 2));
    line_start(g);
    vy_gen_put(g, "grid_sync\n");
    vy_gen_mark(g, "grid_sync");
    cut(g);
    use_live_value(g, live);
    statements(g, (int)vy_gen_below(g, 2));
    g->indent--;
    line_start(g);
    vy_gen_put(g, "}\n");
    /* The next iteration writes what this one read: an even number of segments in each. */
    cut(g);
    g->var_count = vars;
}

static void header(vy_gen *g, uint64_t seed)
{
    static const uint32_t sizes[] = {8, 16, 20, 32, 64};
    uint32_t size = sizes[vy_gen_below(g, VY_COUNT_OF(sizes))];
    g->info->groups = 1 + vy_gen_below(g, 4);
    g->info->elements = size * g->info->groups;
    vy_text_printf(g->out, "program generated_%llu\nworkgroup %u\n", (unsigned long long)seed,
                   size);
    if (vy_gen_chance(g, 40)) {
        vy_gen_mark(g, "fixpoint");
        bool until = vy_gen_chance(g, 50);
        vy_text_printf(g->out, "fixpoint %u%s\n", 2 + vy_gen_below(g, 2),
                       until ? " until again" : "");
        if (until) {
            vy_gen_mark(g, "until");
        }
    }
    vy_gen_put(g, "loop_limit 4096\n\n"
                  "param p: u32\nparam q: i32\nparam r: f32\n"
                  "in ints: i32[]\nin floats: f32[]\nin flags: bool[]\nin words: u32[]\n");
    vy_text_printf(g->out, "out even_out: u32[%u]\nout odd_out: u32[%u]\n",
                   g->info->elements * VY_GEN_OWN, g->info->elements * VY_GEN_OWN);
    vy_text_printf(g->out, "out common: u32[8]\nout slots: i32[%u]\n", g->info->elements);
    vy_text_printf(g->out, "out even_odd_0: u32[%u]\nout even_odd_1: u32[%u]\n", g->info->elements,
                   g->info->elements);
    vy_gen_put(
        g,
        "scratch again: u32[1]\nshared tile: u32[64]\nshared tally: u32[4]\n"
        "const primes: u32[] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]\n\n");
    for (uint32_t i = 0; i < 4; i++) {
        g->info->seed_lengths[i] =
            vy_gen_below(g, 8) == 0 ? vy_gen_below(g, 3) : 60 + vy_gen_below(g, 300);
    }
    g->info->params[0] = vy_gen_random(g) % 1000;
    g->info->params[1] = vy_gen_random(g);
    g->info->params[2] = vy_generate_input(seed, 1, 77);
}

static void function_mix(vy_gen *g)
{
    vy_gen_put(g, "fn mix(v900000: u32, v900001: f32) -> u32 {\n");
    g->indent = 1;
    g->in_function = true;
    int vars = g->var_count;
    declare(g, 900000, T_U32, false, false);
    declare(g, 900001, T_F32, false, false);
    line_start(g);
    vy_gen_put(g, "if ");
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " { return ");
    vy_gen_expr(g, T_U32, 2);
    vy_gen_put(g, " }\n    for v900002 in 0u .. 4u {\n        if ");
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " { return v900002 }\n    }\n    return ");
    vy_gen_expr(g, T_U32, 3);
    vy_gen_put(g, "\n}\n\n");
    g->var_count = vars;
    g->in_function = false;
    vy_gen_put(g, "fn bump(v900003: u32) -> u32 {\n    atomic_add(common[0u], v900003 & 7u)\n"
                  "    return v900003 + 1u\n}\n\n");
    g->indent = 0;
}

void vy_generate(uint64_t seed, vy_text *out, vy_generated *out_info)
{
    vy_gen state = {.out = out,
                    .info = out_info,
                    .state = seed * 0x2545f4914f6cdd1du + 1,
                    .uniform = true,
                    .budget = 40};
    vy_gen *g = &state;
    memset(out_info, 0, sizeof *out_info);
    header(g, seed);
    function_mix(g);
    vy_gen_put(g, "kernel {\n");
    g->indent = 1;
    uint32_t live = 0;
    live_value(g, &live);
    statements(g, 2 + (int)vy_gen_below(g, 4));
    uint32_t cuts = vy_gen_chance(g, 75) ? 1 + vy_gen_below(g, 3) : 0;
    for (uint32_t i = 0; i < cuts; i++) {
        if (vy_gen_chance(g, 40)) {
            /* Keep the parity of segments at the construct's entry and exit. */
            host_construct(g, live);
            use_live_value(g, live);
        } else {
            line_start(g);
            vy_gen_put(g, "grid_sync\n");
            vy_gen_mark(g, "grid_sync");
            cut(g);
            use_live_value(g, live);
        }
        if (!g->returned && vy_gen_chance(g, 60)) {
            line_start(g);
            stmt_shared(g);
        }
        statements(g, 1 + (int)vy_gen_below(g, 4));
    }
    line_start(g);
    vy_gen_put(g, "if ");
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " { atomic_store(again[0u], 1u) }\n}\n");
}
