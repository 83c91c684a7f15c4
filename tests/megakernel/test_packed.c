/* Packed slots: what fits, what is refused, and that the decoder takes what the encoder writes and
 * nothing else. */
#include "tests/megakernel/ring_support.h"

static const uint32_t numbers[13] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};

static vyre_result publish(test_ring *ring, const vyre_packed_op *ops, uint32_t count,
                           vyre_diag *diag)
{
    return vyre_ring_publish_packed(ring->words, ring_size, 4, 3, VYRE_PRIORITY_HIGH, ops, count,
                                    diag);
}

static void assert_decodes_to(const uint32_t *args, const vyre_packed_op *ops, uint32_t count)
{
    vyre_packed_op out[VYRE_MAX_PACKED_OPS];
    uint32_t out_count = 0;
    vyre_diag diag;
    assert_int_equal(vyre_packed_decode(args, out, &out_count, &diag), VYRE_OK);
    assert_int_equal(out_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(out[i].opcode, ops[i].opcode);
        assert_int_equal(out[i].arg_count, ops[i].arg_count);
        if (ops[i].arg_count == 0) {
            assert_null(out[i].args);
            continue;
        }
        assert_memory_equal(out[i].args, ops[i].args, 4 * ops[i].arg_count);
        assert_true(out[i].args >= args && out[i].args + out[i].arg_count <= args + 12);
    }
}

static void test_packed_words_are_laid_out_as_documented(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    const vyre_packed_op ops[] = {
        {VYRE_OPCODE_STORE_U32, numbers, 2}, {VYRE_OPCODE_NOP, NULL, 0}, {200, numbers + 4, 3}};
    const uint32_t args[] = {0x00010503u, 0x02c80200u, 1, 2, 5, 6, 7};
    ring_fill(&ring, VYRE_STATUS_DONE);
    assert_int_equal(publish(&ring, ops, 3, &diag), VYRE_OK);
    assert_slot(&ring, 4, 0x80000001u, 3, VYRE_PRIORITY_HIGH, args, VY_COUNT_OF(args));
    assert_only(&ring, 4, 1);
    assert_decodes_to(ring.words + 4 * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS, ops, 3);
}

static void test_packed_counts_have_limits(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_packed_op ops[256] = {{0}};
    for (uint32_t i = 0; i < 256; i++) {
        ops[i].opcode = i % 2 ? 255 - i % 100 : i % 6;
    }
    for (uint32_t count = 1; count <= VYRE_MAX_PACKED_OPS; count++) {
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        assert_int_equal(publish(&ring, ops, count, &diag), VYRE_OK);
        assert_only(&ring, 4, 1);
        assert_decodes_to(ring.words + 4 * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS, ops, count);
    }
    static const uint32_t counts[] = {0, 24, 25, 255, 256, 257, 0x7fffffff, 0x80000000, 0xffffffff};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(counts); i++) {
        char part[64];
        snprintf(part, sizeof part, "packed slot 4 has %u operations. Fix: pass 1 to 23",
                 counts[i]);
        assert_refused(&ring, publish(&ring, ops, counts[i], &diag), VYRE_ERROR_INVALID_ARGUMENT,
                       &diag, part);
    }
    assert_refused(&ring, publish(&ring, NULL, 1, &diag), VYRE_ERROR_INVALID_ARGUMENT, &diag,
                   "operations at NULL");
}

static void test_packed_words_have_a_limit(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    for (uint32_t count = 1; count <= VYRE_MAX_PACKED_OPS; count++) {
        vyre_packed_op ops[VYRE_MAX_PACKED_OPS] = {{0}};
        uint32_t head = (2 + 2 * count + 3) / 4;
        for (uint32_t i = 0; i < count; i++) {
            ops[i].opcode = 8 + i;
        }
        /* At the front, in the middle, and at the end. */
        for (uint32_t at = 0; at<count; at += count> 2 ? count / 2 : 1) {
            ops[at].args = numbers;
            ops[at].arg_count = 12 - head;
            ring_fill(&ring, VYRE_STATUS_EMPTY);
            assert_int_equal(publish(&ring, ops, count, &diag), VYRE_OK);
            assert_decodes_to(ring.words + 4 * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS, ops, count);
            ops[at].arg_count++;
            ring_fill(&ring, VYRE_STATUS_EMPTY);
            assert_refused(&ring, publish(&ring, ops, count, &diag), VYRE_ERROR_INVALID_ARGUMENT,
                           &diag, "packed slot 4 needs 13 words");
            ops[at].args = NULL;
            ops[at].arg_count = 0;
        }
    }
    vyre_packed_op huge[] = {{8, numbers, 0xffffffff}, {9, numbers, 2}, {10, numbers, 0xffffffff}};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    assert_refused(&ring, publish(&ring, huge, 2, &diag), VYRE_ERROR_INVALID_ARGUMENT, &diag,
                   "needs 4294967299 words");
    assert_refused(&ring, publish(&ring, huge, 3, &diag), VYRE_ERROR_INVALID_ARGUMENT, &diag,
                   "needs 8589934594 words");
}

