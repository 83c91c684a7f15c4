/* What all makers of automata share: their memory and its size. */
#include "engine/scan/automaton.h"

#include <string.h>

uint64_t vy_automaton_size(const vy_automaton *automaton)
{
    uint64_t states = automaton->state_count;
    uint64_t outputs = automaton->output_offsets ? automaton->output_offsets[states] : 0;
    return sizeof automaton->classes +
           sizeof(uint32_t) * (states * automaton->class_count + states + 1 + outputs);
}

void *vy_scan_alloc(const vyre_allocator *allocator, size_t count, size_t size)
{
    size_t total = 0;
    if (!vy_mul_size(count ? count : 1, size, &total)) {
        return NULL;
    }
    return vy_realloc(allocator, NULL, 0, total);
}

void vy_scan_free(const vyre_allocator *allocator, void *memory, size_t count, size_t size)
{
    vy_free(allocator, memory, (count ? count : 1) * size);
}

void vy_automaton_finish(vy_automaton *automaton, const vyre_allocator *allocator)
{
    size_t states = automaton->state_count;
    if (automaton->outputs) {
        vy_scan_free(allocator, automaton->outputs, automaton->output_offsets[states],
                     sizeof *automaton->outputs);
    }
    vy_scan_free(allocator, automaton->output_offsets, states + 1,
                 sizeof *automaton->output_offsets);
    vy_scan_free(allocator, automaton->transitions, states * automaton->class_count,
                 sizeof *automaton->transitions);
    *automaton = (vy_automaton){0};
}

static void hash_words(vy_hash *hash, const uint32_t *words, size_t count)
{
    vy_hash_u64(hash, count);
    for (size_t i = 0; i + 1 < count; i += 2) {
        vy_hash_u64(hash, words[i] | (uint64_t)words[i + 1] << 32);
    }
    if (count & 1) {
        vy_hash_u64(hash, words[count - 1]);
    }
}

void vy_automaton_hash(const vy_automaton *automaton, vy_hash *hash)
{
    size_t states = automaton->state_count;
    vy_hash_u32(hash, automaton->class_count);
    vy_hash_bytes(hash, automaton->classes, sizeof automaton->classes);
    hash_words(hash, automaton->transitions, states * automaton->class_count);
    hash_words(hash, automaton->output_offsets, states + 1);
    hash_words(hash, automaton->outputs, automaton->output_offsets[states]);
}

bool vy_automata_add(vy_automata *automata, vy_automaton *automaton)
{
    if (automata->count == automata->capacity) {
        size_t capacity = automata->capacity ? 2 * (size_t)automata->capacity : 4;
        size_t size = automata->capacity * sizeof *automaton;
        vy_automaton *list = capacity > UINT32_MAX
                                 ? NULL
                                 : vy_realloc(&automata->allocator, automata->list, size,
                                              capacity * sizeof *automaton);
        if (!list) {
            vy_automaton_finish(automaton, &automata->allocator);
            return false;
        }
        automata->list = list;
        automata->capacity = (uint32_t)capacity;
    }
    automata->list[automata->count++] = *automaton;
    *automaton = (vy_automaton){0};
    return true;
}

void vy_automata_finish(vy_automata *automata)
{
    for (uint32_t i = 0; i < automata->count; i++) {
        vy_automaton_finish(&automata->list[i], &automata->allocator);
    }
    vy_free(&automata->allocator, automata->list, automata->capacity * sizeof *automata->list);
    automata->list = NULL;
    automata->count = automata->capacity = 0;
}

vyre_result vy_scan_too_large(vyre_diag *diag, uint64_t max_size)
{
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the tables of the catalogue would have more than %llu bytes (max_size), "
                       "or one of them 2^32 entries. Fix: raise vyre_catalogue_params.max_size, or "
                       "make several catalogues of "
                       "fewer patterns",
                       (unsigned long long)max_size);
}
