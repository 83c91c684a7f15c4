/* Cases of hashes and ciphers, computed byte by byte from their definitions. */
#include "tests/support/oracle.h"
#include "tests/support/oracle_make.h"

#include <stdlib.h>
#include <string.h>

/* `size` bytes and a text slot of them; NULL without memory. ALL: ones. */
static uint8_t *make_text(vy_case *c, uint64_t *seed)
{
    uint8_t *bytes = malloc((size_t)c->size + 1);
    for (uint32_t i = 0; bytes && i < c->size; i++) {
        bytes[i] = c->variant == VY_VARIANT_ALL ? 0xff : (uint8_t)vy_oracle_random(seed);
    }
    if (bytes && !vy_case_text(c, bytes, c->size)) {
        free(bytes);
        bytes = NULL;
    }
    vy_case_param(c, c->size);
    return bytes;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

bool vy_make_fnv1a(vy_case *c, uint64_t seed)
{
    vy_slot *start = vy_case_add(c, "string_start", c->size + 1, VY_SLOT_IN);
    vy_slot *hash32 = vy_case_add(c, "hash32", c->size, VY_SLOT_EXPECTED);
    vy_slot *low = vy_case_add(c, "low", c->size, VY_SLOT_EXPECTED);
    vy_slot *high = vy_case_add(c, "high", c->size, VY_SLOT_EXPECTED);
    uint8_t *bytes = malloc(20 * (size_t)c->size + 1);
    bool ok = start && hash32 && low && high && bytes;
    for (uint32_t s = 0; ok && s < c->size; s++) {
        uint32_t hash = 0x811c9dc5;
        uint64_t wide = 0xcbf29ce484222325;
        start->in[s + 1] = start->in[s] + vy_random_below(&seed, 20);
        for (uint32_t i = start->in[s]; i < start->in[s + 1]; i++) {
            bytes[i] = (uint8_t)vy_oracle_random(&seed);
            hash = (hash ^ bytes[i]) * 0x01000193;
            wide = (wide ^ bytes[i]) * 0x100000001b3;
        }
        hash32->expected[s] = hash;
        low->expected[s] = (uint32_t)wide;
        high->expected[s] = (uint32_t)(wide >> 32);
    }
    ok = ok && vy_case_text(c, bytes, start->in[c->size]);
    free(bytes);
    c->grid_elements = c->size;
    return ok;
}

bool vy_make_crc32(vy_case *c, uint64_t seed)
{
    uint8_t *bytes = make_text(c, &seed);
    vy_slot *crc = vy_case_add(c, "crc", 1, VY_SLOT_EXPECTED);
    uint32_t sum = 0xffffffff;
    for (uint32_t i = 0; bytes && i < c->size; i++) {
        sum ^= bytes[i];
        for (uint32_t bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
        }
    }
    bool ok = bytes && crc;
    if (ok) {
        crc->expected[0] = ~sum;
    }
    free(bytes);
    return ok;
}

bool vy_make_adler32(vy_case *c, uint64_t seed)
{
    uint8_t *bytes = make_text(c, &seed);
    vy_slot *adler = vy_case_add(c, "adler", 1, VY_SLOT_EXPECTED);
    uint32_t a = 1, b = 0;
    for (uint32_t i = 0; bytes && i < c->size; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    bool ok = bytes && adler;
    if (ok) {
        adler->expected[0] = b << 16 | a;
    }
    free(bytes);
    return ok;
}

/* ---- BLAKE3 ---------------------------------------------------------------------------------- */

static const uint32_t blake3_start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t turn_right(uint32_t x, uint32_t n)
{
    return x >> n | x << (32 - n);
}

static void mix(uint32_t *v, const uint8_t at[4], uint32_t x, uint32_t y)
{
    uint32_t *a = &v[at[0]], *b = &v[at[1]], *c = &v[at[2]], *d = &v[at[3]];
    *a += *b + x;
    *d = turn_right(*d ^ *a, 16);
    *c += *d;
    *b = turn_right(*b ^ *c, 12);
    *a += *b + y;
    *d = turn_right(*d ^ *a, 8);
    *c += *d;
    *b = turn_right(*b ^ *c, 7);
}

static void blake3_compress(uint32_t h[8], const uint32_t block[16], uint32_t counter,
                            uint32_t length, uint32_t flags)
{
    static const uint8_t places[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14},
                                         {3, 7, 11, 15}, {0, 5, 10, 15}, {1, 6, 11, 12},
                                         {2, 7, 8, 13},  {3, 4, 9, 14}};
    static const uint8_t order[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
    uint32_t v[16], m[16], next[16];
    memcpy(v, h, 8 * sizeof *v);
    memcpy(v + 8, blake3_start, 4 * sizeof *v);
    v[12] = counter;
    v[13] = 0;
    v[14] = length;
    v[15] = flags;
    memcpy(m, block, sizeof m);
    for (uint32_t round = 0; round < 7; round++) {
        for (uint32_t g = 0; g < 8; g++) {
            mix(v, places[g], m[2 * g], m[2 * g + 1]);
        }
        for (uint32_t i = 0; i < 16; i++) {
            next[i] = m[order[i]];
        }
        memcpy(m, next, sizeof m);
    }
    for (uint32_t i = 0; i < 8; i++) {
        h[i] = v[i] ^ v[i + 8];
    }
}

static void blake3_chunk(const uint8_t *bytes, uint32_t size, uint32_t counter, uint32_t root,
                         uint32_t out_hash[8])
{
    memcpy(out_hash, blake3_start, sizeof blake3_start);
    uint32_t at = 0;
    do {
        uint32_t block[16] = {0}, length = size - at < 64 ? size - at : 64;
        for (uint32_t i = 0; i < length; i++) {
            block[i / 4] |= (uint32_t)bytes[at + i] << 8 * (i % 4);
        }
        uint32_t flags = at == 0;
        at += length;
        blake3_compress(out_hash, block, counter, length, flags | (at == size ? 2 | root : 0));
    } while (at < size);
}

/* The left part of a message is as many chunks as the largest power of 2 that leaves something. */
static void blake3_tree(const uint8_t *bytes, uint32_t size, uint32_t counter, uint32_t root,
                        uint32_t out_hash[8])
{
    if (size <= 1024) {
        blake3_chunk(bytes, size, counter, root, out_hash);
        return;
    }
    uint32_t left = 1024, block[16];
    while (left < size - left) {
        left *= 2;
    }
    blake3_tree(bytes, left, counter, 0, block);
    blake3_tree(bytes + left, size - left, counter + left / 1024, 0, block + 8);
    memcpy(out_hash, blake3_start, sizeof blake3_start);
    blake3_compress(out_hash, block, 0, 64, 4 | root);
}

void vy_oracle_blake3(const uint8_t *bytes, uint32_t size, uint32_t out_hash[8])
{
    blake3_tree(bytes, size, 0, 8, out_hash);
}

bool vy_make_blake3(vy_case *c, uint64_t seed)
{
    uint8_t *bytes = make_text(c, &seed);
    vy_slot *hash = vy_case_add(c, "hash", 8, VY_SLOT_EXPECTED);
    bool ok = bytes && hash;
    if (ok) {
        vy_oracle_blake3(bytes, c->size, hash->expected);
    }
    free(bytes);
    return ok;
}

/* ---- AES ------------------------------------------------------------------------------------- */

/* In the field of 2^8. */
static uint8_t times(uint8_t a, uint8_t b)
{
    uint32_t product = 0, factor = a;
    for (uint32_t bit = 0; bit < 8; bit++) {
        product ^= b >> bit & 1 ? factor : 0;
        factor = factor << 1 ^ (factor & 0x80 ? 0x11b : 0);
    }
    return (uint8_t)product;
}

static void make_sbox(uint8_t out_sbox[256])
{
    for (uint32_t x = 0; x < 256; x++) {
        uint8_t inverse = 0;
        for (uint32_t y = 1; y < 256 && x; y++) {
            if (times((uint8_t)x, (uint8_t)y) == 1) {
                inverse = (uint8_t)y;
            }
        }
        uint32_t s = inverse;
        for (uint32_t turn = 1; turn < 5; turn++) {
            s ^= (uint32_t)(inverse << turn | inverse >> (8 - turn)) & 255;
        }
        out_sbox[x] = (uint8_t)(s ^ 0x63);
    }
}

static void expand_key(const uint8_t sbox[256], const uint8_t key[16], uint8_t out_keys[176])
{
    uint8_t constant = 1;
    memcpy(out_keys, key, 16);
    for (uint32_t i = 16; i < 176; i += 4) {
        uint8_t t[4];
        memcpy(t, out_keys + i - 4, 4);
        if (i % 16 == 0) {
            uint8_t first = t[0];
            t[0] = (uint8_t)(sbox[t[1]] ^ constant);
            t[1] = sbox[t[2]];
            t[2] = sbox[t[3]];
            t[3] = sbox[first];
            constant = times(constant, 2);
        }
        for (uint32_t b = 0; b < 4; b++) {
            out_keys[i + b] = out_keys[i - 16 + b] ^ t[b];
        }
    }
}

static void encrypt(const uint8_t sbox[256], const uint8_t keys[176], uint8_t s[16])
{
    uint8_t t[16];
    for (uint32_t i = 0; i < 16; i++) {
        s[i] ^= keys[i];
    }
    for (uint32_t round = 1; round <= 10; round++) {
        for (uint32_t i = 0; i < 16; i++) {
            t[i] = sbox[s[(i + 4 * (i % 4)) % 16]]; /* row i % 4 turns by as many columns */
        }
        for (uint32_t i = 0; i < 16; i++) {
            const uint8_t *column = t + i / 4 * 4;
            uint32_t r = i % 4;
            s[i] = round == 10 ? t[i]
                               : (uint8_t)(times(column[r], 2) ^ times(column[(r + 1) % 4], 3) ^
                                           column[(r + 2) % 4] ^ column[(r + 3) % 4]);
            s[i] ^= keys[16 * round + i];
        }
    }
}

static uint8_t byte_at(const vy_slot *slot, size_t i)
{
    return (uint8_t)(slot->in[i / 4] >> 8 * (i % 4));
}

/* `size` words of data. The counter is near its end. */
bool vy_make_aes_ctr(vy_case *c, uint64_t seed)
{
    vy_slot *key = vy_case_add(c, "key", 4, VY_SLOT_IN);
    vy_slot *counter = vy_case_add(c, "counter", 4, VY_SLOT_IN);
    vy_slot *data = vy_case_add(c, "data", c->size, VY_SLOT_IN);
    vy_slot *result = vy_case_add(c, "result", c->size, VY_SLOT_EXPECTED);
    uint8_t sbox[256], keys[176], key_bytes[16];
    if (!key || !counter || !data || !result) {
        return false;
    }
    for (uint32_t i = 0; i < 4; i++) {
        key->in[i] = vy_oracle_random(&seed);
        counter->in[i] = vy_oracle_random(&seed);
    }
    counter->in[3] = 0xf0ffffff; /* 0xfffffff0, big endian */
    for (uint32_t i = 0; i < c->size; i++) {
        data->in[i] = vy_oracle_random(&seed);
    }
    for (uint32_t i = 0; i < 16; i++) {
        key_bytes[i] = byte_at(key, i);
    }
    make_sbox(sbox);
    expand_key(sbox, key_bytes, keys);
    for (uint32_t block = 0; block * 4 < c->size; block++) {
        uint8_t s[16];
        uint32_t last = 0xfffffff0 + block;
        for (uint32_t i = 0; i < 12; i++) {
            s[i] = byte_at(counter, i);
        }
        for (uint32_t i = 0; i < 4; i++) {
            s[12 + i] = (uint8_t)(last >> (24 - 8 * i));
        }
        encrypt(sbox, keys, s);
        for (uint32_t i = 0; i < 16 && block * 4 + i / 4 < c->size; i++) {
            size_t at = (size_t)block * 16 + i;
            result->expected[at / 4] |= (uint32_t)(s[i] ^ byte_at(data, at)) << 8 * (at % 4);
        }
    }
    return true;
}
