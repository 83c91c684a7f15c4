/* What cse, licm and ranges do to the smallest programs that show it, and what they must not do, as
 * text: tests/passes/golden/NAME.txt. VYRE_UPDATE_GOLDEN=1 writes those files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"

typedef struct golden {
    const char *name, *statements;
} golden;

static void check(const golden *cases, size_t count, const char *const *passes)
{
    for (size_t i = 0; i < count; i++) {
        ssa_case c;
        case_init(&c, cases[i].statements);
        case_build(&c, 0);
        for (size_t p = 0; passes[p]; p++) {
            case_pass(&c, passes[p]);
        }
        case_compare(cases[i].name, case_print(&c));
        case_finish(&c);
    }
}

static void test_cse_merges_what_is_the_same(void **state)
{
    (void)state;
    static const golden cases[] = {
        /* Operands either way round; x is never written. */
        {"cse_operators", "y[0] = k * 3 + x[k]\ny[1] = x[k] + 3 * k\nb[0] = k < 5\nb[1] = 5 > k"},
        /* Neither arm stands in front of the other; what stands in front of both is used. */
        {"cse_arms", "let a = k * 7\nif k > 3 { y[0] = k * 5 + k * 7 } else { y[1] = k * 5 }"},
        /* y: once before the store, once behind it. n may be the same memory as y. */
        {"cse_written", "let m = n[0]\nlet a = y[k] + y[k]\ny[0] = a\nn[1] = m + n[0]\n"
                        "y[1] = y[k]"},
        {"cse_barrier", "let a = w[0]\nbarrier\nlet c = w[0]\nlet o = atomic_load(y[0])\n"
                        "y[1] = a + c + o + w[0]"},
        {"cse_join", "let a = w[k]\nif a > 3 { w[0] = w[k] } else { y[1] = w[k] }\ny[0] = w[k]"},
        {"cse_array", "var m : u32[4]\nm[1] = k\nlet a = m[k] + m[k]\nm[2] = a\ny[0] = m[k]"},
        {"cse_phis", "var s = k\nvar t = k\nif k > 3 { s = x[0] t = x[0] }\ny[0] = s\ny[1] = t"},
        /* Of two atomics each gives a value of its own. */
        {"cse_effects", "let a = atomic_add(y[0], 1)\nlet c = atomic_add(y[0], 1)\ny[a] = c"},
    };
    static const char *const passes[] = {"cse", "dce", NULL};
    check(cases, VY_COUNT_OF(cases), passes);
}

static void test_licm_moves_what_no_trip_changes(void **state)
{
    (void)state;
    static const golden cases[] = {
        {"licm_moves", "for i in 0 .. k {\n y[i] = x[k] * k + gid.x * 4\n}"},
        {"licm_nested", "for i in 0 .. k {\n for j in 0 .. k {\n  y[j] = k * 3 + i * 5 + j\n }\n}"},
        /* Written memory; what is not computed in each trip and not cheap; ids by themselves. */
        {"licm_stays", "for i in 0 .. k {\n y[gid.x] = y[k] + i\n"
                       " if i == 3 { y[7] = x[k] / k + (k ^ 5) }\n}"},
        {"licm_alias", "for i in 0 .. k { y[i] = u32(n[k]) }"},
        /* No way back: nothing to gain. */
        {"licm_once", "for i in 0 .. k { y[0] = k * 3 break }"},
    };
    static const char *const passes[] = {"trivial-phi", "cse", "dce", "licm", NULL};
    check(cases, VY_COUNT_OF(cases), passes);
}

