/* See gate.h. */
#include "tests/engine/gate.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

const char gate_add_text[] = "program add\nworkgroup 8\ngrid over x\n"
                             "in x : u32[]\nout y : u32[len(x)]\nparam k : u32\n"
                             "kernel { y[gid.x] = x[gid.x] * 3 + k }\n";

const char gate_countdown_text[] = "program countdown\nworkgroup 1\n"
                                   "fixpoint 100000 until changed\n"
                                   "inout a : u32[3]\n"
                                   "scratch changed : u32[1]\n"
                                   "kernel {\n"
                                   "  if a[0] != 0 { a[0] = a[0] - 1  changed[0] = 1 }\n"
                                   "  grid_sync\n"
                                   "  a[1] = a[1] + 1\n"
                                   "}\n";

static void print_log(void *user, const vyre_log_message *message)
{
    (void)user;
    print_message("%s: %s\n", message->id, message->text);
}

vyre_device *gate_open_device(const gate_wishes *wishes)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = wishes->entry ? wishes->entry : layer_entry();
    params.validation =
        wishes->validate && engine_validates() ? VYRE_VALIDATION_ON : VYRE_VALIDATION_OFF;
    params.driver_thread = wishes->driver_thread;
    params.debug = wishes->debug;
    params.allocator = wishes->allocator;
    params.log = print_log;
    vyre_device *device = NULL;
    vyre_diag diag;
    if (vyre_device_create(&params, &device, &diag) != VYRE_OK) {
        fail_msg("no device: %s", diag.message);
    }
    return device;
}

void gate_create(vyre_device *device, gate *out)
{
    *out = (gate){.device = device};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    assert_int_equal(device->vk.vkCreateSemaphore(device->device, &info, NULL, &out->semaphore),
                     VK_SUCCESS);
}

void gate_destroy(gate *g)
{
    g->device->vk.vkDestroySemaphore(g->device->device, g->semaphore, NULL);
    g->semaphore = VK_NULL_HANDLE;
}

const vyre_host_sync *gate_close(gate *g)
{
    g->point = (vyre_semaphore_point){g->semaphore, g->value + 1};
    g->sync = (vyre_host_sync){.wait_count = 1, .waits = &g->point};
    return &g->sync;
}

void gate_open(gate *g)
{
    PFN_vkSignalSemaphore signal = (PFN_vkSignalSemaphore)g->device->vki.vkGetDeviceProcAddr(
        g->device->device, "vkSignalSemaphore");
    VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                  .semaphore = g->semaphore,
                                  .value = ++g->value};
    assert_non_null(signal);
    assert_int_equal(signal(g->device->device, &info), VK_SUCCESS);
}

vyre_ticket gate_start(const engine_program *program, const vyre_dispatch_params *params)
{
    vyre_ticket ticket;
    vyre_diag diag;
    if (vyre_dispatch_async(program->pipeline, params, &ticket, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_true(ticket.bits != 0);
    return ticket;
}
