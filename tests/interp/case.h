/* One run of a program written as text: buffers and parameters are bound in declaration order. */
#ifndef TESTS_INTERP_CASE_H
#define TESTS_INTERP_CASE_H

#include "vyre/interp.h"
#include "vyre/text.h"

typedef struct interp_case {
    vyre_interp_params params;
    vyre_host_buffer buffers[12];
    uint32_t values[16]; /* of params */
    vyre_interp_report report;
    vyre_diag diag;
} interp_case;

/* Fails the test, with the diagnostic, where the text is no program. */
vyre_program *interp_case_parse(const char *text);
void interp_case_bind(interp_case *c, void *data, uint32_t count);
void interp_case_param(interp_case *c, uint32_t bits);
vyre_result interp_case_run(interp_case *c, const char *text);
/* Fails the test where the run does not succeed. */
void interp_case_run_ok(interp_case *c, const char *text);
/* A run of one buffer `o` of u32 as the only output; groups are counted in x. */
void interp_case_run_u32(const char *text, uint32_t groups, uint32_t *out, uint32_t count);
void interp_case_check(const uint32_t *got, const uint32_t *expected, uint32_t count);

#endif
