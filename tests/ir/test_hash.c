/* Program hashes: what they see, and what they do not. */
#include "tests/ir/build.h"

typedef struct hashes {
    uint64_t meaning, interface;
} hashes;

/* Changes of one program, of which each is to be seen by one hash, by both or by none. */
typedef enum change {
    CHANGE_NONE,
    /* seen by none */
    CHANGE_PLACES,
    CHANGE_LOCAL_NAMES,
    CHANGE_PROGRAM_NAME,
    CHANGE_REGION_NAME,
    CHANGE_BUILD_ORDER,
    CHANGE_NAMED_CONSTANT,
    /* seen by the interface hash */
    CHANGE_BUFFER_NAME,
    CHANGE_PARAM_NAME,
    /* seen by both */
    CHANGE_BUFFER_MODE,
    CHANGE_PARAM_TYPE,
    /* seen by the meaning hash */
    CHANGE_LITERAL,
    CHANGE_OPERATOR,
    CHANGE_OPERAND_ORDER,
    CHANGE_WORKGROUP,
    CHANGE_PASSES,
    CHANGE_LOOP_LIMIT,
    CHANGE_FAST_MATH,
    CHANGE_GRID_OVER,
    CHANGE_GRID_FROM,
    CHANGE_GRID_OF,
    CHANGE_GRID_OF_Y,
    CHANGE_TABLE,
    CHANGE_COUNT,
    CHANGE_ARRAY_COUNT,
    CHANGE_ATOMIC,
    CHANGE_ORDER,
    CHANGE_CASE,
    CHANGE_DOWN,
    CHANGE_TRAP,
    CHANGE_NESTING,
    CHANGE_RETURN_TYPE,
    CHANGE_COUNT_OF_ALL
} change;

static void build_body(vyre_builder *b, change c, vyre_ref out, vyre_ref count, vyre_ref table,
                       vyre_ref f)
{
    vyre_ref constant = vyre_build_constant(b, "seven", VYRE_TYPE_U32, 7);
    vyre_build_region_begin(b, c == CHANGE_REGION_NAME ? "other" : "region");
    vyre_expr x = NO_EXPR, y = NO_EXPR;
    if (c == CHANGE_BUILD_ORDER) {
        y = num(b, 7);
        x = gid(b);
    } else {
        x = gid(b);
        y = c == CHANGE_NAMED_CONSTANT ? vyre_build_constant_value(b, constant)
                                       : num(b, c == CHANGE_LITERAL ? 8 : 7);
    }
    vyre_op op = c == CHANGE_OPERATOR ? VYRE_OP_SUB : VYRE_OP_ADD;
    vyre_expr sum = c == CHANGE_OPERAND_ORDER ? op2(b, op, y, x) : op2(b, op, x, y);
    vyre_ref v = vyre_build_let(b, c == CHANGE_LOCAL_NAMES ? "w" : "v", VYRE_TYPE_VOID, sum);
    vyre_build_store(b, out, get(b, v), vyre_build_load(b, table, gid(b)));
    vyre_build_end(b);
    vyre_build_array(b, "a", VYRE_TYPE_U32, c == CHANGE_ARRAY_COUNT ? 5 : 4);
    vyre_build_atomic(b, c == CHANGE_ATOMIC ? VYRE_ATOMIC_MIN : VYRE_ATOMIC_MAX,
                      c == CHANGE_ORDER ? VYRE_ORDER_ACQUIRE : VYRE_ORDER_RELAXED, NULL, count,
                      num(b, 0), num(b, 1), NO_EXPR);
    vyre_build_switch_begin(b, gid(b));
    vyre_build_case_begin(b, (const uint32_t[]){1, c == CHANGE_CASE ? 3u : 2u}, 2);
    vyre_build_end(b);
    vyre_build_end(b);
    if (c == CHANGE_DOWN) {
        vyre_build_for_down_begin(b, "i", num(b, 0), num(b, 3), NO_EXPR);
    } else {
        vyre_build_for_begin(b, "i", num(b, 0), num(b, 3), NO_EXPR);
    }
    vyre_build_block_begin(b);
    if (c == CHANGE_NESTING) {
        vyre_build_end(b);
    }
    vyre_build_trap(b, c == CHANGE_TRAP ? 2 : 1);
    if (c != CHANGE_NESTING) {
        vyre_build_end(b);
    }
    vyre_build_end(b);
    vyre_build_call_statement(b, NULL, f, NULL, 0);
}

