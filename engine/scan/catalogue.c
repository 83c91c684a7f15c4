/* Catalogues: patterns looked at one by one, what cannot be taken set aside, the rest made into
 * automata. */
#include "engine/scan/automaton.h"

#include <string.h>

#define DEFAULT_MAX_STATES 65536u
#define DEFAULT_MAX_SIZE   (1ull << 30)

/* A catalogue that is being made. */
typedef struct builder {
    vyre_catalogue *catalogue;
    vyre_catalogue_params params;
    vyre_diag *diag;
    vy_automata automata; /* done */
    vy_shapes shapes;
    vy_literal *literals; /* those that match case from the start on, caseless ones from the end */
    uint32_t exact_count, caseless_count;
} builder;

/* ---- Rejections ------------------------------------------------------------------------------ */

const char *vyre_rejection_text(vyre_rejection_reason reason)
{
    static const char *const texts[VYRE_REJECTION_COUNT] = {
        "matches before the first byte: give a literal of at least one byte, or an automaton whose "
        "state 0 does not accept",
        "the tables do not have the size that state_count says: give 256 transitions and one "
        "accept flag for each of at least one state",
        "a transition leads to a state that is not there: give targets below state_count",
        "neither a literal nor an automaton: set literal, or transitions and accepts",
        "more states than allowed: minimise the automaton, or raise max_states; literals have "
        "fewer than 2^24 bytes",
    };
    return (unsigned)reason < VYRE_REJECTION_COUNT ? texts[reason] : "unknown reason";
}

static vyre_result reject(builder *b, const vyre_rejection *rejection)
{
    vyre_catalogue *c = b->catalogue;
    if (c->rejection_count == c->rejection_capacity) {
        size_t capacity = c->rejection_capacity ? 2 * (size_t)c->rejection_capacity : 4;
        capacity = capacity < c->rule_count ? capacity : c->rule_count;
        vyre_rejection *list =
            vy_realloc(&c->allocator, c->rejections, c->rejection_capacity * sizeof *list,
                       capacity * sizeof *list);
        if (!list) {
            return vy_diag_no_memory(b->diag);
        }
        c->rejections = list;
        c->rejection_capacity = (uint32_t)capacity;
    }
    c->rejections[c->rejection_count++] = *rejection;
    return VYRE_OK;
}

static bool has_bad_table_size(const vyre_pattern *p)
{
    uint64_t states = p->state_count;
    return states == 0 || (p->transition_count && p->transition_count != states * 256) ||
           (p->accept_count && p->accept_count != states);
}

