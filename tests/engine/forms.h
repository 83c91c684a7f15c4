/* Tests of the engine that hold whatever way kernels reach their buffers: by descriptors on a
 * validated device, by addresses on one that is not. */
#ifndef VY_TESTS_FORMS_H
#define VY_TESTS_FORMS_H

#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FORM_DESCRIPTOR, FORM_ADDRESS, FORM_COUNT };

/* Calls `body` with a device of each form, which must leave nothing behind. `heaps`: of the layer.
 */
static inline void in_each_form(layer_heaps heaps, void (*body)(vyre_device *device, int form))
{
    for (int form = 0; !engine_has_no_device() && form < FORM_COUNT; form++) {
        layer_reset();
        layer.heaps = heaps;
        /* The layer does not know how long what lies behind an address is. */
        layer.no_judge = form == FORM_ADDRESS;
        vyre_device *device = engine_open(form == FORM_DESCRIPTOR);
        vyre_device_info info;
        vyre_device_get_info(device, &info);
        if (form == FORM_DESCRIPTOR || info.has_addresses) {
            body(device, form);
        }
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
    }
}

/* A run in that form says so. */
static inline void check_form(const vyre_report *report, int form, int validates)
{
    if (form == FORM_ADDRESS || validates) {
        assert_int_equal(strcmp(report->bindings, "address") == 0, form == FORM_ADDRESS);
    }
}

static inline void read_words(vyre_device *device, vyre_buffer buffer, uint64_t offset,
                              uint32_t *out, uint32_t count)
{
    vyre_diag diag;
    if (vyre_buffer_download(device, buffer, offset, out, (uint64_t)count * 4, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

static inline void write_words(vyre_device *device, vyre_buffer buffer, const uint32_t *words,
                               uint32_t count)
{
    vyre_diag diag;
    if (vyre_buffer_upload(device, buffer, 0, words, (uint64_t)count * 4, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

static inline void fill_words(vyre_device *device, vyre_buffer buffer, uint64_t size, uint32_t word)
{
    vyre_diag diag;
    if (vyre_buffer_fill(device, buffer, 0, size, word, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

#endif
