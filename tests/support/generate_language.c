/* The language as tables: types, operators and atomics that programs are made of, and which of them
 * go together. A new type or operator is a row here; whether the language has it already, and with
 * what, is asked of the parser by the smallest program that needs it. */
#include "tests/support/generate_parts.h"

#include "vyre/text.h"

#include <stdio.h>
#include <string.h>

/* The first four are in every program. Vectors are made of the row named by their first letters. */
const vy_gen_type vy_gen_types[] = {
    {"bool", VY_GEN_BOOL, 1, 1, NULL, 4},       {"u32", VY_GEN_UNSIGNED, 32, 1, NULL, 10},
    {"i32", VY_GEN_SIGNED, 32, 1, NULL, 8},     {"f32", VY_GEN_FLOAT, 32, 1, NULL, 8},
    {"u8", VY_GEN_UNSIGNED, 8, 1, NULL, 5},     {"i8", VY_GEN_SIGNED, 8, 1, NULL, 5},
    {"u16", VY_GEN_UNSIGNED, 16, 1, NULL, 5},   {"i16", VY_GEN_SIGNED, 16, 1, NULL, 5},
    {"u64", VY_GEN_UNSIGNED, 64, 1, NULL, 5},   {"i64", VY_GEN_SIGNED, 64, 1, NULL, 5},
    {"f16", VY_GEN_FLOAT, 16, 1, NULL, 5},      {"bf16", VY_GEN_FLOAT, 16, 1, "f32", 0},
    {"f64", VY_GEN_FLOAT, 64, 1, NULL, 5},      {"bool2", VY_GEN_BOOL, 1, 2, NULL, 2},
    {"bool4", VY_GEN_BOOL, 1, 4, NULL, 2},      {"u32x2", VY_GEN_UNSIGNED, 32, 2, NULL, 4},
    {"u32x4", VY_GEN_UNSIGNED, 32, 4, NULL, 4}, {"i32x2", VY_GEN_SIGNED, 32, 2, NULL, 4},
    {"i32x4", VY_GEN_SIGNED, 32, 4, NULL, 4},   {"f32x2", VY_GEN_FLOAT, 32, 2, NULL, 4},
    {"f32x4", VY_GEN_FLOAT, 32, 4, NULL, 4},
};

/* Exact ones only: those with a tolerance stand in tests that hold for every result within it. */
const vy_gen_op vy_gen_ops[] = {
    {"+", 'i', "TT", 12},
    {"-", 'i', "TT", 12},
    {"*", 'i', "TT", 12},
    {"/", 'i', "TT", 10},
    {"%", 'i', "TT", 10},
    {"&", 'i', "TT", 8},
    {"|", 'i', "TT", 8},
    {"^", 'i', "TT", 8},
    {"<<", 'i', "Ts", 10},
    {">>", 'i', "Ts", 10},
    {"==", 'i', "TT", 10},
    {"!=", 'i', "TT", 10},
    {"<", 'i', "TT", 12},
    {"<=", 'i', "TT", 12},
    {">", 'i', "TT", 12},
    {">=", 'i', "TT", 12},
    {"&&", 'i', "TT", 10},
    {"||", 'i', "TT", 10},
    {"-", 'p', "n", 8},
    {"!", 'p', "T", 8},
    {"~", 'p', "T", 8},
    {"min", 'c', "TT", 7},
    {"max", 'c', "TT", 7},
    {"clamp", 'c', "TTT", 6},
    {"abs", 'c', "T", 6},
    {"sign", 'c', "T", 6},
    {"abs_diff", 'c', "TT", 7},
    {"mul_high", 'c', "TT", 7},
    {"add_sat", 'c', "TT", 7},
    {"sub_sat", 'c', "TT", 7},
    {"mul_sat", 'c', "TT", 7},
    {"rotate_left", 'c', "Ts", 7},
    {"rotate_right", 'c', "Ts", 7},
    {"clz", 'c', "T", 7},
    {"ctz", 'c', "T", 7},
    {"popcount", 'c', "T", 7},
    {"reverse_bits", 'c', "T", 7},
    {"extract_bits", 'c', "Tuu", 7},
    {"insert_bits", 'c', "TTuu", 7},
    {"unpack_byte", 'c', "Ts", 7},
    {"unpack_nibble", 'c', "Ts", 7},
    {"dot4", 'c', "TT", 7},
    {"select", 'c', "bTT", 10},
    {"floor", 'c', "T", 6},
    {"ceil", 'c', "T", 6},
    {"trunc", 'c', "T", 6},
    {"fract", 'c', "T", 6},
    {"round", 'c', "T", 6},
    {"round_even", 'c', "T", 6},
    {"sqrt", 'c', "T", 6},
    {"copysign", 'c', "TT", 6},
    {"fma", 'c', "TTT", 6},
    {"is_nan", 'c', "T", 10},
    {"is_inf", 'c', "T", 10},
    {"is_finite", 'c', "T", 10},
    {"any", 'c', "T", 8},
    {"all", 'c', "T", 8},
    {"dot", 'c', "TT", 4},
    {"+", 'i', "Te", 9},
    {"*", 'i', "eT", 9},
    {"min", 'c', "Te", 9},
    {"<<", 'i', "TS", 12},
    {"select", 'c', "vTT", 6},
};

