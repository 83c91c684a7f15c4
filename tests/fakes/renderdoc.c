/* A librenderdoc.so for tests/tools/test_capture.c: has the functions that --capture calls, writes
 * their names into the file FAKE_RENDERDOC_LOG, and a text as a capture. FAKE_RENDERDOC says what
 * is wrong with it: old, deaf, failing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int RENDERDOC_GetAPI(int version, void **out_calls);

static char template[1024], made[1100];
static uint32_t count;
static uint32_t is_capturing;

static int is_wrong(const char *how)
{
    const char *text = getenv("FAKE_RENDERDOC");
    return text && strcmp(text, how) == 0;
}

static void note(const char *what, const char *more)
{
    const char *path = getenv("FAKE_RENDERDOC_LOG");
    FILE *log = path ? fopen(path, "ab") : NULL;
    if (log) {
        fprintf(log, "%s%s%s\n", what, more ? " " : "", more ? more : "");
        fclose(log);
    }
}

static void unexpected(void)
{
    note("a function that nobody should call", NULL);
}

static void set_path_template(const char *path)
{
    snprintf(template, sizeof template, "%s", path);
    note("template", template);
}

static uint32_t get_count(void)
{
    return count;
}

static uint32_t get_capture(uint32_t index, char *out_path, uint32_t *size, uint64_t *out_time)
{
    if (index >= count) {
        return 0;
    }
    if (out_path) {
        memcpy(out_path, made, strlen(made) + 1);
    }
    if (size) {
        *size = (uint32_t)strlen(made) + 1;
    }
    if (out_time) {
        *out_time = 0;
    }
    return 1;
}

static void start(void *device, void *window)
{
    note("start", device || window ? "with a device" : NULL);
    is_capturing = !is_wrong("deaf");
}

static uint32_t is_capturing_now(void)
{
    return is_capturing;
}

static uint32_t end(void *device, void *window)
{
    note("end", device || window ? "with a device" : NULL);
    if (!is_capturing || is_wrong("failing")) {
        return 0;
    }
    is_capturing = 0;
    snprintf(made, sizeof made, "%s_capture.rdc", template);
    FILE *file = fopen(made, "wb");
    if (file) {
        fputs("captured", file);
        fclose(file);
    }
    count++;
    return 1;
}

typedef void (*function)(void);

int RENDERDOC_GetAPI(int version, void **out_calls)
{
    /* The table of 1.1.2 by number: what is left out must not be called. */
    static function table[22];
    note("version", version == 10102 ? "1.1.2" : "another");
    if (is_wrong("old")) {
        return 0;
    }
    for (uint32_t i = 0; i < 22; i++) {
        table[i] = unexpected;
    }
    table[11] = (function)set_path_template;
    table[13] = (function)get_count;
    table[14] = (function)get_capture;
    table[19] = (function)start;
    table[20] = (function)is_capturing_now;
    table[21] = (function)end;
    *out_calls = table;
    return 1;
}
