/* See form_text.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void case_init_program(ssa_case *c, const char *text)
{
    vyre_diag diag;
    memset(c, 0, sizeof *c);
    vy_arena_init(&c->arena, NULL);
    vy_text_init(&c->text, NULL);
    if (vyre_program_parse(text, strlen(text), "case", NULL, &c->program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    if (vy_split_program(c->program, VY_PRINTS_DROPPED, &c->arena, &c->split, &diag) != VYRE_OK) {
        fail_msg("split: %s", diag.message);
    }
}

void case_init(ssa_case *c, const char *statements)
{
    static const char head[] =
        "program test\nworkgroup 64\nloop_limit 100\nin x : u32[]\ninout y : u32[]\n"
        "inout f : f32[]\ninout n : i32[]\ninout b : bool[]\nshared w : u32[64]\nparam k : u32\n"
        "param r : f32\nconst T : u32[] = [5, 6, 7]\n"
        "fn twice(a: u32) -> u32 { return a * 2 }\n"
        "fn early(a: u32) -> u32 {\n    for i in 0 .. a {\n        if x[i] == a { return i }\n"
        "    }\n    return 9\n}\n";
    size_t size = sizeof head + strlen(statements) + 16;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "%skernel {\n%s\n}\n", head, statements);
    case_init_program(c, text);
    free(text);
}

void case_finish(ssa_case *c)
{
    vy_text_finish(&c->text);
    vy_arena_finish(&c->arena);
    vyre_program_destroy(&c->program);
}

static void check(const ssa_case *c, const char *what)
{
    const char *problem = vy_ssa_verify(&c->ssa);
    if (problem) {
        fail_msg("after %s: %s", what, problem);
    }
}

void case_build(ssa_case *c, uint32_t segment)
{
    vyre_diag diag;
    assert_true(segment < c->split.segments.count);
    if (vy_ssa_build(c->program, &c->split, segment, &c->arena, &c->arena, &c->ssa, &diag) !=
        VYRE_OK) {
        fail_msg("build: %s", diag.message);
    }
    check(c, "build");
}

static uint64_t eval(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *operands,
                     bool flush_denormals)
{
    (void)flush_denormals;
    (void)result;
    if (operand == VYRE_TYPE_F32) {
        float a, b;
        memcpy(&a, &operands[0], 4);
        memcpy(&b, &operands[1], 4);
        assert_int_equal(op, VYRE_OP_ADD);
        a += b;
        uint32_t bits;
        memcpy(&bits, &a, 4);
        return bits;
    }
    switch ((int)op) {
    case VYRE_OP_ADD:
        return operands[0] + operands[1];
    case VYRE_OP_SUB:
        return operands[0] - operands[1];
    case VYRE_OP_MUL:
        return operands[0] * operands[1];
    case VYRE_OP_LT:
        return operands[0] < operands[1];
    case VYRE_OP_EQ:
        return operands[0] == operands[1];
    case VYRE_OP_BITCAST:
        return operands[0];
    default:
        fail_msg("no test folds %s", vy_op_get(op)->name);
        return 0;
    }
}

void case_pass(ssa_case *c, const char *name)
{
    uint32_t count = 0;
    const vy_pass *passes = vy_passes_get(&count);
    const vy_pass_context context = {.eval = eval, .is_apart = true};
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(passes[i].name, name) == 0) {
            assert_true(passes[i].run(&c->ssa, &context));
            check(c, name);
            return;
        }
    }
    fail_msg("there is no pass %s", name);
}

const char *case_print(ssa_case *c)
{
    vy_text_finish(&c->text);
    vy_text_init(&c->text, NULL);
    vy_ssa_print(&c->ssa, &c->text);
    assert_false(c->text.failed);
    return c->text.data ? c->text.data : "";
}

uint32_t case_count(const ssa_case *c, uint32_t op)
{
    uint32_t count = 0;
    for (uint32_t b = 1; b < c->ssa.blocks.count; b++) {
        for (uint32_t i = c->ssa.blocks.data[b].first; i; i = c->ssa.ins.data[i].next) {
            count += c->ssa.ins.data[i].op == op;
        }
    }
    return count;
}

uint32_t case_find(const ssa_case *c, uint32_t op)
{
    for (uint32_t b = 1; b < c->ssa.blocks.count; b++) {
        for (uint32_t i = c->ssa.blocks.data[b].first; i; i = c->ssa.ins.data[i].next) {
            if (c->ssa.ins.data[i].op == op) {
                return i;
            }
        }
    }
    return 0;
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    (void)!fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

void case_compare(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/passes/golden/%s.txt", VYRE_SOURCE_DIR, name);
    if (getenv("VYRE_UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
        return;
    }
    char *wanted = read_all(path);
    if (!wanted || strcmp(wanted, text) != 0) {
        print_error("%s: got\n%s\nwanted\n%s\n", name, text, wanted ? wanted : "(no file)");
    }
    assert_non_null(wanted);
    assert_string_equal(text, wanted);
    free(wanted);
}
