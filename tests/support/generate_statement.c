/* Random statements for generated programs. What makes programs race-free is said in generate.c. */
#include "tests/support/generate_parts.h"

#include <stdio.h>
#include <string.h>

/* Whether all invocations of a workgroup are here, or none. */
static bool meets(const vy_gen *g)
{
    return g->uniform && !g->returned && !g->in_loop && !g->agnostic;
}

static void line_start(vy_gen *g)
{
    for (int i = 0; i < g->indent; i++) {
        vy_gen_put(g, "    ");
    }
}

uint32_t vy_gen_begin(vy_gen *g)
{
    uint32_t part = vy_gen_open(g, VY_PART_STATEMENT, 0);
    line_start(g);
    return part;
}

void vy_gen_end(vy_gen *g, uint32_t part)
{
    vy_gen_put(g, "\n");
    vy_gen_close(g, part);
}

uint32_t vy_gen_open_list(vy_gen *g)
{
    vy_gen_put(g, " {\n");
    g->indent++;
    g->depth++;
    return vy_gen_open(g, VY_PART_BODY, 0);
}

void vy_gen_close_list(vy_gen *g, uint32_t part)
{
    vy_gen_close(g, part);
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
    uint32_t part = vy_gen_open_list(g);
    vy_gen_statements(g, count);
    vy_gen_close_list(g, part);
    g->var_count = vars;
    g->uniform = was;
}

/* The same value at every invocation of a workgroup. */
static void uniform_condition(vy_gen *g)
{
    static const char *const texts[] = {"(p_u32 & 1u) == 0u", "in_bool[p_u32 & 63u]",
                                        "p_i32 < in_i32[2]",  "in_u32[wid.x] > p_u32",
                                        "(wid.x & 1u) == 0u", "p_f32 < in_f32[wid.x + 1u]"};
    uint32_t part = vy_gen_open(g, VY_PART_EXPRESSION, T_BOOL);
    vy_gen_put(g, texts[vy_gen_below(g, g->agnostic ? 3 : (uint32_t)VY_COUNT_OF(texts))]);
    vy_gen_close(g, part);
}

/* ---- Variables and stores ---------------------------------------------------------------------
 */

static void declaration(vy_gen *g)
{
    uint32_t type = vy_gen_value_type(g);
    uint32_t name = g->next_name++;
    if (vy_gen_chance(g, 16) && vy_gen_types[type].components == 1) {
        vy_gen_mark(g, "array");
        vy_gen_printf(g, "var v%u: %s[%u]", name, vy_gen_types[type].name, 1 + vy_gen_below(g, 12));
        vy_gen_declare(g, name, type, true, true);
        return;
    }
    bool assignable = vy_gen_chance(g, 50);
    vy_gen_mark(g, assignable ? "var" : "let");
    vy_gen_printf(g, "%s v%u: %s = ", assignable ? "var" : "let", name, vy_gen_types[type].name);
    vy_gen_expr(g, type, 3);
    vy_gen_declare(g, name, type, assignable, false);
}

static bool assignment(vy_gen *g)
{
    int start = g->var_count ? (int)vy_gen_below(g, (uint32_t)g->var_count) : 0;
    for (int i = 0; i < g->var_count; i++) {
        const vy_gen_var v = g->vars[(start + i) % g->var_count];
        if (!v.assignable) {
            continue;
        }
        vy_gen_printf(g, "v%u", v.name);
        if (v.array) {
            vy_gen_mark(g, "array store");
            vy_gen_put(g, "[");
            vy_gen_index(g, 1);
            vy_gen_put(g, "]");
        } else {
            vy_gen_mark(g, "assign");
        }
        vy_gen_put(g, " = ");
        vy_gen_expr(g, v.type, 3);
        return true;
    }
    return false;
}

static void store(vy_gen *g)
{
    bool is_own = vy_gen_chance(g, 45);
    uint32_t type = vy_gen_value_type(g);
    vy_gen_mark(g, "store");
    if (is_own && g->owns[type]) {
        vy_gen_mark(g, "own buffer");
        vy_gen_printf(g, "own_%s[", vy_gen_types[type].name);
        vy_gen_own_index(g);
        vy_gen_put(g, "] = ");
        vy_gen_expr(g, g->language->value_of[type], 3);
    } else if (is_own && vy_gen_chance(g, 60)) {
        vy_gen_mark(g, "alias");
        vy_gen_printf(g, "mine_%s[", vy_gen_chance(g, 50) ? "a" : "b");
        vy_gen_own_index(g);
        vy_gen_put(g, "] = ");
        vy_gen_expr(g, T_U32, 2);
    } else if (is_own) {
        vy_gen_mark(g, "scratch keep");
        vy_gen_put(g, "kept[");
        vy_gen_own_index(g);
        vy_gen_put(g, "] = ");
        vy_gen_expr(g, T_U32, 2);
    } else {
        vy_gen_printf(g, "%s[%s * %uu + (", g->segment % 2 ? "odd_out" : "even_out", g->me,
                      VY_GEN_OWN);
        vy_gen_expr(g, T_U32, 1);
        vy_gen_printf(g, ") %% %uu] = ", VY_GEN_OWN);
        vy_gen_expr(g, g->language->value_of[g->cross], 3);
    }
}

