/* See compile_text.h. One writer for both languages, which differ in how things are declared. */
#include "tools/vyre-bench/compile_text.h"

#include <stdio.h>

enum {
    LOAD_EACH = 16,  /* statements with a load instead of a literal: one of so many */
    STORE_EACH = 32, /* a store behind so many statements */
    REACH = 8,       /* how far back a statement reads */
    UNIT = 40,       /* operations in one unit of the mix */
    FUNCTION_OPERATIONS = 12
};

typedef struct writer {
    vy_text *out;
    bool is_glsl;
    uint32_t state; /* of the numbers that choose operators and literals */
    uint32_t left;  /* operations to go */
} writer;

static uint32_t next(writer *w)
{
    w->state = w->state * 1664525u + 1013904223u;
    return w->state >> 8;
}

static const char *let(const writer *w)
{
    return w->is_glsl ? "uint" : "let";
}

static const char *var(const writer *w)
{
    return w->is_glsl ? "uint" : "var";
}

static void take(writer *w, uint32_t operations)
{
    w->left -= operations < w->left ? operations : w->left;
}

/* ---- Around the statements ------------------------------------------------------------------- */

static void write_head(writer *w)
{
    if (w->is_glsl) {
        vy_text_printf(w->out,
                       "#version 450\n"
                       "layout(local_size_x = 256) in;\n"
                       "layout(std430, set = 0, binding = 0) readonly buffer X { uint x[]; };\n"
                       "layout(std430, set = 0, binding = 1) readonly buffer Y { uint y[]; };\n"
                       "layout(std430, set = 0, binding = 2) buffer Z { uint z[]; };\n");
    } else {
        vy_text_printf(w->out, "program sized\nworkgroup 256\ngrid over z\n"
                               "in x : u32[]\nin y : u32[]\ninout z : u32[]\n");
    }
}

static void write_main(writer *w)
{
    vy_text_printf(w->out, "%s\n    %s at = %s;\n", w->is_glsl ? "void main() {" : "kernel {",
                   let(w), w->is_glsl ? "gl_GlobalInvocationID.x" : "gid.x");
}

/* ---- Straight -------------------------------------------------------------------------------- */

static const char *const operators[] = {"+", "^", "*", "-", "|", "&", "+", "^"};

/* `v7 = (v6 * v3) ^ 0x1234u;`: every value reads the one before it, so that all are needed. */
static void write_statement(writer *w, uint32_t index)
{
    uint32_t chosen = next(w), reach = index < REACH ? index : REACH;
    vy_text_printf(w->out, "    %s v%u = (v%u %s v%u) %s ", let(w), index, index - 1,
                   operators[chosen % 4], index - 1 - (chosen >> 4) % reach,
                   operators[(chosen >> 8) % 8]);
    if (chosen >> 12 & (LOAD_EACH - 1)) {
        vy_text_printf(w->out, "%uu;\n", next(w) & 0xffff);
        take(w, 2);
    } else {
        vy_text_printf(w->out, "y[v%u & 255u];\n", index - 1);
        take(w, 4);
    }
}

static void write_straight(writer *w)
{
    write_main(w);
    vy_text_printf(w->out, "    %s v0 = x[at];\n", let(w));
    take(w, 1);
    uint32_t index = 1;
    for (; w->left > 1; index++) {
        write_statement(w, index);
        if (index % STORE_EACH == 0) {
            vy_text_printf(w->out, "    z[v%u & 1023u] = v%u;\n", index - 1, index);
            take(w, 2);
        }
    }
    vy_text_printf(w->out, "    z[at] = v%u;\n}\n", index - 1);
}

/* ---- Mixed ----------------------------------------------------------------------------------- */

static void write_assignment(writer *w, const char *indent, const char *to, const char *from)
{
    uint32_t chosen = next(w);
    vy_text_printf(w->out, "%s%s = (%s %s %s) %s %uu;\n", indent, to, to, operators[chosen % 8],
                   from, operators[(chosen >> 8) % 4], next(w) & 0xffff);
    take(w, 2);
}

static void write_for(writer *w, const char *indent, const char *name, uint32_t trips)
{
    if (w->is_glsl) {
        vy_text_printf(w->out, "%sfor (uint %s = 0u; %s < %uu; %s++) {\n", indent, name, name,
                       trips, name);
    } else {
        vy_text_printf(w->out, "%sfor %s in 0u .. %uu {\n", indent, name, trips);
    }
}

