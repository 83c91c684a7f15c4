/* Handlers of the draining program: their arguments and results in every form, programs by text and
 * by the builder, what of a program is taken over, and what is refused. */
#include "codegen/ir/ir.h"
#include "tests/megakernel/drain_support.h"
#include "tests/support/fail_allocator.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Results and places ---------------------------------------------------------------------- */

static const char square_text[] = "program squares\n"
                                  "inout results : u32[]\n"
                                  "fn square(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
                                  "    if a1 >= len(results) { return 5 }\n"
                                  "    results[a1] = a0 * a0 + slot\n"
                                  "    return 0\n"
                                  "}\n"
                                  "fn refuse(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
                                  "    return 5\n"
                                  "}\n"
                                  "kernel { }\n";

static void check_handlers(drain_queue *q, drain_fn drain)
{
    drain_reset(q);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        drain_put(q, s, s % 3 == 2 ? 9 : 0x1000, s + 7, s, 0);
    }
    drain(q, 16);
    vyre_control_report r = drain_check_sums(q, q->slot_count);
    uint32_t refused = q->slot_count / 3;
    assert_int_equal(r.fault_count, refused);
    assert_int_equal(r.fault_slot, 2);
    assert_int_equal(r.fault_code, VYRE_FAULT_HANDLER);
    assert_int_equal(r.unknown_count, 0);
    assert_int_equal(q->control[VYRE_CONTROL_METRICS + 9], refused);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        assert_int_equal(q->extra[0][s], s % 3 == 2 ? 0 : (s + 7) * (s + 7) + s);
    }
}

static void test_drain_runs_handlers(void **state)
{
    static const vyre_handler handlers[] = {{0x1000, "square", 0}, {9, "refuse", 0}};
    (void)state;
    vyre_program *program = drain_parse(square_text);
    for (vy_drain_form form = VY_DRAIN_OF_RING; form <= VY_DRAIN_OF_ITEMS; form++) {
        const vy_drain_params params = {.form = form,
                                        .workgroup = 32,
                                        .program = program,
                                        .handlers = handlers,
                                        .handler_count = 2};
        drain_queue *q = drain_open(4098, &params);
        drain_add_buffer(q, q->slot_count);
        DRAIN_EACH(drain, way)
        {
            check_handlers(q, drain);
        }
        drain_close(&q);
    }
    vyre_program_destroy(&program);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

#define MOST_ARGS ((uint32_t)VYRE_SLOT_MAX_ARGS)

static vyre_handler arg_handlers[MOST_ARGS + 1];
static char arg_names[MOST_ARGS + 1][8];

/* Handler k takes k arguments and adds k + 1 and the products of argument i and i + 2. */
static vyre_program *make_arg_program(void)
{
    static char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text, "program args\ninout sums : u32[]\n");
    for (uint32_t k = 0; k <= MOST_ARGS; k++) {
        snprintf(arg_names[k], sizeof arg_names[k], "take%u", (unsigned)k);
        arg_handlers[k] = (vyre_handler){100 + k, arg_names[k], 0};
        at += (size_t)snprintf(text + at, sizeof text - at, "fn take%u(slot: u32", (unsigned)k);
        for (uint32_t i = 0; i < k; i++) {
            at += (size_t)snprintf(text + at, sizeof text - at, ", a%u: u32", (unsigned)i);
        }
        at += (size_t)snprintf(text + at, sizeof text - at, ") -> u32 { atomic_add(sums[slot], %u",
                               (unsigned)(k + 1));
        for (uint32_t i = 0; i < k; i++) {
            at += (size_t)snprintf(text + at, sizeof text - at, " + a%u * %u", (unsigned)i,
                                   (unsigned)(i + 2));
        }
        at += (size_t)snprintf(text + at, sizeof text - at, ") return 0 }\n");
    }
    snprintf(text + at, sizeof text - at, "kernel { }\n");
    return drain_parse(text);
}

