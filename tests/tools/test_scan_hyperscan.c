/* vyre-scan --all against Hyperscan, where the build found it (libhyperscan-dev): the same places
 * for the same patterns, texts and expressions, on the device where there is one. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef VYRE_HAVE_HYPERSCAN
#include <hs/hs.h>

enum { MAX_PATTERNS = 40, MAX_SIZE = 12, TEXT_SIZE = 3000 };

typedef struct hit {
    uint64_t offset;
    uint32_t pattern; /* from 1 */
} hit;

typedef struct hits {
    hit *data;
    size_t count, capacity;
} hits;

static void push(hits *list, uint64_t offset, uint32_t pattern)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 1024;
        list->data = realloc(list->data, list->capacity * sizeof *list->data);
        assert_non_null(list->data);
    }
    list->data[list->count++] = (hit){offset, pattern};
}

static int compare(const void *a, const void *b)
{
    const hit *x = a, *y = b;
    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                    void *user)
{
    (void)from;
    (void)flags;
    push(user, to - 1, id + 1);
    return 0;
}

/* In order, each once. */
static void scan_by_hyperscan(hs_database_t *database, const char *text, size_t size, hits *out)
{
    hs_scratch_t *scratch = NULL;
    size_t kept = 0;
    assert_int_equal(hs_alloc_scratch(database, &scratch), HS_SUCCESS);
    assert_int_equal(hs_scan(database, text, (unsigned)size, 0, scratch, on_match, out),
                     HS_SUCCESS);
    hs_free_scratch(scratch);
    hs_free_database(database);
    if (out->count) {
        qsort(out->data, out->count, sizeof *out->data, compare);
    }
    for (size_t i = 0; i < out->count; i++) {
        if (i == 0 || compare(&out->data[i], &out->data[i - 1]) != 0) {
            out->data[kept++] = out->data[i];
        }
    }
    out->count = kept;
}

