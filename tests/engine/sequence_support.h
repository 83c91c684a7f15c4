/* Steps and sequences, for tests of them. */
#ifndef VY_TESTS_SEQUENCE_SUPPORT_H
#define VY_TESTS_SEQUENCE_SUPPORT_H

#include "tests/engine/forms.h"

/* a[0] counts, a[1] mixes: the order of the steps can be told. */
static const char add_text[] = "program add\nworkgroup 1\ninout a : u32[4]\nparam k : u32\n"
                               "kernel { a[0] = a[0] + 1  a[1] = a[1] * 3 + k }\n";

static inline vyre_step step_of(const engine_program *p, const vyre_binding *bindings,
                                uint32_t count, const uint32_t *params, uint32_t param_count)
{
    vyre_step step = {.pipeline = p->pipeline};
    vyre_dispatch_params_init(&step.dispatch);
    step.dispatch.bindings = bindings;
    step.dispatch.binding_count = count;
    step.dispatch.params = params;
    step.dispatch.param_count = param_count;
    step.dispatch.groups[0] = 1;
    return step;
}

static inline vyre_sequence *make(vyre_device *device, const vyre_sequence_params *params)
{
    vyre_sequence *sequence = NULL;
    vyre_diag diag;
    if (vyre_sequence_create(device, params, &sequence, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return sequence;
}

static inline vyre_report run(vyre_sequence *sequence)
{
    vyre_report report;
    vyre_diag diag;
    if (vyre_sequence_run(sequence, 0, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return report;
}

static const char until_text[] = "program countdown\nworkgroup 1\nfixpoint 100 until changed\n"
                                 "inout a : u32[3]\nscratch changed : u32[1]\n"
                                 "kernel {\n"
                                 "  if a[0] != 0 { a[0] = a[0] - 1  changed[0] = 1 }\n"
                                 "  a[1] = a[1] + 1\n"
                                 "  a[2] = a[2] + pass\n"
                                 "}\n";

#endif