static uint32_t arg_value(uint32_t slot, uint32_t i)
{
    return slot * 100 + i * i + 1;
}

static uint32_t arg_sum(uint32_t slot, uint32_t k, uint32_t given)
{
    uint32_t sum = k + 1;
    for (uint32_t i = 0; i < k && i < given; i++) {
        sum += arg_value(slot, i) * (i + 2);
    }
    return sum;
}

/* Slots have all twelve; a handler sees the first ones. Packed operations have `given` each. */
static void check_args_of_ring(drain_queue *q, drain_fn drain)
{
    uint32_t args[MOST_ARGS];
    drain_reset(q);
    for (uint32_t k = 0; k <= MOST_ARGS; k++) {
        drain_put(q, k, 100 + k, 0, 0, 0);
        drain_put(q, 13 + k, VYRE_OPCODE_NOP, 0, 0, 0);
        for (uint32_t i = 0; i < MOST_ARGS; i++) {
            drain_slot(q, k)[VYRE_SLOT_ARGS + i] = arg_value(k, i);
            args[i] = arg_value(13 + k, i);
        }
        const vyre_packed_op ops[2] = {{100 + k, args, k < 8 ? k : 8}, {100, NULL, 0}};
        drain_slot(q, 13 + k)[VYRE_SLOT_STATUS] = VYRE_STATUS_EMPTY;
        assert_int_equal(vyre_ring_publish_packed(q->ring, q->slot_count * VYRE_SLOT_SIZE, 13 + k,
                                                  0, VYRE_PRIORITY_NORMAL, ops, 2, NULL),
                         VYRE_OK);
    }
    drain(q, 1);
    assert_int_equal(drain_check_sums(q, 26).done_count, 26);
    for (uint32_t k = 0; k <= MOST_ARGS; k++) {
        assert_int_equal(q->extra[0][k], arg_sum(k, k, MOST_ARGS));
        assert_int_equal(q->extra[0][13 + k], arg_sum(13 + k, k, 8) + 1);
    }
}

static void check_args_of_items(drain_queue *q, drain_fn drain)
{
    drain_reset(q);
    for (uint32_t k = 0; k < 26; k++) {
        drain_put(q, k, 100 + k % 13, arg_value(k, 0), arg_value(k, 1), arg_value(k, 2));
    }
    drain(q, 1);
    assert_int_equal(drain_check_sums(q, 26).done_count, 26);
    for (uint32_t k = 0; k < 26; k++) {
        assert_int_equal(q->extra[0][k], arg_sum(k, k % 13, 3));
    }
}

static void test_drain_gives_handlers_up_to_twelve_arguments(void **state)
{
    (void)state;
    vyre_program *program = make_arg_program();
    for (vy_drain_form form = VY_DRAIN_OF_RING; form <= VY_DRAIN_OF_ITEMS; form++) {
        const vy_drain_params params = {.form = form,
                                        .program = program,
                                        .handlers = arg_handlers,
                                        .handler_count = MOST_ARGS + 1};
        drain_queue *q = drain_open(26, &params);
        drain_add_buffer(q, 26);
        DRAIN_EACH(drain, way)
        {
            (form == VY_DRAIN_OF_RING ? check_args_of_ring : check_args_of_items)(q, drain);
        }
        drain_close(&q);
    }
    vyre_program_destroy(&program);
}

/* ---- What a handler gives -------------------------------------------------------------------- */

static const char give_text[] = "program gives\n"
                                "inout tries : u32[]\n"
                                "fn give(slot: u32, code: u32) -> u32 { return code }\n"
                                "// Requeue, yield, requeue, ... so many times; then done.\n"
                                "fn again(slot: u32, times: u32) -> u32 {\n"
                                "    let n = tries[slot]\n"
                                "    tries[slot] = n + 1\n"
                                "    return select(n < times, 256 + n % 2, 0)\n"
                                "}\n"
                                "kernel { }\n";
