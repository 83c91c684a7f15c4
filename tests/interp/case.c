/* Parsing, binding and running for the interpreter's tests. */
#include "tests/interp/case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

vyre_program *interp_case_parse(const char *text)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_result result = vyre_program_parse(text, strlen(text), "test", NULL, &program, &diag);
    if (result != VYRE_OK) {
        fail_msg("%u:%u: %s\n%s", diag.line, diag.column, diag.message, text);
    }
    return program;
}

void interp_case_bind(interp_case *c, void *data, uint32_t count)
{
    c->buffers[c->params.buffer_count++] = (vyre_host_buffer){data, count};
}

void interp_case_param(interp_case *c, uint32_t bits)
{
    c->values[c->params.param_count++] = bits;
}

vyre_result interp_case_run(interp_case *c, const char *text)
{
    vyre_program *program = interp_case_parse(text);
    c->params.buffers = c->buffers;
    c->params.params = c->values;
    vyre_result result = vyre_interp_run(program, &c->params, &c->report, &c->diag);
    vyre_program_destroy(&program);
    return result;
}

void interp_case_run_ok(interp_case *c, const char *text)
{
    if (interp_case_run(c, text) != VYRE_OK) {
        fail_msg("%u:%u: %s\n%s", c->diag.line, c->diag.column, c->diag.message, text);
    }
}

void interp_case_run_u32(const char *text, uint32_t groups, uint32_t *out, uint32_t count)
{
    interp_case c = {.params = {.groups = {groups}}};
    interp_case_bind(&c, out, count);
    interp_case_run_ok(&c, text);
}

void interp_case_check(const uint32_t *got, const uint32_t *expected, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (got[i] != expected[i]) {
            fail_msg("element %u is %u (%08x), not %u (%08x)", i, got[i], got[i], expected[i],
                     expected[i]);
        }
    }
}