/* The files `p` and `t` have patterns and text. */
static void assert_tool_finds(const hits *wanted, const char *first, const char *second)
{
    const char *where = has_no_device() ? "--reference" : "--check";
    assert_int_equal(run_tool("vyre-scan", where, "--all", "-f", "p", "t", "--batch-size", "1000",
                              first, second, NULL),
                     0);
    size_t size, count = 0;
    char *text = get_file("out", &size);
    assert_non_null(text);
    assert_true(size + 1 < (size_t)1 << 20); /* read whole */
    for (char *line = text; *line; count++) {
        char *end;
        uint64_t offset = strtoull(line, &end, 10);
        assert_int_equal(*end, ':');
        uint32_t pattern = (uint32_t)strtoul(end + 1, &end, 10);
        assert_int_equal(*end, '\n');
        assert_true(count < wanted->count);
        assert_int_equal(offset, wanted->data[count].offset);
        assert_int_equal(pattern, wanted->data[count].pattern);
        line = end + 1;
    }
    assert_int_equal(count, wanted->count);
    free(text);
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void draw_bytes(char *out, size_t size, const char *from, uint64_t *seed)
{
    for (size_t i = 0; i < size; i++) {
        out[i] = from[draw(seed) % strlen(from)];
    }
}

/* ---- Literals -------------------------------------------------------------------------------- */

static void check_literals(uint64_t *seed, const char *alphabet, bool is_caseless)
{
    static char texts[MAX_PATTERNS][MAX_SIZE + 1], text[TEXT_SIZE];
    const char *patterns[MAX_PATTERNS];
    size_t sizes[MAX_PATTERNS], at = 0;
    unsigned flags[MAX_PATTERNS], ids[MAX_PATTERNS], count = 1 + (unsigned)(draw(seed) % 40);
    char file[MAX_PATTERNS * (MAX_SIZE + 1)];
    hits wanted = {0};
    hs_database_t *database = NULL;
    hs_compile_error_t *error = NULL;
    for (unsigned i = 0; i < count; i++) {
        sizes[i] = 1 + draw(seed) % (draw(seed) % MAX_SIZE + 1);
        draw_bytes(texts[i], sizes[i], alphabet, seed);
        texts[i][sizes[i]] = 0;
        patterns[i] = texts[i];
        flags[i] = is_caseless ? HS_FLAG_CASELESS : 0;
        ids[i] = i;
        memcpy(file + at, texts[i], sizes[i]);
        at += sizes[i];
        file[at++] = '\n';
    }
    draw_bytes(text, TEXT_SIZE, alphabet, seed);
    put_file("p", file, at);
    put_file("t", text, TEXT_SIZE);
    assert_int_equal(hs_compile_lit_multi(patterns, flags, ids, sizes, count, HS_MODE_BLOCK, NULL,
                                          &database, &error),
                     HS_SUCCESS);
    scan_by_hyperscan(database, text, TEXT_SIZE, &wanted);
    assert_tool_finds(&wanted, is_caseless ? "-i" : "-F", NULL);
    free(wanted.data);
}

static void test_literals_are_where_hyperscan_finds_them(void **state)
{
    (void)state;
    uint64_t seed = 9;
    enter_folder("scan-hyperscan");
    for (uint32_t i = 0; i < 12; i++) {
        check_literals(&seed,
                       i % 3 == 0   ? "ab"
                       : i % 3 == 1 ? "aAbB cC"
                                    : "abcdefgh .-",
                       i % 2 == 1);
    }
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* For the tool, and for Hyperscan where sets have newlines that lines have not. */
static const char *const expressions[][2] = {
    {"a+b", NULL},
    {"(ab|b)c*a", NULL},
    {"^a.*b", NULL},
    {"c$", NULL},
    {"^[abc]+$", NULL},
    {"a.{2,5}c", NULL},
    {"[^a ]b", "[^a \\n]b"},
    {"x(a|b|cc){2,3}", NULL},
    {"\\.[[:alpha:]]", NULL},
    {"(a|bc)+x|^b", NULL},
};
#define EXPRESSION_COUNT (sizeof expressions / sizeof expressions[0])

static void test_expressions_end_where_hyperscan_says(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    const char *patterns[EXPRESSION_COUNT];
    unsigned flags[EXPRESSION_COUNT], ids[EXPRESSION_COUNT];
    uint64_t seed = 3;
    vy_text file;
    enter_folder("scan-hyperscan");
    vy_text_init(&file, NULL);
    for (unsigned i = 0; i < EXPRESSION_COUNT; i++) {
        patterns[i] = expressions[i][expressions[i][1] ? 1 : 0];
        flags[i] = HS_FLAG_MULTILINE;
        ids[i] = i;
        vy_text_printf(&file, "%s\n", expressions[i][0]);
    }
    put_file("p", file.data, file.size);
    vy_text_finish(&file);
    (void)run_tool("vyre-scan", "--reference", "-E", "-e", "a", "p", NULL);
    size_t size;
    char *err = get_file("err", &size);
    bool is_left_out = strstr(err, "libaugeas-dev") != NULL;
    free(err);
    for (uint32_t round = 0; round < 4 && !is_left_out; round++) {
        hits wanted = {0};
        hs_database_t *database = NULL;
        hs_compile_error_t *error = NULL;
        draw_bytes(text, TEXT_SIZE, "aabbccx .\n", &seed);
        put_file("t", text, TEXT_SIZE);
        if (hs_compile_multi(patterns, flags, ids, EXPRESSION_COUNT, HS_MODE_BLOCK, NULL, &database,
                             &error) != HS_SUCCESS) {
            fail_msg("Hyperscan: %s", error->message);
        }
        scan_by_hyperscan(database, text, TEXT_SIZE, &wanted);
        assert_true(wanted.count > 100);
        assert_tool_finds(&wanted, "-E", NULL);
        free(wanted.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_are_where_hyperscan_finds_them),
        cmocka_unit_test(test_expressions_end_where_hyperscan_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    printf("the build found no Hyperscan (libhyperscan-dev): nothing is compared\n");
    return 0;
}

#endif