static const vyre_handler give_handlers[] = {{20, "give", VYRE_EFFECT_REQUEUES},
                                             {21, "again", VYRE_EFFECT_REQUEUES}};

typedef struct given {
    uint32_t code, status, fault; /* of a slot */
    uint32_t packed_fault;        /* of a packed operation, and of an item */
} given;

static const given results[] = {
    {0, VYRE_STATUS_DONE, 0, 0},        {1, VYRE_STATUS_FAULT, 5, 5},
    {5, VYRE_STATUS_FAULT, 5, 5},       {16, VYRE_STATUS_FAULT, 16, 16},
    {255, VYRE_STATUS_FAULT, 255, 255}, {256, VYRE_STATUS_REQUEUE, 0, 5},
    {257, VYRE_STATUS_YIELD, 0, 5},     {258, VYRE_STATUS_FAULT, 5, 5},
    {259, VYRE_STATUS_FAULT, 5, 5},     {UINT32_MAX, VYRE_STATUS_FAULT, 5, 5}};
#define RESULTS ((uint32_t)VY_COUNT_OF(results))

static void check_results_of_ring(drain_queue *q, drain_fn drain)
{
    drain_reset(q);
    for (uint32_t i = 0; i < RESULTS; i++) {
        const vyre_packed_op ops[2] = {
            {20, &results[i].code, 1},
            {VYRE_OPCODE_ATOMIC_ADD, (const uint32_t[]){1, DRAIN_OPEN}, 2}};
        drain_put(q, i, 20, results[i].code, 0, 0);
        assert_int_equal(vyre_ring_publish_packed(q->ring, q->slot_count * VYRE_SLOT_SIZE,
                                                  RESULTS + i, 0, VYRE_PRIORITY_NORMAL, ops, 2,
                                                  NULL),
                         VYRE_OK);
    }
    drain(q, 1);
    vyre_control_report r = drain_check_sums(q, 2 * RESULTS);
    assert_int_equal(r.done_count, 2);
    assert_int_equal(r.requeue_count, 2);
    assert_int_equal(r.fault_count, 2 * RESULTS - 4);
    assert_int_equal(r.unknown_count, 0);
    assert_int_equal(r.fault_slot, 1);
    assert_int_equal(q->control[VYRE_CONTROL_METRICS + 20], 2 * RESULTS);
    assert_int_equal(q->control[DRAIN_OPEN], 1);
    for (uint32_t i = 0; i < RESULTS; i++) {
        const uint32_t *slot = drain_slot(q, i), *packed = drain_slot(q, RESULTS + i);
        assert_int_equal(slot[VYRE_SLOT_STATUS], results[i].status);
        assert_int_equal(slot[VYRE_SLOT_WORDS - 1], results[i].fault);
        assert_int_equal(packed[VYRE_SLOT_STATUS],
                         results[i].packed_fault ? VYRE_STATUS_FAULT : VYRE_STATUS_DONE);
        assert_int_equal(packed[VYRE_SLOT_WORDS - 1], results[i].packed_fault);
    }
}

/* One after the other, since items have no word for their fault. */
static void check_results_of_items(drain_queue *q, drain_fn drain)
{
    for (uint32_t i = 0; i < RESULTS; i++) {
        drain_reset(q);
        q->slot_count = 3;
        drain_put(q, 2, 20, results[i].code, 0, 0);
        drain(q, 1);
        vyre_control_report r = drain_check_sums(q, 3);
        assert_int_equal(r.fault_count, results[i].packed_fault != 0);
        assert_int_equal(r.fault_code, results[i].packed_fault);
        assert_int_equal(r.fault_slot, results[i].packed_fault ? 2 : VYRE_DIAG_NONE);
        assert_int_equal(r.requeue_count, 0);
    }
}

