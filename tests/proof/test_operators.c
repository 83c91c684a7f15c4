/* Every operator over every type that it takes, on all pairs of edge values: interpreter against
 * device, to the bit, or within the tolerance table where it has a row. */
#include "codegen/ir/ops.h"
#include "tests/support/differential.h"
#include "vyre/dispatch.h"
#include "vyre/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OPERANDS 4u
#define EDGES    24u
#define COUNT    (EDGES * EDGES)

static const uint32_t int_edges[EDGES] = {
    0,          1,          2,          3,          7,          8,          15,         16,
    31,         32,         33,         64,         255,        256,        65535,      65536,
    0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xffffff00, 0x12345678};
static const uint32_t float_edges[EDGES] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f000000,
    0x3effffff, 0x3f800000, 0xbf800000, 0x3fc00000, 0xc0200000, 0x40490fdb, 0x42c80000, 0x4b000001,
    0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc12345};

typedef struct operator_case {
    vyre_op op;
    vyre_type result, types[OPERANDS];
    uint32_t operand_count;
    char expression[128];
} operator_case;

static uint32_t edge(vyre_type type, uint32_t i)
{
    uint32_t value = type == VYRE_TYPE_F32 ? float_edges[i % EDGES] : int_edges[i % EDGES];
    return type == VYRE_TYPE_BOOL ? i & 1 : value;
}

/* Element i of operand k: the first two run through all pairs, the others turn beside them. */
static uint32_t operand(const operator_case *c, uint32_t k, uint32_t i)
{
    uint32_t at = k == 0 ? i / EDGES : k == 1 ? i % EDGES : i * (5 + 2 * k) + i / EDGES;
    return edge(c->types[k], at);
}

static void program_text(const operator_case *c, vy_text *text)
{
    vy_text_init(text, NULL);
    vy_text_printf(text, "program operators\nworkgroup 64\ngrid over o\n");
    for (uint32_t k = 0; k < OPERANDS; k++) {
        vy_text_printf(text, "in x%u : %s[]\n", k, vyre_type_keyword(c->types[k]));
    }
    vy_text_printf(text,
                   "out o : %s[%u]\nkernel {\n    let i = gid.x\n"
                   "    if i < len(o) { o[i] = %s }\n}\n",
                   vyre_type_keyword(c->result), COUNT, c->expression);
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

static float value_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool agrees(const operator_case *c, uint32_t i, uint32_t want, uint32_t got)
{
    if (want == got || (c->result == VYRE_TYPE_F32 && is_nan(want) && is_nan(got))) {
        return true;
    }
    if (!vy_tolerance_find(c->op)) {
        return false;
    }
    double x = (double)value_of(operand(c, 0, i)), exact = (double)value_of(want);
    const vy_tolerance *row = vy_tolerance_find_at(c->op, x);
    if (!row || c->op == VYRE_OP_POW) {
        return true; /* outside the domain; pow's bound needs the exact logarithm */
    }
    if (is_nan(want) || is_nan(got)) {
        return false;
    }
    double unit = ldexp(1.0, exact != 0.0 ? ilogb(exact) - 23 : -149);
    double bound = fmax(row->absolute, (row->ulp + row->ulp_slope * fabs(x)) * unit);
    return fabs((double)value_of(got) - exact) <= fmax(bound, 0x1p-126);
}

static void run_case(vyre_device *device, const operator_case *c)
{
    static uint32_t inputs[OPERANDS][COUNT], want[COUNT], got[COUNT];
    vy_text text;
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_kernel_params kernel_params;
    vyre_device_info info;
    vyre_interp_report report;
    vyre_diag diag;
    program_text(c, &text);
    vyre_device_kernel_params(device, &kernel_params);
    vyre_device_get_info(device, &info);
    vyre_host_buffer buffers[OPERANDS + 1] = {{0}};
    vyre_binding bindings[OPERANDS + 1] = {{0}};
    for (uint32_t k = 0; k < OPERANDS; k++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            inputs[k][i] = operand(c, k, i);
        }
        buffers[k] = (vyre_host_buffer){inputs[k], COUNT};
        bindings[k] = (vyre_binding){.kind = VYRE_BINDING_HOST, .count = COUNT, .in = inputs[k]};
    }
    buffers[OPERANDS] = (vyre_host_buffer){want, COUNT};
    bindings[OPERANDS] = (vyre_binding){.kind = VYRE_BINDING_HOST, .count = COUNT, .out = got};
    vyre_interp_params interp = {.struct_size = sizeof interp,
                                 .buffers = buffers,
                                 .buffer_count = OPERANDS + 1,
                                 .flush_denormals = info.denormals == VYRE_ANSWER_NO};
    vyre_dispatch_params dispatch;
    vyre_dispatch_params_init(&dispatch);
    dispatch.bindings = bindings;
    dispatch.binding_count = OPERANDS + 1;
    if (vyre_program_parse(text.data, text.size, "operators", NULL, &program, &diag) != VYRE_OK ||
        vyre_kernel_compile(program, &kernel_params, &kernel, &diag) != VYRE_OK ||
        vyre_interp_run(program, &interp, &report, &diag) != VYRE_OK ||
        vyre_pipeline_create(device, kernel, NULL, &pipeline, &diag) != VYRE_OK ||
        vyre_dispatch(pipeline, &dispatch, NULL, &diag) != VYRE_OK) {
        fail_msg("%s: %u:%u: %s", c->expression, diag.line, diag.column, diag.message);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        if (!agrees(c, i, want[i], got[i])) {
            fail_msg("%s of %s 0x%08x 0x%08x 0x%08x 0x%08x: interpreter 0x%08x, device 0x%08x",
                     c->expression, vyre_type_keyword(c->types[0]), inputs[0][i], inputs[1][i],
                     inputs[2][i], inputs[3][i], want[i], got[i]);
        }
    }
    vyre_pipeline_destroy(&pipeline);
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
    vy_text_finish(&text);
}