const char *const vy_gen_atomics[VY_GEN_ATOMICS] = {
    "atomic_add", "atomic_sub", "atomic_min",      "atomic_max",  "atomic_and",
    "atomic_or",  "atomic_xor", "atomic_exchange", "atomic_load", "atomic_compare_exchange"};

enum { ELECT, VOTE, BALLOT, VALUE, LANE, REDUCE, INCLUSIVE, EXCLUSIVE };

const vy_gen_subgroup vy_gen_subgroups[VYRE_SUBGROUP_COUNT] = {
#define VYRE_X(name, text, kind, op)                                                               \
    {text, (kind) != ELECT, (kind) == LANE, (kind) == VOTE, (kind) == BALLOT},
    VYRE_SUBGROUPS(VYRE_X)
#undef VYRE_X
};

/* Sums and products of floats have no order. */
static const bool is_ordered[VYRE_SUBGROUP_COUNT] = {
#define VYRE_X(name, text, kind, op) VYRE_OP_##op == VYRE_OP_ADD || VYRE_OP_##op == VYRE_OP_MUL,
    VYRE_SUBGROUPS(VYRE_X)
#undef VYRE_X
};

#define TYPE_COUNT VY_COUNT_OF(vy_gen_types)
#define OP_COUNT   VY_COUNT_OF(vy_gen_ops)

const char *vy_generate_type_name(uint32_t row)
{
    return row < TYPE_COUNT ? vy_gen_types[row].name : NULL;
}

uint32_t vy_generate_find_type(const char *keyword)
{
    for (uint32_t t = 0; t < TYPE_COUNT; t++) {
        if (strcmp(vy_gen_types[t].name, keyword) == 0) {
            return t;
        }
    }
    return VY_GEN_TYPES;
}

/* ---- Asking the parser ------------------------------------------------------------------------
 */

static bool parses(const char *declarations, const char *body)
{
    vy_text text;
    vyre_program *program = NULL;
    vyre_diag diag;
    vy_text_init(&text, NULL);
    vy_text_printf(&text,
                   "program probe\nworkgroup 64\nin w: u32[]\nin n: i32[]\nin b: "
                   "bool[]\n%s\nkernel {\n%s\n}\n",
                   declarations, body);
    bool ok = vyre_program_parse(text.data, text.size, NULL, NULL, &program, &diag) == VYRE_OK;
    vyre_program_destroy(&program);
    vy_text_finish(&text);
    return ok;
}

/* A value of that type in the probing programs: vectors of bools are made by a comparison. */
static void put_value(vy_text *text, uint32_t type)
{
    const vy_gen_type *t = &vy_gen_types[type];
    if (t->kind == VY_GEN_BOOL && t->components > 1) {
        vy_text_printf(text, "(ex < ex)");
    } else {
        vy_text_printf(text, "ex[0]");
    }
}

static void put_elements(vy_text *text, uint32_t type)
{
    const vy_gen_type *t = &vy_gen_types[type];
    if (t->kind != VY_GEN_BOOL || t->components == 1) {
        vy_text_printf(text, "in ex: %s[]\n", t->name);
    }
}

static void put_lets(vy_text *text, uint32_t type)
{
    const vy_gen_type *t = &vy_gen_types[type];
    if (t->kind == VY_GEN_BOOL && t->components > 1) {
        vy_text_printf(text, "let ex = u32x%u(w[0])\n", t->components);
    }
}

