/* Any bytes as patterns, hostile tables among them, and a text: what is taken is found as by
 * walking each pattern by itself, in whole files and in segments; the rest is listed. */
#include "tests/fuzz/fuzz.h"
#include "vyre/scan.h"

#include <string.h>

#define MAX_PATTERNS 12u
#define MAX_STATES   15u
#define MAX_HITS     (256u * MAX_PATTERNS)

typedef struct input {
    const uint8_t *at, *end;
} input;

typedef struct hits {
    vyre_hit list[MAX_HITS];
    uint32_t count;
    const vyre_scan_segment *segment; /* whose own hits are taken; NULL: all are */
} hits;

static uint8_t take(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

/* Targets by three classes of bytes; the last state's may be none. Tables are exactly as large as
 * the pattern says, so that a sanitizer sees what is read beyond. */
static void take_automaton(input *in, vyre_pattern *p)
{
    uint32_t states = take(in) % (MAX_STATES + 1), beyond = take(in);
    uint32_t *transitions = malloc(states * 256 * sizeof *transitions + 1);
    uint8_t *accepts = malloc(states + 1);
    FUZZ_ASSERT(transitions && accepts);
    for (uint32_t s = 0; s < states; s++) {
        uint32_t targets[3];
        for (uint32_t c = 0; c < 3; c++) {
            uint32_t target = take(in);
            targets[c] = beyond > 250 && s + 1 == states ? target * 0x1000001u : target % states;
        }
        for (uint32_t b = 0; b < 256; b++) {
            transitions[s * 256 + b] = targets[b == 'a' ? 1 : (b == 'B' || b == 0 ? 2 : 0)];
        }
        accepts[s] = take(in) & (s ? 0xff : 0x80);
    }
    *p = (vyre_pattern){.transitions = transitions, .accepts = accepts, .state_count = states};
    p->transition_count = beyond % 8 == 1 ? states * 256 + beyond / 200 : 0;
    p->accept_count = beyond % 8 == 2 ? states + beyond / 200 : 0;
}

static void take_pattern(input *in, vyre_pattern *p)
{
    uint8_t kind = take(in);
    if (kind % 3 == 2) {
        take_automaton(in, p);
        return;
    }
    uint32_t size = kind / 3 % 12;
    uint8_t *bytes = malloc(size + 1);
    FUZZ_ASSERT(bytes);
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = take(in);
    }
    *p = (vyre_pattern){
        .literal = bytes, .size = size, .flags = kind % 3 ? VYRE_PATTERN_CASELESS : 0};
}

static void free_pattern(vyre_pattern *p)
{
    free((void *)(uintptr_t)p->literal);
    free((void *)(uintptr_t)p->transitions);
    free((void *)(uintptr_t)p->accepts);
}

/* ---- The plain way --------------------------------------------------------------------------- */

static unsigned fold(const vyre_pattern *p, unsigned byte)
{
    return p->flags && byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
}

static bool ends_at(const vyre_pattern *p, const uint8_t *text, uint32_t at)
{
    const uint8_t *literal = p->literal;
    bool is_equal = p->size <= at + 1;
    for (uint32_t i = 0; is_equal && i < p->size; i++) {
        is_equal = fold(p, literal[i]) == fold(p, text[at + 1 - p->size + i]);
    }
    return is_equal;
}

static void walk(const vyre_pattern *patterns, uint32_t count, const bool *is_rejected,
                 const uint8_t *text, uint32_t size, hits *out)
{
    uint32_t states[MAX_PATTERNS] = {0};
    for (uint32_t at = 0; at < size; at++) {
        for (uint32_t rule = 0; rule < count; rule++) {
            const vyre_pattern *p = &patterns[rule];
            if (is_rejected[rule]) {
                continue;
            }
            if (!p->literal) {
                states[rule] = p->transitions[states[rule] * 256 + text[at]];
            }
            if (p->literal ? ends_at(p, text, at) : p->accepts[states[rule]] != 0) {
                out->list[out->count++] = (vyre_hit){0, rule, 0, at};
            }
        }
    }
}