static void test_drain_results_end_slots(void **state)
{
    (void)state;
    vyre_program *program = drain_parse(give_text);
    for (vy_drain_form form = VY_DRAIN_OF_RING; form <= VY_DRAIN_OF_ITEMS; form++) {
        const vy_drain_params params = {
            .form = form, .program = program, .handlers = give_handlers, .handler_count = 2};
        drain_queue *q = drain_open(2 * RESULTS, &params);
        drain_add_buffer(q, 1);
        DRAIN_EACH(drain, way)
        {
            (form == VY_DRAIN_OF_RING ? check_results_of_ring : check_results_of_items)(q, drain);
        }
        drain_close(&q);
    }
    vyre_program_destroy(&program);
}

/* Slots that are given back are taken again by later launches, whose cursor begins anew. */
static void check_again(drain_queue *q, drain_fn drain)
{
    uint32_t requeues = 0;
    drain_reset(q);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        drain_put(q, s, 21, s % 5, 0, 0);
        requeues += s % 5;
    }
    for (uint32_t launch = 0; launch < 5; launch++) {
        memset(q->control + VYRE_CONTROL_CURSOR, 0, sizeof(uint32_t));
        memset(q->control + VY_DRAIN_PARTITION_CURSORS, 0, VYRE_PRIORITY_COUNT * sizeof(uint32_t));
        drain(q, 3);
        uint32_t done = 0;
        for (uint32_t s = 0; s < q->slot_count; s++) {
            done += s % 5 <= launch;
        }
        vyre_control_report r = drain_check_sums(q, q->slot_count);
        assert_int_equal(r.done_count, done);
        assert_int_equal(r.fault_count, 0);
    }
    assert_int_equal(q->control[VYRE_CONTROL_REQUEUE_COUNT], requeues);
    assert_int_equal(q->control[VYRE_CONTROL_METRICS + 21], requeues + q->slot_count);
}

static void test_drain_runs_again_what_was_given_back(void **state)
{
    (void)state;
    vyre_program *program = drain_parse(give_text);
    for (int by_priority = 0; by_priority < 2; by_priority++) {
        const vy_drain_params params = {.program = program,
                                        .handlers = give_handlers,
                                        .handler_count = 2,
                                        .by_priority = by_priority};
        drain_queue *q = drain_open(333, &params);
        drain_add_buffer(q, q->slot_count);
        DRAIN_EACH(drain, way)
        {
            check_again(q, drain);
        }
        drain_close(&q);
    }
    vyre_program_destroy(&program);
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* Everything that can be declared, and two functions above the handler. */
static const char rich_text[] =
    "program rich\n"
    "workgroup 8\n"
    "fast_math\n"
    "loop_limit 5000000\n"
    "fixpoint 5 until out_words\n"
    "grid over out_words\n"
    "const FACTOR = 3\n"
    "const SMALL : u8[] = [2, 3, 5, 7]\n"
    "const AXIS = f32x4(0, 1, 2, 3)\n"
    "param add : u32\n"
    "param scale : f32\n"
    "inout out_words : u32[]\n"
    "inout counts : u32[FACTOR]\n"
    "shared runs : u32[FACTOR + 1]\n"
    "fn small(i: u32) -> u32 { return u32(SMALL[i & 3]) }\n"
    "fn note(which: u32) { atomic_add(counts[which], 1) atomic_add(runs[which], 1) }\n"
    "fn rich(slot: u32, where: u32, what: u32) -> u32 {\n"
    "    region \"rich\" { note(what % FACTOR) }\n"
    "    var sum = 0\n"
    "    var i = 0\n"
    "    while i < 5 { sum += small(what + i) i += 1 }\n"
    "    out_words[where] = sum * FACTOR + add + u32(AXIS.z * scale)\n"
    "    return 0\n"
    "}\n"
    "kernel { out_words[gid.x] = 0 }\n";

static void check_rich(drain_queue *q, drain_fn drain)
{
    static const uint32_t primes[4] = {2, 3, 5, 7};
    uint32_t n = q->slot_count;
    drain_reset(q);
    for (uint32_t s = 0; s < n; s++) {
        drain_put(q, s, 30, n - 1 - s, s, 0);
    }
    drain(q, 2);
    assert_int_equal(drain_check_sums(q, n).done_count, n);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 5; i++) {
            sum += primes[(s + i) & 3];
        }
        assert_int_equal(q->extra[0][n - 1 - s], sum * 3 + 1000 + 2 * 4);
    }
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(q->extra[1][k], n / 3);
    }
}

