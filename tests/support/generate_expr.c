/* Random expressions for generated programs, and the writers below them. */
#include "tests/support/generate_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Statements and the like; operators and atomics stand behind them, by their rows. */
static const char *const construct_names[] = {
    "let",
    "var",
    "array",
    "assign",
    "store",
    "array store",
    "common atomic",
    "own atomic",
    "uniform load",
    "call statement",
    "if",
    "else",
    "switch",
    "for",
    "for down",
    "for step",
    "while",
    "block",
    "region",
    "break",
    "continue",
    "return",
    "barrier",
    "grid_sync",
    "trap",
    "printf",
    "host for",
    "host if",
    "live across",
    "shared",
    "loop",
    "until",
    "fixpoint",
    "call",
    "table",
    "param",
    "element",
    "load",
    "cast",
    "bitcast",
    "tolerance function",
    "own buffer",
    "alias",
    "uniform loop",
    "grid over",
    "elements",
    "workgroup override",
    "several dimensions",
    "uniform buffer",
    "scratch keep",
    "out of bounds",
    "subgroup",
    "divergent subgroup",
    "subgroup width",
    "lane",
    "grid from",
    "grid of",
    "typed table",
    "vector param",
    "swizzle",
};

#define NAME_COUNT VY_COUNT_OF(construct_names)

const vy_language *vy_gen_language(void)
{
    static vy_language probed;
    if (probed.type_count == 0) {
        vy_language_probe(&probed);
    }
    return &probed;
}

const char *vy_generate_construct_name(uint32_t index)
{
    const vy_language *l = vy_gen_language();
    if (index < NAME_COUNT) {
        return construct_names[index];
    }
    index -= (uint32_t)NAME_COUNT;
    if (index < l->op_count) {
        return vy_gen_ops[index].form == 'p' && vy_gen_ops[index].operands[0] == 'n'
                   ? "negation"
                   : vy_gen_ops[index].text;
    }
    index -= l->op_count;
    return vy_generate_type_name(index);
}

bool vy_generate_has_construct(uint32_t index)
{
    const vy_language *l = vy_gen_language();
    if (index < NAME_COUNT) {
        return true;
    }
    index -= (uint32_t)NAME_COUNT;
    if (index >= l->op_count) {
        return index - l->op_count < l->type_count && l->has_type[index - l->op_count];
    }
    for (uint32_t t = 0; t < l->type_count; t++) {
        if (l->results[index][t] != VY_GEN_NONE) {
            return true;
        }
    }
    return false;
}

/* ---- Writers ----------------------------------------------------------------------------------
 */

uint32_t vy_gen_random(vy_gen *g)
{
    g->state += 0x9e3779b97f4a7c15u;
    uint64_t z = g->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}

uint32_t vy_gen_below(vy_gen *g, uint32_t count)
{
    return vy_gen_random(g) % count;
}

bool vy_gen_chance(vy_gen *g, uint32_t percent)
{
    return vy_gen_below(g, 100) < percent;
}

static void mark_index(vy_gen *g, uint32_t index)
{
    g->info->constructs[index / 64] |= (uint64_t)1 << (index % 64);
}

void vy_gen_mark(vy_gen *g, const char *name)
{
    for (uint32_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(construct_names[i], name) == 0) {
            mark_index(g, i);
            return;
        }
    }
    abort(); /* a name that is in no table */
}

static void mark_op(vy_gen *g, uint32_t op)
{
    mark_index(g, (uint32_t)NAME_COUNT + op);
}

static void mark_type(vy_gen *g, uint32_t type)
{
    mark_index(g, (uint32_t)NAME_COUNT + g->language->op_count + type);
}

void vy_gen_put(vy_gen *g, const char *text)
{
    vy_text_append(g->out, text, strlen(text));
}

void vy_gen_printf(vy_gen *g, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    vy_gen_put(g, text);
}

uint32_t vy_gen_open(vy_gen *g, vy_part_kind kind, uint32_t type)
{
    vy_gen_case *c = g->parts;
    if (!c) {
        return 0;
    }
    if (c->part_count == c->part_capacity) {
        c->part_capacity = c->part_capacity ? 2 * c->part_capacity : 256;
        c->parts = realloc(c->parts, c->part_capacity * sizeof *c->parts);
        if (!c->parts) {
            abort();
        }
    }
    c->parts[c->part_count] =
        (vy_part){.begin = (uint32_t)g->out->size, .kind = kind, .type = type};
    return c->part_count++;
}

