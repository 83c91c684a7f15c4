/* Includes point one way: each folder may include only the folders that stand above it in
 * README.md, nothing under codegen/ includes Vulkan, and of the public headers only vulkan.h does.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct layer {
    const char *folder;
    const char *allowed[8]; /* beginnings of what it may include */
} layer;

#define PUBLIC "vyre/"
static const layer layers[] = {
    /* The limits of printf statements, and the line that one makes, are a program's. The compiler has
     * what AddressSanitizer is told by. */
    {"codegen/base", {PUBLIC "result.h", PUBLIC "program.h", "sanitizer/", "codegen/base/"}},
    {"codegen/ir", {PUBLIC, "codegen/base/", "codegen/ir/"}},
    {"codegen/passes", {PUBLIC, "codegen/base/", "codegen/ir/", "codegen/passes/"}},
    {"codegen/interp", {PUBLIC, "codegen/base/", "codegen/ir/", "codegen/interp/"}},
    {"codegen/spirv",
     {PUBLIC, "spirv/", "codegen/base/", "codegen/ir/", "codegen/passes/", "codegen/spirv/"}},
    {"codegen", {PUBLIC, "codegen/"}},
    {"engine/device", {PUBLIC, "vulkan/", "codegen/base/", "codegen/kernel.h", "engine/device/"}},
    {"engine/memory", {PUBLIC, "vulkan/", "vk_mem_alloc.h", "codegen/base/", "engine/"}},
    {"engine/pipeline", {PUBLIC, "codegen/base/", "codegen/kernel.h", "engine/"}},
    {"engine/exec", {PUBLIC, "codegen/base/", "codegen/kernel.h", "engine/"}},
    {"engine/megakernel",
     {PUBLIC, "codegen/base/", "codegen/kernel.h", "codegen/parts.h", "engine/"}},
};

static int is_allowed(const layer *l, const char *name)
{
    if (!strchr(name, '/') && strcmp(name, "vk_mem_alloc.h") != 0 && strcmp(name, "volk.h") != 0) {
        return 1; /* the C library's */
    }
    if (strcmp(name, "volk.h") == 0) {
        return strncmp(l->folder, "engine", 6) == 0;
    }
    for (size_t i = 0; i < sizeof l->allowed / sizeof *l->allowed && l->allowed[i]; i++) {
        if (strncmp(name, l->allowed[i], strlen(l->allowed[i])) == 0) {
            return strcmp(name, "vyre/vulkan.h") != 0 || strncmp(l->folder, "engine", 6) == 0;
        }
    }
    return strncmp(name, "sys/", 4) == 0;
}

static uint32_t check_file(const layer *l, const char *path)
{
    char line[1024], name[256];
    uint32_t count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, " # include \"%255[^\"]\"", name) != 1 &&
            sscanf(line, " # include <%255[^>]>", name) != 1) {
            continue;
        }
        count++;
        if (!is_allowed(l, name)) {
            fail_msg("%s includes %s", path, name);
        }
    }
    fclose(file);
    return count;
}

static void test_includes_point_one_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char path[1024];
        uint32_t count = 0;
        snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, layers[i].folder);
        DIR *folder = opendir(path);
        assert_non_null(folder);
        for (struct dirent *entry; (entry = readdir(folder));) {
            const char *dot = strrchr(entry->d_name, '.');
            if (dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0)) {
                snprintf(path, sizeof path, "%s/%s/%s", VYRE_SOURCE_DIR, layers[i].folder,
                         entry->d_name);
                count += check_file(&layers[i], path);
            }
        }
        closedir(folder);
        assert_true(count > 0);
    }
}

static void test_only_one_public_header_includes_vulkan(void **state)
{
    (void)state;
    const layer plain = {"include", {PUBLIC}};
    static const char *const headers[] = {"vyre",     "result",     "program",   "text",
                                          "interp",   "kernel",     "device",    "buffer",
                                          "dispatch", "dispatcher", "megakernel"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/include/vyre/%s.h", VYRE_SOURCE_DIR, headers[i]);
        assert_true(check_file(&plain, path) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_includes_point_one_way),
        cmocka_unit_test(test_only_one_public_header_includes_vulkan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
