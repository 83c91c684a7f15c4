/* Several automata: combined, each for itself, in banks; segments that begin by a number of bytes,
 * at a line's end, or not at all. */
#include "tests/scan/scanner_support.h"

#include <stdlib.h>

/* ---- Automata of the tests' own -------------------------------------------------------------- */

/* "AB" with anything that is no line's end between them: no number of bytes is enough, and a line's
 * end resets. */
static void gap_automaton(uint32_t *t, uint8_t *accepts, char a, char b)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        t[byte] = byte == (uint32_t)a ? 1 : 0;
        t[256 + byte] = byte == '\n' ? 0 : byte == (uint32_t)b ? 2 : 1;
        t[512 + byte] = byte == '\n' ? 0 : byte == (uint32_t)b ? 2 : 1;
    }
    accepts[0] = accepts[1] = 0;
    accepts[2] = 1;
}

/* Accepts behind every second byte `a`: nothing resets. */
static void parity_automaton(uint32_t *t, uint8_t *accepts, char a)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        t[byte] = byte == (uint32_t)a ? 1 : 0;
        t[256 + byte] = byte == (uint32_t)a ? 2 : 1;
        t[512 + byte] = byte == (uint32_t)a ? 1 : 0;
    }
    accepts[0] = accepts[1] = 0;
    accepts[2] = 1;
}

#define STATES 3u
typedef struct automata {
    uint32_t transitions[80][STATES * 256];
    uint8_t accepts[80][STATES];
    vyre_pattern patterns[80];
} automata;

static vyre_pattern pattern_of(automata *all, uint32_t i)
{
    return (vyre_pattern){.transitions = all->transitions[i],
                          .accepts = all->accepts[i],
                          .state_count = STATES,
                          .transition_count = STATES * 256,
                          .accept_count = STATES};
}

static scan_files lines(uint64_t *seed, uint32_t count, uint32_t size, uint32_t letters)
{
    scan_files files = scan_random_files(seed, count, size, letters);
    for (uint32_t i = 0; i < files.count; i++) {
        unsigned char *bytes =
            files.bytes + ((const unsigned char *)files.files[i].bytes - files.bytes);
        for (uint32_t k = 0; k < files.files[i].size; k++) {
            /* Some files have no lines. */
            if (i % 5 && random_below(seed, 40) == 0) {
                bytes[k] = '\n';
            }
        }
    }
    return files;
}

static void check_patterns(const vyre_pattern *patterns, uint32_t count, vyre_grouping grouping,
                           const scan_files *files)
{
    vyre_catalogue *catalogue = make_catalogue(patterns, count, grouping);
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    scan_add_all(batch, files);
    for (int staging = VYRE_SCAN_STAGING_SHARED; staging <= VYRE_SCAN_STAGING_DIRECT; staging++) {
        vyre_scanner_params params;
        vyre_scanner_params_init(&params);
        params.staging = (vyre_scan_staging)staging;
        params.segment_size = 64;
        vyre_scanner *scanner = scan_scanner(scan_device, catalogue, &params);
        scan_check(scanner, batch, catalogue, files->files, files->count);
        scan_check(scanner, batch, catalogue, files->files, files->count);
        vyre_scanner_destroy(&scanner);
    }
    vyre_scan_batch_destroy(&batch);
    vyre_catalogue_destroy(&catalogue);
}

static void test_lines_are_where_unbounded_patterns_begin(void **state)
{
    (void)state;
    automata *all = calloc(1, sizeof *all);
    uint64_t seed = 31;
    gap_automaton(all->transitions[0], all->accepts[0], 'a', 'b');
    gap_automaton(all->transitions[1], all->accepts[1], 'c', 'd');
    all->patterns[0] = pattern_of(all, 0);
    all->patterns[1] = pattern_of(all, 1);
    scan_files files = lines(&seed, 60, 800, 6);
    vyre_catalogue *catalogue = make_catalogue(all->patterns, 2, VYRE_GROUPING_AUTO);
    assert_int_equal(info_of(catalogue).overlap, VYRE_OVERLAP_NONE);
    vyre_catalogue_destroy(&catalogue);
    check_patterns(all->patterns, 1, VYRE_GROUPING_AUTO, &files);
    check_patterns(all->patterns, 2, VYRE_GROUPING_PER_RULE, &files);
    scan_free_files(&files);
    free(all);
}

static void test_patterns_that_nothing_resets_take_whole_files(void **state)
{
    (void)state;
    automata *all = calloc(1, sizeof *all);
    uint64_t seed = 37;
    parity_automaton(all->transitions[0], all->accepts[0], 'a');
    all->patterns[0] = pattern_of(all, 0);
    scan_files files = scan_random_files(&seed, 60, 800, 3);
    check_patterns(all->patterns, 1, VYRE_GROUPING_AUTO, &files);
    scan_free_files(&files);
    free(all);
}

/* Literals, gaps and parities, more than a launch has: hits of one offset are in order of rules. */
static void test_many_automata_are_scanned_in_banks(void **state)
{
    (void)state;
    automata *all = calloc(1, sizeof *all);
    uint64_t seed = 41;
    unsigned char room[80 * 3];
    scan_random_literals(&seed, all->patterns, 80, 3, 4, room);
    for (uint32_t i = 0; i < 80; i += 10) {
        char a = (char)('a' + i / 10 % 4), b = (char)('a' + (i / 10 + 1) % 4);
        if (i % 20) {
            gap_automaton(all->transitions[i], all->accepts[i], a, b);
        } else {
            parity_automaton(all->transitions[i], all->accepts[i], a);
        }
        all->patterns[i] = pattern_of(all, i);
    }
    scan_files files = lines(&seed, 30, 400, 4);
    check_patterns(all->patterns, 80, VYRE_GROUPING_PER_RULE, &files);
    check_patterns(all->patterns, 80, VYRE_GROUPING_AUTO, &files);
    scan_free_files(&files);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_where_unbounded_patterns_begin),
        cmocka_unit_test(test_patterns_that_nothing_resets_take_whole_files),
        cmocka_unit_test(test_many_automata_are_scanned_in_banks),
    };
    return cmocka_run_group_tests(tests, scan_open_device, scan_close_device);
}
