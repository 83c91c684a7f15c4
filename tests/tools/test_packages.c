/* Package lists and what is made of them: fields, clauses, providers, and input that is none. */
#include "tests/tools/support.h"
#include "tools/vyre-demo/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses from memory of exactly that size. */
static packages parse_bytes(const char *text, size_t size)
{
    packages p;
    vyre_diag diag;
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    assert_int_equal(packages_parse(copy, size, &p, &diag), VYRE_OK);
    free(copy);
    return p;
}

static packages parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

/* Package i as "name: a|b, c; provided ..." */
static void describe(const packages *p, uint32_t i, char *out, size_t size)
{
    const package_info *info = &p->list.data[i];
    size_t at = (size_t)snprintf(out, size, "%s:", p->names.data[info->name]);
    for (uint32_t c = 0; c < info->clause_count; c++) {
        const clause_info *clause = &p->clauses.data[info->first_clause + c];
        for (uint32_t a = 0; a < clause->count; a++) {
            at += (size_t)snprintf(out + at, size - at, "%s%s", a ? "|" : " ",
                                   p->names.data[p->alternatives.data[clause->first + a]]);
        }
    }
    for (uint32_t k = 0; k < info->provided_count; k++) {
        at += (size_t)snprintf(out + at, size - at, "%s%s", k ? " " : "; ",
                               p->names.data[p->provided.data[info->first_provided + k]]);
    }
}

