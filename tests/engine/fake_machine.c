/* See fake_machine.h. */
#include "tests/engine/fake_machine.h"

#include "tests/support/machine.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void run_group(machine *m, const uint32_t size[3])
{
    for (uint32_t i = 0; i < size[0] * size[1] * size[2]; i++) {
        m->local[0] = i % size[0];
        m->local[1] = i / size[0] % size[1];
        m->local[2] = i / size[0] / size[1];
        m->local_index = i;
        machine_run(m);
    }
}

/* The fake's addresses are pointers. */
static uint32_t *find_word(uint64_t address)
{
    return (uint32_t *)(uintptr_t)address;
}

void fake_machine_execute(const fake_dispatch *d)
{
    machine m;
    machine_init(&m, d->words, d->word_count);
    for (uint32_t b = 0; b < MACHINE_MAX_BINDINGS && b < FAKE_MAX_BINDINGS; b++) {
        m.buffers[b].words = d->bindings[b].words;
        m.buffers[b].count = d->bindings[b].count;
    }
    for (uint32_t i = 0; i < COUNT_OF(m.spec) && i < FAKE_MAX_SPEC; i++) {
        m.spec[i] = d->spec[i];
        m.has_spec[i] = d->has_spec[i];
    }
    memcpy(m.push, d->push, sizeof m.push);
    m.find = find_word;
    memcpy(m.launched, d->groups, sizeof m.launched);
    uint32_t size[3];
    for (uint32_t i = 0; i < 3; i++) {
        size[i] = d->has_spec[i] && d->spec[i] ? d->spec[i] : 1;
    }
    for (m.workgroup[2] = 0; m.workgroup[2] < d->groups[2]; m.workgroup[2]++) {
        for (m.workgroup[1] = 0; m.workgroup[1] < d->groups[1]; m.workgroup[1]++) {
            for (m.workgroup[0] = 0; m.workgroup[0] < d->groups[0]; m.workgroup[0]++) {
                run_group(&m, size);
            }
        }
    }
    machine_finish(&m);
}

void fake_machine_reset(void)
{
    fake_reset();
    fake.execute = fake_machine_execute;
}