static void test_packed_opcodes_fit_in_a_byte(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    vyre_packed_op ops[] = {{8, NULL, 0}, {255, numbers, 1}};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    assert_int_equal(publish(&ring, ops, 2, &diag), VYRE_OK);
    assert_decodes_to(ring.words + 4 * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS, ops, 2);
    static const uint32_t large[] = {256, 0xfffd, 0xfffe, 0x40000000, 0x80000000, 0xffffffff};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(large); i++) {
        ops[1].opcode = large[i];
        assert_refused(&ring, publish(&ring, ops, 2, &diag), VYRE_ERROR_INVALID_ARGUMENT, &diag,
                       "operation 1 of packed slot 4 has an opcode over 255");
    }
    ops[1].opcode = 0x80000001u;
    assert_refused(&ring, publish(&ring, ops, 2, &diag), VYRE_ERROR_INVALID_ARGUMENT, &diag,
                   "operation 1 of packed slot 4 is a packed slot itself");
    ops[1] = (vyre_packed_op){9, NULL, 1};
    assert_refused(&ring, publish(&ring, ops, 2, &diag), VYRE_ERROR_INVALID_ARGUMENT, &diag,
                   "operation 1 of packed slot 4 has arguments at NULL");
}

static void test_packed_slots_obey_the_ring(void **state)
{
    (void)state;
    test_ring ring;
    vyre_diag diag;
    const vyre_packed_op op = {8, numbers, 1};
    static const uint32_t slots[] = {RING_SLOTS, 0x04000000, 0xffffffff};
    ring_fill(&ring, VYRE_STATUS_EMPTY);
    for (size_t i = 0; i < VY_COUNT_OF(slots); i++) {
        assert_refused(&ring,
                       vyre_ring_publish_packed(ring.words, ring_size, slots[i], 0,
                                                VYRE_PRIORITY_LOW, &op, 1, &diag),
                       VYRE_ERROR_INVALID_ARGUMENT, &diag, "the ring has only 8 slots");
    }
    assert_refused(
        &ring,
        vyre_ring_publish_packed(ring.words, ring_size, 1, 29, VYRE_PRIORITY_LOW, &op, 1, &diag),
        VYRE_ERROR_INVALID_ARGUMENT, &diag, "tenant 29 of slot 1");
    assert_refused(
        &ring,
        vyre_ring_publish_packed(ring.words, ring_size, 1, 0, VYRE_PRIORITY_COUNT, &op, 1, &diag),
        VYRE_ERROR_INVALID_ARGUMENT, &diag, "priority 5 of slot 1");
    for (uint32_t status = 0; status < 12; status++) {
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        ring_set(&ring, 4, status);
        vyre_result code = publish(&ring, &op, 1, &diag);
        if (status == VYRE_STATUS_EMPTY || status == VYRE_STATUS_DONE) {
            assert_int_equal(code, VYRE_OK);
        } else {
            assert_refused(&ring, code, VYRE_ERROR_BUSY, &diag, "slot 4 ");
        }
    }
}

static void test_packed_ops_survive_a_round_trip(void **state)
{
    (void)state;
    uint64_t seed = print_seed("test_packed_ops_survive_a_round_trip");
    test_ring ring;
    for (uint32_t round = 0; round < 20000; round++) {
        vyre_packed_op ops[VYRE_MAX_PACKED_OPS];
        uint32_t args[12], count = 1 + next_random(&seed) % VYRE_MAX_PACKED_OPS, used = 0;
        uint32_t room = 12 - (2 + 2 * count + 3) / 4;
        for (uint32_t i = 0; i < 12; i++) {
            args[i] = next_random(&seed);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t n = next_random(&seed) % 4 ? 0 : next_random(&seed) % (room - used + 1);
            uint32_t opcode = 8 + next_random(&seed) % 248;
            ops[i] = (vyre_packed_op){opcode, args + used, n};
            used += n;
        }
        ring_fill(&ring, VYRE_STATUS_DONE);
        assert_int_equal(publish(&ring, ops, count, NULL), VYRE_OK);
        assert_decodes_to(ring.words + 4 * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS, ops, count);
        assert_only(&ring, 4, 1);
    }
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* Words that are a packed slot's more often than chance would have it. */
static void make_words(uint64_t *seed, uint32_t words[12])
{
    uint32_t kind = next_random(seed) % 4, count = next_random(seed) % 26;
    uint32_t head = (2 + 2 * count + 3) / 4;
    for (uint32_t i = 0; i < 12; i++) {
        words[i] = kind ? 0 : next_random(seed);
    }
    if (!kind) {
        return;
    }
    unsigned char bytes[60] = {(unsigned char)count, 0};
    uint32_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes[2 + 2 * i] = (unsigned char)next_random(seed);
        bytes[3 + 2 * i] = (unsigned char)offset;
        offset += next_random(seed) % 4 == 0;
    }
    bytes[1] = (unsigned char)offset;
    if (kind > 1) {
        bytes[next_random(seed) % (2 + 2 * count)] = (unsigned char)(next_random(seed) % 14);
    }
    for (uint32_t i = 0; i < 48; i++) {
        words[i / 4] |= (uint32_t)bytes[i] << i % 4 * 8;
    }
    for (uint32_t i = head; i < 12 && i < head + offset; i++) {
        words[i] = next_random(seed);
    }
    if (kind == 3) {
        words[next_random(seed) % 12] ^= 1u << next_random(seed) % 32;
    }
}

