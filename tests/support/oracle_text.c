/* Cases of programs over text, with decoders and searches that go from the first byte to the last.
 */
#include "tests/support/oracle.h"
#include "tests/support/oracle_make.h"

#include <stdlib.h>
#include <string.h>

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

/* Puts one character at bytes, and returns how many bytes it has. */
static uint32_t encode(uint32_t code, uint8_t *bytes)
{
    uint32_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t leads[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (uint32_t i = length - 1; i > 0; i--) {
        bytes[i] = (uint8_t)(0x80 | (code & 63));
        code >>= 6;
    }
    bytes[0] = (uint8_t)(leads[length] | code);
    return length;
}

/* Bytes of the character at the beginning of what is left, 0 where it is none: decodes it, and
 * accepts what encodes to the same bytes. */
static uint32_t decode(const uint8_t *bytes, uint32_t left)
{
    uint32_t length = bytes[0] < 0x80   ? 1
                      : bytes[0] < 0xc0 ? 0
                      : bytes[0] < 0xe0 ? 2
                      : bytes[0] < 0xf0 ? 3
                      : bytes[0] < 0xf8 ? 4
                                        : 0;
    uint8_t again[4];
    if (length == 0 || length > left) {
        return 0;
    }
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & ((1u << (7 - length)) - 1);
    for (uint32_t i = 1; i < length; i++) {
        if (bytes[i] >> 6 != 2) {
            return 0;
        }
        code = code << 6 | (bytes[i] & 63);
    }
    bool is_code = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_code && encode(code, again) == length && memcmp(again, bytes, length) == 0 ? length
                                                                                         : 0;
}

/* RANDOM: characters with one flaw in two of three texts; NONE: ASCII; ALL: bytes that are near to
 * characters. */
static void fill_utf8(vy_case *c, uint64_t *seed, uint8_t *bytes)
{
    static const uint32_t limits[] = {0x80, 0x800, 0x10000, 0x110000};
    static const uint8_t near[] = {0x61, 0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xef, 0xf0,
                                   0xf4, 0x90, 0x8f, 0xa0, 0x9f, 0xc1, 0xf5, 0xff};
    for (uint32_t i = 0; i < c->size; i++) {
        bytes[i] = c->variant == VY_VARIANT_ALL ? near[vy_random_below(seed, 16)]
                                                : (uint8_t)(' ' + i % 64);
    }
    for (uint32_t i = 0; c->variant == VY_VARIANT_RANDOM && i + 4 <= c->size;) {
        uint32_t code = vy_random_below(seed, limits[vy_random_below(seed, 4)]);
        i += encode(code >= 0xd800 && code < 0xe000 ? 0xe000 : code, bytes + i);
    }
    if (c->variant == VY_VARIANT_RANDOM && c->size && vy_random_below(seed, 3)) {
        bytes[vy_random_below(seed, c->size)] ^= (uint8_t)(1u << vy_random_below(seed, 8));
    }
}

bool vy_make_utf8(vy_case *c, uint64_t seed)
{
    uint8_t *bytes = calloc((size_t)c->size + 1, 1);
    vy_slot *bad = vy_case_add(c, "bad", 1, VY_SLOT_EXPECTED);
    vy_slot *characters = vy_case_add(c, "characters", 1, VY_SLOT_EXPECTED);
    bool ok = bytes && bad && characters;
    if (ok) {
        fill_utf8(c, &seed, bytes);
        uint32_t at = 0, length = 1;
        while (at < c->size && length) {
            length = decode(bytes + at, c->size - at);
            at += length;
        }
        bad->expected[0] = at;
        for (uint32_t i = 0; i < c->size; i++) {
            characters->expected[0] += bytes[i] >> 6 != 2;
        }
        ok = vy_case_text(c, bytes, c->size);
    }
    free(bytes);
    vy_case_param(c, c->size);
    return ok;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* NONE: no line has an end. */
bool vy_make_lines(vy_case *c, uint64_t seed)
{
    uint8_t *bytes = malloc((size_t)c->size + 1);
    vy_slot *start = vy_case_add(c, "line_start", c->size + 1, VY_SLOT_EXPECTED);
    vy_slot *lines = vy_case_add(c, "lines", 1, VY_SLOT_EXPECTED);
    bool ok = bytes && start && lines, is_open = false;
    for (uint32_t i = 0; ok && i < c->size; i++) {
        bool is_end = c->variant == VY_VARIANT_RANDOM && vy_random_below(&seed, 8) == 0;
        bytes[i] = is_end ? '\n' : 'a';
        is_open = !is_end;
        if (is_end) {
            start->expected[++lines->expected[0]] = i + 1;
        }
    }
    if (ok && is_open) {
        start->expected[++lines->expected[0]] = c->size + 1;
    }
    ok = ok && vy_case_text(c, bytes, c->size);
    free(bytes);
    vy_case_param(c, c->size);
    return ok;
}

/* ---- Base64 ---------------------------------------------------------------------------------- */

/* `size` words of text, one at least. NONE: the text is whole; RANDOM: one character is wrong. */
bool vy_make_base64(vy_case *c, uint64_t seed)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t words = c->size ? c->size : 1, padding = vy_random_below(&seed, 3);
    uint32_t bytes = 3 * words - padding, count = words / 4 * 3 + words % 4, wrong = 4 * words;
    vy_slot *data = vy_case_add(c, "data", count, VY_SLOT_EXPECTED);
    vy_slot *size = vy_case_add(c, "size", 1, VY_SLOT_EXPECTED);
    vy_slot *bad = vy_case_add(c, "bad", 1, VY_SLOT_EXPECTED);
    uint8_t *text = malloc(4 * (size_t)words);
    bool ok = data && size && bad && text;
    if (ok && c->variant == VY_VARIANT_RANDOM) {
        wrong = vy_random_below(&seed, 4 * words - padding);
    }
    for (uint32_t i = 0; ok && i < words; i++) {
        uint32_t three = vy_oracle_random(&seed) >> 8;
        for (uint32_t d = 0; d < 4; d++) {
            uint32_t at = i * 4 + d;
            uint32_t shift = 18 - 6 * d;
            text[at] = (uint8_t)digits[three >> shift & 63];
            if (at >= 4 * words - padding || at == wrong) {
                text[at] = at == wrong ? '-' : '=';
                three &= ~(63u << shift);
            }
        }
        for (uint32_t b = 0; b < 3; b++) {
            uint32_t at = i * 3 + b, byte = three >> (16 - 8 * b) & 255;
            if (at / 4 < count) {
                data->expected[at / 4] |= byte << 8 * (at % 4);
            }
        }
    }
    if (ok) {
        size->expected[0] = bytes;
        bad->expected[0] = wrong;
        ok = vy_case_text(c, text, 4 * words);
    }
    free(text);
    return ok;
}

/* ---- Words ----------------------------------------------------------------------------------- */

#define WORDS      12u
#define LONGEST    6u
#define MAX_STATES (WORDS * LONGEST + 1)
#define LETTERS    "abc"

typedef struct automaton {
    char word[WORDS][LONGEST + 1];
    uint32_t word_count, state_count, longest;
    uint32_t next[MAX_STATES][256];
    uint32_t own[MAX_STATES]; /* the word that ends here, plus one */
    uint32_t fail[MAX_STATES];
} automaton;

static void add_word(automaton *a, uint64_t *seed)
{
    char *word = a->word[a->word_count];
    uint32_t length = 1 + vy_random_below(seed, LONGEST), state = 0;
    for (uint32_t i = 0; i < length; i++) {
        word[i] = LETTERS[vy_random_below(seed, sizeof LETTERS - 1)];
        uint32_t *next = &a->next[state][(uint8_t)word[i]];
        if (!*next) {
            *next = a->state_count++;
        }
        state = *next;
    }
    if (!a->own[state]) { /* otherwise the same word is there already */
        word[length] = 0;
        a->own[state] = ++a->word_count;
        a->longest = length > a->longest ? length : a->longest;
    }
}

/* Completes the tree of words: states in the order of their depth. */
static void finish_automaton(automaton *a)
{
    uint32_t queue[MAX_STATES], begin = 0, end = 0;
    queue[end++] = 0;
    while (begin < end) {
        uint32_t state = queue[begin++];
        for (uint32_t b = 0; b < 256; b++) {
            uint32_t *next = &a->next[state][b];
            uint32_t other = state ? a->next[a->fail[state]][b] : 0;
            if (*next) {
                a->fail[*next] = other;
                queue[end++] = *next;
            } else {
                *next = other;
            }
        }
    }
}

static bool add_automaton(vy_case *c, const automaton *a)
{
    vy_slot *next = vy_case_add(c, "next", a->state_count * 256, VY_SLOT_IN);
    vy_slot *start = vy_case_add(c, "hit_start", a->state_count + 1, VY_SLOT_IN);
    vy_slot *hit = vy_case_add(c, "hit", a->state_count * LONGEST, VY_SLOT_IN);
    if (!next || !start || !hit) {
        return false;
    }
    memcpy(next->in, a->next, (size_t)a->state_count * sizeof a->next[0]);
    for (uint32_t s = 0; s < a->state_count; s++) {
        uint32_t count = start->in[s];
        for (uint32_t t = s; t; t = a->fail[t]) {
            if (a->own[t]) {
                hit->in[count++] = a->own[t] - 1;
            }
        }
        start->in[s + 1] = count;
    }
    return true;
}

/* The word of that length that ends at `end`, or UINT32_MAX. */
static uint32_t word_at(const automaton *a, const uint8_t *bytes, uint32_t end, uint32_t length)
{
    for (uint32_t w = 0; w < a->word_count && length <= end; w++) {
        if (strlen(a->word[w]) == length && !memcmp(bytes + end - length, a->word[w], length)) {
            return w;
        }
    }
    return UINT32_MAX;
}

/* By comparing every word with every place, the longest one first, as `hit` has them. */
static bool expect_words(vy_case *c, const automaton *a, const uint8_t *bytes, uint32_t room)
{
    vy_slot *ends = vy_case_add(c, "match_end", room, VY_SLOT_EXPECTED);
    vy_slot *words = vy_case_add(c, "match_word", room, VY_SLOT_EXPECTED);
    vy_slot *matches = vy_case_add(c, "matches", 1, VY_SLOT_EXPECTED);
    if (!ends || !words || !matches) {
        return false;
    }
    for (uint32_t end = 1; end <= c->size; end++) {
        for (uint32_t length = LONGEST; length > 0; length--) {
            uint32_t word = word_at(a, bytes, end, length), at = matches->expected[0];
            if (word == UINT32_MAX) {
                continue;
            }
            if (at < room) {
                ends->expected[at] = end;
                words->expected[at] = word;
            }
            matches->expected[0]++;
        }
    }
    return true;
}

/* ALL: there is no room for all matches. */
bool vy_make_aho_corasick(vy_case *c, uint64_t seed)
{
    automaton *a = calloc(1, sizeof *a);
    uint8_t *bytes = malloc((size_t)c->size + 1);
    bool ok = a && bytes;
    if (ok) {
        a->state_count = 1;
        for (uint32_t w = 0; w < WORDS; w++) {
            add_word(a, &seed);
        }
        finish_automaton(a);
        for (uint32_t i = 0; i < c->size; i++) {
            bytes[i] = (uint8_t)(LETTERS "d")[vy_random_below(&seed, sizeof LETTERS)];
        }
        uint32_t room = c->variant == VY_VARIANT_ALL ? c->size / 4 : WORDS * c->size;
        ok = add_automaton(c, a) && expect_words(c, a, bytes, room) &&
             vy_case_text(c, bytes, c->size);
        vy_case_param(c, c->size);
        vy_case_param(c, a->longest);
    }
    free(a);
    free(bytes);
    return ok;
}

/* ---- Automata -------------------------------------------------------------------------------- */

bool vy_make_dfa_scan(vy_case *c, uint64_t seed)
{
    uint8_t *bytes = malloc((size_t)c->size + 1), table[256][16];
    vy_slot *step = vy_case_add(c, "step", 512, VY_SLOT_IN);
    bool ok = bytes && step;
    uint32_t start = vy_random_below(&seed, 16), accepting = vy_oracle_random(&seed) & 0xffff;
    for (uint32_t b = 0; ok && b < 256; b++) {
        bool merges =
            vy_random_below(&seed, 16) == 0; /* otherwise a permutation: forgets nothing */
        for (uint32_t s = 0; s < 16; s++) {
            uint32_t to = merges ? vy_random_below(&seed, 16) : (s * (2 * b + 1) + b / 8) % 16;
            table[b][s] = (uint8_t)to;
            step->in[2 * b + s / 8] |= to << 4 * (s % 8);
        }
    }
    for (uint32_t i = 0; ok && i < c->size; i++) {
        bytes[i] = (uint8_t)vy_oracle_random(&seed);
    }
    ok = ok && vy_case_text(c, bytes, c->size);
    uint32_t words = c->grid_elements / 8 + (c->grid_elements % 8 != 0);
    vy_slot *accepted = vy_case_add(c, "accepted", words, VY_SLOT_EXPECTED);
    vy_slot *last = vy_case_add(c, "last", 1, VY_SLOT_EXPECTED);
    ok = ok && accepted && last;
    uint32_t state = start;
    for (uint32_t i = 0; ok && i < c->size; i++) {
        state = table[bytes[i]][state];
        accepted->expected[i / 32] |= (accepting >> state & 1) << i % 32;
    }
    if (ok) {
        last->expected[0] = state;
    }
    free(bytes);
    vy_case_param(c, c->size);
    vy_case_param(c, start);
    vy_case_param(c, accepting);
    c->grid_elements = words;
    return ok;
}

/* Whether some way through the positions spells the string: one position after the other. */
static bool spells(const uint32_t *follow, const uint32_t *fits, uint32_t first, uint32_t final,
                   const uint8_t *bytes, uint32_t size)
{
    bool now[32] = {false}, next[32];
    for (uint32_t i = 0; i < size; i++) {
        for (uint32_t p = 0; p < 32; p++) {
            bool comes = i == 0 && (first >> p & 1);
            for (uint32_t q = 0; q < 32 && i; q++) {
                comes |= now[q] && (follow[q] >> p & 1);
            }
            next[p] = comes && (fits[bytes[i]] >> p & 1);
        }
        memcpy(now, next, sizeof now);
    }
    bool result = false;
    for (uint32_t p = 0; p < 32; p++) {
        result |= now[p] && (final >> p & 1);
    }
    return result;
}

bool vy_make_nfa(vy_case *c, uint64_t seed)
{
    vy_slot *start = vy_case_add(c, "string_start", c->size + 1, VY_SLOT_IN);
    vy_slot *follow = vy_case_add(c, "follow", 32, VY_SLOT_IN);
    vy_slot *fits = vy_case_add(c, "fits", 256, VY_SLOT_IN);
    vy_slot *accepted = vy_case_add(c, "accepted", c->size, VY_SLOT_EXPECTED);
    uint8_t *bytes = malloc(12 * (size_t)c->size + 1);
    uint32_t first = vy_oracle_random(&seed), final = 3u << vy_random_below(&seed, 31);
    uint32_t nullable = vy_random_below(&seed, 2);
    bool ok = start && follow && fits && accepted && bytes;
    for (uint32_t i = 0; ok && i < 32; i++) {
        follow->in[i] = vy_oracle_random(&seed) & vy_oracle_random(&seed) & vy_oracle_random(&seed);
    }
    for (uint32_t i = 0; ok && i < 256; i++) {
        fits->in[i] = vy_oracle_random(&seed) & vy_oracle_random(&seed);
    }
    for (uint32_t s = 0; ok && s < c->size; s++) {
        uint32_t size = vy_random_below(&seed, 12);
        start->in[s + 1] = start->in[s] + size;
        for (uint32_t i = 0; i < size; i++) {
            bytes[start->in[s] + i] = (uint8_t)vy_oracle_random(&seed);
        }
        accepted->expected[s] =
            size ? spells(follow->in, fits->in, first, final, bytes + start->in[s], size)
                 : nullable;
    }
    ok = ok && vy_case_text(c, bytes, start->in[c->size]);
    free(bytes);
    vy_case_param(c, first);
    vy_case_param(c, final);
    vy_case_param(c, nullable);
    c->grid_elements = c->size;
    return ok;
}

/* ---- Brackets -------------------------------------------------------------------------------- */

static const char openers[] = "([{", closers[] = ")]}";

/* The partner of the opening bracket at i by counting, or i: what lies between must be closed. */
static uint32_t partner_of(const uint32_t *text, const uint32_t *partner, uint32_t i, uint32_t end)
{
    for (uint32_t j = i + 1; j < end; j++) {
        if (partner[j] > j) {
            j = partner[j]; /* over a pair that lies inside */
            continue;
        }
        const char *open = memchr(openers, (int)text[j], 3);
        if (open) {
            return i; /* one without a partner stays on top to the end */
        }
        const char *close = memchr(closers, (int)text[j], 3);
        if (close && openers[close - closers] == (char)text[i]) {
            return j;
        }
    }
    return i;
}

/* RANDOM: 8 brackets or so; ALL: longer texts that often balance. From the last bracket to the
 * first, so that pairs inside are known. */
bool vy_make_brackets(vy_case *c, uint64_t seed)
{
    vy_slot *start = vy_case_add(c, "start", c->size + 1, VY_SLOT_IN);
    vy_slot *balance = vy_case_add(c, "balance", c->size, VY_SLOT_EXPECTED);
    if (!start || !balance) {
        return false;
    }
    uint32_t limit = c->variant == VY_VARIANT_ALL ? 60 : 16;
    for (uint32_t s = 0; s < c->size; s++) {
        start->in[s + 1] = start->in[s] + vy_random_below(&seed, limit);
    }
    vy_slot *text = vy_case_add(c, "text", start->in[c->size], VY_SLOT_IN);
    vy_slot *partner = vy_case_add(c, "partner", start->in[c->size], VY_SLOT_EXPECTED);
    if (!text || !partner) {
        return false;
    }
    for (uint32_t s = 0; s < c->size; s++) {
        uint32_t begin = start->in[s], end = start->in[s + 1], kinds = limit == 60 ? 1 : 3;
        for (uint32_t i = begin; i < end; i++) {
            uint32_t kind = vy_random_below(&seed, kinds);
            uint32_t what = vy_random_below(&seed, 5);
            text->in[i] = (uint8_t)(what == 0 ? 'x' : what % 2 ? openers[kind] : closers[kind]);
            partner->expected[i] = i;
        }
        balance->expected[s] = end - begin;
        for (uint32_t i = end; i-- > begin;) {
            uint32_t other = i;
            if (memchr(openers, (int)text->in[i], 3)) {
                other = partner_of(text->in, partner->expected, i, end);
            }
            if (other != i) {
                partner->expected[i] = other;
                partner->expected[other] = i;
                balance->expected[s] -= 2;
            }
            balance->expected[s] -= text->in[i] == 'x';
        }
    }
    return true;
}
