/* Decoders, searches and automata: each program on a device, and at small sizes on the interpreter,
 * against plain C, element by element. Larger sizes: tests/soak. */
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PROGRAM_TESTS(name, subject, size)                                                         \
    static void test_##name##_equals_oracle_at_edge_sizes(void **state)                            \
    {                                                                                              \
        vy_check_edges(state, VY_SUBJECT_##subject);                                               \
    }                                                                                              \
    static void test_##name##_equals_oracle_at_a_realistic_size(void **state)                      \
    {                                                                                              \
        vy_check_device(state, VY_SUBJECT_##subject, size);                                        \
    }

PROGRAM_TESTS(utf8, UTF8, 1000003u)
PROGRAM_TESTS(lines, LINES, 1000003u)
PROGRAM_TESTS(base64, BASE64, 300007u)
PROGRAM_TESTS(aho_corasick, AHO_CORASICK, 300007u)
PROGRAM_TESTS(dfa_scan, DFA_SCAN, 300007u)
PROGRAM_TESTS(nfa, NFA, 30011u)
PROGRAM_TESTS(brackets, BRACKETS, 100003u)

#define TWO(name)                                                                                  \
    cmocka_unit_test(test_##name##_equals_oracle_at_edge_sizes),                                   \
        cmocka_unit_test(test_##name##_equals_oracle_at_a_realistic_size)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO(utf8),     TWO(lines), TWO(base64),   TWO(aho_corasick),
        TWO(dfa_scan), TWO(nfa),   TWO(brackets),
    };
    return cmocka_run_group_tests(tests, vy_open_test_device, vy_close_test_device);
}
