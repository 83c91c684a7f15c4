/* See glsl.h. */
#include "tools/vyre-bench/peers/glsl.h"

#include <stdlib.h>
#include <string.h>

#ifdef VYRE_BENCH_HAVE_SPIRV_TOOLS
#include "tools/common/validate.h"

/* As many ids as a program of a million operations takes. */
bool peer_spirv_is_valid(const uint32_t *words, size_t count, bool *out_is_checked)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
    spv_validator_options options = spvValidatorOptionsCreate();
    spv_const_binary_t binary = {words, count};
    *out_is_checked = context && options;
    bool is_valid = *out_is_checked;
    if (is_valid) {
        spvValidatorOptionsSetUniversalLimit(options, spv_validator_limit_max_id_bound, UINT32_MAX);
        spvValidatorOptionsSetUniversalLimit(options, spv_validator_limit_max_local_variables,
                                             UINT32_MAX);
        is_valid = spvValidateWithOptions(context, options, &binary, NULL) == SPV_SUCCESS;
    }
    spvValidatorOptionsDestroy(options);
    spvContextDestroy(context);
    return is_valid;
}
#else
bool peer_spirv_is_valid(const uint32_t *words, size_t count, bool *out_is_checked)
{
    *out_is_checked = false;
    return count > 5 && words[0] == 0x07230203;
}
#endif

#ifdef VYRE_BENCH_HAVE_GLSLANG
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>

#ifdef VYRE_BENCH_HAVE_SPIRV_OPT
#include "tools/vyre-bench/peers/optimise.h"

bool peer_glsl_can_optimise(void)
{
    return true;
}
#else
static bool peer_spirv_optimise(const uint32_t *words, size_t count, uint32_t **out_words,
                                size_t *out_count)
{
    (void)words;
    (void)count;
    (void)out_words;
    (void)out_count;
    return false;
}

bool peer_glsl_can_optimise(void)
{
    return false;
}
#endif

const char *peer_glsl_missing(void)
{
    static bool is_ready;
    if (!is_ready) {
        is_ready = glslang_initialize_process() != 0;
    }
    return is_ready ? NULL : "glslang could not be started";
}

static vyre_result fail(const char *step, const char *log, vyre_diag *diag)
{
    return vy_diag_set(diag, VYRE_ERROR_INVALID_PROGRAM, (vy_loc){0, 0},
                       "glslang did not %s: %.100s. Fix: see what vyre-bench generates", step,
                       log ? log : "");
}

static vyre_result take_words(const uint32_t *words, size_t count, peer_glsl_effort effort,
                              peer_glsl_words *out_words, vyre_diag *diag)
{
    if (effort == PEER_GLSL_OPTIMISED) {
        bool is_done = peer_spirv_optimise(words, count, out_words ? &out_words->words : NULL,
                                           out_words ? &out_words->count : NULL);
        return is_done ? VYRE_OK : fail("make words that SPIRV-Tools optimises", NULL, diag);
    }
    if (out_words) {
        out_words->words = malloc(count * sizeof *out_words->words);
        if (!out_words->words) {
            return vy_diag_no_memory(diag);
        }
        memcpy(out_words->words, words, count * sizeof *out_words->words);
        out_words->count = count;
    }
    return VYRE_OK;
}

static vyre_result link_and_generate(glslang_program_t *program, glslang_shader_t *shader,
                                     peer_glsl_effort effort, peer_glsl_words *out_words,
                                     vyre_diag *diag)
{
    glslang_program_add_shader(program, shader);
    if (!glslang_program_link(program, GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT)) {
        return fail("link", glslang_program_get_info_log(program), diag);
    }
    glslang_spv_options_t options = {.disable_optimizer = true};
    glslang_program_SPIRV_generate_with_options(program, GLSLANG_STAGE_COMPUTE, &options);
    size_t count = glslang_program_SPIRV_get_size(program);
    if (count == 0) {
        return fail("make words", NULL, diag);
    }
    return take_words(glslang_program_SPIRV_get_ptr(program), count, effort, out_words, diag);
}

vyre_result peer_glsl_compile(const char *text, peer_glsl_effort effort, peer_glsl_words *out_words,
                              vyre_diag *diag)
{
    glslang_input_t input = {.language = GLSLANG_SOURCE_GLSL,
                             .stage = GLSLANG_STAGE_COMPUTE,
                             .client = GLSLANG_CLIENT_VULKAN,
                             .client_version = GLSLANG_TARGET_VULKAN_1_2,
                             .target_language = GLSLANG_TARGET_SPV,
                             .target_language_version = GLSLANG_TARGET_SPV_1_5,
                             .code = text,
                             .default_version = 450,
                             .default_profile = GLSLANG_NO_PROFILE,
                             .messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT,
                             .resource = glslang_default_resource()};
    glslang_shader_t *shader = glslang_shader_create(&input);
    glslang_program_t *program = glslang_program_create();
    vyre_result result = VYRE_OK;
    if (!shader || !program) {
        result = vy_diag_no_memory(diag);
    } else if (!glslang_shader_preprocess(shader, &input)) {
        result = fail("read it", glslang_shader_get_info_log(shader), diag);
    } else if (!glslang_shader_parse(shader, &input)) {
        result = fail("parse it", glslang_shader_get_info_log(shader), diag);
    } else {
        result = link_and_generate(program, shader, effort, out_words, diag);
    }
    glslang_program_delete(program);
    glslang_shader_delete(shader);
    return result;
}
#else
bool peer_glsl_can_optimise(void)
{
    return false;
}

const char *peer_glsl_missing(void)
{
    return "vyre-bench was built without glslang's library (package glslang-dev)";
}

vyre_result peer_glsl_compile(const char *text, peer_glsl_effort effort, peer_glsl_words *out_words,
                              vyre_diag *diag)
{
    (void)text;
    (void)effort;
    (void)out_words;
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "%s. Fix: install it and build", peer_glsl_missing());
}
#endif

void peer_glsl_free(peer_glsl_words *words)
{
    free(words->words);
    *words = (peer_glsl_words){NULL, 0};
}
