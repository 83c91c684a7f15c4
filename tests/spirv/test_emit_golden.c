/* The assembly of every construct is the stored one, in both targets and, where memory shows, in
 * the address form. What was stored was looked at: VYRE_UPDATE_GOLDEN=1 stores anew. */
#include "constructs.h"
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static void check(const construct *row, vyre_target target, vyre_interface interface,
                  const char *suffix)
{
    char name[64];
    form f;
    form_init(&f);
    row->build(&f);
    f.options.target = target;
    f.options.interface = interface;
    f.options.wide = strstr(suffix, ".wide") != NULL;
    f.options.float_modes = VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE;
    form_emit(&f);
    snprintf(name, sizeof name, "%s%s", row->name, suffix);
    judge_golden(f.words, f.word_count, name);
    form_finish(&f);
}

static void test_constructs_match_stored_assembly(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < construct_count; i++) {
        check(&constructs[i], VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_DESCRIPTOR, "");
    }
}

static void check_some(const char *const *names, size_t count, vyre_target target,
                       vyre_interface interface, const char *suffix)
{
    size_t found = 0;
    for (uint32_t i = 0; i < construct_count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (strcmp(names[k], constructs[i].name) == 0) {
                check(&constructs[i], target, interface, suffix);
                found++;
            }
        }
    }
    assert_int_equal(found, count);
}

/* Where the memory model shows. */
static void test_vulkan12_constructs_match_stored_assembly(void **state)
{
    static const char *const names[] = {"copy", "atomics", "float_atomics", "shared", "record"};
    (void)state;
    check_some(names, VY_COUNT_OF(names), VYRE_TARGET_VULKAN_1_2, VYRE_INTERFACE_DESCRIPTOR,
               ".vulkan12");
}

static void test_address_constructs_match_stored_assembly(void **state)
{
    static const char *const names[] = {"copy",   "atomics",        "record", "spill",
                                        "tables", "small_elements", "vectors"};
    static const char *const names12[] = {"copy", "atomics"};
    static const char *const names_wide[] = {"copy", "spill", "small_elements"};
    (void)state;
    check_some(names, VY_COUNT_OF(names), VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_ADDRESS,
               ".address");
    check_some(names12, VY_COUNT_OF(names12), VYRE_TARGET_VULKAN_1_2, VYRE_INTERFACE_ADDRESS,
               ".address.vulkan12");
    check_some(names_wide, VY_COUNT_OF(names_wide), VYRE_TARGET_VULKAN_1_3, VYRE_INTERFACE_ADDRESS,
               ".address.wide");
}

static void test_debugging_data_matches_stored_assembly(void **state)
{
    (void)state;
    form f;
    form_init(&f);
    f.line = 12;
    uint32_t out = form_buffer(&f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
    f.line = 13;
    uint32_t twice = form_op(&f, VYRE_OP_ADD, VYRE_TYPE_U32, i, i);
    f.ssa.ins.data[twice].name = "twice";
    form_store(&f, out, i, twice);
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = 1;
    f.options.debug = true;
    form_emit(&f);
    judge_golden(f.words, f.word_count, "debug");
    form_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constructs_match_stored_assembly),
        cmocka_unit_test(test_vulkan12_constructs_match_stored_assembly),
        cmocka_unit_test(test_address_constructs_match_stored_assembly),
        cmocka_unit_test(test_debugging_data_matches_stored_assembly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