/* ---- Atomics ----------------------------------------------------------------------------------
 */

/* Element k of `common` sees operation k only; sub shares with add. Sums of small whole numbers are
 * exact in any order, so `totals` may be floats. */
static void common_atomic(vy_gen *g)
{
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor", "sub"};
    uint32_t op = vy_gen_below(g, VY_COUNT_OF(names));
    vy_gen_mark(g, "common atomic");
    if (vy_gen_chance(g, 15)) {
        vy_gen_put(g, "atomic_add(totals[");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, " % 3u], f32((");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, ") & 15u))");
        return;
    }
    vy_gen_printf(g, "atomic_%s(common[%uu], ", names[op], op == 6 ? 0u : op);
    vy_gen_expr(g, g->common, 2);
    vy_gen_put(g, ")");
}

/* Floats are summed only while that is exact and no denormals come in. */
static void slot_operand(vy_gen *g)
{
    if (vy_gen_types[g->slots].kind == VY_GEN_FLOAT) {
        vy_gen_printf(g, "%s((", vy_gen_types[g->slots].name);
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, ") & 255u)");
    } else {
        vy_gen_expr(g, g->slots, 2);
    }
}

static void own_atomic(vy_gen *g)
{
    static const char *const orders[] = {"", "", "", ", acquire", ", release", ", acq_rel"};
    uint32_t name = g->next_name++;
    uint32_t op = vy_gen_below(g, VY_GEN_ATOMICS);
    vy_gen_mark(g, "own atomic");
    if (vy_gen_chance(g, 12)) {
        vy_gen_put(g, "atomic_store(slots[");
        vy_gen_own_index(g);
        vy_gen_put(g, "], ");
        slot_operand(g);
        vy_gen_put(g, vy_gen_chance(g, 30) ? ", release)" : ")");
        return;
    }
    while (!g->language->atomics[op][g->slots]) {
        op = (op + 1) % VY_GEN_ATOMICS;
    }
    bool is_load = op == VY_GEN_ATOMICS - 2, is_compare = op == VY_GEN_ATOMICS - 1;
    vy_gen_printf(g, "let v%u = %s(slots[", name, vy_gen_atomics[op]);
    vy_gen_own_index(g);
    vy_gen_put(g, "]");
    for (int i = 0; i < (is_load ? 0 : is_compare ? 2 : 1); i++) {
        vy_gen_put(g, ", ");
        slot_operand(g);
    }
    vy_gen_put(g, is_load ? (vy_gen_chance(g, 30) ? ", acquire" : "") : orders[vy_gen_below(g, 6)]);
    vy_gen_put(g, ")");
    vy_gen_declare(g, name, g->slots, false, false);
}

/* ---- Control flow -----------------------------------------------------------------------------
 */

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
}

static void stmt_switch(vy_gen *g)
{
    bool is_signed = vy_gen_chance(g, 25);
    uint32_t next = 0;
    vy_gen_mark(g, "switch");
    vy_gen_put(g, "switch ");
    vy_gen_expr(g, is_signed ? T_I32 : T_U32, 2);
    vy_gen_put(g, is_signed ? " % 6i" : " % 6u");
    uint32_t list = vy_gen_open_list(g);
    for (uint32_t i = 0, count = 1 + vy_gen_below(g, 3); i < count; i++) {
        uint32_t part = vy_gen_begin(g);
        vy_gen_printf(g, "case %s%u", is_signed && vy_gen_chance(g, 40) ? "-" : "", 1 + next++);
        if (vy_gen_chance(g, 30)) {
            vy_gen_printf(g, ", %u", 1 + next++);
        }
        body(g, 1 + (int)vy_gen_below(g, 2), false);
        vy_gen_end(g, part);
    }
    if (vy_gen_chance(g, 60)) {
        uint32_t part = vy_gen_begin(g);
        vy_gen_put(g, "default");
        body(g, 1, false);
        vy_gen_end(g, part);
    }
    vy_gen_close_list(g, list);
}

