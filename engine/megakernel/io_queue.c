/* Requests of input and output that one side publishes and another claims, serves and completes.
 * Owns nothing: reads and writes the caller's memory. The status word of a request says whose its
 * other words are, so it is written last and read first, atomically. */
#include "engine/megakernel/atomic_word.h"

#include <stdio.h>

#define REQUEST_SIZE (4u * VYRE_IO_WORDS)

static vyre_result invalid(vyre_diag *diag, const char *message)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0}, "%s", message);
}

static size_t status_word(size_t index)
{
    return index * VYRE_IO_WORDS + VYRE_IO_STATUS;
}

typedef struct status_text {
    char text[32];
} status_text;

static status_text text_of(uint32_t status)
{
    static const char *const names[VYRE_STATUS_COUNT] = {
        "EMPTY", "PUBLISHED", "CLAIMED", "DONE", "WAIT_IO", "YIELD", "REQUEUE", "FAULT"};
    status_text out;
    const char *name = status == VYRE_IO_OK ? "OK" : status == VYRE_IO_ERROR ? "ERROR" : NULL;
    if (status < VYRE_STATUS_COUNT) {
        name = names[status];
    }
    if (name) {
        snprintf(out.text, sizeof out.text, "%s", name);
    } else {
        snprintf(out.text, sizeof out.text, "of unknown status %u", status);
    }
    return out;
}

vyre_result vyre_io_check(const void *queue, size_t size, vyre_diag *diag)
{
    vyre_result code = vy_mk_check_memory(queue, size, REQUEST_SIZE, "an I/O queue", diag);
    if (code == VYRE_OK && size / REQUEST_SIZE > VYRE_MAX_IO_SLOTS) {
        code = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "an I/O queue has %zu requests where at most %u are allowed. Fix: use "
                           "several queues",
                           size / REQUEST_SIZE, VYRE_MAX_IO_SLOTS);
    }
    return code;
}

static vyre_result check_index(const void *queue, size_t size, uint32_t index, vyre_diag *diag)
{
    vyre_result code = vyre_io_check(queue, size, diag);
    if (code == VYRE_OK && index >= size / REQUEST_SIZE) {
        code = vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "there is no request %u in an I/O queue of %zu. Fix: name one that the "
                           "queue has, or pass all of it",
                           index, size / REQUEST_SIZE);
    }
    return code;
}

vyre_result vyre_io_clear(void *queue, size_t size, vyre_diag *diag)
{
    vyre_result code = vyre_io_check(queue, size, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (size == 0) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "an I/O queue to clear has 0 requests. Fix: give it 1 to %u, of %u "
                           "bytes each",
                           VYRE_MAX_IO_SLOTS, REQUEST_SIZE);
    }
    for (size_t i = 0; i < size / REQUEST_SIZE; i++) {
        for (size_t w = 0; w < VYRE_IO_WORDS; w++) {
            if (w != VYRE_IO_STATUS) {
                vy_mk_put(queue, i * VYRE_IO_WORDS + w, 0);
            }
        }
        vy_mk_store_word(queue, status_word(i), VYRE_STATUS_EMPTY);
    }
    return VYRE_OK;
}

static vyre_result check_request(const vyre_io_request *request, vyre_diag *diag)
{
    if (!request) {
        return invalid(diag, "request is NULL. Fix: pass the request to publish");
    }
    if (request->op != VYRE_IO_READ && request->op != VYRE_IO_WRITE &&
        request->op != VYRE_IO_FENCE) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u is no operation of a request. Fix: use READ (%d), WRITE (%d) or "
                           "FENCE (%d)",
                           (unsigned)request->op, VYRE_IO_READ, VYRE_IO_WRITE, VYRE_IO_FENCE);
    }
    return VYRE_OK;
}

vyre_result vyre_io_publish(void *queue, size_t size, uint32_t index,
                            const vyre_io_request *request, vyre_diag *diag)
{
    vyre_result code = check_index(queue, size, index, diag);
    if (code == VYRE_OK) {
        code = check_request(request, diag);
    }
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t status = vy_mk_load_word(queue, status_word(index));
    if (status != VYRE_STATUS_EMPTY) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "request %u is %s, and only an EMPTY one can be published. Fix: wait "
                           "for its completion and release it, or use another",
                           index, text_of(status).text);
    }
    size_t first = (size_t)index * VYRE_IO_WORDS;
    vy_mk_put(queue, first + VYRE_IO_OP, (uint32_t)request->op);
    vy_mk_put(queue, first + VYRE_IO_SOURCE, request->source);
    vy_mk_put(queue, first + VYRE_IO_TARGET, request->target);
    vy_mk_put(queue, first + VYRE_IO_OFFSET_LOW, (uint32_t)request->offset);
    vy_mk_put(queue, first + VYRE_IO_OFFSET_HIGH, (uint32_t)(request->offset >> 32));
    vy_mk_put(queue, first + VYRE_IO_SIZE, request->size);
    vy_mk_put(queue, first + VYRE_IO_TAG, request->tag);
    vy_mk_store_word(queue, status_word(index), VYRE_STATUS_PUBLISHED);
    return VYRE_OK;
}