void vy_gen_close(vy_gen *g, uint32_t part)
{
    if (g->parts) {
        g->parts->parts[part].end = (uint32_t)g->out->size;
    }
}

void vy_gen_declare(vy_gen *g, uint32_t name, uint32_t type, bool assignable, bool array)
{
    if (g->var_count < (int)VY_COUNT_OF(g->vars)) {
        g->vars[g->var_count++] = (vy_gen_var){name, (uint8_t)type, assignable, array};
    }
}

/* ---- Types ------------------------------------------------------------------------------------
 */

uint32_t vy_gen_value_type(vy_gen *g)
{
    uint32_t total = 0, picked = T_U32;
    for (uint32_t t = 0; t < g->language->type_count; t++) {
        if (g->active[t] && g->language->is_value[t]) {
            total += vy_gen_types[t].weight;
            if (vy_gen_below(g, total) < vy_gen_types[t].weight) {
                picked = t;
            }
        }
    }
    return picked;
}

/* One of the active types for which `fits` has a true entry, or NONE. */
static uint32_t pick_type(vy_gen *g, const bool *fits)
{
    uint32_t total = 0, picked = VY_GEN_NONE;
    for (uint32_t t = 0; t < g->language->type_count; t++) {
        uint32_t weight = vy_gen_types[t].weight ? vy_gen_types[t].weight : 1;
        if (g->active[t] && fits[t]) {
            total += weight;
            if (vy_gen_below(g, total) < weight) {
                picked = t;
            }
        }
    }
    return picked;
}

/* ---- Leaves -----------------------------------------------------------------------------------
 */

static uint64_t edge_bits(vy_gen *g, uint32_t width)
{
    uint64_t most = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
    const uint64_t edges[] = {0,         1,        2,          7,
                              width - 1, width,    most / 2,   most / 2 + 1,
                              most,      most - 1, 255 & most, vy_gen_random(g) & most};
    return edges[vy_gen_below(g, VY_COUNT_OF(edges))];
}

static void scalar_literal(vy_gen *g, const vy_gen_type *t)
{
    static const char *const floats[] = {"0.0",     "(-0.0)",  "1.0",        "(-1.5)",       "0.5",
                                         "3.0e38",  "1.0e-38", "16777216.0", "2147483648.0", "0.1",
                                         "1.0e-40", "(-2.5)",  "1.0e10",     "65504.0"};
    const char *open = t->width == 32 ? "" : "(", *close = t->width == 32 ? "" : ")";
    const char *name = t->width == 32 ? "" : t->name;
    uint64_t bits = edge_bits(g, t->width);
    if (t->kind == VY_GEN_BOOL) {
        vy_gen_put(g, bits & 1 ? "true" : "false");
    } else if (t->kind == VY_GEN_FLOAT) {
        vy_gen_printf(g, "%s%s%s%s", name, open, floats[vy_gen_below(g, VY_COUNT_OF(floats))],
                      close);
    } else if (t->width == 64) {
        bool is_small = bits >> 32 == 0;
        vy_gen_printf(g, is_small ? "%s(%uu)" : "%s((u64(%uu) << 32u) | u64(%uu))", t->name,
                      is_small ? (uint32_t)bits : (uint32_t)(bits >> 32), (uint32_t)bits);
    } else if (t->kind == VY_GEN_UNSIGNED) {
        vy_gen_printf(g, "%s%s%uu%s", name, open, (uint32_t)bits, close);
    } else {
        uint64_t sign = (uint64_t)1 << (t->width - 1);
        long long value = (long long)((bits ^ sign) - sign);
        vy_gen_printf(g, value < 0 ? "%s%s(%lldi)%s" : "%s%s%lldi%s", name, open, value, close);
    }
}

void vy_gen_literal(vy_gen *g, uint32_t type)
{
    const vy_gen_type *t = &vy_gen_types[type];
    if (t->components == 1) {
        scalar_literal(g, t);
        return;
    }
    if (t->kind == VY_GEN_BOOL) {
        vy_gen_printf(g, "(u32x%u(gid.x) %s u32x%u(%uu))", t->components,
                      vy_gen_chance(g, 50) ? "<" : ">", t->components, vy_gen_below(g, 40));
        return;
    }
    vy_gen_printf(g, "%s(", t->name);
    for (uint32_t i = 0; i < t->components; i++) {
        vy_gen_put(g, i ? ", " : "");
        scalar_literal(g, &vy_gen_types[g->language->component_of[type]]);
    }
    vy_gen_put(g, ")");
}