/* The words and the operations are in blocks of their own: reading beyond them is seen. */
static void test_packed_decode_takes_what_the_encoder_writes_alone(void **state)
{
    (void)state;
    uint64_t seed = print_seed("test_packed_decode_takes_what_the_encoder_writes_alone");
    test_ring ring;
    vyre_diag diag;
    uint32_t taken = 0, refused = 0;
    uint32_t *words = malloc(12 * sizeof *words);
    vyre_packed_op *ops = malloc(VYRE_MAX_PACKED_OPS * sizeof *ops);
    vyre_packed_op untouched[VYRE_MAX_PACKED_OPS];
    memset(untouched, 0x5a, sizeof untouched);
    for (uint32_t round = 0; round < 100000; round++) {
        uint32_t count = 99;
        make_words(&seed, words);
        memcpy(ops, untouched, sizeof untouched);
        if (vyre_packed_decode(words, ops, &count, &diag)) {
            assert_int_equal(diag.code, VYRE_ERROR_INVALID_ARGUMENT);
            assert_non_null(strstr(diag.message, ". Fix: "));
            assert_int_equal(count, 99);
            assert_memory_equal(ops, untouched, sizeof untouched);
            refused++;
            continue;
        }
        ring_fill(&ring, VYRE_STATUS_EMPTY);
        assert_int_equal(publish(&ring, ops, count, &diag), VYRE_OK);
        assert_memory_equal(ring.words + 4 * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS, words, 48);
        taken++;
    }
    print_message("%u taken, %u refused\n", taken, refused);
    assert_true(taken > 5000 && refused > 5000);
    free(words);
    free(ops);
}

static void test_packed_decode_names_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        uint32_t words[12];
        const char *part;
    } cases[] = {
        {{0}, "a count of operations that is not 1 to 23 (0)"},
        {{24}, "a count of operations that is not 1 to 23 (24)"},
        {{255}, "a count of operations that is not 1 to 23 (255)"},
        {{0x00080c01}, "more argument words than fit behind their head (12)"},
        {{0x0008ff01}, "more argument words than fit behind their head (255)"},
        {{0x01080101}, "an offset that does not follow the one before (1)"},
        {{0x00080202, 0x0309}, "an offset that does not follow the one before (3)"},
        {{0x00080303, 0x010a0209}, "an offset that does not follow the one before (1)"},
        {{0x00080002, 0x00010009}, "a byte between head and arguments (1)"},
        {{0x00080101, 7, 1}, "a word behind their arguments (1)"},
        {{0x00080001, [11] = 1}, "a word behind their arguments (1)"},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        vyre_packed_op ops[VYRE_MAX_PACKED_OPS];
        uint32_t count = 5;
        vyre_diag diag;
        assert_int_equal(vyre_packed_decode(cases[i].words, ops, &count, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        if (!strstr(diag.message, cases[i].part)) {
            fail_msg("case %zu: '%s' lacks '%s'", i, diag.message, cases[i].part);
        }
        assert_int_equal(count, 5);
        assert_int_equal(vyre_packed_decode(cases[i].words, ops, &count, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
    }
    static const uint32_t full[12] = {0x00080b01, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const vyre_packed_op op = {8, full + 1, 11};
    assert_decodes_to(full, &op, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_words_are_laid_out_as_documented),
        cmocka_unit_test(test_packed_counts_have_limits),
        cmocka_unit_test(test_packed_words_have_a_limit),
        cmocka_unit_test(test_packed_opcodes_fit_in_a_byte),
        cmocka_unit_test(test_packed_slots_obey_the_ring),
        cmocka_unit_test(test_packed_ops_survive_a_round_trip),
        cmocka_unit_test(test_packed_decode_takes_what_the_encoder_writes_alone),
        cmocka_unit_test(test_packed_decode_names_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
