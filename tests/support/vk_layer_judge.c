/* The layer's part about what runs: submissions and waits in the order in which they were made, and
 * their commands handed to the judge of barriers. A command buffer that reaches memory by addresses
 * is judged once it has ended, when its argument blocks hold what the device has read. */
#include "codegen/spirv/interface.h"
#include "tests/support/vk_layer_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIGNALS 8192u /* the newest */

typedef enum item_kind { SUBMITTED, HOST_WAITED, QUEUE_WAITED } item_kind;

typedef struct item {
    item_kind kind;
    uint64_t serial;
    uint64_t dst_stages;
    layer_stream *stream;
} item;

/* A semaphore's value, or a fence's state, and the submission that makes it. */
typedef struct signal {
    uint64_t handle, value, serial;
} signal;

static item *items;
static uint32_t item_count, item_room;
static signal signals[MAX_SIGNALS];
static uint64_t signal_count, last_serial, ended, told;
static hazard *judge;
static uint32_t judged, unjudged;
static uint64_t seen_value; /* the last that a wait was for */
static uint32_t looks;

static void push_item(item it)
{
    if (item_count == item_room) {
        uint32_t room = item_room ? 2 * item_room : 256;
        item *grown = realloc(items, room * sizeof *grown);
        if (!grown) {
            return;
        }
        items = grown;
        item_room = room;
    }
    items[item_count++] = it;
}

/* ---- Judging --------------------------------------------------------------------------------- */

static bool read_address(const layer_buffer *block, uint64_t offset, uint64_t *out)
{
    return block && layer_buffer_read(block, offset, out, sizeof *out) && *out != 0;
}

#define MAX_KIN 64u /* commands at both ends of a stream: transfers, and the segments of a pass */

/* The least address behind `address` that the command's bindings begin at, or `end`. */
static uint64_t next_address(const layer_command *c, uint64_t address, uint64_t end)
{
    for (uint32_t i = 0; i < c->behind_count; i++) {
        const spirv_touch *t = &c->behind[i];
        uint64_t other = 0;
        const layer_buffer *block = layer_buffer_numbered(c->block.buffer);
        if (block && read_address(block, c->block.begin + t->at, &other) && other > address &&
            other < end) {
            end = other;
        }
    }
    return end;
}

/* Where nothing is known of the program, bindings end where the next address, or the buffer,
 * begins. A command has the addresses that it uses, so that others' count too. */
static uint64_t end_of(const layer_stream *s, const layer_buffer *target, uint64_t address)
{
    uint64_t end = target->address + target->size;
    for (uint32_t k = 0; k < s->count; k++) {
        if (k < MAX_KIN || s->count - k <= MAX_KIN) {
            end = next_address(&s->commands[k], address, end);
        }
    }
    return end - target->address;
}

bool layer_turn(const layer_buffer *block, uint64_t offset, uint32_t *out_turn, uint32_t *out_leads)
{
    return block &&
           layer_buffer_read(block, offset + 4 * (uint64_t)VY_PARAM_TURN, out_turn,
                             sizeof *out_turn) &&
           layer_buffer_read(block, offset + 4 * (uint64_t)VY_PARAM_LEADS, out_leads,
                             sizeof *out_leads);
}

/* The word of the block with the length of the binding whose address is at that byte; 0: that is
 * not known. */
static uint32_t length_word(const layer_command *c, uint32_t at)
{
    uint32_t first = vy_param_addresses(c->bindings, c->params);
    uint32_t binding = (at / 4 - first) / 2;
    return c->has_counts && binding < c->bindings ? VY_PARAM_LENGTHS + binding : 0;
}

static void add_range(layer_command *out, const layer_buffer *buffer, uint64_t begin, uint64_t end,
                      const spirv_touch *t)
{
    end = end < buffer->size ? end : buffer->size;
    if (t->reads) {
        (void)layer_add_access(out, buffer->serial, begin, end, HAZARD_COMPUTE_READ);
    }
    if (t->writes) {
        (void)layer_add_access(out, buffer->serial, begin, end, HAZARD_COMPUTE_WRITE);
    }
}

/* Words that may lie in several buffers. */
static bool add_words(layer_command *out, uint64_t address, uint64_t count, const spirv_touch *t)
{
    while (count > 0) {
        const layer_buffer *target = layer_buffer_at(address);
        uint64_t begin = target ? address - target->address : 0;
        uint64_t room = target ? (target->size - begin) / 4 : 0;
        uint64_t words = count < room ? count : room;
        if (words == 0) {
            return false;
        }
        add_range(out, target, begin, begin + 4 * words, t);
        address += 4 * words;
        count -= words;
    }
    return true;
}

