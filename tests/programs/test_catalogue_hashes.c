/* Hashes and ciphers: each program on a device, and at small sizes on the interpreter, against
 * plain C, element by element. Larger sizes: tests/soak. */
#include "tests/support/oracle.h"
#include "tests/support/oracle_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

CATALOGUE_TESTS(fnv1a, FNV1A, 300007u)
CATALOGUE_TESTS(crc32, CRC32, 3000017u)
CATALOGUE_TESTS(adler32, ADLER32, 3000017u)
CATALOGUE_TESTS(blake3, BLAKE3, 1000003u)
CATALOGUE_TESTS(aes_ctr, AES_CTR, 300007u)

/* The oracle itself: the hash that its authors publish for 1025 bytes 0, 1, ..., 250, 0, 1, ... */
static void test_blake3_oracle_gives_the_published_hash(void **state)
{
    static const uint32_t published[8] = {0xae7802d0, 0xb327eb47, 0x67cfae4f, 0x3f26feb4,
                                          0x2941d582, 0xd9ffc116, 0xfbb78c7c, 0x44844b81};
    uint8_t bytes[1025];
    uint32_t hash[8];
    (void)state;
    for (uint32_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i % 251);
    }
    vy_oracle_blake3(bytes, sizeof bytes, hash);
    assert_memory_equal(hash, published, sizeof hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOGUE_ENTRIES(fnv1a),   CATALOGUE_ENTRIES(crc32),
        CATALOGUE_ENTRIES(adler32), CATALOGUE_ENTRIES(blake3),
        CATALOGUE_ENTRIES(aes_ctr), cmocka_unit_test(test_blake3_oracle_gives_the_published_hash),
    };
    return cmocka_run_group_tests(tests, vy_check_open, vy_check_close);
}
