/* Words for buffers beyond what access chains reach on every driver: of more than 4 GiB, of more
 * than 2^31 elements. */
#include "constructs.h"
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

static bool is_constant(const form *f, uint32_t id)
{
    uint32_t at = 0;
    while ((at = judge_find(f->words, f->word_count, at, SpvOpConstant)) != 0) {
        if (f->words[at + 2] == id) {
            return true;
        }
    }
    return false;
}

static uint32_t storage_class(const form *f, uint32_t pointer_type)
{
    uint32_t at = 0;
    while ((at = judge_find(f->words, f->word_count, at, SpvOpTypePointer)) != 0) {
        if (f->words[at + 1] == pointer_type) {
            return f->words[at + 2];
        }
    }
    fail_msg("%%%u is no type of pointers", pointer_type);
    return 0;
}

/* Access chains into buffers whose last index the module computes. */
static uint32_t computed_chains(const form *f)
{
    uint32_t at = 0, found = 0;
    while ((at = judge_find(f->words, f->word_count, at, SpvOpAccessChain)) != 0) {
        const uint32_t *chain = f->words + at;
        found += storage_class(f, chain[1]) == SpvStorageClassPhysicalStorageBuffer &&
                 !is_constant(f, chain[(chain[0] >> 16) - 1]);
    }
    return found;
}

/* A chain's index has a sign, and a driver was seen to lose upper bits of its offset: where buffers
 * may be so large there is no such index, whatever the element is. */
static void test_large_buffers_are_reached_by_computed_addresses(void **state)
{
    static const vyre_type types[] = {VYRE_TYPE_U8,    VYRE_TYPE_F16,  VYRE_TYPE_U32,
                                      VYRE_TYPE_F32,   VYRE_TYPE_U64,  VYRE_TYPE_F64,
                                      VYRE_TYPE_F32X2, VYRE_TYPE_F32X4};
    (void)state;
    for (size_t i = 0; i < 2 * VY_COUNT_OF(types); i++) {
        form f;
        bool is_wide = i & 1;
        form_init(&f);
        f.options.interface = VYRE_INTERFACE_ADDRESS;
        f.options.wide = is_wide;
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", types[i / 2]);
        uint32_t at = form_builtin(&f, VYRE_BUILTIN_GID_X);
        form_store(&f, a, at, form_load(&f, a, at));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        assert_int_equal(computed_chains(&f), is_wide ? 0 : 2);
        bool has_u64 = vyre_type_size(types[i / 2]) < 4 || types[i / 2] == VYRE_TYPE_U64;
        assert_int_equal(judge_has_capability(f.words, f.word_count, SpvCapabilityInt64), has_u64);
        form_finish(&f);
    }
}

/* Atomics and spill slots as well; the base is loaded once for all accesses. */
static void test_every_access_to_large_buffers_is_computed(void **state)
{
    static const char *const names[] = {"copy", "atomics", "float_atomics", "spill", "vectors"};
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(names); i++) {
        uint32_t loads[2];
        for (uint32_t is_wide = 0; is_wide < 2; is_wide++) {
            form f;
            construct_begin(&f, names[i]);
            f.options.interface = VYRE_INTERFACE_ADDRESS;
            f.options.wide = is_wide;
            form_emit(&f);
            assert_int_equal(computed_chains(&f) == 0, is_wide);
            loads[is_wide] = judge_count(f.words, f.word_count, SpvOpLoad);
            form_finish(&f);
        }
        assert_int_equal(loads[0], loads[1]);
    }
}

/* A negative i32 is out of bounds in a buffer of more than 2^31 elements too. */
static void test_signed_indices_are_compared_with_what_they_can_name(void **state)
{
    (void)state;
    for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
        form f;
        form_init(&f);
        uint32_t a = form_buffer(&f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_U32);
        uint32_t at = form_builtin(&f, VYRE_BUILTIN_GID_X);
        at = is_signed ? form_op(&f, VYRE_OP_CAST, VYRE_TYPE_I32, at, 0) : at;
        form_store(&f, a, at, form_load(&f, a, at));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        form_emit(&f);
        uint32_t offset = 0, limits = 0;
        while ((offset = judge_find(f.words, f.word_count, offset, SpvOpExtInst)) != 0) {
            limits += f.words[offset + 4] == GLSLstd450UMin &&
                      judge_constant(f.words, f.word_count, f.words[offset + 6]) == 0x80000000u;
        }
        assert_int_equal(limits, is_signed);
        form_finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_buffers_are_reached_by_computed_addresses),
        cmocka_unit_test(test_every_access_to_large_buffers_is_computed),
        cmocka_unit_test(test_signed_indices_are_compared_with_what_they_can_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
