/* Parameter blocks as recorded commands reach them: bound by an offset once for a run of
 * dispatches, shown to shaders behind what writes them alone, and nothing pushed that is not read.
 */
#include "tests/engine/forms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define N         64u
#define ALIGNMENT 256u /* the most that a device may ask of an offset */

static const char chain_text[] = "program chain\nworkgroup 32\ngrid over a\nfixpoint 4\n"
                                 "inout a : u32[]\ninout b : u32[len(a)]\n"
                                 "kernel {\n  b[gid.x] = a[gid.x] + 1\n  grid_sync\n"
                                 "  a[gid.x] = b[len(a) - 1 - gid.x] * 3\n}\n";

static void chain_by_hand(uint32_t *a, uint32_t *b)
{
    for (uint32_t pass = 0; pass < 4; pass++) {
        for (uint32_t i = 0; i < N; i++) {
            b[i] = a[i] + 1;
        }
        for (uint32_t i = 0; i < N; i++) {
            a[i] = b[N - 1 - i] * 3;
        }
    }
}

/* Runs it over buffers of its own and compares. */
static vyre_report run_chain(vyre_device *device, engine_program *p, uint32_t seed)
{
    uint32_t a[N], b[N], got[N];
    for (uint32_t i = 0; i < N; i++) {
        a[i] = b[i] = i * seed;
    }
    vyre_buffer ba = engine_buffer(device, sizeof a, a), bb = engine_buffer(device, sizeof b, b);
    vyre_binding bindings[] = {engine_resident(ba, 0, N), engine_resident(bb, 0, N)};
    layer_clear_events();
    layer_clear_calls();
    vyre_report report = engine_run(p, bindings, 2, NULL, 0, 0, 0);
    chain_by_hand(a, b);
    uint32_t pushes = layer_calls("vkCmdPushConstants");
    uint32_t binds = layer_calls("vkCmdBindDescriptorSets");
    uint32_t writes = layer_descriptors();
    assert_int_equal(pushes, 0);
    assert_int_equal(report.descriptor_writes, writes);
    if (strcmp(report.bindings, "address") == 0) {
        assert_int_equal(binds, report.recordings);
    }
    read_words(device, ba, 0, got, N);
    assert_memory_equal(got, a, sizeof a);
    must_destroy(device, &ba);
    must_destroy(device, &bb);
    return report;
}

/* Of the barriers that are recorded in the last run. */
static uint32_t count_shown(uint32_t *out_barriers)
{
    uint32_t count = 0, shown = 0;
    const layer_event *events = layer_events(&count);
    *out_barriers = 0;
    for (uint32_t i = 0; i < count; i++) {
        *out_barriers += events[i].kind == LAYER_BARRIER;
        shown +=
            events[i].kind == LAYER_BARRIER && events[i].dst_access & VK_ACCESS_2_UNIFORM_READ_BIT;
    }
    return shown;
}

static void bind_once(vyre_device *device, int form)
{
    engine_program p = engine_build(device, chain_text);
    vyre_report report = run_chain(device, &p, 1);
    check_form(&report, form, engine_validates());
    assert_int_equal(report.recordings, 1);
    if (form == FORM_ADDRESS) {
        uint32_t writes = report.descriptor_writes;
        assert_in_range(writes, 1, 2); /* one for each lane, when its memory is made */
    }
    for (uint32_t round = 2; round < 5 && form == FORM_ADDRESS; round++) {
        report = run_chain(device, &p, round);
        assert_int_equal(report.recordings, 0);
        assert_int_equal(report.descriptor_writes, 0);
    }
    engine_release(&p);
}

static void test_blocks_are_bound_once_and_written_once(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, bind_once);
    in_each_form(LAYER_HEAPS_SEPARATE, bind_once);
}