static void test_ranges_drops_what_is_known(void **state)
{
    (void)state;
    static const golden cases[] = {
        {"ranges_guard", "let i = gid.x\nif i < len(y) { y[i] = x[i] }\ny[i] = 2"},
        {"ranges_guard_and",
         "let i = gid.x\nif k > i && k <= len(y) { y[i] = 1 } else { y[i] = 2 }"},
        {"ranges_return", "let i = gid.x\nif i >= len(y) { return }\ny[i] = 1\ny[i - 1] = 2"},
        {"ranges_for_length", "var s = 0\nfor i in 0 .. len(x) { s = s + x[i] }\ny[0] = s"},
        {"ranges_for_rows", "var s = 0\nfor e in x[k] .. x[k + 1] { s = s + x[e] }\ny[0] = s"},
        {"ranges_for_step", "for i in gid.x .. len(y) step 7 { y[i] = i }\n"
                            "for i in gid.x .. len(y) step k { y[i] = i }"},
        {"ranges_for_down", "for i in k .. len(y) step 2 down { y[i] = i }\n"
                            "for i in 0 .. 65 step 8 down { w[i] = i w[i - 1] = i }"},
        {"ranges_for_signed", "for i in -3i .. 60i { w[i + 3] = 1 w[i + 5] = 2 w[i] = 3 }"},
        {"ranges_while", "var i = k\nwhile i < len(y) { y[i] = 1 i = i + 1 }\n"
                         "var j = 5\nwhile j < 40 { w[j - 5] = 2 w[j + 30] = 3 j = j + 3 }"},
        /* The count goes round below 0 and the index beyond `n`. */
        {"ranges_while_wraps", "var left = 3\nvar i = 0\nwhile i < 100 {\n"
                               " if left != 0 { w[i] = 1 }\n left = left - 1 i = i + 20\n}"},
        {"ranges_local", "w[lid.x] = 1\nw[lid.x + 1] = 2\nw[lid.x ^ 32] = 3\nw[gid.x % 64] = 4\n"
                         "w[63 - lid.x] = 5\nw[k & 63] = 6\nw[min(k, 63)] = 7"},
        /* i + 1 may be 0. */
        {"ranges_sum_wraps", "let i = k\nif i + 1 < len(y) { y[i] = 1 y[i + 1] = 2 }\n"
                             "if i < 60 { w[i + 4] = 3 w[i + 5] = 4 }"},
        {"ranges_table", "y[0] = T[k % 3] + T[k % 4]\nvar m : u32[8]\nm[k >> 29] = 1\n"
                         "m[k >> 28] = 2\ny[1] = m[k & 7]"},
        /* Whole tiles; the last two stores of each kind may lie behind their tile or the last one.
         */
        {"ranges_tiles",
         "for t in gid.x .. len(y) / 16 {\n"
         " y[t * 16] = 1 y[t * 16 + 15] = 2 y[(k & 7) + t * 16 + (gid.x & 3) * 2] = 3\n"
         " y[t * 16 + 16] = 4 y[t * 16 + (k & 15) + 1] = 5\n}\n"
         "if k < len(y) >> 3 { y[(k << 3) + 7] = 7 y[(k << 3) + 8] = 8 }"},
        /* Of another buffer, with another factor, not below the number of tiles, signed. */
        {"ranges_tiles_not",
         "if k < len(x) / 8 { y[k * 8] = 1 }\nif k < len(y) / 8 { y[k * 16] = 2 }\n"
         "if k <= len(y) / 8 { y[k * 8] = 3 }\nif k < len(y) / 8 + 1 { y[k * 8] = 4 }\n"
         "let i = n[0]\nif i < i32(len(y)) / 8 { y[i * 8] = 5 }\n"
         "if k < min(len(y) / 8, 9) { y[k * 8 + 7] = 6 }"},
        /* Multiples below one; each second store of a pair may lie behind the end. */
        {"ranges_multiples",
         "let m = len(y) & 0xfffffffc\n"
         "for i in gid.x * 4 .. m step 8 { y[i + 3] = 1 y[i + 4] = 2 }\n"
         "let e = len(y) / 8 * 8\nlet a = k * 8\nif a < e { y[a + 7] = 3 y[a + 8] = 4 }\n"
         "let c = k * 4\nif c < e { y[c + 3] = 5 y[c + 4] = 6 }\n"
         "if k < e { y[k] = 7 y[k + 1] = 8 }\nif c <= m { y[k] = 9 y[c + 1] = 10 }\n"
         "if k <= len(y) / 8 { if c < a { y[c + 1] = 11 }\nif c < a + 4 { y[c + 1] = 12 } }"},
        {"ranges_shifts", "y[0] = (k << (gid.x & 7)) + (k >> gid.x)\n"
                          "y[1] = rotate_left(k, gid.x % 32)"},
        {"ranges_divisors", "y[0] = k / (gid.x | 1) + k % max(gid.x, 2) + k / gid.x\n"
                            "let d = n[0]\nif d > 0 { n[1] = n[2] / d }\n"
                            "if d != 0 { n[3] = n[2] / d }"},
        {"ranges_powers", "y[0] = k / 8 + k % 8\nn[0] = n[1] / 8 + i32(k & 255) / 8"},
        {"ranges_known", "let a = k & 255\ny[0] = (a & 511) + min(a, 300) + a % 256\n"
                         "b[0] = a < 256\nif a > 255 { y[1] = 3 }"},
        {"ranges_twice", "let c = x[0] > k\nif c { if c { y[0] = 1 } else { y[1] = 2 } }"},
        {"ranges_switch", "switch x[0] { case 3 { w[x[0]] = 1 } case 4, 9 { y[0] = 2 }\n"
                          " default { y[1] = 3 } }"},
        {"ranges_signed_index", "let i = n[0]\nif i < 10i { w[i] = 1 }\n"
                                "if i >= 0i && i < 10i { w[i] = 2 }"},
        {"ranges_less",
         "let last = max(len(y), 1) - 1\nfor i in 0 .. last { y[i] = 1 y[i + 1] = 2 }\n"
         "let i = sub_sat(len(y), 4)\nif k < i { y[k] = 3 y[i] = 4 }"},
        {"ranges_equal", "let i = gid.x\nif i == k && k < len(y) { y[i] = 1 }\n"
                         "if i != k { if k < len(y) { y[i] = 1 } }"},
    };
    static const char *const passes[] = {"trivial-phi", "cse", "dce", "ranges", "dce", NULL};
    check(cases, VY_COUNT_OF(cases), passes);
}

/* Lengths that are equal by declaration, or numbers. */
static void test_ranges_knows_declared_lengths(void **state)
{
    (void)state;
    ssa_case c;
    case_init_program(&c, "program t\nworkgroup 64\nin a : u32[]\nout d : u32[len(a)]\n"
                          "out e : u32[len(d)]\nout g : u32[len(a) + 1]\nscratch one : u32[1]\n"
                          "kernel {\n let i = gid.x\n if i < len(e) { d[i] = a[i] e[i] = 2 }\n"
                          " if i < len(g) { d[i] = 3 }\n if i < len(a) { g[i] = 4 }\n"
                          " one[0] = 5 one[1] = 6\n}\n");
    case_build(&c, 0);
    case_pass(&c, "cse");
    case_pass(&c, "ranges");
    case_pass(&c, "dce");
    case_compare("ranges_lengths", case_print(&c));
    case_finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cse_merges_what_is_the_same),
        cmocka_unit_test(test_licm_moves_what_no_trip_changes),
        cmocka_unit_test(test_ranges_drops_what_is_known),
        cmocka_unit_test(test_ranges_knows_declared_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
