/* tools/setup.sh in a tree of its own, where everything is there: what it writes to be sourced. */
#include "tests/tools/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A checkout whose needs are met by a prefix of empty files, and whose probe for devices prints $1;
 * with $2 it has a lavapipe of its own. */
static const char make_tree[] =
    "rm -rf tree && mkdir -p tree/tools/cmake tree/build/deps/piglit/generated_tests prefix/bin "
    "layers || exit 1\n"
    "cp \"" VYRE_SOURCE_DIR "/tools/setup.sh\" tree/tools/\n"
    "cp \"" VYRE_SOURCE_DIR "/tools/cmake/probe-vulkan.c\" tree/tools/cmake/\n"
    "for f in vulkan/vulkan_core.h volk.h spirv/unified1/spirv.h spirv-tools/libspirv.h cmocka.h "
    "mpfr.h \\\n"
    "    fa.h GLFW/glfw3.h png.h vk_mem_alloc.h; do\n"
    "    mkdir -p \"prefix/include/${f%/*}\" && rm -rf \"prefix/include/$f\" && "
    ">\"prefix/include/$f\"\n"
    "done\n"
    "for f in ninja pkg-config c++ cc glslangValidator spirv-val dot help2man groff zsh fish xvfb-run "
    "xauth; do\n"
    "    >prefix/bin/$f && chmod +x prefix/bin/$f\n"
    "done\n"
    ">layers/VkLayer_khronos_validation.json\n"
    "printf '#!/bin/sh\\nprintf \"%s\\\\n\"\\n' \"$1\" >tree/build/deps/probe-vulkan\n"
    "chmod +x tree/build/deps/probe-vulkan\n"
    "touch -d '1 hour ago' tree/tools/cmake/probe-vulkan.c\n"
    "if [ -n \"$2\" ]; then\n"
    "    mkdir -p tree/build/deps/lavapipe/lib && >tree/build/deps/lavapipe/lvp_icd.json\n"
    "    >tree/build/deps/lavapipe/lib/libx.so\n"
    "fi\n";

/* Runs it with that VK_DRIVER_FILES; what a shell without one has afterwards lies in `out`. */
static const char run_setup[] =
    "unset VK_ICD_FILENAMES LD_LIBRARY_PATH VULKAN_SDK\n"
    "export VK_LAYER_PATH=$PWD/layers VK_DRIVER_FILES=$1\n"
    "tree/tools/setup.sh --no-install --prefix prefix >said 2>&1 || { cat said >&2; exit 1; }\n"
    "unset VK_DRIVER_FILES\n"
    ". tree/build/deps/env.sh\n"
    "printf '%s|%s\\n' \"${VK_DRIVER_FILES-}\" \"${LD_LIBRARY_PATH-}\"\n"
    "export VK_DRIVER_FILES=/other/driver.json\n" /* a choice stays */
    ". tree/build/deps/env.sh\n"
    "printf '%s\\n' \"$VK_DRIVER_FILES\"\n";

#define OWN VYRE_BINARY_DIR "/test-files/setup/tree/build/deps/lavapipe"

static void check(const char *device, const char *lavapipe, const char *chosen, const char *said,
                  const char *wanted)
{
    size_t size;
    assert_int_equal(
        run_tool("/usr/bin/env", "bash", "-c", make_tree, "bash", device, lavapipe, NULL), 0);
    int code = run_tool("/usr/bin/env", "bash", "-c", run_setup, "bash", chosen, NULL);
    if (code != 0) {
        char *err = get_file("err", &size);
        fail_msg("%d: %s", code, err ? err : "");
    }
    char *out = get_file("out", &size);
    assert_string_equal(out, wanted);
    assert_file_has("said", said);
    free(out);
}

static int set_up(void **state)
{
    (void)state;
    enter_folder("setup");
    return 0;
}

/* Whoever has set another checkout's driver has a file that works without it all the same. */
static void test_setup_names_its_own_lavapipe(void **state)
{
    (void)state;
    check("", "has", "/another/checkout/lvp_icd.json", "the one that VK_DRIVER_FILES names",
          OWN "/lvp_icd.json|" OWN "/lib\n/other/driver.json\n");
    check("", "", "/another/checkout/lvp_icd.json", "the one that VK_DRIVER_FILES names",
          "|\n/other/driver.json\n");
}

static void test_setup_names_no_lavapipe_where_there_is_a_gpu(void **state)
{
    (void)state;
    check("gpu A 1.0", "has", "", "this machine's GPU", "|\n/other/driver.json\n");
    check("gpu A 1.0", "has", "/another/checkout/lvp_icd.json",
          "the one that VK_DRIVER_FILES names", "|\n/other/driver.json\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setup_names_its_own_lavapipe),
        cmocka_unit_test(test_setup_names_no_lavapipe_where_there_is_a_gpu),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