/* `let x: R = ` of an expression over values of T. R NULL: without a type. */
static bool takes(uint32_t t, const char *result, const char *before, const char *after)
{
    vy_text declarations, body;
    vy_text_init(&declarations, NULL);
    vy_text_init(&body, NULL);
    put_elements(&declarations, t);
    put_lets(&body, t);
    vy_text_append(&declarations, "\n", 1);
    vy_text_printf(&body, "let x%s%s = %s", result ? ": " : "", result ? result : "", before);
    put_value(&body, t);
    vy_text_printf(&body, "%s", after);
    bool ok = parses(declarations.data, body.data);
    vy_text_finish(&declarations);
    vy_text_finish(&body);
    return ok;
}

/* What stands beside vectors: nothing that parses beside scalars. */
static void put_beside(vy_text *out, char letter, uint32_t type)
{
    uint32_t n = vy_gen_types[type].components;
    if (n == 1) {
        vy_text_printf(out, "?");
    } else if (letter == 'e') {
        put_value(out, type);
        vy_text_printf(out, ".x");
    } else if (letter == 'S') {
        vy_text_printf(out, "u32x%u(w[0])", n);
    } else {
        vy_text_printf(out, "(u32x%u(w[0]) < u32x%u(w[1]))", n, n);
    }
}

/* The operator over values of T, in two pieces around the first T. */
static void put_op(const vy_gen_op *op, uint32_t type, vy_text *before, vy_text *after)
{
    static const char *const others[] = {"u", "w[0]", "s", "w[0]", "b", "b[0]"};
    bool first = true;
    vy_text *out = before;
    vy_text_printf(out, "%s", op->form == 'c' ? op->text : op->form == 'p' ? op->text : "");
    vy_text_printf(out, "%s", op->form == 'c' ? "(" : "");
    for (const char *o = op->operands; *o; o++) {
        if (o != op->operands) {
            vy_text_printf(out, " %s ", op->form == 'i' ? op->text : ",");
        }
        if (*o == 'T' || *o == 'n') {
            if (first) {
                out = after;
                first = false;
            } else {
                put_value(out, type);
            }
        }
        if (strchr("eSv", *o)) {
            put_beside(out, *o, type);
        }
        for (uint32_t i = 0; i < 6; i += 2) {
            if (others[i][0] == *o) {
                vy_text_printf(out, "%s", others[i + 1]);
            }
        }
    }
    vy_text_printf(after, "%s", op->form == 'c' ? ")" : "");
}

static uint8_t find_result(const vy_language *l, uint32_t op, uint32_t type)
{
    vy_text before, after;
    uint8_t result = VY_GEN_NONE;
    vy_text_init(&before, NULL);
    vy_text_init(&after, NULL);
    vy_text_append(&before, " ", 1);
    put_op(&vy_gen_ops[op], type, &before, &after);
    if (takes(type, NULL, before.data, after.data)) {
        /* Most give their own type, a bool or a u32. */
        for (uint32_t i = 0; i < TYPE_COUNT && result == VY_GEN_NONE; i++) {
            uint32_t r = i == 0 ? type : i - 1 < type ? i - 1 : i;
            if (l->is_value[r] && takes(type, vy_gen_types[r].name, before.data, after.data)) {
                result = (uint8_t)r;
            }
        }
    }
    vy_text_finish(&before);
    vy_text_finish(&after);
    return result;
}

static void probe_types(vy_language *l)
{
    for (uint32_t t = 0; t < TYPE_COUNT; t++) {
        const vy_gen_type *type = &vy_gen_types[t];
        char text[96];
        bool is_vector = type->components > 1;
        if (is_vector && type->kind == VY_GEN_BOOL) {
            snprintf(text, sizeof text, "let x: bool%u = u32x%u(w[0]) < u32x%u(w[1])",
                     type->components, type->components, type->components);
            l->is_value[t] = parses("", text);
        } else {
            snprintf(text, sizeof text, "in e: %s[]", type->name);
            l->is_element[t] = parses(text, "let x = e[0]");
            snprintf(text, sizeof text, "var x: %s[2]", type->name);
            l->is_value[t] = l->is_element[t] && parses("", text) && !type->value;
        }
        l->has_type[t] = l->is_element[t] || l->is_value[t];
        l->value_of[t] = (uint8_t)(type->value ? vy_generate_find_type(type->value) : t);
        l->component_of[t] = VY_GEN_NONE;
        if (is_vector) {
            /* "u32x2" is made of "u32", "bool2" of "bool". */
            char name[8];
            size_t length = strcspn(type->name, type->kind == VY_GEN_BOOL ? "24" : "x");
            snprintf(name, sizeof name, "%.*s", (int)length, type->name);
            l->component_of[t] = (uint8_t)vy_generate_find_type(name);
        }
    }
}