void vy_gen_constant(vy_gen *g, uint32_t type)
{
    const vy_gen_type *t = &vy_gen_types[type];
    if (t->components > 1) {
        vy_gen_printf(g, "%s(", t->name);
        for (uint32_t i = 0; i < t->components; i++) {
            vy_gen_put(g, i ? ", " : "");
            vy_gen_constant(g, g->language->component_of[type]);
        }
        vy_gen_put(g, ")");
        return;
    }
    uint64_t bits[2] = {0};
    vy_generate_input(g->info, type, vy_gen_random(g), bits);
    uint64_t sign = (uint64_t)1 << (t->width - 1);
    if (t->kind == VY_GEN_BOOL) {
        vy_gen_put(g, bits[0] & 1 ? "true" : "false");
    } else if (t->kind == VY_GEN_FLOAT) {
        vy_gen_printf(g, "bitcast<%s>(0x%llx)", t->name, (unsigned long long)bits[0]);
    } else if (t->kind == VY_GEN_UNSIGNED || !(bits[0] & sign)) {
        vy_gen_printf(g, "%llu", (unsigned long long)bits[0]);
    } else {
        vy_gen_printf(g, "-%llu", (unsigned long long)(sign - (bits[0] ^ sign)));
    }
}

const char *vy_generate_zero(uint32_t row)
{
    static const char *const texts[] = {
        "bool",  "false",      "u32",   "0u",        "i32",   "0i",        "f32",   "0.0",
        "u8",    "u8(0u)",     "i8",    "i8(0u)",    "u16",   "u16(0u)",   "i16",   "i16(0u)",
        "u64",   "u64(0u)",    "i64",   "i64(0u)",   "f16",   "f16(0u)",   "f64",   "f64(0u)",
        "u32x2", "u32x2(0u)",  "u32x4", "u32x4(0u)", "i32x2", "i32x2(0i)", "i32x4", "i32x4(0i)",
        "f32x2", "f32x2(0.0)", "f32x4", "f32x4(0.0)"};
    const char *name = vy_generate_type_name(row);
    for (uint32_t i = 0; name && i < VY_COUNT_OF(texts); i += 2) {
        if (strcmp(texts[i], name) == 0) {
            return texts[i + 1];
        }
    }
    return "";
}

static bool variable(vy_gen *g, uint32_t type)
{
    int start = g->var_count ? (int)vy_gen_below(g, (uint32_t)g->var_count) : 0;
    for (int i = 0; i < g->var_count; i++) {
        const vy_gen_var *v = &g->vars[(start + i) % g->var_count];
        if (v->type == type) {
            vy_gen_printf(g, "v%u", v->name);
            if (v->array) {
                vy_gen_mark(g, "element");
                vy_gen_put(g, "[");
                vy_gen_expr(g, T_U32, 1);
                vy_gen_put(g, " % 9u]");
            }
            return true;
        }
    }
    return false;
}

void vy_gen_index(vy_gen *g, int depth)
{
    uint32_t type = T_U32;
    if (vy_gen_chance(g, 30)) {
        uint32_t other = pick_type(g, g->language->is_index);
        type = other == VY_GEN_NONE ? T_U32 : other;
    }
    vy_gen_expr(g, type, depth);
}

void vy_gen_own_index(vy_gen *g)
{
    uint32_t type = T_U32;
    if (vy_gen_chance(g, 25)) {
        type = pick_type(g, g->language->is_index);
    }
    const vy_gen_type *t = &vy_gen_types[type];
    if (type == T_U32) {
        vy_gen_put(g, g->me);
        return;
    }
    vy_gen_printf(g, "%s(%s)", t->name, g->me);
    if (t->width == 64 && vy_gen_chance(g, 30)) {
        /* Beyond every buffer for some, in the upper half alone. */
        vy_gen_printf(g, " | (%s((", t->name);
        vy_gen_expr(g, T_U32, 1);
        vy_gen_printf(g, ") & 1u) << %uu)", 32 + vy_gen_below(g, 31));
    }
}