static void show_where_written(vyre_device *device, int form)
{
    engine_program p = engine_build(device, chain_text);
    uint32_t a[N] = {0}, barriers = 0;
    vyre_buffer ba = engine_buffer(device, sizeof a, a), bb = engine_buffer(device, sizeof a, a);
    vyre_binding bindings[] = {engine_resident(ba, 0, N), engine_resident(bb, 0, N)};
    layer_clear_events();
    vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 0, 0);
    assert_int_equal(report.recordings, 1);
    uint32_t shown = count_shown(&barriers);
    assert_true(barriers >= 7); /* between eight dispatches */
    assert_int_equal(shown, layer.heaps == LAYER_HEAPS_SEPARATE ? 1 : 0); /* behind the copy */
    must_destroy(device, &ba);
    must_destroy(device, &bb);
    engine_release(&p);
    (void)form;
}

static void test_blocks_are_shown_where_they_were_written(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_UNIFIED, show_where_written);
    in_each_form(LAYER_HEAPS_SEPARATE, show_where_written);
}

/* The pass is pushed, and nothing else, to what reads it. */
static void push_passes(vyre_device *device, int form)
{
    (void)form;
    engine_program p =
        engine_build(device, "program passes\nworkgroup 32\ngrid over a\nfixpoint 5\n"
                             "inout a : u32[]\n"
                             "kernel { a[gid.x] = a[gid.x] * 2 + pass }\n");
    uint32_t a[N] = {0}, expected = 0;
    vyre_buffer ba = engine_buffer(device, sizeof a, a);
    vyre_binding bindings[] = {engine_resident(ba, 0, N)};
    layer_clear_calls();
    (void)engine_run(&p, bindings, 1, NULL, 0, 0, 0);
    uint32_t pushes = layer_calls("vkCmdPushConstants");
    assert_int_equal(pushes, 5);
    for (uint32_t pass = 0; pass < 5; pass++) {
        expected = expected * 2 + pass;
    }
    read_words(device, ba, 0, a, N);
    assert_int_equal(a[N - 1], expected);
    must_destroy(device, &ba);
    engine_release(&p);
}

static void test_passes_are_pushed_to_what_reads_them(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, push_passes);
}

/* The judge has a block of its own beside the program's, both at offsets that any device takes. */
static void judge_beside(vyre_device *device, int form)
{
    engine_program p = engine_build(device, "program down\nworkgroup 32\ngrid over a\n"
                                            "inout a : u32[]\nscratch more : u32[1]\n"
                                            "fixpoint 100 until more\n"
                                            "kernel { if a[gid.x] > 0 { a[gid.x] = a[gid.x] - 1\n"
                                            "  more[0] = 1 } }\n");
    uint32_t a[N], count = 0, dispatches = 0, changes = 0;
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < N; i++) {
        a[i] = i % 5;
    }
    vyre_buffer ba = engine_buffer(device, sizeof a, a);
    vyre_binding bindings[] = {engine_resident(ba, 0, N), {.kind = VYRE_BINDING_NONE}};
    layer_clear_events();
    layer_clear_calls();
    vyre_report report = engine_run(&p, bindings, 2, NULL, 0, 0, 0);
    assert_int_equal(report.passes, 5); /* the last one finds nothing */
    uint32_t binds = layer_calls("vkCmdBindDescriptorSets");
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count && form == FORM_ADDRESS; i++) {
        if (events[i].kind == LAYER_DISPATCH || events[i].kind == LAYER_INDIRECT) {
            assert_int_equal(events[i].offset % ALIGNMENT, 0);
            changes += events[i].offset != last;
            last = events[i].offset;
            dispatches++;
        } else if (events[i].kind == LAYER_SUBMIT) {
            last = UINT64_MAX; /* what follows is recorded anew */
        }
    }
    if (form == FORM_ADDRESS) {
        assert_true(dispatches >= 10);
        assert_true(binds >= changes && binds <= dispatches);
        assert_true(changes > report.recordings);
    }
    read_words(device, ba, 0, a, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(a[i], 0);
    }
    must_destroy(device, &ba);
    engine_release(&p);
}

static void test_blocks_of_the_judge_lie_beside_the_programs(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, judge_beside);
    in_each_form(LAYER_HEAPS_SEPARATE, judge_beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_bound_once_and_written_once),
        cmocka_unit_test(test_blocks_are_shown_where_they_were_written),
        cmocka_unit_test(test_passes_are_pushed_to_what_reads_them),
        cmocka_unit_test(test_blocks_of_the_judge_lie_beside_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
