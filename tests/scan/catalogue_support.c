/* Hits as lists, and the matcher that is plain enough to be believed. */
#include "tests/scan/catalogue_support.h"

#include "engine/scan/automaton.h"

#include <stdlib.h>

void hit_list_finish(hit_list *list)
{
    free(list->hits);
    *list = (hit_list){0};
}

int hit_list_add(void *user, const vyre_hit *hit)
{
    hit_list *list = user;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->hits = realloc(list->hits, list->capacity * sizeof *list->hits);
        assert_non_null(list->hits);
    }
    list->hits[list->count++] = *hit;
    return list->count == list->stop_at;
}

bool hit_list_equal(const hit_list *a, const hit_list *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->hits, b->hits, a->count * sizeof *a->hits) == 0);
}

void hit_list_print(const hit_list *got, const hit_list *wanted)
{
    size_t at = 0;
    while (at < got->count && at < wanted->count &&
           memcmp(&got->hits[at], &wanted->hits[at], sizeof *got->hits) == 0) {
        at++;
    }
    print_message("%zu hits, and there should be %zu\n", got->count, wanted->count);
    for (int i = 0; i < 2; i++) {
        const hit_list *list = i ? wanted : got;
        if (at < list->count) {
            print_message("%s %zu: rule %u ends at %u\n", i ? "wanted" : "got", at,
                          (unsigned)list->hits[at].rule, (unsigned)list->hits[at].offset);
        }
    }
}

static void check_automaton(const vy_automaton *a, uint32_t number, uint32_t *owners,
                            uint32_t rule_count)
{
    assert_true(a->state_count > 0 && a->class_count > 0 && a->class_count <= 256);
    for (uint32_t b = 0; b < 256; b++) {
        assert_true(a->classes[b] < a->class_count);
    }
    for (size_t k = 0; k < (size_t)a->state_count * a->class_count; k++) {
        assert_true(a->transitions[k] < a->state_count);
    }
    assert_int_equal(a->output_offsets[0], 0);
    for (uint32_t s = 0; s < a->state_count; s++) {
        uint32_t first = a->output_offsets[s], end = a->output_offsets[s + 1];
        assert_true(first <= end);
        for (uint32_t i = first; i < end; i++) {
            assert_true(a->outputs[i] < rule_count);
            assert_true(i == first || a->outputs[i - 1] < a->outputs[i]);
            assert_true(owners[a->outputs[i]] == 0 || owners[a->outputs[i]] == number + 1);
            owners[a->outputs[i]] = number + 1;
        }
    }
}

void check_tables(const vyre_catalogue *catalogue)
{
    uint32_t *owners = calloc(catalogue->rule_count + 1u, sizeof *owners);
    assert_non_null(owners);
    for (uint32_t i = 0; i < catalogue->automaton_count; i++) {
        check_automaton(&catalogue->automata[i], i, owners, catalogue->rule_count);
    }
    free(owners);
}

vyre_catalogue *make_catalogue(const vyre_pattern *patterns, uint32_t count, vyre_grouping grouping)
{
    vyre_catalogue_params params;
    vyre_catalogue *catalogue = NULL;
    vyre_diag diag;
    vyre_catalogue_params_init(&params);
    params.patterns = patterns;
    params.pattern_count = count;
    params.grouping = grouping;
    if (vyre_catalogue_create(&params, &catalogue, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_non_null(catalogue);
    check_tables(catalogue);
    return catalogue;
}

vyre_catalogue_info info_of(const vyre_catalogue *catalogue)
{
    vyre_catalogue_info info;
    vyre_catalogue_get_info(catalogue, &info);
    return info;
}

void scan_list(const vyre_catalogue *catalogue, const void *bytes, size_t size, hit_list *out)
{
    vyre_diag diag;
    out->count = 0;
    vyre_result result = vyre_catalogue_scan(catalogue, bytes, size, hit_list_add, out, &diag);
    assert_int_equal(result, VYRE_OK);
}

/* ---- The plain way --------------------------------------------------------------------------- */

static unsigned fold(const vyre_pattern *p, unsigned byte)
{
    bool is_upper = byte >= 'A' && byte <= 'Z';
    return p->flags & VYRE_PATTERN_CASELESS && is_upper ? byte + 32 : byte;
}

static bool ends_at(const vyre_pattern *p, const uint8_t *bytes, size_t at)
{
    const uint8_t *literal = p->literal;
    if (p->size == 0 || p->size > at + 1) {
        return false;
    }
    for (size_t i = 0; i < p->size; i++) {
        if (fold(p, literal[i]) != fold(p, bytes[at + 1 - p->size + i])) {
            return false;
        }
    }
    return true;
}

void naive_list(const vyre_pattern *patterns, uint32_t count, const void *bytes, size_t size,
                hit_list *out)
{
    const uint8_t *text = bytes;
    uint32_t *states = calloc(count + 1u, sizeof *states);
    assert_non_null(states);
    out->count = 0;
    for (size_t at = 0; at < size; at++) {
        for (uint32_t rule = 0; rule < count; rule++) {
            const vyre_pattern *p = &patterns[rule];
            bool has_ended = false;
            if (p->literal) {
                has_ended = ends_at(p, text, at);
            } else {
                states[rule] = p->transitions[states[rule] * 256 + text[at]];
                has_ended = p->accepts[states[rule]] != 0;
            }
            if (has_ended) {
                vyre_hit hit = {0, rule, 0, (uint32_t)at};
                (void)hit_list_add(out, &hit);
            }
        }
    }
    free(states);
}

void check_hits(const vyre_catalogue *catalogue, const vyre_pattern *patterns, uint32_t count,
                const void *bytes, size_t size, uint32_t seed)
{
    hit_list got = {0}, wanted = {0};
    scan_list(catalogue, bytes, size, &got);
    naive_list(patterns, count, bytes, size, &wanted);
    bool is_equal = hit_list_equal(&got, &wanted);
    if (!is_equal) {
        hit_list_print(&got, &wanted);
    }
    hit_list_finish(&got);
    hit_list_finish(&wanted);
    if (!is_equal) {
        fail_msg("seed %u: %u patterns, %zu bytes", (unsigned)seed, (unsigned)count, size);
    }
}

void check_all_texts(const vyre_catalogue *catalogue, const vyre_pattern *patterns, uint32_t count,
                     const char *alphabet, uint32_t size, uint32_t seed)
{
    uint32_t letters = (uint32_t)strlen(alphabet);
    char text[16];
    uint64_t texts = 1;
    assert_true(size <= sizeof text);
    for (uint32_t i = 0; i < size; i++) {
        texts *= letters;
    }
    /* Shorter texts are the beginnings of these. */
    for (uint64_t t = 0; t < texts; t++) {
        uint64_t rest = t;
        for (uint32_t i = 0; i < size; i++, rest /= letters) {
            text[i] = alphabet[rest % letters];
        }
        check_hits(catalogue, patterns, count, text, size, seed);
    }
}