static void loop_body(vy_gen *g, int count)
{
    bool was = g->in_loop;
    vy_gen_mark(g, "loop");
    g->in_loop = true;
    body(g, count, false);
    g->in_loop = was;
}

static void loop_range(vy_gen *g, uint32_t type)
{
    if (type == T_U32) {
        vy_gen_put(g, "0u .. (");
        vy_gen_expr(g, T_U32, 2);
        vy_gen_put(g, ") % 7u");
    } else {
        vy_gen_put(g, "(");
        vy_gen_expr(g, T_I32, 1);
        vy_gen_put(g, ") % 4i .. (");
        vy_gen_expr(g, T_I32, 1);
        vy_gen_put(g, ") % 6i");
    }
    if (vy_gen_chance(g, 35)) {
        vy_gen_mark(g, "for step");
        if (vy_gen_chance(g, 30)) {
            /* At the edge of the type, or one that only the device knows. */
            vy_gen_put(g, type == T_U32 ? " step 1u + (" : " step 1i + (");
            vy_gen_expr(g, type, 1);
            vy_gen_put(g, type == T_U32 ? ") % 3u" : ") % 2i");
        } else {
            vy_gen_printf(g, " step %u%s", 1 + vy_gen_below(g, 3), type == T_I32 ? "i" : "u");
        }
    }
    if (vy_gen_chance(g, 30)) {
        vy_gen_mark(g, "for down");
        vy_gen_put(g, " down");
    }
}

static void stmt_for(vy_gen *g)
{
    uint32_t name = g->next_name++;
    int vars = g->var_count;
    uint32_t type = vy_gen_chance(g, 60) ? T_U32 : T_I32;
    vy_gen_mark(g, "for");
    if (vy_gen_chance(g, 8)) {
        /* Three trips at the upper end of the numbers. */
        vy_gen_printf(g, "for v%u in 4294967292u .. 4294967295u%s", name,
                      vy_gen_chance(g, 50) ? " step 2u" : "");
        type = T_U32;
    } else {
        vy_gen_printf(g, "for v%u in ", name);
        loop_range(g, type);
    }
    vy_gen_declare(g, name, type, false, false);
    loop_body(g, 1 + (int)vy_gen_below(g, 3));
    g->var_count = vars;
}

static void stmt_while(vy_gen *g)
{
    uint32_t name = g->next_name++;
    int vars = g->var_count;
    vy_gen_mark(g, "while");
    vy_gen_printf(g, "var v%u = ", name);
    vy_gen_expr(g, T_U32, 1);
    vy_gen_put(g, " % 9u\n");
    line_start(g);
    vy_gen_printf(g, "while v%u > 0u && ", name);
    vy_gen_expr(g, T_BOOL, 2);
    vy_gen_put(g, " {\n");
    g->indent++;
    line_start(g);
    /* One program in a few runs into its loop limit here. */
    vy_gen_printf(g, "v%u = v%u - %s\n", name, name, vy_gen_chance(g, 92) ? "1u" : "0u");
    uint32_t part = vy_gen_begin(g);
    vy_gen_put(g, "if true");
    vy_gen_declare(g, name, T_U32, false, false);
    loop_body(g, 1 + (int)vy_gen_below(g, 2));
    vy_gen_end(g, part);
    g->indent--;
    line_start(g);
    vy_gen_put(g, "}");
    g->var_count = vars;
}

static void stmt_jump(vy_gen *g)
{
    if (g->in_loop && vy_gen_chance(g, 60)) {
        bool is_break = vy_gen_chance(g, 50);
        vy_gen_mark(g, is_break ? "break" : "continue");
        vy_gen_put(g, "if ");
        vy_gen_expr(g, T_BOOL, 2);
        vy_gen_printf(g, " { %s }", is_break ? "break" : "continue");
    } else if (vy_gen_chance(g, 35)) {
        vy_gen_mark(g, "return");
        vy_gen_put(g, "if ");
        vy_gen_expr(g, T_BOOL, 3);
        vy_gen_put(g, " { return }");
        g->returned = true;
    } else {
        vy_gen_mark(g, "trap");
        vy_gen_put(g, "if ");
        vy_gen_expr(g, T_BOOL, 3);
        uint32_t code = vy_gen_below(g, 1000);
        vy_gen_printf(g, " { trap(%u)", code);
        if (code % 3 == 0) { /* of numbers that are there: other programs stay as they were */
            vy_gen_mark(g, "printf");
            vy_gen_printf(g, " printf(\"%%u of %%08x, %%d\", gid.x, %s, %u)", g->here, code);
        }
        vy_gen_put(g, " }");
    }
}