void vy_gen_as(vy_gen *g, uint32_t type, const char *text)
{
    vy_gen_printf(g, type == T_U32 ? "%.0s%s" : "%s(%s)", vy_gen_types[type].name, text);
}

void vy_gen_as_u32(vy_gen *g, uint32_t type, const char *text)
{
    vy_gen_printf(g, type == T_U32 ? "%s" : "u32(%s)", text);
}

/* An element of an input whose loads give that type; false where there is none. */
static bool load(vy_gen *g, uint32_t type)
{
    bool fits[VY_GEN_TYPES] = {false};
    for (uint32_t t = 0; t < g->language->type_count; t++) {
        fits[t] = g->language->is_element[t] && g->language->value_of[t] == type;
    }
    uint32_t element = pick_type(g, fits);
    if (element == VY_GEN_NONE) {
        return false;
    }
    vy_gen_mark(g, "load");
    mark_type(g, element);
    vy_gen_printf(g, "in_%s[", vy_gen_types[element].name);
    if (vy_gen_chance(g, 60)) {
        vy_gen_put(g, g->in_function ? "p_u32" : "gid.x");
    } else if (vy_gen_chance(g, 25)) {
        vy_gen_mark(g, "out of bounds"); /* as often as not */
        vy_gen_index(g, 1);
    } else {
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, " % 300u");
    }
    vy_gen_put(g, "]");
    return true;
}

/* u32s that are only there as such. */
static bool word_source(vy_gen *g)
{
    static const char *const builtins[] = {"gid.x",        "gid.y",        "pass",  "len(in_u32)",
                                           "gid.z",        "lid.x",        "lid.y", "wid.x",
                                           "num_groups.x", "group_size.x", "wid.y"};
    if (vy_gen_chance(g, 30)) {
        uint32_t count = g->agnostic ? 5 : (uint32_t)VY_COUNT_OF(builtins);
        vy_gen_put(g, builtins[vy_gen_below(g, count)]);
        return true;
    }
    if (g->has_subgroups && vy_gen_chance(g, 10)) {
        vy_gen_mark(g, "lane");
        vy_gen_put(g, vy_gen_chance(g, 75) ? "lane" : "lanes");
        return true;
    }
    if (vy_gen_chance(g, 15)) {
        vy_gen_mark(g, "table");
        vy_gen_put(g, g->big_table && vy_gen_chance(g, 50) ? "big[" : "primes[");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, " & 31u]");
        return true;
    }
    if (g->in_function) {
        return false;
    }
    if (vy_gen_chance(g, 15)) {
        vy_gen_mark(g, "alias");
        vy_gen_printf(g, "mine_%s[", vy_gen_chance(g, 50) ? "a" : "b");
        vy_gen_own_index(g);
        vy_gen_put(g, "]");
        return true;
    }
    if (vy_gen_chance(g, 8)) {
        vy_gen_mark(g, "scratch keep");
        vy_gen_printf(g, "kept[%s]", g->me);
        return true;
    }
    if (vy_gen_chance(g, 10)) {
        vy_gen_mark(g, "uniform buffer");
        vy_gen_put(g, "steady[");
        vy_gen_expr(g, T_U32, 0);
        vy_gen_put(g, " & 15u]");
        return true;
    }
    return false;
}

/* What this invocation may just have stored itself, or what others stored in an earlier segment. */
static bool stored_source(vy_gen *g, uint32_t type)
{
    if (g->in_function) {
        return false;
    }
    const char *own = g->segment % 2 ? "odd_out" : "even_out";
    const char *other = g->segment % 2 ? "even_out" : "odd_out";
    if (g->owns[type] && vy_gen_chance(g, 20)) {
        vy_gen_mark(g, "own buffer");
        vy_gen_printf(g, "own_%s[", vy_gen_types[type].name);
        vy_gen_own_index(g);
        vy_gen_put(g, "]");
        return true;
    }
    if (type == g->cross && vy_gen_chance(g, 15)) {
        vy_gen_printf(g, "%s[%s * %uu + %uu]", own, g->me, VY_GEN_OWN, vy_gen_below(g, VY_GEN_OWN));
        return true;
    }
    if (type == g->cross && vy_gen_chance(g, 25)) {
        vy_gen_printf(g, "%s[", other);
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, " % 600u]");
        return true;
    }
    return false;
}