static void probe_pairs(vy_language *l)
{
    for (uint32_t to = 0; to < TYPE_COUNT; to++) {
        for (uint32_t from = 0; from < TYPE_COUNT; from++) {
            char cast[32], bitcast[32];
            if (!l->is_value[to] || !l->is_value[from]) {
                continue;
            }
            snprintf(cast, sizeof cast, "%s(", vy_gen_types[to].name);
            snprintf(bitcast, sizeof bitcast, "bitcast<%s>(", vy_gen_types[to].name);
            l->casts[to][from] = takes(from, NULL, cast, ")");
            l->bitcasts[to][from] = takes(from, NULL, bitcast, ")");
        }
    }
}

static void probe_elements(vy_language *l)
{
    for (uint32_t t = 0; t < TYPE_COUNT; t++) {
        char declarations[96], body[96];
        if (!l->is_element[t] || !l->is_value[t]) {
            continue;
        }
        snprintf(declarations, sizeof declarations, "out e: %s[4]\nin x: %s[]",
                 vy_gen_types[t].name, vy_gen_types[t].name);
        for (uint32_t a = 0; a < VY_GEN_ATOMICS; a++) {
            const char *operands = a == VY_GEN_ATOMICS - 1   ? ", x[0], x[1]"
                                   : a == VY_GEN_ATOMICS - 2 ? ""
                                                             : ", x[0]";
            snprintf(body, sizeof body, "let y = %s(e[0]%s)", vy_gen_atomics[a], operands);
            l->atomics[a][t] = parses(declarations, body);
        }
        l->is_index[t] = vy_gen_types[t].components == 1 && parses(declarations, "let y = w[x[0]]");
    }
}

static void probe_declarations(vy_language *l)
{
    for (uint32_t t = 0; t < TYPE_COUNT; t++) {
        vy_generated info = {0};
        vy_gen g = {.info = &info, .language = l};
        vy_text text;
        char declaration[64];
        snprintf(declaration, sizeof declaration, "param p: %s", vy_gen_types[t].name);
        l->is_param[t] = l->is_value[t] && parses(declaration, "let x = p");
        vy_text_init(&text, NULL);
        g.out = &text;
        vy_gen_printf(&g, "const c: %s[] = [", vy_gen_types[t].name);
        vy_gen_constant(&g, t);
        vy_gen_put(&g, "]");
        l->is_table[t] = l->is_element[t] && parses(text.data, "let x = c[w[0]]");
        vy_text_finish(&text);
    }
}

static void probe_subgroups(vy_language *l)
{
    for (uint32_t t = 0; t < TYPE_COUNT; t++) {
        for (uint32_t s = 0; s < VYRE_SUBGROUP_COUNT && l->is_value[t]; s++) {
            const vy_gen_subgroup *subgroup = &vy_gen_subgroups[s];
            char before[64];
            bool has_order = is_ordered[s] && vy_gen_types[t].kind == VY_GEN_FLOAT;
            snprintf(before, sizeof before, "%s(", subgroup->text);
            l->subgroups[s][t] = !has_order && (subgroup->has_value || t == T_BOOL) &&
                                 (!subgroup->has_value ||
                                  takes(t, NULL, before, subgroup->has_lane ? ", w[0])" : ")"));
        }
    }
}

void vy_language_probe(vy_language *out)
{
    memset(out, 0, sizeof *out);
    out->type_count = TYPE_COUNT;
    out->op_count = OP_COUNT;
    probe_types(out);
    memset(out->results, VY_GEN_NONE, sizeof out->results);
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        for (uint32_t t = 0; t < TYPE_COUNT; t++) {
            if (out->is_value[t]) {
                out->results[op][t] = find_result(out, op, t);
            }
        }
    }
    probe_pairs(out);
    probe_elements(out);
    probe_declarations(out);
    probe_subgroups(out);
}
