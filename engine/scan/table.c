/* Automata as words for the device: entries, descriptions, outputs. */
#include "engine/scan/scanner.h"

#include <string.h>

typedef struct sizes {
    size_t entries, output_words;
} sizes;

/* With two entries to a word every automaton begins with a word. */
static bool add_up(const vy_automaton *const *automata, uint32_t count, bool is_wide, sizes *out)
{
    sizes s = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const vy_automaton *a = automata[i];
        size_t entries = 0;
        if (!vy_mul_size(a->state_count, a->class_count, &entries) ||
            !vy_add_size(s.entries, entries + (entries & 1), &s.entries) ||
            !vy_add_size(s.output_words,
                         (size_t)a->state_count + 1 + a->output_offsets[a->state_count],
                         &s.output_words) ||
            (!is_wide && a->state_count > VY_SCAN_FLAG_NARROW)) {
            return false;
        }
    }
    *out = s;
    return s.entries < VY_SCAN_FLAG_WIDE && s.output_words <= UINT32_MAX;
}

static void write_entries(const vy_automaton *a, uint32_t first, bool is_wide, uint32_t *table)
{
    for (uint32_t state = 0; state < a->state_count; state++) {
        for (uint32_t class = 0; class < a->class_count; class ++) {
            size_t i = (size_t)state * a->class_count + class;
            uint32_t to = a->transitions[i];
            bool ends = a->output_offsets[to] != a->output_offsets[to + 1];
            if (is_wide) {
                table[first + i] = (first + to * a->class_count) | (ends ? VY_SCAN_FLAG_WIDE : 0u);
            } else {
                uint32_t entry = to | (ends ? VY_SCAN_FLAG_NARROW : 0u);
                table[(first + i) / 2] |= entry << ((first + i) % 2 * 16);
            }
        }
    }
}

static void write_description(const vy_automaton *a, uint32_t first, uint32_t told, uint32_t *words)
{
    words[0] = first;
    words[1] = a->class_count;
    words[2] = told;
    words[3] = 0;
    for (uint32_t byte = 0; byte < 256; byte++) {
        words[4 + byte / 4] |= (uint32_t)a->classes[byte] << (byte % 4 * 8);
    }
}

bool vy_scan_resets(const vy_automaton *a, uint32_t bits[VY_SCAN_RESET_WORDS])
{
    bool resets[256], has_any = false;
    for (uint32_t class = 0; class < a->class_count; class ++) {
        resets[class] = true;
        for (uint32_t state = 1; state < a->state_count && resets[class]; state++) {
            resets[class] =
                a->transitions[(size_t)state * a->class_count + class] == a->transitions[class];
        }
    }
    memset(bits, 0, VY_SCAN_RESET_WORDS * sizeof *bits);
    for (uint32_t byte = 0; byte < 256; byte++) {
        bits[byte / 32] |= (uint32_t)resets[a->classes[byte]] << byte % 32;
        has_any |= resets[a->classes[byte]];
    }
    return has_any;
}

/* Bytes that reset all of them. */
static void write_resets(const vy_automaton *const *automata, uint32_t count, uint32_t *words)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits[VY_SCAN_RESET_WORDS];
        (void)vy_scan_resets(automata[i], bits);
        for (uint32_t k = 0; k < VY_SCAN_RESET_WORDS; k++) {
            words[k] = i ? words[k] & bits[k] : bits[k];
        }
    }
}

/* Each state's end is the next one's begin. */
static uint32_t write_outputs(const vy_automaton *a, uint32_t told, uint32_t *outputs)
{
    uint32_t first = told + a->state_count + 1;
    for (uint32_t state = 0; state <= a->state_count; state++) {
        outputs[told + state] = first + a->output_offsets[state];
    }
    uint32_t count = a->output_offsets[a->state_count];
    if (count) {
        memcpy(outputs + first, a->outputs, (size_t)count * sizeof *outputs);
    }
    return first + count;
}

vyre_result vy_scan_tables_build(const vy_automaton *const *automata, uint32_t count, bool is_wide,
                                 const vyre_allocator *allocator, vy_scan_tables *out_tables,
                                 vyre_diag *diag)
{
    vy_scan_tables t = {0, 0, 0, 0, 0, 0};
    sizes s;
    *out_tables = t;
    if (!add_up(automata, count, is_wide, &s)) {
        return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the tables of %u automata have more entries than %s number. Fix: "
                           "make several catalogues of fewer patterns",
                           (unsigned)count, is_wide ? "31 bits" : "15 bits");
    }
    t.table_words = is_wide ? s.entries : s.entries / 2;
    t.automata_words = (size_t)count * VY_SCAN_AUTOMATON_WORDS + VY_SCAN_RESET_WORDS;
    t.output_words = s.output_words;
    t.table = vy_alloc_zeroed(allocator, t.table_words, sizeof(uint32_t));
    t.automata = vy_alloc_zeroed(allocator, t.automata_words, sizeof(uint32_t));
    t.outputs = vy_alloc_zeroed(allocator, t.output_words, sizeof(uint32_t));
    if (!t.table || !t.automata || !t.outputs) {
        vy_scan_tables_finish(allocator, &t);
        return vy_diag_no_memory(diag);
    }
    uint32_t first = 0, told = 0;
    write_resets(automata, count, t.automata + (size_t)count * VY_SCAN_AUTOMATON_WORDS);
    for (uint32_t i = 0; i < count; i++) {
        const vy_automaton *a = automata[i];
        uint32_t entries = a->state_count * a->class_count;
        write_entries(a, first, is_wide, t.table);
        write_description(a, first, told, t.automata + (size_t)i * VY_SCAN_AUTOMATON_WORDS);
        told = write_outputs(a, told, t.outputs);
        first += entries + (entries & 1);
    }
    *out_tables = t;
    return VYRE_OK;
}

void vy_scan_tables_finish(const vyre_allocator *allocator, vy_scan_tables *t)
{
    vy_free(allocator, t->table, t->table_words * sizeof(uint32_t));
    vy_free(allocator, t->automata, t->automata_words * sizeof(uint32_t));
    vy_free(allocator, t->outputs, t->output_words * sizeof(uint32_t));
    memset(t, 0, sizeof *t);
}