/* An element of something readable here, or a built-in. */
static void source(vy_gen *g, uint32_t type)
{
    mark_type(g, type);
    if (vy_gen_chance(g, 40) && variable(g, type)) {
        return;
    }
    if (type == T_U32 && word_source(g)) {
        return;
    }
    if (type == g->language->value_of[g->rows] && vy_gen_chance(g, 12)) {
        vy_gen_mark(g, "typed table");
        vy_gen_put(g, "rows[");
        vy_gen_index(g, 1);
        vy_gen_put(g, vy_gen_chance(g, 80) ? " & 15]" : "]");
        return;
    }
    if (g->active[type] && g->language->is_param[type] && vy_gen_chance(g, 12)) {
        vy_gen_mark(g, vy_gen_types[type].components == 1 ? "param" : "vector param");
        vy_gen_printf(g, "p_%s", vy_gen_types[type].name);
        return;
    }
    if (stored_source(g, type) || (vy_gen_chance(g, 60) && load(g, type))) {
        return;
    }
    vy_gen_literal(g, type);
}

/* ---- Operators --------------------------------------------------------------------------------
 */

static void operand(vy_gen *g, char letter, uint32_t type, int depth)
{
    switch (letter) {
    case 'u':
        vy_gen_expr(g, T_U32, depth);
        break;
    case 's':
        vy_gen_expr(g, vy_gen_chance(g, 75) ? T_U32 : T_I32, depth);
        break;
    case 'b':
        vy_gen_expr(g, T_BOOL, depth);
        break;
    case 'e':
        vy_gen_expr(g, g->language->component_of[type], depth);
        break;
    case 'S':
        vy_gen_expr(g,
                    vy_generate_find_type(vy_gen_types[type].components == 2 ? "u32x2" : "u32x4"),
                    depth);
        break;
    case 'v':
        vy_gen_expr(g,
                    vy_generate_find_type(vy_gen_types[type].components == 2 ? "bool2" : "bool4"),
                    depth);
        break;
    case 'n':
        if (!variable(g, type) && !load(g, type)) {
            vy_gen_printf(g, "own_%s[%s]", vy_gen_types[type].name, g->me);
        }
        break;
    default:
        vy_gen_expr(g, type, depth);
        break;
    }
}

static void apply(vy_gen *g, const vy_gen_op *op, uint32_t type, int depth)
{
    vy_gen_printf(g, "%s(", op->form == 'c' ? op->text : "");
    if (op->form == 'p') {
        vy_gen_put(g, op->text);
    }
    for (const char *o = op->operands; *o; o++) {
        if (o != op->operands) {
            vy_gen_printf(g, op->form == 'i' ? " %s " : "%.0s, ", op->text);
        }
        operand(g, *o, type, depth);
    }
    vy_gen_put(g, ")");
}

/* An operator that gives the type, over operands of an active one; false where there is none. */
static bool operation(vy_gen *g, uint32_t type, int depth)
{
    uint32_t total = 0, picked = VY_GEN_NONE;
    bool fits[VY_GEN_TYPES];
    for (uint32_t op = 0; op < g->language->op_count; op++) {
        bool any = false;
        for (uint32_t t = 0; t < g->language->type_count; t++) {
            any |= g->active[t] && g->language->results[op][t] == type;
        }
        if (any) {
            total += vy_gen_ops[op].weight;
            picked = vy_gen_below(g, total) < vy_gen_ops[op].weight ? op : picked;
        }
    }
    if (picked == VY_GEN_NONE) {
        return false;
    }
    for (uint32_t t = 0; t < g->language->type_count; t++) {
        fits[t] = g->language->results[picked][t] == type;
    }
    mark_op(g, picked);
    apply(g, &vy_gen_ops[picked], pick_type(g, fits), depth);
    return true;
}

static bool conversion(vy_gen *g, uint32_t type, int depth)
{
    bool is_bitcast = vy_gen_chance(g, 40);
    uint32_t from =
        pick_type(g, is_bitcast ? g->language->bitcasts[type] : g->language->casts[type]);
    if (from == VY_GEN_NONE) {
        return false;
    }
    vy_gen_mark(g, is_bitcast ? "bitcast" : "cast");
    vy_gen_printf(g, is_bitcast ? "bitcast<%s>(" : "%s(", vy_gen_types[type].name);
    vy_gen_expr(g, from, depth);
    vy_gen_put(g, ")");
    return true;
}

