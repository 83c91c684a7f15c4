/* Random expressions for generated programs, and the writers below them. */
#include "tests/support/generate_parts.h"

#include <string.h>

const char *const vy_gen_type_names[T_COUNT] = {"bool", "u32", "i32", "f32"};

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
    /* operators, in the order of op_rows */
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "negate",
    "!",
    "~",
    "min",
    "max",
    "clamp",
    "abs",
    "sign",
    "abs_diff",
    "mul_high",
    "add_sat",
    "sub_sat",
    "mul_sat",
    "rotate_left",
    "rotate_right",
    "clz",
    "ctz",
    "popcount",
    "reverse_bits",
    "extract_bits",
    "insert_bits",
    "unpack_byte",
    "unpack_nibble",
    "dot4",
    "select",
    "cast",
    "bitcast",
    "floor",
    "ceil",
    "trunc",
    "fract",
    "round",
    "round_even",
    "sqrt",
    "copysign",
    "is_nan",
    "is_inf",
    "is_finite",
    "tolerance function",
};

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

void vy_gen_mark(vy_gen *g, const char *name)
{
    for (uint32_t i = 0; i < VY_COUNT_OF(construct_names); i++) {
        if (strcmp(construct_names[i], name) == 0) {
            g->info->constructs[i / 64] |= (uint64_t)1 << (i % 64);
            return;
        }
    }
}