/* ---- The workgroup together -------------------------------------------------------------------
 */

static void barrier_line(vy_gen *g)
{
    line_start(g);
    vy_gen_put(g, "barrier\n");
}

/* One element each, then any of them. The statements belong together: taken apart they race. */
void vy_gen_shared(vy_gen *g)
{
    uint32_t name = g->next_name++;
    uint32_t value = g->language->value_of[g->tile];
    vy_gen_mark(g, "shared");
    vy_gen_mark(g, "barrier");
    vy_gen_printf(g, "tile[%s] = ", g->here);
    vy_gen_expr(g, value, 2);
    vy_gen_put(g, "\n");
    barrier_line(g);
    line_start(g);
    if (vy_gen_chance(g, 35)) {
        vy_gen_mark(g, "uniform load");
        vy_gen_printf(g, "let v%u = uniform tile[%u]\n", name, vy_gen_below(g, 40));
    } else {
        vy_gen_printf(g, "let v%u = tile[(", name);
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, ") % 40u]\n");
    }
    line_start(g);
    vy_gen_put(g, "barrier");
    vy_gen_declare(g, name, value, false, false);
    if (!vy_gen_chance(g, 40)) {
        return;
    }
    vy_gen_put(g, "\n");
    line_start(g);
    vy_gen_put(g, "atomic_add(tally[(");
    vy_gen_expr(g, T_U32, 1);
    vy_gen_put(g, ") % 4u], ");
    vy_gen_expr(g, g->tally, 1);
    vy_gen_put(g, ")\n");
    barrier_line(g);
    line_start(g);
    char element[80];
    snprintf(element, sizeof element, "tally[%s & 3u]", g->here);
    vy_gen_printf(g, "tallies[%s] = ", g->me);
    vy_gen_as_u32(g, g->tally, element);
    vy_gen_put(g, "\n");
    line_start(g);
    vy_gen_put(g, "barrier");
}

/* A loop that the whole workgroup takes alike, with barriers in it. */
static void uniform_loop(vy_gen *g)
{
    static const char *const counts[] = {"p_u32 % 4u", "in_u32[wid.x] % 3u", "2u",
                                         "num_groups.x % 3u"};
    uint32_t name = g->next_name++;
    const char *count = counts[vy_gen_below(g, VY_COUNT_OF(counts))];
    int vars = g->var_count;
    bool is_while = vy_gen_chance(g, 40), was = g->in_loop;
    vy_gen_mark(g, "uniform loop");
    vy_gen_mark(g, "loop");
    g->in_loop = false;
    if (is_while) {
        vy_gen_printf(g, "var v%u = %s\n", name, count);
        line_start(g);
        vy_gen_printf(g, "while v%u > 0u", name);
    } else {
        vy_gen_printf(g, "for v%u in 0u .. %s", name, count);
    }
    uint32_t list = vy_gen_open_list(g);
    if (is_while) {
        line_start(g);
        vy_gen_printf(g, "v%u = v%u - 1u\n", name, name);
    }
    vy_gen_declare(g, name, T_U32, false, false);
    uint32_t part = vy_gen_begin(g);
    vy_gen_shared(g);
    vy_gen_end(g, part);
    /* No jumps: a return of some would make the next trip's barrier differ. */
    part = vy_gen_begin(g);
    if (!assignment(g)) {
        store(g);
    }
    vy_gen_end(g, part);
    vy_gen_close_list(g, list);
    g->in_loop = was;
    g->var_count = vars;
}

static void effect_call(vy_gen *g)
{
    uint32_t name = g->next_name++;
    vy_gen_mark(g, "call statement");
    vy_gen_printf(g, "let v%u = %s(", name, meets(g) && vy_gen_chance(g, 50) ? "relay" : "bump");
    vy_gen_expr(g, T_U32, 2);
    vy_gen_put(g, ")");
    vy_gen_declare(g, name, T_U32, false, false);
}

/* " ^ " a u32 that every bit of the scalar counts for. */
static void put_bits(vy_gen *g, const vy_gen_type *t, const char *value)
{
    if (t->kind == VY_GEN_BOOL || (t->kind != VY_GEN_FLOAT && t->width < 64)) {
        vy_gen_printf(g, t->width == 32 && t->kind == VY_GEN_UNSIGNED ? " ^ %s" : " ^ u32(%s)",
                      value);
    } else if (t->width == 32) {
        vy_gen_printf(g, " ^ bitcast<u32>(%s)", value);
    } else if (t->width == 16) {
        vy_gen_printf(g, " ^ u32(bitcast<u16>(%s))", value);
    } else {
        const char *open = t->kind == VY_GEN_FLOAT ? "bitcast<u64>(" : "(";
        vy_gen_printf(g, " ^ u32(%s%s)) ^ u32(%s%s) >> 32u)", open, value, open, value);
    }
}

