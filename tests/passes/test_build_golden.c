/* The SSA form of every kind of statement as text, against tests/passes/golden/NAME.txt.
 * VYRE_UPDATE_GOLDEN=1 writes those files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"

#include <stdio.h>

typedef struct golden {
    const char *name, *statements;
} golden;

static const golden cases[] = {
    {"let_store", "let v = gid.x\nlet s = x[v] + k\ny[v] = s"},
    {"var_assign", "var s = x[0]\ns = s * 3\ns = s + T[s]\ny[0] = s"},
    {"array", "var a : u32[4]\na[k] = 7\ny[0] = a[1] + a[k]"},
    {"lengths", "y[0] = len(x) + len(w)"},
    {"atomics", "let o = atomic_add(y[k], 2)\natomic_store(y[o], 1, release)\n"
                "let c = atomic_compare_exchange(w[0], o, 5)\nlet l = atomic_load(y[c], acquire)\n"
                "y[l] = 0"},
    {"uniform_load", "let u = uniform w[k]\nif u > 3 { barrier }\ny[0] = u"},
    {"if_one_arm", "var s = k\nif s > 3 { s = s + 1 }\ny[0] = s"},
    {"if_two_arms", "var s = k\nvar t = 1\nif s > 3 { s = 4 } else { t = s }\ny[s] = t"},
    {"if_one_leaves", "var s = k\nif s > 3 { s = 4 return } else { s = 7 }\ny[0] = s"},
    {"if_both_leave", "if k > 3 { y[0] = 1 return } else { return }\ny[0] = 2"},
    {"if_empty", "if k > 3 { }\ny[0] = 1"},
    {"switch",
     "var s = k\nswitch s {\n case 1, 5 { s = 10 }\n case 2 { }\n default { s = x[0] }\n}\n"
     "y[0] = s"},
    {"switch_without_default", "var s = k\nswitch i32(s) { case -1 { s = 1 } case 7 { return } }\n"
                               "y[0] = s"},
    {"for_step_1", "var s = 0\nfor i in k .. len(x) { s = s + x[i] }\ny[0] = s"},
    {"for_step_literal", "var s = 0\nfor i in 0 .. k step 4 { s = s + i }\ny[0] = s"},
    {"for_down_signed", "var s = 0i\nfor i in -5i .. n[0] step n[1] down { s = s + i }\nn[0] = s"},
    {"for_break_continue", "var s = 0\nfor i in 0 .. k {\n if x[i] == 3 { continue }\n s = s + 1\n"
                           " if s > 9 { break }\n}\ny[0] = s"},
    {"for_always_leaves", "for i in 0 .. k { y[i] = 1 break }"},
    {"while", "var s = k\nwhile s > 3 { s = s / 2 }\ny[0] = s"},
    {"while_two_share_budget",
     "var s = k\nwhile s > 3 { s = s / 2 }\nif k == 1 { while s < 9 { s = s "
     "+ 1 } }\ny[0] = s"},
    {"while_with_barrier", "var s = k\nwhile s > 3 { s = s / 2 barrier }\ny[0] = s"},
    {"while_condition_calls", "var s = k\nwhile early(s) > 3 { s = s / 2 }\ny[0] = s"},
    {"break_in_switch", "var s = 0\nfor i in 0 .. k {\n switch x[i] { case 1 { break } case 2 { "
                        "continue } default { s = s + 1 } }\n}\ny[0] = s"},
    {"call_tail", "y[0] = twice(twice(k)) + twice(3)"},
    {"call_early", "y[0] = early(k)"},
    {"trap", "if k > 3 { trap(7) }\ny[0] = 1"},
    {"region_block", "var s = k\nregion \"inner\" { s = s + 1 { s = s * 2 } }\ny[0] = s"},
    {"bool_logic", "let c = b[0] && k > 3 || !b[1]\nb[2] = c\nf[0] = select(c, f[1], r)"},
};

static void test_every_statement_has_its_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        ssa_case c;
        case_init(&c, cases[i].statements);
        assert_int_equal(c.split.segments.count, 1);
        case_build(&c, 0);
        case_compare(cases[i].name, case_print(&c));
        case_finish(&c);
    }
}

/* What crosses a grid_sync: recomputed, spilled, a host loop's index. */
static void test_segments_load_and_store_what_crosses(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "let v = gid.x\nlet o = y[v]\nvar a : u32[2]\nvar s = 0\na[0] = o\n"
                  "if o == 4 { return }\nlet late = v + 1\ngrid_sync\n"
                  "for h in 0 .. k {\n if s > 3 { return }\n s = s + h + o + a[1]\n grid_sync\n}\n"
                  "y[v] = s + late");
    assert_int_equal(c.split.segments.count, 3);
    for (uint32_t s = 0; s < 3; s++) {
        char name[64];
        snprintf(name, sizeof name, "segment_%u", (unsigned)s);
        case_build(&c, s);
        case_compare(name, case_print(&c));
    }
    case_finish(&c);
}

static void test_print_is_deterministic(void **state)
{
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        ssa_case a, b;
        case_init(&a, cases[i].statements);
        case_init(&b, cases[i].statements);
        case_build(&a, 0);
        case_build(&b, 0);
        assert_string_equal(case_print(&a), case_print(&b));
        case_finish(&a);
        case_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_statement_has_its_form),
        cmocka_unit_test(test_segments_load_and_store_what_crosses),
        cmocka_unit_test(test_print_is_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