/* An if, a loop with an if in it, and some statements between them: UNIT operations. */
static void write_unit(writer *w, uint32_t unit)
{
    const char *in = "        ", *deep = "            ";
    uint32_t left = w->left;
    vy_text_printf(w->out, "    %s t%u = y[(a + %uu) & 255u];\n", let(w), unit, unit & 255);
    vy_text_printf(w->out, "    if ((t%u & %uu) != 0u) {\n", unit, 1u << unit % 16);
    take(w, 5);
    for (uint32_t i = 0; i < 3; i++) {
        write_assignment(w, in, "a", "b");
    }
    vy_text_printf(w->out, "    } else {\n");
    write_assignment(w, in, "b", "c");
    write_assignment(w, in, "c", "a");
    vy_text_printf(w->out, "    }\n");
    write_for(w, "    ", "i", 3 + unit % 5);
    write_assignment(w, in, "a", "i");
    write_assignment(w, in, "b", "a");
    vy_text_printf(w->out, "        if (b > c) {\n");
    write_assignment(w, deep, "c", "b");
    vy_text_printf(w->out, "        }\n        z[(b + i) & 1023u] = c;\n    }\n");
    take(w, 6);
    while (w->left + UNIT > left && w->left > 1) {
        write_assignment(w, "    ", "a", "b");
        write_assignment(w, "    ", "c", "a");
    }
}

static void write_mixed(writer *w)
{
    write_main(w);
    vy_text_printf(w->out, "    %s a = x[at];\n    %s b = y[at];\n    %s c = at;\n", var(w), var(w),
                   var(w));
    take(w, 2);
    uint32_t unit = 0;
    for (; w->left >= UNIT; unit++) {
        write_unit(w, unit);
    }
    while (w->left > 3) {
        write_assignment(w, "    ", "a", "b");
    }
    vy_text_printf(w->out, "    z[at] = a ^ (b + c);\n}\n");
}

/* ---- Functions ------------------------------------------------------------------------------- */

static void write_function(writer *w, uint32_t index)
{
    if (w->is_glsl) {
        vy_text_printf(w->out, "uint call%u(uint a, uint b) {\n", index);
    } else {
        vy_text_printf(w->out, "fn call%u(a: u32, b: u32) -> u32 {\n", index);
    }
    vy_text_printf(w->out, "    %s c = a ^ %uu;\n    %s d = b;\n", var(w), index, var(w));
    take(w, 1);
    for (uint32_t i = 0; i < FUNCTION_OPERATIONS / 4; i++) {
        write_assignment(w, "    ", "c", "b");
        write_assignment(w, "    ", "d", "c");
    }
    vy_text_printf(w->out, "    return c + d;\n}\n");
    take(w, 1);
}

static void write_functions(writer *w)
{
    uint32_t count = 0;
    for (; count == 0 || w->left > FUNCTION_OPERATIONS + 2; count++) {
        write_function(w, count);
    }
    write_main(w);
    vy_text_printf(w->out, "    %s a = x[at];\n    %s b = y[at];\n", var(w), var(w));
    for (uint32_t i = 0; i < count; i++) {
        vy_text_printf(w->out, "    %s = call%u(a, b);\n", i % 2 ? "b" : "a", i);
    }
    vy_text_printf(w->out, "    z[at] = a ^ b;\n}\n");
}

/* ---- Segments -------------------------------------------------------------------------------- */

static void write_segment(writer *w, uint32_t index)
{
    w->left = COMPILE_SEGMENT_OPERATIONS - 2;
    vy_text_printf(w->out, "    %s a%u = z[at ^ %uu];\n", var(w), index, index & 255);
    while (w->left > 1) {
        char name[16];
        snprintf(name, sizeof name, "a%u", index);
        write_assignment(w, "    ", name, "at");
    }
    vy_text_printf(w->out, "    z[at] = a%u;\n", index);
}

/* ---- Both languages -------------------------------------------------------------------------- */

static void write_body(writer *w, compile_kind kind)
{
    switch (kind) {
    case COMPILE_STRAIGHT:
        write_straight(w);
        break;
    case COMPILE_MIXED:
        write_mixed(w);
        break;
    case COMPILE_FUNCTIONS:
        write_functions(w);
        break;
    case COMPILE_SEGMENTS:
    case COMPILE_KIND_COUNT:
        break;
    }
}

void compile_text_vyre(compile_kind kind, uint32_t count, vy_text *out)
{
    writer w = {.out = out, .state = 1, .left = count};
    write_head(&w);
    write_body(&w, kind);
    if (kind == COMPILE_SEGMENTS) {
        write_main(&w);
        for (uint32_t i = 0; i < count; i++) {
            vy_text_printf(out, "%s", i ? "    grid_sync\n" : "");
            write_segment(&w, i);
        }
        vy_text_printf(out, "}\n");
    }
}

void compile_text_glsl(compile_kind kind, uint32_t count, vy_text *out, uint32_t *out_shaders)
{
    writer w = {.out = out, .is_glsl = true, .state = 1, .left = count};
    *out_shaders = kind == COMPILE_SEGMENTS ? count : 1;
    for (uint32_t i = 0; i < *out_shaders; i++) {
        write_head(&w);
        write_body(&w, kind);
        if (kind == COMPILE_SEGMENTS) {
            write_main(&w);
            write_segment(&w, i);
            vy_text_printf(out, "}\n");
        }
        vy_text_append(out, "", 1);
    }
}