static bool function_call(vy_gen *g, uint32_t type, int depth)
{
    for (uint32_t i = 0; !g->in_function && i < g->function_count; i++) {
        const vy_gen_function *f = &g->functions[i];
        if (f->result == type) {
            vy_gen_mark(g, "call");
            vy_gen_printf(g, "f%u(", i);
            for (uint32_t p = 0; p < f->parameter_count; p++) {
                vy_gen_put(g, p ? ", " : "");
                vy_gen_expr(g, f->parameters[p], depth);
            }
            vy_gen_put(g, ")");
            return true;
        }
    }
    return false;
}

/* Not exact, but far from the bound for every argument in [-1, 1]. */
static void tolerance_function(vy_gen *g, int depth)
{
    static const char *const functions[] = {"sin",  "cos",  "exp",  "exp2", "atan",
                                            "tanh", "sinh", "cosh", "asin", "acos"};
    vy_gen_mark(g, "tolerance function");
    vy_gen_printf(g, "(%s(clamp(", functions[vy_gen_below(g, VY_COUNT_OF(functions))]);
    vy_gen_expr(g, T_F32, depth);
    vy_gen_put(g, ", -1.0, 1.0)) < 8.0)");
}

/* Components of a vector of such ones, in any order. */
static bool swizzle(vy_gen *g, uint32_t type, int depth)
{
    const vy_language *l = g->language;
    bool fits[VY_GEN_TYPES] = {false};
    for (uint32_t t = 0; t < l->type_count; t++) {
        fits[t] = l->is_value[t] && l->component_of[t] == l->component_of[type];
    }
    uint32_t vector = pick_type(g, fits);
    if (vector == VY_GEN_NONE) {
        return false;
    }
    vy_gen_mark(g, "swizzle");
    vy_gen_put(g, "(");
    vy_gen_expr(g, vector, depth);
    vy_gen_put(g, ").");
    for (uint32_t i = 0; i < vy_gen_types[type].components; i++) {
        vy_gen_printf(g, "%c", "xyzw"[vy_gen_below(g, vy_gen_types[vector].components)]);
    }
    return true;
}

/* A vector of parts, or a part of a vector. */
static bool vector_part(vy_gen *g, uint32_t type, int depth)
{
    const vy_language *l = g->language;
    bool fits[VY_GEN_TYPES] = {false};
    if (vy_gen_types[type].components > 1) {
        if (vy_gen_chance(g, 50) && swizzle(g, type, depth)) {
            return true;
        }
        if (vy_gen_types[type].kind == VY_GEN_BOOL) {
            return false;
        }
        vy_gen_printf(g, "%s(", vy_gen_types[type].name);
        for (uint32_t i = 0; i < vy_gen_types[type].components; i++) {
            vy_gen_put(g, i ? ", " : "");
            vy_gen_expr(g, l->component_of[type], depth - 1);
        }
        vy_gen_put(g, ")");
        return true;
    }
    for (uint32_t t = 0; t < l->type_count; t++) {
        fits[t] = l->is_value[t] && l->component_of[t] == type;
    }
    uint32_t vector = pick_type(g, fits);
    if (vector == VY_GEN_NONE) {
        return false;
    }
    vy_gen_put(g, "(");
    vy_gen_expr(g, vector, depth);
    vy_gen_printf(g, ").%c", "xyzw"[vy_gen_below(g, vy_gen_types[vector].components)]);
    return true;
}

static void compound(vy_gen *g, uint32_t type, int depth)
{
    mark_type(g, type);
    if ((vy_gen_chance(g, 12) && conversion(g, type, depth)) ||
        (vy_gen_chance(g, 8) && function_call(g, type, depth)) ||
        (vy_gen_chance(g, 8) && vector_part(g, type, depth))) {
        return;
    }
    if (type == T_BOOL && vy_gen_chance(g, 8)) {
        tolerance_function(g, depth);
        return;
    }
    if (!operation(g, type, depth)) {
        source(g, type);
    }
}

void vy_gen_expr(vy_gen *g, uint32_t type, int depth)
{
    uint32_t part = vy_gen_open(g, VY_PART_EXPRESSION, type);
    if (depth <= 0 || vy_gen_chance(g, 20)) {
        source(g, type);
    } else {
        compound(g, type, depth - 1);
    }
    vy_gen_close(g, part);
}