/* Whether the pattern cannot be taken, and then why. */
static bool is_rejected(const vyre_pattern *p, uint32_t max_states, vyre_rejection *out)
{
    if (p->literal) {
        out->reason = p->size == 0 ? VYRE_REJECTION_EMPTY : VYRE_REJECTION_STATES;
        return p->size == 0 || p->size >= VY_AUTOMATON_MAX_STATES;
    }
    if (!p->transitions || !p->accepts) {
        out->reason = VYRE_REJECTION_MISSING;
        return true;
    }
    if (has_bad_table_size(p)) {
        out->reason = VYRE_REJECTION_TABLE_SIZE;
        return true;
    }
    if (p->state_count > max_states) {
        out->reason = VYRE_REJECTION_STATES;
        return true;
    }
    for (size_t i = 0; i < p->state_count * (size_t)256; i++) {
        if (p->transitions[i] >= p->state_count) {
            out->reason = VYRE_REJECTION_TARGET;
            out->state = (uint32_t)(i / 256);
            out->byte = (uint32_t)(i % 256);
            return true;
        }
    }
    out->reason = VYRE_REJECTION_EMPTY;
    return p->accepts[0] != 0;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

static vyre_result add_literal(builder *b, const vyre_pattern *p, uint32_t rule)
{
    vy_literal literal = {p->literal, (uint32_t)p->size, rule};
    if (b->params.grouping == VYRE_GROUPING_PER_RULE) {
        vy_automaton automaton;
        vyre_result result = vy_literals_combine(&b->catalogue->allocator, &literal, 1, p->flags,
                                                 b->params.max_size, &automaton, b->diag);
        for (uint32_t i = 0;
             result == VYRE_OK && i < automaton.output_offsets[automaton.state_count]; i++) {
            automaton.outputs[i] = 0;
        }
        return result == VYRE_OK ? vy_shapes_add(&b->shapes, &automaton, rule, b->diag) : result;
    }
    if (!b->literals) {
        b->literals =
            vy_scan_alloc(&b->catalogue->allocator, b->params.pattern_count, sizeof literal);
        if (!b->literals) {
            return vy_diag_no_memory(b->diag);
        }
    }
    if (p->flags & VYRE_PATTERN_CASELESS) {
        b->literals[b->params.pattern_count - ++b->caseless_count] = literal;
    } else {
        b->literals[b->exact_count++] = literal;
    }
    return VYRE_OK;
}

static vyre_result add_pattern(builder *b, uint32_t rule)
{
    const vyre_pattern *p = &b->params.patterns[rule];
    vyre_rejection rejection = {rule, VYRE_REJECTION_EMPTY, VYRE_DIAG_NONE, VYRE_DIAG_NONE};
    if (p->flags & ~VYRE_PATTERN_CASELESS || (p->flags && !p->literal)) {
        return vy_diag_set(b->diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "pattern %u has flags 0x%x, and %s. Fix: use VYRE_PATTERN_CASELESS for "
                           "literals, and 0 for automata, which know themselves what they match",
                           (unsigned)rule, (unsigned)p->flags,
                           p->literal ? "some of them are none of VYRE_PATTERN_*"
                                      : "an automaton has none");
    }
    if (is_rejected(p, b->params.max_states, &rejection)) {
        return reject(b, &rejection);
    }
    if (p->literal) {
        return add_literal(b, p, rule);
    }
    vy_automaton automaton;
    vyre_result result = vy_automaton_make(&b->catalogue->allocator, p->transitions, p->accepts,
                                           p->state_count, &automaton, b->diag);
    return result == VYRE_OK ? vy_shapes_add(&b->shapes, &automaton, rule, b->diag) : result;
}

static vyre_result combine_literals(builder *b)
{
    const vyre_allocator *allocator = &b->catalogue->allocator;
    uint32_t counts[2] = {b->exact_count, b->caseless_count};
    vy_literal *lists[2] = {b->literals, NULL};
    if (b->caseless_count) {
        /* They were put down from the end on. */
        lists[1] = b->literals + b->params.pattern_count - b->caseless_count;
        for (uint32_t i = 0, k = b->caseless_count - 1; i < k; i++, k--) {
            vy_literal first = lists[1][i];
            lists[1][i] = lists[1][k];
            lists[1][k] = first;
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        vy_automaton automaton;
        if (counts[i] == 0) {
            continue;
        }
        vyre_result result =
            vy_literals_combine(allocator, lists[i], counts[i], i ? VYRE_PATTERN_CASELESS : 0,
                                b->params.max_size, &automaton, b->diag);
        if (result != VYRE_OK) {
            return result;
        }
        if (!vy_automata_add(&b->automata, &automaton)) {
            return vy_diag_no_memory(b->diag);
        }
    }
    return VYRE_OK;
}

/* ---- The catalogue --------------------------------------------------------------------------- */

static vyre_result read_params(builder *b, const vyre_catalogue_params *params)
{
    vyre_result result = vy_params_read(vyre_catalogue_params, &b->params, params, b->diag);
    if (result != VYRE_OK) {
        return result;
    }
    vyre_catalogue_params *p = &b->params;
    p->max_states = p->max_states ? p->max_states : DEFAULT_MAX_STATES;
    p->max_size = p->max_size ? p->max_size : DEFAULT_MAX_SIZE;
    const char *wrong = NULL;
    if (p->pattern_count && !p->patterns) {
        wrong = "patterns is NULL though pattern_count is not 0. Fix: give as many patterns";
    } else if ((unsigned)p->grouping > VYRE_GROUPING_PER_RULE) {
        wrong = "grouping is none of vyre_grouping. Fix: use VYRE_GROUPING_AUTO";
    } else if (p->max_states > VY_AUTOMATON_MAX_STATES) {
        wrong = "max_states is above 2^24. Fix: use less, or 0 for 65,536";
    }
    return wrong ? vy_diag_set(b->diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                               "vyre_catalogue_params.%s", wrong)
                 : VYRE_OK;
}

static uint32_t most_outputs(const vy_automaton *a)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < a->state_count; s++) {
        uint32_t count = a->output_offsets[s + 1] - a->output_offsets[s];
        most = count > most ? count : most;
    }
    return most;
}

/* Moves the automata into the catalogue. */
static vyre_result finish_catalogue(builder *b)
{
    vyre_catalogue *c = b->catalogue;
    uint64_t size = 0;
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_u32(&hash, c->rule_count);
    vy_hash_u32(&hash, b->automata.count);
    for (uint32_t i = 0; i < b->automata.count; i++) {
        size += vy_automaton_size(&b->automata.list[i]);
        vy_automaton_hash(&b->automata.list[i], &hash);
        c->most_outputs += most_outputs(&b->automata.list[i]);
    }
    if (size > b->params.max_size) {
        return vy_scan_too_large(b->diag, b->params.max_size);
    }
    c->fingerprint = vy_hash_value(&hash);
    c->automata = b->automata.list;
    c->automaton_count = b->automata.count;
    c->automaton_capacity = b->automata.capacity;
    b->automata = (vy_automata){.allocator = c->allocator};
    return VYRE_OK;
}