vyre_result vyre_io_poll(const void *queue, size_t size, uint32_t out_indices[VYRE_MAX_IO_SLOTS],
                         uint32_t *out_count, vyre_diag *diag)
{
    vyre_result code = vyre_io_check(queue, size, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (!out_indices || !out_count) {
        return invalid(diag, "out_indices or out_count is NULL. Fix: pass where the indices and "
                             "their count go");
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < size / REQUEST_SIZE; i++) {
        if (vy_mk_load_word(queue, status_word(i)) == VYRE_STATUS_PUBLISHED) {
            out_indices[count++] = i;
        }
    }
    *out_count = count;
    return VYRE_OK;
}

vyre_result vyre_io_claim(void *queue, size_t size, uint32_t index, vyre_io_request *out_request,
                          vyre_diag *diag)
{
    vyre_result code = check_index(queue, size, index, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (!out_request) {
        return invalid(diag, "out_request is NULL. Fix: pass where the request goes");
    }
    uint32_t status = VYRE_STATUS_PUBLISHED;
    if (!vy_mk_swap_word(queue, status_word(index), &status, VYRE_STATUS_CLAIMED)) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "request %u is %s, and only a PUBLISHED one can be claimed. Fix: leave "
                           "it to who claimed it, and poll again",
                           index, text_of(status).text);
    }
    size_t first = (size_t)index * VYRE_IO_WORDS;
    uint64_t high = vy_mk_get(queue, first + VYRE_IO_OFFSET_HIGH);
    *out_request = (vyre_io_request){
        .op = (vyre_io_op)vy_mk_get(queue, first + VYRE_IO_OP),
        .source = vy_mk_get(queue, first + VYRE_IO_SOURCE),
        .target = vy_mk_get(queue, first + VYRE_IO_TARGET),
        .offset = high << 32 | vy_mk_get(queue, first + VYRE_IO_OFFSET_LOW),
        .size = vy_mk_get(queue, first + VYRE_IO_SIZE),
        .tag = vy_mk_get(queue, first + VYRE_IO_TAG),
    };
    return VYRE_OK;
}

/* *seen: a bit for each request that was named before. */
static vyre_result check_completion(const void *queue, size_t size, uint32_t place,
                                    const vyre_io_completion *completion, uint64_t *seen,
                                    vyre_diag *diag)
{
    uint32_t index = completion->index;
    if (index >= size / REQUEST_SIZE) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "completion %u is of request %u, which an I/O queue of %zu has not. "
                           "Fix: name one that the queue has",
                           place, index, size / REQUEST_SIZE);
    }
    if (completion->status != VYRE_IO_OK && completion->status != VYRE_IO_ERROR) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "completion %u has the status 0x%x. Fix: use OK (0x%x) or ERROR (0x%x)",
                           place, completion->status, VYRE_IO_OK, VYRE_IO_ERROR);
    }
    if (*seen >> index & 1) {
        return vy_diag_set(
            diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
            "completion %u is of request %u, which one before it names as well. Fix: "
            "complete each request once",
            place, index);
    }
    *seen |= (uint64_t)1 << index;
    uint32_t status = vy_mk_load_word(queue, status_word(index));
    if (status != VYRE_STATUS_CLAIMED) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "completion %u is of request %u, which is %s and not CLAIMED. Fix: "
                           "complete what vyre_io_claim gave out, once",
                           place, index, text_of(status).text);
    }
    return VYRE_OK;
}

vyre_result vyre_io_complete(void *queue, size_t size, const vyre_io_completion *completions,
                             uint32_t count, vyre_diag *diag)
{
    vyre_result code = vyre_io_check(queue, size, diag);
    if (code != VYRE_OK) {
        return code;
    }
    if (count > VYRE_MAX_IO_SLOTS) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%u completions are more than the %u requests that a queue may have. "
                           "Fix: complete each request once",
                           count, VYRE_MAX_IO_SLOTS);
    }
    if (count > 0 && !completions) {
        return invalid(diag, "completions is NULL. Fix: pass them, or a count of 0");
    }
    uint64_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        code = check_completion(queue, size, i, &completions[i], &seen, diag);
        if (code != VYRE_OK) {
            return code;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        vy_mk_store_word(queue, status_word(completions[i].index), completions[i].status);
    }
    return VYRE_OK;
}

vyre_result vyre_io_release(void *queue, size_t size, uint32_t index, vyre_diag *diag)
{
    vyre_result code = check_index(queue, size, index, diag);
    if (code != VYRE_OK) {
        return code;
    }
    uint32_t status = vy_mk_load_word(queue, status_word(index));
    if (status == VYRE_STATUS_PUBLISHED || status == VYRE_STATUS_CLAIMED) {
        return vy_diag_set(diag, VYRE_ERROR_BUSY, (vy_loc){0, 0},
                           "request %u is %s, and only one that is OK or ERROR can be released. "
                           "Fix: wait for its completion",
                           index, text_of(status).text);
    }
    if (status != VYRE_IO_OK && status != VYRE_IO_ERROR) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "request %u is %s, and only one that is OK or ERROR can be released. "
                           "Fix: release a request once, behind its completion",
                           index, text_of(status).text);
    }
    vy_mk_store_word(queue, status_word(index), VYRE_STATUS_EMPTY);
    return VYRE_OK;
}
