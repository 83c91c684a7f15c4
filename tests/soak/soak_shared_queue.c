/* A million submissions by two threads on one queue of a host. VYRE_SOAK_SUBMISSIONS: another
 * number. */
#include "tests/support/engine_run.h"
#include "tests/support/shared_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void soak_shared_queue(void **state)
{
    (void)state;
    const char *text = getenv("VYRE_SOAK_SUBMISSIONS");
    unsigned long count = text ? strtoul(text, NULL, 10) : 1000000;
    if (!engine_has_no_device()) {
        shared_queue_run(layer_entry(), (uint32_t)count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(soak_shared_queue)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
