/* Decoders, searches and automata: each program on a device, and at small sizes on the interpreter,
 * against plain C, element by element. Larger sizes: tests/soak. */
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

CATALOGUE_TESTS(utf8, UTF8, 1000003u)
CATALOGUE_TESTS(lines, LINES, 1000003u)
CATALOGUE_TESTS(base64, BASE64, 300007u)
CATALOGUE_TESTS(aho_corasick, AHO_CORASICK, 300007u)
CATALOGUE_TESTS(dfa_scan, DFA_SCAN, 300007u)
CATALOGUE_TESTS(nfa, NFA, 30011u)
CATALOGUE_TESTS(brackets, BRACKETS, 100003u)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOGUE_ENTRIES(utf8),         CATALOGUE_ENTRIES(lines),    CATALOGUE_ENTRIES(base64),
        CATALOGUE_ENTRIES(aho_corasick), CATALOGUE_ENTRIES(dfa_scan), CATALOGUE_ENTRIES(nfa),
        CATALOGUE_ENTRIES(brackets),
    };
    return cmocka_run_group_tests(tests, vy_check_open, vy_check_close);
}
