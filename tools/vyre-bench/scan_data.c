/* The text and the patterns of group scan: those of a folder (tools/scan-data.sh), or made up. */
#include "tools/vyre-bench/scan.h"

#include <stdlib.h>
#include <string.h>

enum { MADE_WORDS = 40000, MADE_LENGTH = 24 };

void scan_digest_add(scan_digest *digest, uint32_t rule, uint64_t offset)
{
    uint64_t value = (digest->value ^ offset) * VY_HASH_MULTIPLIER;
    value ^= value >> 29;
    digest->value = (value ^ rule) * VY_HASH_MULTIPLIER;
    digest->value ^= digest->value >> 32;
    digest->count++;
}

/* Takes `bytes`, whose lines are the patterns. */
static vyre_result take_list(scan_list *list, char *bytes, size_t size, vyre_diag *diag)
{
    uint32_t capacity = 0;
    list->bytes = bytes;
    for (size_t at = 0; at < size; at++) {
        capacity += bytes[at] == '\n';
    }
    list->patterns = calloc((size_t)capacity + 1, sizeof *list->patterns);
    if (!list->patterns) {
        return vy_diag_no_memory(diag);
    }
    for (size_t at = 0; at < size;) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t length = (end ? (size_t)(end - bytes) : size) - at;
        if (length > 0) {
            list->patterns[list->count++] = (vyre_pattern){.literal = bytes + at, .size = length};
            list->longest = length > list->longest ? (uint32_t)length : list->longest;
        }
        at += length + 1;
    }
    return VYRE_OK;
}

static vyre_result read_list(const char *folder, const char *name, scan_list *list, vyre_diag *diag)
{
    char path[1024], *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    vyre_result result = vy_file_read(path, (size_t)1 << 28, &bytes, &size, diag);
    return result == VYRE_OK ? take_list(list, bytes, size, diag) : result;
}

/* ---- Made up --------------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Words of syllables, as texts of letters have them. */
static char *make_words(size_t *out_size)
{
    static const char consonants[] = "bcdfghjklmnprstvwz", vowels[] = "aeiou";
    char *words = malloc((size_t)MADE_WORDS * MADE_LENGTH);
    uint64_t seed = 1;
    size_t size = 0;
    for (uint32_t i = 0; words && i < MADE_WORDS; i++) {
        uint32_t syllables = 3 + draw(&seed) % 5;
        for (uint32_t k = 0; k < syllables; k++) {
            words[size++] = consonants[draw(&seed) % (sizeof consonants - 1)];
            words[size++] = vowels[draw(&seed) % (sizeof vowels - 1)];
        }
        words[size++] = '\n';
    }
    *out_size = size;
    return words;
}

/* Frequent words are short and few. */
static void make_text(const scan_list *words, unsigned char *text, uint32_t size)
{
    uint64_t seed = 2;
    for (uint32_t at = 0; at < size;) {
        uint32_t rank = draw(&seed) % (1u << (draw(&seed) % 16));
        const vyre_pattern *word = &words->patterns[words->count - 1 - rank % words->count];
        uint32_t length = (uint32_t)word->size;
        if (rank < 64) {
            length = 2 + rank % 3;
        }
        for (uint32_t i = 0; i < length && at < size; i++) {
            text[at++] = ((const unsigned char *)word->literal)[i];
        }
        if (at < size) {
            text[at++] = draw(&seed) % 12 == 0 ? '\n' : ' ';
        }
    }
}

static vyre_result make_up(scan_data *data, vyre_diag *diag)
{
    size_t size;
    char *words = make_words(&size);
    vyre_result result =
        words ? take_list(&data->words, words, size, diag) : vy_diag_no_memory(diag);
    data->text = malloc(data->size);
    if (result == VYRE_OK && !data->text) {
        result = vy_diag_no_memory(diag);
    }
    if (result == VYRE_OK) {
        make_text(&data->words, data->text, data->size);
        data->what = "made-up words";
    }
    return result;
}

/* ---- Of a folder ----------------------------------------------------------------------------- */

static vyre_result read_text(const char *folder, scan_data *data, vyre_diag *diag)
{
    char path[1024], *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/text", folder);
    vyre_result result = vy_file_read(path, UINT32_MAX / 2, &bytes, &size, diag);
    if (result != VYRE_OK) {
        return result;
    }
    data->text = malloc(data->size);
    if (!data->text || size == 0) {
        free(bytes);
        return size ? vy_diag_no_memory(diag)
                    : vy_diag_set(diag, VYRE_ERROR_IO, (vy_loc){0, 0},
                                  "'%s' is empty. Fix: make it by tools/scan-data.sh", path);
    }
    for (uint32_t at = 0; at < data->size;) {
        size_t part = data->size - at < size ? data->size - at : size;
        memcpy(data->text + at, bytes, part);
        at += (uint32_t)part;
    }
    free(bytes);
    return VYRE_OK;
}

vyre_result scan_data_make(const char *path, uint32_t size, scan_data *out, vyre_diag *diag)
{
    *out = (scan_data){.size = size, .what = "real text"};
    if (!path) {
        return make_up(out, diag);
    }
    vyre_result result = read_text(path, out, diag);
    if (result == VYRE_OK) {
        result = read_list(path, "words", &out->words, diag);
    }
    return result == VYRE_OK ? read_list(path, "rules", &out->rules, diag) : result;
}

void scan_data_finish(scan_data *data)
{
    free(data->text);
    free(data->words.bytes);
    free(data->words.patterns);
    free(data->rules.bytes);
    free(data->rules.patterns);
}