static void assert_package(const packages *p, uint32_t i, const char *wanted)
{
    char text[512];
    assert_true(i < p->list.count);
    describe(p, i, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void test_packages_reads_fields(void **state)
{
    (void)state;
    packages p =
        parse("Package: a\nVersion: 1\nDepends: b (>= 1:2.0) | c:any [amd64 i386], d<!x> , "
              "e\nPre-Depends: f\nProvides: g (= 1), h\nSuggests: z\n\n"
              "Package: b\nArchitecture: amd64\n");
    assert_int_equal(p.list.count, 2);
    assert_package(&p, 0, "a: f b|c d e; g h");
    assert_package(&p, 1, "b:");
    assert_int_equal(packages_find_name(&p, "z", 1), UINT32_MAX);
    assert_int_not_equal(packages_find_name(&p, "g", 1), UINT32_MAX);
    packages_finish(&p);
}

static void test_packages_reads_continuations_and_crlf(void **state)
{
    (void)state;
    packages p = parse("Package: a\r\nDescription: x\r\n Depends: not this\r\n .\r\nDepends: b,\r\n"
                       " c |\r\n\td\r\n\r\nPACKAGE: b\ndepends: a\n \n\n\n\nPackage: c");
    assert_int_equal(p.list.count, 3);
    assert_package(&p, 0, "a: b c|d");
    assert_package(&p, 1, "b: a");
    assert_package(&p, 2, "c:");
    packages_finish(&p);
}

static void test_packages_passes_over_what_is_not_there(void **state)
{
    (void)state;
    packages p =
        parse("Depends: x\n\nPackage:\nDepends: y\n\n: z\nno field\n Package: n\n\n"
              "Package: a\nStatus: deinstall ok config-files\n\n"
              "Package: b\nStatus: install ok installed\nDepends: , | ,c||d,\n\n"
              "Package: b\nDepends: e\n\nPackage: half\nStatus: install ok half-installed\n"
              "\nPackage: n\nStatus: install ok not-installed\n\n"
              "Package: f\nPackage: g\nDepends: h\nDepends: i\n");
    assert_int_equal(p.list.count, 2);
    assert_package(&p, 0, "b: c|d");
    assert_package(&p, 1, "f: h");
    assert_int_equal(p.not_installed, 3);
    assert_int_equal(p.repeated, 1);
    packages_finish(&p);
}

static void test_packages_survives_any_prefix(void **state)
{
    (void)state;
    static const char text[] =
        "Package: a\r\nStatus: install ok installed\nDepends: b (= 1) | c:any,"
        "\n d\nProvides: e\n\nPackage: b\nPre-Depends: a\n";
    for (size_t size = 0; size < sizeof text; size++) {
        packages p = parse_bytes(text, size);
        graph g;
        assert_int_equal(graph_make(&p, &g, NULL), VYRE_OK);
        assert_true(g.package_count <= 2);
        graph_finish(&g);
        packages_finish(&p);
    }
}

static void test_packages_survives_noise(void **state)
{
    (void)state;
    static const char alphabet[] = "Package: Depends: Provides: \n\n\n\n ,|:([<\r\tab\0\xff";
    uint32_t bits = 7;
    for (int round = 0; round < 300; round++) {
        char text[600];
        for (size_t i = 0; i < sizeof text;) {
            bits = bits * 1664525u + 1013904223u;
            if (bits >> 29 < 3 && i + 10 < sizeof text) {
                memcpy(text + i, bits >> 28 & 1 ? "\nPackage: " : "\nDepends: ", 10);
                i += 10;
            } else {
                text[i++] = alphabet[(bits >> 8) % (sizeof alphabet - 1)];
            }
        }
        packages p = parse_bytes(text, sizeof text);
        graph g;
        assert_int_equal(graph_make(&p, &g, NULL), VYRE_OK);
        graph_finish(&g);
        packages_finish(&p);
    }
}

static void test_packages_reads_huge_lines(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "Package: a\nDepends: ");
    for (int i = 0; i < COUNT; i++) {
        vy_text_printf(&text, "n%d | n%d, ", i, i + 1);
    }
    vy_text_printf(&text, "\n\nPackage: ");
    for (int i = 0; i < COUNT; i++) {
        vy_text_append(&text, "x", 1);
    }
    packages p = parse_bytes(text.data, text.size);
    assert_int_equal(p.list.count, 2);
    assert_int_equal(p.list.data[0].clause_count, COUNT);
    assert_int_equal(strlen(p.names.data[p.list.data[1].name]), COUNT);
    vy_text_finish(&text);
    packages_finish(&p);
}

/* ---- Graph ----------------------------------------------------------------------------------- */

static void test_graph_finds_providers_once(void **state)
{
    (void)state;
    packages p =
        parse("Package: a\nDepends: mail | b | mail, b\n\nPackage: b\nProvides: mail, b\n\n"
              "Package: c\nProvides: mail\n\nPackage: mail\n");
    graph g;
    assert_int_equal(graph_make(&p, &g, NULL), VYRE_OK);
    assert_int_equal(g.package_count, 4);
    assert_int_equal(g.clause_count, 2);
    assert_int_equal(g.clause_start[0], 0);
    assert_int_equal(g.clause_start[1], 2);
    assert_int_equal(g.clause_start[4], 2);
    assert_int_equal(g.alternative_start[1], 3);
    assert_int_equal(g.alternative_start[2], 4);
    assert_int_equal(g.alternative_count, 4);
    assert_int_equal(g.alternatives[0], 3); /* the package of that name, then its providers */
    assert_int_equal(g.alternatives[1], 1);
    assert_int_equal(g.alternatives[2], 2);
    assert_int_equal(g.alternatives[3], 1);
    graph_finish(&g);
    packages_finish(&p);
}

static void test_graph_leaves_clauses_out_and_counts_them(void **state)
{
    (void)state;
    packages p = parse("Package: a\nDepends: nothing | nobody, a, virtual, b, nothing | b\n"
                       "Provides: virtual\n\nPackage: b\nDepends: virtual\n");
    graph g;
    assert_int_equal(graph_make(&p, &g, NULL), VYRE_OK);
    assert_int_equal(g.unsatisfiable, 1);
    assert_int_equal(g.own, 2);
    assert_int_equal(g.clause_count, 3);
    assert_int_equal(g.alternatives[0], 1);
    assert_int_equal(g.alternatives[1], 1);
    assert_int_equal(g.alternatives[2], 0);
    graph_finish(&g);
    packages_finish(&p);
}

static void test_graph_removes_packages_and_providers(void **state)
{
    (void)state;
    packages p = parse("Package: a\nProvides: v\n\nPackage: b\nProvides: v, a\n\nPackage: c\n"
                       "Depends: gone\n");
    uint32_t level[3];
    assert_int_equal(graph_remove(&p, "a", level), 1);
    assert_true(level[0] == 0 && level[1] == LEVEL_NONE && level[2] == LEVEL_NONE);
    assert_int_equal(graph_remove(&p, "v", level), 2);
    assert_true(level[0] == 0 && level[1] == 0 && level[2] == LEVEL_NONE);
    assert_int_equal(graph_remove(&p, "gone", level), 0);
    assert_int_equal(graph_remove(&p, "never heard of", level), 0);
    assert_int_equal(graph_remove(&p, "", level), 0);
    packages_finish(&p);
}

static void test_graph_of_nothing(void **state)
{
    (void)state;
    packages p = parse("");
    graph g;
    assert_int_equal(graph_make(&p, &g, NULL), VYRE_OK);
    assert_int_equal(g.package_count, 0);
    assert_int_equal(g.clause_start[0], 0);
    assert_int_equal(g.alternative_start[0], 0);
    assert_int_equal(packages_find_name(&p, "a", 1), UINT32_MAX);
    graph_finish(&g);
    packages_finish(&p);
}

/* n packages that all provide a name, and n that need it: n * n alternatives are too many. */
static void test_graph_refuses_an_explosion(void **state)
{
    (void)state;
    vy_text text;
    vyre_diag diag = {0};
    vy_text_init(&text, NULL);
    for (int i = 0; i < 9000; i++) {
        vy_text_printf(&text, "Package: n%d\nProvides: v\n\nPackage: m%d\nDepends: v\n\n", i, i);
    }
    packages p = parse_bytes(text.data, text.size);
    graph g;
    assert_int_equal(graph_make(&p, &g, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "2^26"));
    assert_null(g.alternatives);
    vy_text_finish(&text);
    packages_finish(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packages_reads_fields),
        cmocka_unit_test(test_packages_reads_continuations_and_crlf),
        cmocka_unit_test(test_packages_passes_over_what_is_not_there),
        cmocka_unit_test(test_packages_survives_any_prefix),
        cmocka_unit_test(test_packages_survives_noise),
        cmocka_unit_test(test_packages_reads_huge_lines),
        cmocka_unit_test(test_graph_finds_providers_once),
        cmocka_unit_test(test_graph_leaves_clauses_out_and_counts_them),
        cmocka_unit_test(test_graph_removes_packages_and_providers),
        cmocka_unit_test(test_graph_of_nothing),
        cmocka_unit_test(test_graph_refuses_an_explosion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