/* Of a gather, the words that its table names: bindings source, table, target. */
static bool follow_table(const layer_buffer *block, uint64_t offset, uint32_t at,
                         const spirv_touch *t, layer_command *out)
{
    uint32_t first = vy_param_addresses(3, 0), binding = (at / 4 - first) / 2, words = 0;
    uint64_t table = 0, base = 0;
    if (!read_address(block, offset + 4 * ((uint64_t)first + 2), &table) ||
        !read_address(block, offset + at, &base) ||
        !layer_buffer_read(block, offset + 4 * (VY_PARAM_LENGTHS + 1), &words, sizeof words)) {
        return false;
    }
    const layer_buffer *list = layer_buffer_at(table);
    for (uint32_t i = binding == 0 ? 0 : 1; list && i < words;) {
        uint32_t place = 0, next = 0, run = 0;
        do { /* places mostly follow each other */
            if (!layer_buffer_read(list, table - list->address + 4 * (uint64_t)i, &next,
                                   sizeof next)) {
                return false;
            }
            place = run ? place : next;
            if (next != place + run) {
                break;
            }
            run++;
            i += 2;
        } while (i < words);
        if (!add_words(out, base + 4 * (uint64_t)place, run, t)) {
            return false;
        }
    }
    return list != NULL;
}

/* What `c` touches through addresses; false: that cannot be told. */
static bool follow_addresses(const layer_stream *s, const layer_command *c, layer_command *out)
{
    const layer_buffer *block = layer_buffer_numbered(c->block.buffer);
    uint64_t offset = c->block.begin;
    for (uint32_t i = 0; i < c->behind_count; i++) {
        const spirv_touch *t = &c->behind[i];
        uint64_t address = 0;
        if (!read_address(block, offset + t->at, &address)) {
            return false;
        }
        if (c->is_gather && (t->at / 4 - vy_param_addresses(3, 0)) / 2 != 1) {
            if (!follow_table(block, offset, t->at, t, out)) {
                return false;
            }
            continue;
        }
        const layer_buffer *target = layer_buffer_at(address);
        if (!target) {
            return false;
        }
        uint64_t begin = address - target->address, end = 0;
        if (t->is_state) {
            uint64_t first = 0;
            uint32_t turn = 0, leads = 0;
            if (!layer_turn(block, offset, &turn, &leads)) {
                return false;
            }
            if (spirv_state_range(t, turn, leads, &first, &end)) {
                add_range(out, target, begin + first, begin + end, t);
            }
            continue;
        }
        end = end_of(s, target, address);
        uint32_t words = 0, word = length_word(c, t->at);
        if (word && layer_buffer_read(block, offset + (uint64_t)word * sizeof words, &words,
                                      sizeof words)) {
            end = begin + (uint64_t)words * sizeof words;
        }
        add_range(out, target, begin, end, t);
    }
    return true;
}

static void judge_command(const layer_stream *s, const layer_command *c, const char *what)
{
    layer_command all = {.access_count = 0};
    bool known = !c->is_unknown;
    for (uint32_t i = 0; i < c->access_count; i++) {
        const hazard_access *a = &c->accesses[i];
        (void)layer_add_access(&all, a->buffer, a->begin, a->end, a->use);
    }
    known = known && follow_addresses(s, c, &all);
    if (!known) {
        unjudged++;
        (void)layer_add_access(&all, 0, 0, UINT64_MAX, HAZARD_COMPUTE_READ);
        (void)layer_add_access(&all, 0, 0, UINT64_MAX, HAZARD_COMPUTE_WRITE);
    }
    judged++;
    hazard_command(judge, what, all.accesses, all.access_count);
    free(all.accesses);
}

static void judge_stream(const layer_stream *s, uint64_t serial)
{
    static const char *const names[] = {[LAYER_DISPATCH] = "dispatch",
                                        [LAYER_INDIRECT] = "indirect dispatch",
                                        [LAYER_BARRIER] = "barrier",
                                        [LAYER_FILL] = "fill",
                                        [LAYER_COPY] = "copy"};
    for (uint32_t i = 0; i < s->count; i++) {
        const layer_command *c = &s->commands[i];
        char what[96];
        if (c->kind == LAYER_BEGIN) {
            if (c->secondary && c->secondary != s) {
                judge_stream(c->secondary, serial);
            }
            continue;
        }
        snprintf(what, sizeof what, "%s (command %u of %u in submission %llu)", names[c->kind],
                 (unsigned)i, (unsigned)s->count, (unsigned long long)serial);
        if (c->kind == LAYER_BARRIER) {
            judged++;
            hazard_barriers(judge, what, c->barriers, c->barrier_count);
        } else if (!c->touches_nothing) {
            judge_command(s, c, what);
        }
    }
}