static void test_drain_takes_over_what_functions_mean(void **state)
{
    static const vyre_handler handlers[] = {{30, "rich", 0}};
    (void)state;
    vyre_program *program = drain_parse(rich_text);
    for (vy_drain_form form = VY_DRAIN_OF_RING; form <= VY_DRAIN_OF_ITEMS; form++) {
        const vy_drain_params params = {
            .form = form, .program = program, .handlers = handlers, .handler_count = 1};
        vyre_program *drain_program = NULL;
        assert_int_equal(vy_drain_build(&params, NULL, &drain_program, NULL), VYRE_OK);
        assert_int_equal(drain_program->loop_limit, 5000000);
        assert_true(drain_program->fast_math);
        assert_int_equal(drain_program->subgroup_width, 0);
        assert_int_equal(drain_program->workgroup[0], 64);
        assert_int_equal(drain_program->passes, 1);
        assert_int_equal(drain_program->until + drain_program->grid_over, 0);
        assert_int_equal(drain_program->binding_count, VY_DRAIN_BINDINGS + 2);
        vyre_program_destroy(&drain_program);
        drain_queue *q = drain_open(300, &params);
        drain_add_buffer(q, q->slot_count);
        drain_add_buffer(q, 3);
        const float scale = 4.0f;
        q->params[0] = 1000;
        memcpy(&q->params[1], &scale, sizeof scale);
        q->param_count = 2;
        DRAIN_EACH(drain, way)
        {
            check_rich(q, drain);
        }
        drain_close(&q);
    }
    vyre_program_destroy(&program);
}

static void test_drain_keeps_the_width_of_subgroups(void **state)
{
    (void)state;
    vyre_program *program = drain_parse("program p\nworkgroup 128\nsubgroup 128\nkernel { }\n");
    vyre_program *built = NULL;
    vyre_diag diag;
    vy_drain_params params = {.program = program, .workgroup = 256};
    assert_int_equal(vy_drain_build(&params, NULL, &built, NULL), VYRE_OK);
    assert_int_equal(built->subgroup_width, 128);
    vyre_program_destroy(&built);
    params.workgroup = 0;
    assert_int_equal(vy_drain_build(&params, NULL, &built, NULL), VYRE_OK);
    assert_int_equal(built->workgroup[0], 128);
    vyre_program_destroy(&built);
    params.workgroup = 192;
    assert_int_equal(vy_drain_check(&params, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "subgroups of 128, which workgroups of 192"));
    vyre_program_destroy(&program);
}

