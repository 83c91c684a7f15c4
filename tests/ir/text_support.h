/* Parsing and printing for tests of the text form. */
#ifndef VY_TEST_TEXT_SUPPORT_H
#define VY_TEST_TEXT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "codegen/ir/ir.h"
#include "tests/support/fail_allocator.h"
#include "vyre/text.h"

/* A program around kernel statements, with something of everything declared. */
#define HEAD                                                                                       \
    "program test\nworkgroup 64\nparam pu : u32\nparam pi : i32\nparam pf : f32\n"                 \
    "const N = 16\nconst M = -3i\nconst F = 1.5\nconst T : u32[] = [1, 2, 3]\n"                    \
    "in a : u32[]\ninout b : u32[]\ninout s : i32[]\ninout g : f32[]\nshared w : u32[64]\n"        \
    "fn twice(x: u32) -> u32 { return x * 2 }\n"                                                   \
    "fn bump(x: u32) { atomic_add(b[0], x) }\n"
#define KERNEL(statements) HEAD "kernel {\n" statements "\n}\n"
#define KERNEL_LINE        17 /* of the first statement */

static inline vyre_program *parse_ok(const char *text)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_result result = vyre_program_parse(text, strlen(text), "t.vyre", NULL, &program, &diag);
    if (result != VYRE_OK) {
        print_error("%s:%u:%u: %s\nin:\n%s\n", diag.file, diag.line, diag.column, diag.message,
                    strlen(text) < 4000 ? text : "(long)");
    }
    assert_int_equal(result, VYRE_OK);
    assert_non_null(program);
    return program;
}

static inline void accept(const char *text)
{
    vyre_program *program = parse_ok(text);
    vyre_program_destroy(&program);
}

/* Refused at that place with a message that holds `part` and a fix. */
static inline void refuse_sized(const char *text, size_t size, uint32_t line, uint32_t column,
                                const char *part)
{
    vyre_program *program = (vyre_program *)1;
    vyre_diag diag;
    vyre_result result = vyre_program_parse(text, size, "t.vyre", NULL, &program, &diag);
    if (result == VYRE_OK || diag.line != line || diag.column != column ||
        !strstr(diag.message, part)) {
        print_error("got %d at %u:%u: %s\nnot \"%s\" at %u:%u in:\n%.2000s\n", (int)result,
                    diag.line, diag.column, result == VYRE_OK ? "accepted" : diag.message, part,
                    line, column, text);
    }
    assert_int_not_equal(result, VYRE_OK);
    assert_null(program);
    assert_int_equal(diag.code, result);
    assert_int_equal(diag.line, line);
    assert_int_equal(diag.column, column);
    assert_non_null(strstr(diag.message, part));
    assert_non_null(strstr(diag.message, ". Fix: "));
    assert_string_equal(diag.file, "t.vyre");
}

static inline void refuse(const char *text, uint32_t line, uint32_t column, const char *part)
{
    refuse_sized(text, strlen(text), line, column, part);
}

static inline char *print_ok(const vyre_program *program, size_t *size)
{
    char *text = NULL;
    assert_int_equal(vyre_program_print(program, NULL, &text, size), VYRE_OK);
    assert_non_null(text);
    assert_int_equal(strlen(text), *size);
    return text;
}

/* Prints, parses and prints again: equal hashes, equal bytes. The text is for vyre_text_free. */
static inline char *round_trip_program(const vyre_program *program, size_t *size)
{
    size_t again_size = 0;
    char *text = print_ok(program, size);
    vyre_program *again = parse_ok(text);
    if (vyre_program_hash(program) != vyre_program_hash(again)) {
        print_error("another program:\n%s\n", text);
    }
    assert_true(vyre_program_hash(program) == vyre_program_hash(again));
    assert_true(vyre_program_interface_hash(program) == vyre_program_interface_hash(again));
    char *again_text = print_ok(again, &again_size);
    assert_string_equal(text, again_text);
    vyre_text_free(NULL, again_text, again_size);
    vyre_program_destroy(&again);
    return text;
}

static inline void round_trip(const char *source)
{
    size_t size = 0;
    vyre_program *program = parse_ok(source);
    char *text = round_trip_program(program, &size);
    vyre_text_free(NULL, text, size);
    vyre_program_destroy(&program);
}

/* The program prints as text that holds `part`, and round-trips. */
static inline void prints(const char *source, const char *part)
{
    size_t size = 0;
    vyre_program *program = parse_ok(source);
    char *text = round_trip_program(program, &size);
    if (!strstr(text, part)) {
        print_error("no \"%s\" in:\n%s\n", part, text);
    }
    assert_non_null(strstr(text, part));
    vyre_text_free(NULL, text, size);
    vyre_program_destroy(&program);
}

/* The i-th statement of the kernel's top level, from 0. */
static inline const vy_stmt *top(const vyre_program *program, uint32_t i)
{
    uint32_t index = program->body;
    while (i-- > 0 && index) {
        index = program->stmts.data[index].next;
    }
    assert_int_not_equal(index, 0);
    return &program->stmts.data[index];
}

static inline const vy_expr *root(const vyre_program *program, const vy_range *range)
{
    assert_int_not_equal(range->root, 0);
    return &program->exprs.data[range->root];
}

#endif