/* ---- The catalogue --------------------------------------------------------------------------- */

static int take_hit(void *user, const vyre_hit *hit)
{
    hits *h = user;
    vyre_hit own = *hit;
    own.offset += h->segment ? h->segment->scan_start : 0;
    if (!h->segment || own.offset >= h->segment->emit_start) {
        FUZZ_ASSERT(h->count < MAX_HITS);
        h->list[h->count++] = own;
    }
    return 0;
}

static void scan(const vyre_catalogue *catalogue, const uint8_t *text, uint32_t start, uint32_t end,
                 hits *out)
{
    vyre_result result =
        vyre_catalogue_scan(catalogue, text + start, end - start, take_hit, out, NULL);
    FUZZ_ASSERT(result == VYRE_OK);
}

static void check_equal(const hits *a, const hits *b)
{
    FUZZ_ASSERT(a->count == b->count);
    FUZZ_ASSERT(memcmp(a->list, b->list, a->count * sizeof *a->list) == 0);
}

static void check_catalogue(const vyre_catalogue *catalogue, const vyre_pattern *patterns,
                            uint32_t count, const uint8_t *text, uint32_t size)
{
    static hits wanted, whole, parts;
    static vyre_scan_segment segments[256];
    bool is_rejected[MAX_PATTERNS] = {false};
    vyre_catalogue_info info;
    uint32_t segment_count = 0;
    vyre_catalogue_get_info(catalogue, &info);
    for (uint32_t i = 0; i < info.rejection_count; i++) {
        vyre_rejection rejection;
        vyre_catalogue_rejection(catalogue, i, &rejection);
        FUZZ_ASSERT(rejection.rule < count && !is_rejected[rejection.rule]);
        FUZZ_ASSERT((unsigned)rejection.reason < VYRE_REJECTION_COUNT);
        is_rejected[rejection.rule] = true;
    }
    wanted.count = whole.count = parts.count = 0;
    walk(patterns, count, is_rejected, text, size, &wanted);
    scan(catalogue, text, 0, size, &whole);
    check_equal(&whole, &wanted);
    vyre_result result = vyre_scan_plan_segments(&size, 1, 1 + size / 7, info.overlap, segments,
                                                 256, &segment_count, NULL);
    FUZZ_ASSERT(result == VYRE_OK && segment_count <= 256);
    for (uint32_t i = 0; i < segment_count; i++) {
        parts.segment = &segments[i];
        scan(catalogue, text, segments[i].scan_start, segments[i].emit_end, &parts);
    }
    check_equal(&parts, &wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, data + size};
    vyre_pattern patterns[MAX_PATTERNS];
    vyre_catalogue_params params;
    vyre_catalogue *catalogue = NULL;
    vyre_diag diag;
    uint8_t head = take(&in), text_size = 0;
    vyre_catalogue_params_init(&params);
    params.patterns = patterns;
    params.grouping = (vyre_grouping)(head % 3);
    params.max_states = head / 3 % 8 ? 1u << (head / 3 % 8) : 0;
    params.max_size = head > 200 ? take(&in) * 64u : 0;
    text_size = take(&in);
    params.pattern_count = take(&in) % (MAX_PATTERNS + 1);
    for (uint32_t i = 0; i < params.pattern_count; i++) {
        take_pattern(&in, &patterns[i]);
    }
    uint32_t left = (uint32_t)(in.end - in.at < text_size ? in.end - in.at : text_size);
    vyre_result result = vyre_catalogue_create(&params, &catalogue, &diag);
    if (result == VYRE_OK) {
        check_catalogue(catalogue, patterns, params.pattern_count, in.at, left);
    } else {
        FUZZ_ASSERT(result == VYRE_ERROR_UNSUPPORTED_FEATURE && catalogue == NULL);
        FUZZ_ASSERT(strstr(diag.message, "Fix: ") != NULL);
    }
    vyre_catalogue_destroy(&catalogue);
    for (uint32_t i = 0; i < params.pattern_count; i++) {
        free_pattern(&patterns[i]);
    }
    return 0;
}
