/* Short forms of the builder for tests, and checks of what it gives. */
#ifndef VY_TEST_BUILD_H
#define VY_TEST_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "codegen/ir/ir.h"
#include "tests/support/fail_allocator.h"

static const vyre_expr NO_EXPR = {0};

static inline vyre_builder *start(void)
{
    vyre_builder *b = NULL;
    assert_int_equal(vyre_builder_create("test", NULL, &b), VYRE_OK);
    assert_non_null(b);
    return b;
}

static inline vyre_expr op1(vyre_builder *b, vyre_op op, vyre_expr x)
{
    return vyre_build_op(b, op, x, NO_EXPR, NO_EXPR, NO_EXPR);
}

static inline vyre_expr op2(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y)
{
    return vyre_build_op(b, op, x, y, NO_EXPR, NO_EXPR);
}

static inline vyre_expr op3(vyre_builder *b, vyre_op op, vyre_expr x, vyre_expr y, vyre_expr z)
{
    return vyre_build_op(b, op, x, y, z, NO_EXPR);
}

static inline vyre_expr num(vyre_builder *b, uint64_t value)
{
    return vyre_build_int(b, value);
}

static inline vyre_expr gid(vyre_builder *b)
{
    return vyre_build_builtin(b, VYRE_BUILTIN_GID_X);
}

static inline vyre_expr get(vyre_builder *b, vyre_ref variable)
{
    return vyre_build_variable(b, variable);
}

static inline vyre_expr less(vyre_builder *b, vyre_expr x, vyre_expr y)
{
    return op2(b, VYRE_OP_LT, x, y);
}

static inline vyre_ref buffer(vyre_builder *b, vyre_buffer_mode mode, const char *name,
                              vyre_type type)
{
    return vyre_build_buffer(b, mode, name, type, NO_EXPR);
}

static inline vyre_ref shared(vyre_builder *b, const char *name, uint32_t count)
{
    return vyre_build_buffer(b, VYRE_BUFFER_SHARED, name, VYRE_TYPE_U32, num(b, count));
}

static inline vyre_program *finish(vyre_builder *b)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_result result = vyre_builder_finish(&b, &program, &diag);
    if (result != VYRE_OK) {
        print_error("%u:%u: %s\n", diag.line, diag.column, diag.message);
    }
    assert_int_equal(result, VYRE_OK);
    assert_null(b);
    assert_non_null(program);
    return program;
}

static inline void finish_ok(vyre_builder *b)
{
    vyre_program *program = finish(b);
    vyre_program_destroy(&program);
    assert_null(program);
}

/* The program is refused at that line (0: none) with a message that holds `part` and a fix. */
static inline void finish_error(vyre_builder *b, uint32_t line, const char *part)
{
    vyre_program *program = (vyre_program *)1;
    vyre_diag diag;
    vyre_result result = vyre_builder_finish(&b, &program, &diag);
    if (result != VYRE_ERROR_INVALID_PROGRAM || diag.line != line || !strstr(diag.message, part)) {
        print_error("got %d at line %u: %s\nnot \"%s\" at line %u\n", (int)result, diag.line,
                    result == VYRE_OK ? "accepted" : diag.message, part, line);
    }
    assert_int_equal(result, VYRE_ERROR_INVALID_PROGRAM);
    assert_null(program);
    assert_null(b);
    assert_int_equal(diag.line, line);
    assert_non_null(strstr(diag.message, part));
    assert_non_null(strstr(diag.message, ". Fix: "));
}

#endif