static bool has_addresses(const layer_stream *s)
{
    bool has = s->has_addresses;
    for (uint32_t i = 0; i < s->count && !has; i++) {
        has = s->commands[i].secondary && s->commands[i].secondary->has_addresses;
    }
    return has;
}

void layer_settle(bool force)
{
    uint32_t done = 0;
    if (!judge) {
        judge = hazard_create();
    }
    for (; judge && done < item_count; done++) {
        const item *it = &items[done];
        if (it->kind == HOST_WAITED) {
            hazard_host_wait(judge, it->serial);
        } else if (it->kind == QUEUE_WAITED) {
            hazard_semaphore_wait(judge, it->serial, it->dst_stages);
        } else if (force || it->serial <= ended || !has_addresses(it->stream)) {
            hazard_begin_commands(judge, it->serial);
            judge_stream(it->stream, it->serial);
            hazard_end_commands(judge);
        } else {
            break;
        }
    }
    item_count -= done;
    if (item_count && done) {
        memmove(items, items + done, item_count * sizeof *items);
    }
}

void layer_forget_hazards(void)
{
    layer_lock();
    layer_settle(true);
    hazard_destroy(judge);
    judge = NULL;
    judged = unjudged = 0;
    layer_unlock();
}

void layer_reset_judge(void)
{
    item_count = 0;
    signal_count = last_serial = ended = told = 0;
    seen_value = looks = 0;
    layer_forget_hazards();
}

uint32_t layer_hazards(bool print)
{
    const hazard_fault *faults = NULL;
    uint32_t listed = 0, count = 0;
    layer_lock();
    layer_settle(true);
    count = judge ? hazard_faults(judge, &faults, &listed) : 0;
    for (uint32_t i = 0; print && i < listed; i++) {
        fprintf(stderr, "hazard: %s\n", faults[i].text);
    }
    layer_unlock();
    return count;
}

uint32_t layer_missing(bool print)
{
    const hazard_fault *faults = NULL;
    uint32_t listed = 0, count = 0;
    layer_lock();
    layer_settle(true);
    (void)(judge && hazard_faults(judge, &faults, &listed));
    for (uint32_t i = 0; i < listed; i++) {
        bool is_meant = faults[i].kind != HAZARD_NEEDLESS_BARRIER;
        count += is_meant;
        if (print && is_meant) {
            fprintf(stderr, "hazard: %s\n", faults[i].text);
        }
    }
    layer_unlock();
    return count;
}

uint32_t layer_unjudged(void)
{
    return unjudged;
}

uint32_t layer_judged(void)
{
    return judged;
}

/* ---- Submissions ----------------------------------------------------------------------------- */

static void note_signal(uint64_t handle, uint64_t value, uint64_t serial)
{
    signals[signal_count++ % MAX_SIGNALS] = (signal){handle, value, serial};
}

/* The last submission that has ended once the semaphore has this value. */
static uint64_t serial_of(uint64_t handle, uint64_t value)
{
    uint64_t serial = 0;
    for (uint32_t i = 0; i < MAX_SIGNALS && i < signal_count; i++) {
        if (signals[i].handle == handle && signals[i].value <= value &&
            signals[i].serial > serial) {
            serial = signals[i].serial;
        }
    }
    return serial;
}

static void note_end(uint64_t serial)
{
    ended = serial > ended ? serial : ended;
    if (serial > told) {
        told = serial;
        push_item((item){.kind = HOST_WAITED, .serial = serial});
    }
    layer_settle(false);
}

static const VkTimelineSemaphoreSubmitInfo *timeline_of(const VkSubmitInfo *info)
{
    const VkBaseInStructure *at = info->pNext;
    while (at && at->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) {
        at = at->pNext;
    }
    return (const VkTimelineSemaphoreSubmitInfo *)(const void *)at;
}

