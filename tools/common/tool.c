/* Errors, interrupts and JSON strings of the tools. */
#include "tools/common/tool.h"

#include "tools/common/system.h"

#include "vyre/text.h"

#include <signal.h>
#include <string.h>

int vy_tool_fail(FILE *err, const vyre_diag *diag, const char *file, const char *text, size_t size)
{
    char line[VYRE_DIAG_FILE_SIZE + VYRE_DIAG_MESSAGE_SIZE + 1024];
    vyre_diag named = *diag;
    if (!named.file[0] && file) {
        snprintf(named.file, sizeof named.file, "%s", file);
    }
    size_t length = vyre_diag_format(&named, text, size, line, sizeof line);
    if (length >= sizeof line) {
        length = sizeof line - 1;
    }
    fprintf(err, "%s%s", line, length && line[length - 1] == '\n' ? "" : "\n");
    return VY_EXIT_FAILED;
}

int vy_tool_usage(FILE *err, const char *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(err, "%s: error: ", tool);
    vfprintf(err, format, arguments);
    fprintf(err, "\nusage: '%s --help' says how it is called\n", tool);
    va_end(arguments);
    return VY_EXIT_USAGE;
}

/* All that a signal handler may write. */
static volatile sig_atomic_t is_deferred, is_interrupted;

static void on_interrupt(int number)
{
    (void)number;
    if (!is_deferred || is_interrupted) {
        vy_exit_now(VY_EXIT_INTERRUPTED);
    }
    is_interrupted = 1;
}

void vy_tool_defer_interrupt(bool defer)
{
    is_deferred = defer;
}

bool vy_tool_is_interrupted(void)
{
    return is_interrupted != 0;
}

void vy_tool_catch_interrupt(void)
{
    vy_on_interrupt(on_interrupt);
}

/* Bytes of the UTF-8 sequence at `text`, 0 where there is none. */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc0 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf8 ? 4
                                     : 0;
    if (length < 2) {
        return length;
    }
    uint32_t code = text[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fu);
    }
    bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code >= least[length] && code <= 0x10ffff && !is_surrogate ? length : 0;
}

void vy_json_string(vy_text *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    vy_text_append(out, "\"", 1);
    while (*at) {
        size_t length = utf8_length(at);
        if (length == 0) {
            vy_text_append(out, "\\ufffd", 6);
            length = 1;
        } else if (*at == '"' || *at == '\\') {
            vy_text_printf(out, "\\%c", *at);
        } else if (*at < 0x20) {
            vy_text_printf(out, "\\u%04x", *at);
        } else {
            vy_text_append(out, (const char *)at, length);
        }
        at += length;
    }
    vy_text_append(out, "\"", 1);
}