static vyre_result build(builder *b)
{
    const vyre_allocator *allocator = &b->catalogue->allocator;
    uint64_t max_size = b->params.max_size;
    bool is_final = b->params.grouping == VYRE_GROUPING_PER_RULE;
    /* What is combined may be smaller than its parts together, never than one of them. */
    vyre_result result = vy_shapes_init(&b->shapes, allocator, b->params.pattern_count, max_size,
                                        is_final ? max_size : UINT64_MAX, b->diag);
    for (uint32_t i = 0; result == VYRE_OK && i < b->params.pattern_count; i++) {
        result = add_pattern(b, i);
    }
    if (result == VYRE_OK) {
        result = combine_literals(b);
    }
    if (result == VYRE_OK) {
        result = vy_shapes_take(&b->shapes, &b->automata, b->diag);
    }
    if (result == VYRE_OK && !is_final) {
        result = vy_automata_combine(&b->automata, b->params.grouping, b->params.max_states,
                                     max_size, b->diag);
    }
    if (result == VYRE_OK) {
        result = finish_catalogue(b);
    }
    return result;
}

vyre_result vyre_catalogue_create(const vyre_catalogue_params *params,
                                  vyre_catalogue **out_catalogue, vyre_diag *diag)
{
    builder b = {.diag = diag};
    vy_diag_clear(diag);
    if (!out_catalogue) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "out_catalogue is NULL. Fix: say where the catalogue goes");
    }
    *out_catalogue = NULL;
    vyre_result result = read_params(&b, params);
    if (result != VYRE_OK) {
        return result;
    }
    vyre_allocator allocator = vy_allocator_or_default(b.params.allocator);
    b.catalogue = vy_alloc_zeroed(&allocator, 1, sizeof *b.catalogue);
    if (!b.catalogue) {
        return vy_diag_no_memory(diag);
    }
    b.catalogue->allocator = allocator;
    b.catalogue->rule_count = b.params.pattern_count;
    b.automata.allocator = allocator;
    result = build(&b);
    vy_shapes_finish(&b.shapes);
    vy_automata_finish(&b.automata);
    vy_scan_free(&allocator, b.literals, b.params.pattern_count, sizeof *b.literals);
    if (result != VYRE_OK) {
        vyre_catalogue_destroy(&b.catalogue);
        return result;
    }
    *out_catalogue = b.catalogue;
    return VYRE_OK;
}

void vyre_catalogue_destroy(vyre_catalogue **catalogue)
{
    if (!catalogue || !*catalogue) {
        return;
    }
    vyre_catalogue *c = *catalogue;
    vyre_allocator allocator = c->allocator;
    for (uint32_t i = 0; i < c->automaton_count; i++) {
        vy_automaton_finish(&c->automata[i], &allocator);
    }
    vy_free(&allocator, c->automata, c->automaton_capacity * sizeof *c->automata);
    vy_free(&allocator, c->rejections, c->rejection_capacity * sizeof *c->rejections);
    vy_free(&allocator, c, sizeof *c);
    *catalogue = NULL;
}

void vyre_catalogue_get_info(const vyre_catalogue *catalogue, vyre_catalogue_info *out_info)
{
    vyre_catalogue_info info = {.rule_count = catalogue->rule_count,
                                .rejection_count = catalogue->rejection_count,
                                .automaton_count = catalogue->automaton_count,
                                .fits_16_bits = 1,
                                .fingerprint = catalogue->fingerprint};
    for (uint32_t i = 0; i < catalogue->automaton_count; i++) {
        const vy_automaton *a = &catalogue->automata[i];
        info.state_count += a->state_count;
        info.table_size += vy_automaton_size(a);
        info.max_class_count =
            a->class_count > info.max_class_count ? a->class_count : info.max_class_count;
        info.fits_16_bits = info.fits_16_bits && a->state_count <= 32768;
        info.overlap = a->overlap > info.overlap ? a->overlap : info.overlap; /* NONE is the most */
    }
    *out_info = info;
}

void vyre_catalogue_rejection(const vyre_catalogue *catalogue, uint32_t index,
                              vyre_rejection *out_rejection)
{
    *out_rejection = catalogue->rejections[index];
}
