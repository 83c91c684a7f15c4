/* Buffers of gigabytes by addresses: every 64-bit offset that kernels, fills and copies make lands
 * where it should, and nowhere else. VYRE_SOAK_LARGE: sizes in MiB, such as 2253,4600,9300 on a GPU
 * with that much memory; a size that
 * the device has no room for is named and passed over. */
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_PROBES 4096u
#define WORD       0x5eed0001u

static const char poke_text[] = "program poke\nworkgroup 64\n"
                                "inout x : u32[]\nin at : u32[]\ninout y : u32[len(at)]\n"
                                "kernel {\n"
                                "  if gid.x < len(at) {\n"
                                "    let i = at[gid.x]\n"
                                "    y[gid.x] = x[i]\n"
                                "    x[i] = i ^ 0xa5a5a5a5\n"
                                "    atomic_add(x[i], 1)\n"
                                "  }\n"
                                "}\n";

/* `out` is made zero first, by kernels, and has a few elements of its own after. */
static const char zero_text[] = "program zero\nworkgroup 64\n"
                                "out x : u32[]\nin at : u32[]\n"
                                "kernel { if gid.x < len(at) { x[at[gid.x]] = gid.x + 1 } }\n";

typedef struct probes {
    uint32_t at[MAX_PROBES], count;
} probes;

static void add(probes *p, uint64_t element, uint64_t length)
{
    bool is_new = p->count < MAX_PROBES && element <= UINT32_MAX && element < length;
    for (uint32_t i = 0; i < p->count && is_new; i++) {
        is_new = p->at[i] != element;
    }
    if (is_new) {
        p->at[p->count++] = (uint32_t)element;
    }
}

/* The edges of 2^k bytes and elements, the ends, and places all over; no two are neighbours but at
 * edges. */
static void choose(probes *p, uint64_t length)
{
    p->count = 0;
    for (uint32_t k = 8; k < 33; k++) {
        for (uint64_t d = 0; d < 3; d++) {
            add(p, ((uint64_t)1 << k) - 1 + d, length);
        }
    }
    add(p, 0, length);
    add(p, length - 1, length);
    uint64_t step = length / 3000 | 1;
    for (uint64_t i = step; i < length && p->count < MAX_PROBES - 1; i += step) {
        add(p, i, length);
    }
}

static bool is_probe(const probes *p, uint64_t element)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->at[i] == element) {
            return true;
        }
    }
    return false;
}

/* Each probe and its neighbours, by downloads, which have nothing to do with kernels' offsets. */
static void check(vyre_device *device, vyre_buffer buffer, const probes *p, uint64_t length,
                  uint32_t filled, bool is_numbered)
{
    vyre_diag diag;
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t first = p->at[i] ? p->at[i] - 1 : 0;
        uint64_t count = first + 3 <= length ? 3 : length - first;
        uint32_t words[3];
        if (vyre_buffer_download(device, buffer, 4 * first, words, 4 * count, &diag) != VYRE_OK) {
            fail_msg("%s", diag.message);
        }
        for (uint64_t w = 0; w < count; w++) {
            uint64_t element = first + w;
            uint32_t expected = filled;
            if (element == p->at[i]) {
                expected = is_numbered ? i + 1 : (p->at[i] ^ 0xa5a5a5a5u) + 1;
            } else if (is_probe(p, element)) {
                continue;
            }
            if (words[w] != expected) {
                fail_msg("element %llu is 0x%x and not 0x%x", (unsigned long long)element,
                         (unsigned)words[w], (unsigned)expected);
            }
        }
    }
}

static bool make_buffer(vyre_device *device, uint64_t size, vyre_buffer *out)
{
    vyre_buffer_params params;
    vyre_diag diag;
    vyre_buffer_params_init(&params);
    params.size = size;
    params.name = "large";
    vyre_result code = vyre_buffer_create(device, &params, out, &diag);
    if (code != VYRE_OK) {
        print_message("%llu MiB: %s\n", (unsigned long long)(size >> 20), diag.message);
    }
    return code == VYRE_OK;
}

static void run_size(vyre_device *device, uint64_t size)
{
    static probes p;
    static uint32_t y[MAX_PROBES];
    uint64_t length = size / 4;
    vyre_buffer buffer;
    vyre_diag diag;
    if (!make_buffer(device, size, &buffer)) {
        return;
    }
    choose(&p, length);
    print_message("%llu MiB, %u probes\n", (unsigned long long)(size >> 20), (unsigned)p.count);
    if (vyre_buffer_fill(device, buffer, 0, size, WORD, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    engine_program poke = engine_build_bound(device, poke_text, VYRE_BINDINGS_ADDRESS);
    vyre_binding bindings[3] = {engine_resident(buffer, 0, VYRE_COUNT_DECLARED),
                                engine_host_in(p.at, p.count), engine_host_inout(y, p.count)};
    vyre_dispatch_params params = engine_elements(bindings, 3, p.count);
    vyre_report report = must_dispatch(&poke, &params);
    assert_string_equal(report.bindings, "address");
    for (uint32_t i = 0; i < p.count; i++) {
        assert_int_equal(y[i], WORD);
    }
    check(device, buffer, &p, length, WORD, false);
    engine_release(&poke);

    engine_program zero = engine_build_bound(device, zero_text, VYRE_BINDINGS_ADDRESS);
    params = engine_elements(bindings, 2, p.count);
    (void)must_dispatch(&zero, &params);
    check(device, buffer, &p, length, 0, true);
    engine_release(&zero);
    must_destroy(device, &buffer);
}

static void soak_large(void **state)
{
    (void)state;
    NEED_DEVICE();
    const char *text = getenv("VYRE_SOAK_LARGE");
    text = text ? text : "2253";
    vyre_device *device = engine_open(0);
    while (*text) {
        char *end = NULL;
        unsigned long long mib = strtoull(text, &end, 10);
        assert_true(end != text && mib > 0 && mib < 1u << 24);
        run_size(device, (uint64_t)mib << 20);
        text = *end == ',' ? end + 1 : end;
    }
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(soak_large, engine_reset, engine_nothing_alive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