void vy_gen_put(vy_gen *g, const char *text)
{
    vy_text_append(g->out, text, strlen(text));
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static void literal(vy_gen *g, int type)
{
    static const char *const u32_edges[] = {"0u",          "1u",          "2u",     "31u",
                                            "32u",         "255u",        "65535u", "2147483647u",
                                            "2147483648u", "4294967295u", "7u"};
    static const char *const i32_edges[] = {
        "0i", "1i", "(-1i)", "31i", "(-32i)", "2147483647i", "(-2147483647i)", "7i", "(-7i)"};
    static const char *const f32_edges[] = {
        "0.0",        "(-0.0)",       "1.0", "(-1.5)",  "0.5",    "3.0e38", "1.0e-38",
        "16777216.0", "2147483648.0", "0.1", "1.0e-40", "(-2.5)", "1.0e10"};
    switch (type) {
    case T_BOOL:
        vy_gen_put(g, vy_gen_chance(g, 50) ? "true" : "false");
        break;
    case T_U32:
        vy_gen_put(g, u32_edges[vy_gen_below(g, VY_COUNT_OF(u32_edges))]);
        break;
    case T_I32:
        vy_gen_put(g, i32_edges[vy_gen_below(g, VY_COUNT_OF(i32_edges))]);
        break;
    default:
        vy_gen_put(g, f32_edges[vy_gen_below(g, VY_COUNT_OF(f32_edges))]);
        break;
    }
}

static bool variable(vy_gen *g, int type)
{
    int start = g->var_count ? (int)vy_gen_below(g, (uint32_t)g->var_count) : 0;
    for (int i = 0; i < g->var_count; i++) {
        int at = (start + i) % g->var_count;
        if (g->vars[at].type == type) {
            vy_text_printf(g->out, "v%u", g->vars[at].name);
            if (g->vars[at].array) {
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

/* An element of something readable here, or a built-in. */
static void source(vy_gen *g, int type)
{
    static const char *const builtins[] = {"gid.x",        "lid.x", "wid.x", "num_groups.x",
                                           "group_size.x", "pass",  "gid.y", "len(words)"};
    if (vy_gen_chance(g, 45) && variable(g, type)) {
        return;
    }
    if (type == T_U32 && vy_gen_chance(g, 25)) {
        vy_gen_put(g, g->in_function ? "pass" : builtins[vy_gen_below(g, VY_COUNT_OF(builtins))]);
        return;
    }
    if (type != T_BOOL && vy_gen_chance(g, 12)) {
        vy_gen_mark(g, "param");
        vy_gen_put(g, type == T_U32 ? "p" : type == T_I32 ? "q" : "r");
        return;
    }
    if (type == T_U32 && vy_gen_chance(g, 12)) {
        vy_gen_mark(g, "table");
        vy_gen_put(g, "primes[");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, " & 15u]");
        return;
    }
    if (type == T_U32 && vy_gen_chance(g, 15) && !g->in_function) {
        /* What this invocation may just have stored itself. */
        vy_text_printf(g->out, "%s[gid.x * %uu + %uu]", g->segment % 2 ? "odd_out" : "even_out",
                       VY_GEN_OWN, vy_gen_below(g, VY_GEN_OWN));
        return;
    }
    if (type == T_U32 && vy_gen_chance(g, 25) && !g->in_function) {
        vy_gen_put(g, g->segment % 2 ? "even_out[" : "odd_out[");
        vy_gen_expr(g, T_U32, 1);
        vy_gen_put(g, " % 600u]");
        return;
    }
    if (vy_gen_chance(g, 60)) {
        static const char *const names[T_COUNT] = {"flags", "words", "ints", "floats"};
        vy_gen_mark(g, "load");
        vy_text_printf(g->out, "%s[", names[type]);
        if (vy_gen_chance(g, 60)) {
            vy_gen_put(g, g->in_function ? "p" : "gid.x");
        } else if (vy_gen_chance(g, 20)) {
            vy_gen_expr(g, T_I32, 1);
        } else {
            vy_gen_expr(g, T_U32, 1);
            vy_gen_put(g, " % 300u");
        }
        vy_gen_put(g, "]");
        return;
    }
    literal(g, type);
}

static void infix(vy_gen *g, const char *op, int type, int depth)
{
    vy_gen_mark(g, op);
    vy_gen_put(g, "(");
    vy_gen_expr(g, type, depth);
    vy_text_printf(g->out, " %s ", op);
    vy_gen_expr(g, type, depth);
    vy_gen_put(g, ")");
}

static void call(vy_gen *g, const char *name, const int *types, int count, int depth)
{
    vy_gen_mark(g, name);
    vy_text_printf(g->out, "%s(", name);
    for (int i = 0; i < count; i++) {
        if (i) {
            vy_gen_put(g, ", ");
        }
        vy_gen_expr(g, types[i], depth);
    }
    vy_gen_put(g, ")");
}

static void integer_expr(vy_gen *g, int type, int depth)
{
    static const char *const infixes[] = {"+", "-", "*", "/", "%", "&", "|", "^"};
    static const char *const binary[] = {"min",     "max",     "mul_high", "add_sat",
                                         "sub_sat", "mul_sat", "dot4"};
    static const char *const shifts[] = {"rotate_left", "rotate_right", "unpack_byte",
                                         "unpack_nibble"};
    const int same[] = {type, type, type};
    const int shift[] = {type, T_U32};
    const int extract[] = {type, T_U32, T_U32};
    const int insert[] = {type, type, T_U32, T_U32};
    switch (vy_gen_below(g, 14)) {
    case 0:
    case 1:
    case 2:
    case 3:
        infix(g, infixes[vy_gen_below(g, VY_COUNT_OF(infixes))], type, depth);
        break;
    case 4: {
        const char *op = vy_gen_chance(g, 50) ? "<<" : ">>";
        vy_gen_mark(g, op);
        vy_gen_put(g, "(");
        vy_gen_expr(g, type, depth);
        vy_text_printf(g->out, " %s ", op);
        vy_gen_expr(g, T_U32, depth);
        vy_gen_put(g, ")");
        break;
    }
    case 5:
    case 6:
        call(g, binary[vy_gen_below(g, VY_COUNT_OF(binary))], same, 2, depth);
        break;
    case 7:
        call(g, shifts[vy_gen_below(g, VY_COUNT_OF(shifts))], shift, 2, depth);
        break;
    case 8:
        if (vy_gen_chance(g, 50)) {
            call(g, "extract_bits", extract, 3, depth);
        } else {
            call(g, "insert_bits", insert, 4, depth);
        }
        break;
    case 9:
        if (type == T_U32) {
            static const char *const counts[] = {"clz", "ctz", "popcount"};
            const int operand = vy_gen_chance(g, 50) ? T_U32 : T_I32;
            call(g, counts[vy_gen_below(g, 3)], &operand, 1, depth);
        } else {
            call(g, vy_gen_chance(g, 50) ? "abs" : "sign", same, 1, depth);
        }
        break;
    case 10:
        if (vy_gen_chance(g, 40)) {
            vy_gen_mark(g, "~");
            vy_gen_put(g, "(~");
            vy_gen_expr(g, type, depth);
            vy_gen_put(g, ")");
        } else if (vy_gen_chance(g, 50)) {
            call(g, "reverse_bits", same, 1, depth);
        } else if (type == T_U32) {
            const int two[2] = {T_I32, T_I32};
            call(g, "abs_diff", vy_gen_chance(g, 50) ? same : two, 2, depth);
        } else {
            call(g, "clamp", same, 3, depth);
        }
        break;
    case 11:
        vy_gen_mark(g, "cast");
        vy_text_printf(g->out, "%s(", vy_gen_type_names[type]);
        vy_gen_expr(g, (int)vy_gen_below(g, T_COUNT), depth);
        vy_gen_put(g, ")");
        break;
    case 12:
        vy_gen_mark(g, "bitcast");
        vy_text_printf(g->out, "bitcast<%s>(", vy_gen_type_names[type]);
        vy_gen_expr(g, vy_gen_chance(g, 70) ? T_F32 : type == T_U32 ? T_I32 : T_U32, depth);
        vy_gen_put(g, ")");
        break;
    default:
        if (type == T_I32) {
            vy_gen_mark(g, "negate");
            vy_gen_put(g, "(-");
            source(g, type);
            vy_gen_put(g, ")");
        } else if (!g->in_function) {
            vy_gen_mark(g, "call");
            vy_gen_put(g, "mix(");
            vy_gen_expr(g, T_U32, depth);
            vy_gen_put(g, ", ");
            vy_gen_expr(g, T_F32, depth);
            vy_gen_put(g, ")");
        } else {
            source(g, type);
        }
        break;
    }
}

static void float_expr(vy_gen *g, int depth)
{
    static const char *const infixes[] = {"+", "-", "*", "/"};
    static const char *const unary[] = {"floor",      "ceil", "trunc", "fract", "round",
                                        "round_even", "sqrt", "abs",   "sign"};
    static const char *const binary[] = {"min", "max", "copysign", "abs_diff"};
    const int same[] = {T_F32, T_F32, T_F32};
    switch (vy_gen_below(g, 9)) {
    case 0:
    case 1:
    case 2:
        infix(g, infixes[vy_gen_below(g, VY_COUNT_OF(infixes))], T_F32, depth);
        break;
    case 3:
    case 4:
        call(g, unary[vy_gen_below(g, VY_COUNT_OF(unary))], same, 1, depth);
        break;
    case 5:
        call(g, binary[vy_gen_below(g, VY_COUNT_OF(binary))], same, 2, depth);
        break;
    case 6:
        vy_gen_mark(g, "cast");
        vy_gen_put(g, "f32(");
        vy_gen_expr(g, (int)vy_gen_below(g, T_COUNT), depth);
        vy_gen_put(g, ")");
        break;
    case 7:
        if (vy_gen_chance(g, 40)) {
            vy_gen_mark(g, "bitcast");
            vy_gen_put(g, "bitcast<f32>(");
            vy_gen_expr(g, T_U32, depth);
            vy_gen_put(g, ")");
        } else if (vy_gen_chance(g, 50)) {
            call(g, "clamp", same, 3, depth);
        } else {
            vy_gen_mark(g, "negate");
            vy_gen_put(g, "(-");
            source(g, T_F32);
            vy_gen_put(g, ")");
        }
        break;
    default:
        source(g, T_F32);
        break;
    }
}

static void bool_expr(vy_gen *g, int depth)
{
    static const char *const orders[] = {"<", "<=", ">", ">="};
    static const char *const tests[] = {"is_nan", "is_inf", "is_finite"};
    static const char *const functions[] = {"sin",  "cos",  "exp",  "exp2", "atan",
                                            "tanh", "sinh", "cosh", "asin", "acos"};
    const int one = T_F32;
    switch (vy_gen_below(g, 9)) {
    case 0:
    case 1:
    case 2:
        infix(g, orders[vy_gen_below(g, 4)], 1 + (int)vy_gen_below(g, 3), depth);
        break;
    case 3:
        infix(g, vy_gen_chance(g, 50) ? "==" : "!=", (int)vy_gen_below(g, T_COUNT), depth);
        break;
    case 4:
        infix(g, vy_gen_chance(g, 50) ? "&&" : "||", T_BOOL, depth);
        break;
    case 5:
        vy_gen_mark(g, "!");
        vy_gen_put(g, "(!");
        vy_gen_expr(g, T_BOOL, depth);
        vy_gen_put(g, ")");
        break;
    case 6:
        call(g, tests[vy_gen_below(g, 3)], &one, 1, depth);
        break;
    case 7:
        /* Not exact, but far from the bound for every argument in [-1, 1]. */
        vy_gen_mark(g, "tolerance function");
        vy_text_printf(g->out, "(%s(clamp(", functions[vy_gen_below(g, VY_COUNT_OF(functions))]);
        vy_gen_expr(g, T_F32, depth);
        vy_gen_put(g, ", -1.0, 1.0)) < 8.0)");
        break;
    default:
        vy_gen_mark(g, "cast");
        vy_gen_put(g, "bool(");
        vy_gen_expr(g, 1 + (int)vy_gen_below(g, 3), depth);
        vy_gen_put(g, ")");
        break;
    }
}

void vy_gen_expr(vy_gen *g, int type, int depth)
{
    if (depth <= 0 || vy_gen_chance(g, 20)) {
        source(g, type);
        return;
    }
    if (vy_gen_chance(g, 8)) {
        const int types[] = {T_BOOL, type, type};
        call(g, "select", types, 3, depth - 1);
        return;
    }
    switch (type) {
    case T_BOOL:
        bool_expr(g, depth - 1);
        break;
    case T_F32:
        float_expr(g, depth - 1);
        break;
    default:
        integer_expr(g, type, depth - 1);
        break;
    }
}

const char *vy_generate_construct_name(uint32_t index)
{
    return index < VY_COUNT_OF(construct_names) ? construct_names[index] : NULL;
}

uint32_t vy_generate_input(uint64_t seed, uint32_t which, uint32_t index)
{
    static const uint32_t float_edges[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000,
                                           0x7fc00000, 0x7f800001, 0xffc12345, 0x00000001,
                                           0x807fffff, 0x3f800000, 0x4f000000, 0xcf000001,
                                           0x7f7fffff, 0x3effffff, 0x4b000001, 0x3f000000};
    static const uint32_t int_edges[] = {0,  1,  0xffffffff, 0x80000000, 0x7fffffff, 2,
                                         31, 32, 33,         0xfffffffe, 255,        65536};
    vy_gen state = {.state = seed * 31 + which * 1000003u + index * 7919u};
    uint32_t r = vy_gen_random(&state);
    uint32_t kind = vy_gen_random(&state) % 4;
    switch (which) {
    case 1:
        if (kind == 0) {
            return float_edges[r % VY_COUNT_OF(float_edges)];
        }
        if (kind == 1) {
            return r;
        }
        return 0x3f000000u + (r & 0x81ffffffu); /* around one, both signs */
    case 2:
        return kind == 0 ? r : r & 1;
    default:
        if (kind == 0) {
            return int_edges[r % VY_COUNT_OF(int_edges)];
        }
        return kind == 1 ? r : r % 300;
    }
}