/* Whether operators of that shape take T, and what they then give and take. */
static bool shape_takes(vy_shape shape, vyre_type t, operator_case *c)
{
    bool is_int = t == VYRE_TYPE_U32 || t == VYRE_TYPE_I32;
    bool is_float = t == VYRE_TYPE_F32, is_bool = t == VYRE_TYPE_BOOL;
    c->result = t;
    for (uint32_t k = 0; k < OPERANDS; k++) {
        c->types[k] = t;
    }
    switch (shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
        return !is_bool;
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
        return is_int;
    case VY_SHAPE_SIGNED_UNARY:
        return t == VYRE_TYPE_I32 || is_float;
    case VY_SHAPE_SHIFT:
        c->types[1] = VYRE_TYPE_U32;
        return is_int;
    case VY_SHAPE_EXTRACT:
        c->types[1] = c->types[2] = VYRE_TYPE_U32;
        return is_int;
    case VY_SHAPE_INSERT:
        c->types[2] = c->types[3] = VYRE_TYPE_U32;
        return is_int;
    case VY_SHAPE_EQUALITY:
        c->result = VYRE_TYPE_BOOL;
        return true;
    case VY_SHAPE_ORDER:
        c->result = VYRE_TYPE_BOOL;
        return !is_bool;
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
        return is_bool;
    case VY_SHAPE_ABS_DIFF:
        c->result = is_float ? t : VYRE_TYPE_U32;
        return !is_bool;
    case VY_SHAPE_BIT_COUNT:
        c->result = VYRE_TYPE_U32;
        return is_int;
    case VY_SHAPE_SELECT:
        c->types[0] = VYRE_TYPE_BOOL;
        return true;
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
        return is_float;
    case VY_SHAPE_FLOAT_TEST:
        c->result = VYRE_TYPE_BOOL;
        return is_float;
    default:
        return false;
    }
}

static void write_expression(operator_case *c, const vy_op_info *info)
{
    static const char *const lists[OPERANDS + 1] = {
        "", "x0[i]", "x0[i], x1[i]", "x0[i], x1[i], x2[i]", "x0[i], x1[i], x2[i], x3[i]"};
    if (info->form == VY_FORM_INFIX) {
        snprintf(c->expression, sizeof c->expression, "x0[i] %s x1[i]", info->text);
    } else if (info->form == VY_FORM_PREFIX) {
        snprintf(c->expression, sizeof c->expression, "%sx0[i]", info->text);
    } else {
        snprintf(c->expression, sizeof c->expression, "%s(%s)", info->text,
                 lists[info->operand_count]);
    }
}

static const vyre_type types[] = {VYRE_TYPE_BOOL, VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_F32};

static void test_operators_agree_on_edge_values(void **state)
{
    (void)state;
    vyre_device *device = getenv("VYRE_TESTS_NO_DEVICE") ? NULL : vy_test_device();
    uint32_t count = 0;
    if (getenv("VYRE_TESTS_NO_DEVICE")) {
        print_message("no device wanted: no operator was run\n");
        return;
    }
    assert_non_null(device);
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        const vy_op_info *info = vy_op_get((vyre_op)op);
        for (uint32_t t = 0; t < VY_COUNT_OF(types); t++) {
            operator_case c = {.op = (vyre_op)op};
            if (info->form != VY_FORM_LEAF && shape_takes(info->shape, types[t], &c)) {
                write_expression(&c, info);
                run_case(device, &c);
                count++;
            }
        }
    }
    for (uint32_t from = 0; from < VY_COUNT_OF(types); from++) {
        for (uint32_t to = 0; to < VY_COUNT_OF(types); to++) {
            operator_case c = {.op = VYRE_OP_CAST, .result = types[to]};
            for (uint32_t k = 0; k < OPERANDS; k++) {
                c.types[k] = types[from];
            }
            snprintf(c.expression, sizeof c.expression, "%s(x0[i])", vyre_type_keyword(types[to]));
            run_case(device, &c);
            if (from && to) {
                snprintf(c.expression, sizeof c.expression, "bitcast<%s>(x0[i])",
                         vyre_type_keyword(types[to]));
                c.op = VYRE_OP_BITCAST;
                run_case(device, &c);
            }
            count++;
        }
    }
    print_message("    %u operators by type\n", count);
    vyre_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators_agree_on_edge_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