/* Keeps a value in memory, so that what made it must be right. */
static void keep_value(vy_gen *g, uint32_t name, uint32_t type)
{
    const vy_gen_type *t = &vy_gen_types[type];
    char value[32];
    vy_gen_put(g, "\n");
    line_start(g);
    vy_gen_printf(g, "mine_a[%s] = (mine_a[%s] * 31u)", g->me, g->me);
    for (uint32_t i = 0; i < t->components; i++) {
        snprintf(value, sizeof value, t->components > 1 ? "v%u.%c" : "v%u", name, "xyzw"[i]);
        put_bits(g, t, value);
    }
}

/* Over the lanes that are here. */
static void subgroup(vy_gen *g)
{
    const vy_language *l = g->language;
    uint32_t name = g->next_name++, s = vy_gen_below(g, VYRE_SUBGROUP_COUNT), type;
    do {
        type = vy_gen_below(g, l->type_count);
    } while (!g->active[type] || !l->subgroups[s][type]);
    const vy_gen_subgroup *row = &vy_gen_subgroups[s];
    vy_gen_mark(g, meets(g) ? "subgroup" : "divergent subgroup");
    vy_gen_printf(g, "let v%u = %s(", name, row->text);
    if (row->has_value) {
        vy_gen_expr(g, type, 2);
    }
    if (row->has_lane) {
        vy_gen_put(g, ", ");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, vy_gen_chance(g, 75) ? " % 9u" : "");
    }
    vy_gen_put(g, ")");
    if (row->is_ballot) {
        uint32_t words = name;
        name = g->next_name++;
        type = T_U32;
        vy_gen_put(g, "\n");
        line_start(g);
        vy_gen_printf(g, "let v%u = v%u.x ^ v%u.y ^ v%u.w", name, words, words, words);
    }
    type = row->is_vote || !row->has_value ? T_BOOL : type;
    keep_value(g, name, type);
    vy_gen_declare(g, name, type, false, false);
}

/* ---- Choice -----------------------------------------------------------------------------------
 */

typedef struct choice {
    uint8_t weight;
    bool nests, meets, votes; /* holds statements; the workgroup, a subgroup must meet */
    void (*write)(vy_gen *g);
} choice;

static void assign_or_store(vy_gen *g)
{
    if (!assignment(g)) {
        store(g);
    }
}

static void block(vy_gen *g)
{
    vy_gen_mark(g, "block");
    body(g, 2, true);
}

static void region(vy_gen *g)
{
    vy_gen_mark(g, "region");
    vy_gen_printf(g, "region \"part %u\"", g->next_name);
    body(g, 2, true);
}

static const choice choices[] = {
    {18, false, false, false, declaration}, {10, false, false, false, assign_or_store},
    {12, false, false, false, store},       {5, false, false, false, common_atomic},
    {6, false, false, false, own_atomic},   {12, true, false, false, stmt_if},
    {5, true, false, false, stmt_switch},   {8, true, false, false, stmt_for},
    {6, true, false, false, stmt_while},    {3, true, false, false, block},
    {3, true, false, false, region},        {7, false, true, false, vy_gen_shared},
    {3, true, true, false, uniform_loop},   {5, false, false, false, effect_call},
    {7, false, false, false, stmt_jump},    {20, false, false, true, subgroup},
};

static void statement(vy_gen *g)
{
    bool can_meet = meets(g), can_vote = g->has_subgroups && (can_meet || g->has_divergent);
    uint32_t total = 0;
    const choice *picked = &choices[0];
    for (uint32_t i = 0; i < VY_COUNT_OF(choices); i++) {
        if ((choices[i].nests && g->depth > 4) || (choices[i].meets && !can_meet) ||
            (choices[i].votes && !can_vote)) {
            continue;
        }
        total += choices[i].weight;
        picked = vy_gen_below(g, total) < choices[i].weight ? &choices[i] : picked;
    }
    uint32_t part = vy_gen_begin(g);
    picked->write(g);
    vy_gen_end(g, part);
}

void vy_gen_statements(vy_gen *g, int count)
{
    for (int i = 0; i < count && g->budget > 0; i++) {
        g->budget--;
        statement(g);
    }
}