static void note_submit(const VkSubmitInfo *info)
{
    const VkTimelineSemaphoreSubmitInfo *timeline = timeline_of(info);
    for (uint32_t i = 0; i < info->waitSemaphoreCount; i++) {
        uint64_t value = timeline && i < timeline->waitSemaphoreValueCount
                             ? timeline->pWaitSemaphoreValues[i]
                             : 0;
        uint64_t serial = serial_of((uint64_t)info->pWaitSemaphores[i], value);
        if (serial) {
            push_item((item){
                .kind = QUEUE_WAITED, .serial = serial, .dst_stages = info->pWaitDstStageMask[i]});
        }
    }
    last_serial++;
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        layer_stream *s = layer_stream_of(info->pCommandBuffers[i]);
        if (s) {
            push_item((item){.kind = SUBMITTED, .serial = last_serial, .stream = s});
        }
    }
    for (uint32_t i = 0; i < info->signalSemaphoreCount; i++) {
        uint64_t value = timeline && i < timeline->signalSemaphoreValueCount
                             ? timeline->pSignalSemaphoreValues[i]
                             : 0;
        note_signal((uint64_t)info->pSignalSemaphores[i], value, last_serial);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                         const VkSubmitInfo *infos, VkFence fence)
{
    if (layer_fails("vkQueueSubmit")) {
        return layer_failure();
    }
    layer_lock();
    VkResult result = layer_below.vkQueueSubmit(queue, count, infos, fence);
    layer_log(LAYER_SUBMIT);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        note_submit(&infos[i]);
    }
    if (result == VK_SUCCESS && fence) {
        note_signal((uint64_t)fence, 0, last_serial);
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkWaitSemaphores(VkDevice device,
                                                            const VkSemaphoreWaitInfo *info,
                                                            uint64_t timeout)
{
    if (layer_fails("vkWaitSemaphores")) {
        return layer_failure();
    }
    if (layer.timeouts) {
        layer.timeouts--;
        return VK_TIMEOUT;
    }
    VkResult result = layer_below.vkWaitSemaphores(device, info, timeout);
    layer_lock();
    bool any = info->flags & VK_SEMAPHORE_WAIT_ANY_BIT && info->semaphoreCount > 1;
    for (uint32_t i = 0; result == VK_SUCCESS && !any && i < info->semaphoreCount; i++) {
        note_end(serial_of((uint64_t)info->pSemaphores[i], info->pValues[i]));
        seen_value = info->pValues[i] > seen_value ? info->pValues[i] : seen_value;
        looks = 0;
    }
    layer_unlock();
    return result;
}

#define MAX_LOOKS 20000u

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkGetSemaphoreCounterValue(VkDevice device,
                                                                      VkSemaphore semaphore,
                                                                      uint64_t *out)
{
    if (layer_fails("vkGetSemaphoreCounterValue")) {
        return layer_failure();
    }
    VkResult result = layer_below.vkGetSemaphoreCounterValue(device, semaphore, out);
    layer_lock();
    bool slow = layer.slow_polls || layer.timeouts ||
                (layer.fail_only && strcmp(layer.fail_only, "vkWaitSemaphores") == 0);
    if (result == VK_SUCCESS && slow && *out > seen_value && ++looks < MAX_LOOKS) {
        *out = seen_value;
    } else if (result == VK_SUCCESS) {
        note_end(serial_of((uint64_t)semaphore, *out));
    }
    layer_unlock();
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkWaitForFences(VkDevice device, uint32_t count,
                                                           const VkFence *fences, VkBool32 all,
                                                           uint64_t timeout)
{
    if (layer_fails("vkWaitForFences")) {
        return layer_failure();
    }
    VkResult result = layer_below.vkWaitForFences(device, count, fences, all, timeout);
    layer_lock();
    for (uint32_t i = 0; result == VK_SUCCESS && (all || count == 1) && i < count; i++) {
        note_end(serial_of((uint64_t)fences[i], 0));
    }
    layer_unlock();
    return result;
}

static void note_idle(VkResult result)
{
    layer_lock();
    if (result == VK_SUCCESS) {
        note_end(last_serial);
    }
    layer_unlock();
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkDeviceWaitIdle(VkDevice device)
{
    if (layer_fails("vkDeviceWaitIdle")) {
        return layer_failure();
    }
    VkResult result = layer_below.vkDeviceWaitIdle(device);
    note_idle(result);
    return result;
}

VkResult layer_wait_idle(void)
{
    return wrap_vkDeviceWaitIdle(layer_device());
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_vkQueueWaitIdle(VkQueue queue)
{
    if (layer_fails("vkQueueWaitIdle")) {
        return layer_failure();
    }
    VkResult result = layer_below.vkQueueWaitIdle(queue);
    note_idle(result);
    return result;
}

PFN_vkVoidFunction layer_find_judge(const char *name)
{
    LAYER_TAKE(vkQueueSubmit)
    LAYER_TAKE(vkWaitSemaphores)
    LAYER_TAKE(vkGetSemaphoreCounterValue)
    LAYER_TAKE(vkWaitForFences)
    LAYER_TAKE(vkDeviceWaitIdle)
    LAYER_TAKE(vkQueueWaitIdle)
    return NULL;
}