static hashes hash_of(change c)
{
    vyre_builder *b = NULL;
    assert_int_equal(vyre_builder_create(c == CHANGE_PROGRAM_NAME ? "other" : "test", NULL, &b),
                     VYRE_OK);
    if (c == CHANGE_PLACES) {
        vyre_builder_at(b, 12, 34);
    }
    vyre_build_workgroup(b, c == CHANGE_WORKGROUP ? 32 : 64, 1, 1);
    vyre_build_fixpoint(b, c == CHANGE_PASSES ? 5 : 4);
    vyre_build_loop_limit(b, c == CHANGE_LOOP_LIMIT ? 100 : 200);
    if (c == CHANGE_FAST_MATH) {
        vyre_build_fast_math(b);
    }
    vyre_ref out = vyre_build_buffer(b, VYRE_BUFFER_OUT, c == CHANGE_BUFFER_NAME ? "p" : "o",
                                     VYRE_TYPE_U32, num(b, c == CHANGE_COUNT ? 65 : 64));
    vyre_ref count = buffer(b, c == CHANGE_BUFFER_MODE ? VYRE_BUFFER_OUT : VYRE_BUFFER_INOUT,
                            "count", VYRE_TYPE_U32);
    vyre_ref grid = vyre_build_buffer(b, VYRE_BUFFER_IN, "grid", VYRE_TYPE_U32, num(b, 3));
    if (c == CHANGE_GRID_OVER) {
        vyre_build_grid_over(b, grid);
    } else if (c == CHANGE_GRID_FROM) {
        vyre_build_grid_from(b, grid);
    } else if (c == CHANGE_GRID_OF) {
        vyre_build_grid_of(b, vyre_build_length(b, grid), NO_EXPR, NO_EXPR);
    } else if (c == CHANGE_GRID_OF_Y) {
        vyre_build_grid_of(b, vyre_build_length(b, grid), num(b, 2), NO_EXPR);
    }
    vyre_build_param(b, c == CHANGE_PARAM_NAME ? "q" : "r",
                     c == CHANGE_PARAM_TYPE ? VYRE_TYPE_I32 : VYRE_TYPE_U32);
    vyre_ref table = vyre_build_table(b, "t", VYRE_TYPE_U32,
                                      (const uint32_t[]){1, c == CHANGE_TABLE ? 3 : 2}, 2);
    vyre_ref f =
        vyre_build_function_begin(b, "f", c == CHANGE_RETURN_TYPE ? VYRE_TYPE_I32 : VYRE_TYPE_U32);
    vyre_build_return(b, num(b, 1));
    vyre_build_end(b);
    build_body(b, c, out, count, table, f);
    vyre_program *program = finish(b);
    hashes result = {vyre_program_hash(program), vyre_program_interface_hash(program)};
    vyre_program_destroy(&program);
    return result;
}

static void test_hash_sees_meaning_and_interface_apart(void **state)
{
    (void)state;
    hashes base = hash_of(CHANGE_NONE);
    assert_true(base.meaning != 0 && base.meaning != base.interface);
    for (int c = CHANGE_NONE; c < CHANGE_COUNT_OF_ALL; c++) {
        hashes other = hash_of((change)c);
        bool interface_changes = c >= CHANGE_BUFFER_NAME && c <= CHANGE_PARAM_TYPE;
        bool meaning_changes = c >= CHANGE_BUFFER_MODE;
        if ((base.meaning != other.meaning) != meaning_changes ||
            (base.interface != other.interface) != interface_changes) {
            fail_msg("change %d is seen wrongly", c);
        }
    }
}

static void test_hashes_of_all_changes_differ(void **state)
{
    (void)state;
    uint64_t seen[CHANGE_COUNT_OF_ALL];
    int count = 0;
    for (int c = CHANGE_BUFFER_MODE; c < CHANGE_COUNT_OF_ALL; c++) {
        seen[count++] = hash_of((change)c).meaning;
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            assert_true(seen[i] != seen[j]);
        }
    }
}

static void test_hash_of_swapped_buffer_names_differs_in_the_interface(void **state)
{
    (void)state;
    hashes got[2];
    for (int i = 0; i < 2; i++) {
        vyre_builder *b = start();
        vyre_ref x = buffer(b, VYRE_BUFFER_INOUT, i ? "b" : "a", VYRE_TYPE_U32);
        buffer(b, VYRE_BUFFER_INOUT, i ? "a" : "b", VYRE_TYPE_U32);
        vyre_build_store(b, x, num(b, 0), num(b, 1));
        vyre_program *program = finish(b);
        got[i] = (hashes){vyre_program_hash(program), vyre_program_interface_hash(program)};
        vyre_program_destroy(&program);
    }
    assert_true(got[0].meaning == got[1].meaning);
    assert_true(got[0].interface != got[1].interface);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_sees_meaning_and_interface_apart),
        cmocka_unit_test(test_hashes_of_all_changes_differ),
        cmocka_unit_test(test_hash_of_swapped_buffer_names_differs_in_the_interface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