static vyre_program *build_square(void)
{
    vyre_builder *b = NULL;
    vyre_program *program = NULL;
    vyre_diag diag;
    const vyre_expr none = {0};
    assert_int_equal(vyre_builder_create("built", NULL, &b), VYRE_OK);
    vyre_ref results_of = vyre_build_buffer(b, VYRE_BUFFER_INOUT, "results", VYRE_TYPE_U32, none);
    vyre_ref function = vyre_build_function_begin(b, "square", VYRE_TYPE_U32);
    vyre_ref slot = vyre_build_function_parameter(b, "slot", VYRE_TYPE_U32);
    vyre_ref a0 = vyre_build_function_parameter(b, "a0", VYRE_TYPE_U32);
    vyre_ref a1 = vyre_build_function_parameter(b, "a1", VYRE_TYPE_U32);
    vyre_expr product = vyre_build_op(b, VYRE_OP_MUL, vyre_build_variable(b, a0),
                                      vyre_build_variable(b, a0), none, none);
    vyre_build_store(
        b, results_of, vyre_build_variable(b, a1),
        vyre_build_op(b, VYRE_OP_ADD, product, vyre_build_variable(b, slot), none, none));
    vyre_build_return(b, vyre_build_u32(b, 0));
    vyre_build_end(b);
    assert_true(function.id != 0);
    vyre_build_function_begin(b, "refuse", VYRE_TYPE_U32);
    vyre_build_function_parameter(b, "slot", VYRE_TYPE_U32);
    vyre_build_return(b, vyre_build_u32(b, 5));
    vyre_build_end(b);
    if (vyre_builder_finish(&b, &program, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return program;
}

static void test_drain_takes_programs_of_the_builder(void **state)
{
    static const vyre_handler handlers[] = {{0x1000, "square", 0}, {9, "refuse", 0}};
    (void)state;
    vyre_program *program = build_square();
    const vy_drain_params params = {
        .form = VY_DRAIN_OF_ITEMS, .program = program, .handlers = handlers, .handler_count = 2};
    drain_queue *q = drain_open(300, &params);
    drain_add_buffer(q, q->slot_count);
    DRAIN_EACH(drain, way)
    {
        check_handlers(q, drain);
    }
    drain_close(&q);
    vyre_program_destroy(&program);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void refuse(const vy_drain_params *params, const char *part)
{
    vyre_program *program = (vyre_program *)1;
    vyre_diag diag;
    vyre_result code = vy_drain_build(params, NULL, &program, &diag);
    if (code != VYRE_ERROR_INVALID_ARGUMENT || !strstr(diag.message, part) ||
        !strstr(diag.message, "Fix: ")) {
        fail_msg("%d, not with '%s': %s", (int)code, part, diag.message);
    }
    assert_null(program);
    assert_int_equal(vy_drain_check(params, NULL), VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_drain_refuses_opcodes_of_the_system_and_twice(void **state)
{
    static const vyre_handler system_opcode[] = {{7, "square", 0}};
    static const vyre_handler twice[] = {{0x1000, "square", 0}, {0x1000, "refuse", 0}};
    static const vyre_handler nameless[] = {{0x1000, "", 0}}, null[] = {{0x1000, NULL, 0}};
    (void)state;
    vyre_program *program = drain_parse(square_text);
    vy_drain_params params = {.program = program, .handlers = system_opcode, .handler_count = 1};
    refuse(&params, "0x7 of 'square' is the system's");
    params.handlers = nameless;
    refuse(&params, "handler 0 has no function");
    params.handlers = null;
    refuse(&params, "handler 0 has no function");
    params.handlers = twice;
    params.handler_count = 2;
    refuse(&params, "'square' and 'refuse'");
    vyre_program_destroy(&program);
}

typedef struct refused_text {
    const char *text, *function, *io_function, *part;
} refused_text;

#define P   "program p\ninout b : u32[]\n"
#define FN  "fn f(slot: u32) -> u32 { return 0 }\n"
#define END "kernel { }\n"
static const refused_text refused_texts[] = {
    {P FN END, "g", NULL, "'g' is no function of the program"},
    {NULL, "g", NULL, "'g' is no function of any program"},
    {P FN END, NULL, "g", "the io_function 'g' is no function"},
    {P FN END, NULL, "f", "the io_function 'f' has another form than (kind, source"},
    {P "fn f(slot: u32) { b[slot] = 1 }\n" END, "f", NULL, "the handler 'f' has another form"},
    {P "fn f(slot: u32) -> i32 { return 0i }\n" END, "f", NULL, "has another form"},
    {P "fn f() -> u32 { return 0 }\n" END, "f", NULL, "has another form"},
    {P "fn f(slot: u32, a: f32) -> u32 { return 0 }\n" END, "f", NULL, "has another form"},
    {P "fn f(s: u32, a: u32, c: u32, d: u32, e: u32, g: u32, h: u32, i: u32, j: u32, k: u32, l: "
       "u32, m: u32, n: u32, o: u32) -> u32 { return 0 }\n" END,
     "f", NULL, "has another form than (slot: u32, up to 12"},
    {P "fn g() { barrier }\nfn f(slot: u32) -> u32 { g() return 0 }\n" END, "f", NULL,
     "'f' has a barrier"},
    {P "in c : u32[]\nfn f(slot: u32) -> u32 { let x = uniform c[0] return x }\n" END, "f", NULL,
     "'f' has a uniform load"},
    {P "fn f(k: u32, s: u32, t: u32, l: u32, h: u32, z: u32, g: u32) -> u32 { barrier return 0 "
       "}\n" END,
     NULL, "f", "'f' has a barrier"},
    {"program p\ninout mk_b : u32[]\n" FN END, "f", NULL, "'mk_b' of the handlers' program"},
    {"program p\nparam mk_p : u32\n" FN END, "f", NULL, "'mk_p'"},
    {"program p\nconst mk_c = 1\n" FN END, "f", NULL, "'mk_c'"},
    {"program p\nconst mk_t : u32[] = [1, 2]\n" FN END, "f", NULL, "'mk_t'"},
    {"program p\nshared mk_s : u32[1]\n" FN END, "f", NULL, "'mk_s'"},
    {P "fn mk_f(slot: u32) -> u32 { return 0 }\n" END, "mk_f", NULL, "'mk_f'"},
    {P "fn f(mk_slot: u32) -> u32 { return 0 }\n" END, "f", NULL, "'mk_slot'"},
    {P "fn f(slot: u32) -> u32 { let mk_x = 1 return mk_x }\n" END, "f", NULL, "'mk_x'"},
    {P FN "kernel { var mk_y = 1 }\n", "f", NULL, "'mk_y'"},
};

static void test_drain_refuses_functions_and_names_that_do_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(refused_texts); i++) {
        const refused_text *r = &refused_texts[i];
        vyre_program *program = r->text ? drain_parse(r->text) : NULL;
        const vyre_handler handlers[] = {{0x1000, r->function, 0}};
        const vy_drain_params params = {.program = program,
                                        .handlers = handlers,
                                        .handler_count = r->function != NULL,
                                        .io_function = r->io_function};
        refuse(&params, r->part);
        vyre_program_destroy(&program);
    }
}

static void test_drain_refuses_programs_that_leave_no_room(void **state)
{
    static const char *const lines[] = {"inout b%u : u32[]\n", "shared s%u : u32[1]\n",
                                        "param p%u : u32\n"};
    static const uint32_t most[] = {VYRE_MAX_BUFFERS - VY_DRAIN_WAVE_BINDINGS, VYRE_MAX_SHARED - 2,
                                    VYRE_MAX_PARAMS - VY_DRAIN_PARAMS};
    static const char *const parts[] = {"18 buffers, and beside", "63 shared buffers",
                                        "251 params"};
    static const vyre_handler handlers[] = {{0x1000, "f", 0}};
    (void)state;
    for (uint32_t kind = 0; kind < 3; kind++) {
        for (uint32_t over = 0; over < 2; over++) {
            static char text[16384];
            size_t at = (size_t)snprintf(text, sizeof text, "program p\n");
            for (uint32_t i = 0; i < most[kind] + over; i++) {
                char line[64];
                snprintf(line, sizeof line, "%s", lines[kind]);
                char *number = strstr(line, "%u");
                at += (size_t)snprintf(text + at, sizeof text - at, "%.*s%u%s",
                                       (int)(number - line), line, (unsigned)i, number + 2);
            }
            snprintf(text + at, sizeof text - at, "%s%s", FN, END);
            vyre_program *program = drain_parse(text), *built = NULL;
            const vy_drain_params params = {.form = VY_DRAIN_OF_ITEMS,
                                            .in_waves = true,
                                            .program = program,
                                            .handlers = handlers,
                                            .handler_count = 1};
            if (over) {
                refuse(&params, parts[kind]);
            } else {
                assert_int_equal(vy_drain_build(&params, NULL, &built, NULL), VYRE_OK);
            }
            vyre_program_destroy(&built);
            vyre_program_destroy(&program);
        }
    }
}

static void test_drain_refuses_ways_that_there_are_not(void **state)
{
    static const struct {
        vy_drain_params params;
        const char *part;
    } cases[] = {
        {{.form = VY_DRAIN_OF_RING, .in_waves = true}, "a ring is drained neither in waves"},
        {{.form = VY_DRAIN_OF_RING, .is_special = true}, "a ring is drained neither in waves"},
        {{.form = VY_DRAIN_OF_ITEMS, .by_priority = true}, "items have no partitions"},
        {{.by_priority = true, .claim = VYRE_CLAIM_WORKGROUP}, "by each lane for itself"},
        {{.by_priority = true, .claim = VYRE_CLAIM_SUBGROUP}, "by each lane for itself"},
        {{.form = VY_DRAIN_OF_ITEMS, .is_special = true, .opcode = 9}, "opcode 0x9 has no handler"},
        {{.form = VY_DRAIN_OF_ITEMS, .is_special = true, .opcode = VYRE_OPCODE_DFA_STEP},
         "opcode 0x6 has no handler"},
        {{.form = VY_DRAIN_OF_ITEMS, .is_special = true, .opcode = VYRE_OPCODE_LOAD_MISS},
         "opcode 0xfffd has no handler"},
        {{.form = VY_DRAIN_OF_ITEMS, .is_special = true, .opcode = VYRE_OPCODE_PACKED_SLOT},
         "opcode 0x80000001 has no handler"},
        {{.workgroup = 1025}, "workgroups of 1025"},
    };
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        refuse(&cases[i].params, cases[i].part);
    }
}

static void test_drain_build_frees_what_it_took(void **state)
{
    static const vyre_handler handlers[] = {{30, "rich", 0}};
    (void)state;
    vyre_program *program = drain_parse(rich_text);
    const vy_drain_params params = {.program = program, .handlers = handlers, .handler_count = 1};
    bool was_built = false;
    for (size_t n = 1; !was_built; n++) {
        vy_fail_allocator failing = {.fail_at = n};
        const vyre_allocator allocator = vy_fail_allocator_get(&failing);
        vyre_program *built = NULL;
        vyre_result code = vy_drain_build(&params, &allocator, &built, NULL);
        was_built = code == VYRE_OK;
        assert_true(was_built || code == VYRE_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(was_built, built != NULL);
        vyre_program_destroy(&built);
        assert_int_equal(failing.live_blocks, 0);
        assert_true(n < 10000);
    }
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain_runs_handlers),
        cmocka_unit_test(test_drain_gives_handlers_up_to_twelve_arguments),
        cmocka_unit_test(test_drain_results_end_slots),
        cmocka_unit_test(test_drain_runs_again_what_was_given_back),
        cmocka_unit_test(test_drain_takes_over_what_functions_mean),
        cmocka_unit_test(test_drain_keeps_the_width_of_subgroups),
        cmocka_unit_test(test_drain_takes_programs_of_the_builder),
        cmocka_unit_test(test_drain_refuses_opcodes_of_the_system_and_twice),
        cmocka_unit_test(test_drain_refuses_functions_and_names_that_do_not_fit),
        cmocka_unit_test(test_drain_refuses_programs_that_leave_no_room),
        cmocka_unit_test(test_drain_refuses_ways_that_there_are_not),
        cmocka_unit_test(test_drain_build_frees_what_it_took),
    };
    return cmocka_run_group_tests(tests, drain_open_device, drain_close_device);
}
