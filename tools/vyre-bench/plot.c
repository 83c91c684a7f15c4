/* A group as an SVG picture: a bar for each series on a logarithmic scale, with the spread from p10
 * to p90 over its end and the physical limit as a line through the case's bars. */
#include "tools/vyre-bench/bench.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 1000, LEFT = 420, RIGHT = 90, TOP = 64, BAR = 18, HEAD = 26, AFTER = 10 };

typedef struct scale {
    double low, high; /* powers of ten */
} scale;

static scale find_scale(const bench_group *group)
{
    double low = INFINITY, high = 0;
    for (uint32_t i = 0; i < group->cases.count; i++) {
        const bench_case *c = group->cases.data[i];
        for (uint32_t k = 0; k < c->series_count; k++) {
            const bench_series *s = &c->series[k];
            if (s->sample_count && s->p10 > 0) {
                low = fmin(low, s->p10);
                high = fmax(high, s->p90);
            }
        }
        low = c->limit.value > 0 ? fmin(low, c->limit.value) : low;
    }
    if (!(high > 0)) {
        return (scale){0.1, 10};
    }
    scale found = {pow(10, floor(log10(low))), pow(10, ceil(log10(high)))};
    found.high = found.high > found.low ? found.high : found.low * 10;
    return found;
}

static double place(const scale *s, double value)
{
    double part = (log10(value) - log10(s->low)) / (log10(s->high) - log10(s->low));
    return LEFT + fmin(fmax(part, 0), 1) * (WIDTH - LEFT - RIGHT);
}

static void text_at(vy_text *out, double x, double y, const char *style, const char *text)
{
    vy_text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    for (const char *at = text; *at; at++) {
        if (*at == '&' || *at == '<') {
            vy_text_printf(out, *at == '&' ? "&amp;" : "&lt;");
        } else {
            vy_text_append(out, at, 1);
        }
    }
    vy_text_printf(out, "</text>\n");
}

static void draw_grid(const scale *s, double bottom, vy_text *out)
{
    for (double value = s->low; value <= s->high * 1.001; value *= 10) {
        char label[32];
        double x = place(s, value);
        vy_text_printf(out,
                       "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ccc\"/>\n", x,
                       TOP, x, bottom);
        snprintf(label, sizeof label, "%g us", value);
        text_at(out, x, TOP - 6, "text-anchor=\"middle\" fill=\"#555\"", label);
    }
}

static void draw_series(const scale *sc, const bench_series *s, double y, vy_text *out)
{
    const char *color = strcmp(s->who, "vyre") == 0     ? "#1f6f8b"
                        : strcmp(s->who, "vulkan") == 0 ? "#b0b7bd"
                                                        : "#7a9e3a";
    char label[160];
    snprintf(label, sizeof label, "%s: %.60s", s->who, s->way);
    text_at(out, LEFT - 8, y + BAR - 6, "text-anchor=\"end\"", label);
    if (!s->sample_count || !(s->median > 0)) {
        text_at(out, LEFT + 4, y + BAR - 6, "fill=\"#555\"", "not measured");
        return;
    }
    double end = place(sc, s->median), middle = y + BAR / 2.0 - 1;
    vy_text_printf(out,
                   "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n"
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#222\"/>\n",
                   LEFT, y, fmax(end - LEFT, 1), BAR - 3, color, place(sc, s->p10), middle,
                   place(sc, s->p90), middle);
    char time[32];
    bench_format_time(s->median, time, sizeof time);
    snprintf(label, sizeof label, "%s%s", time, s->checked.wrong ? " WRONG" : "");
    text_at(out, fmax(end, place(sc, s->p90)) + 5, y + BAR - 6, "", label);
}

static double draw_case(const scale *sc, const bench_case *c, double y, vy_text *out)
{
    char sizes[160], label[256];
    bench_format_sizes(c, sizes, sizeof sizes);
    snprintf(label, sizeof label, "%s%s%s", c->name, sizes[0] ? ", " : "", sizes);
    text_at(out, 12, y + HEAD - 8, "font-weight=\"bold\"", label);
    y += HEAD;
    double top = y;
    for (uint32_t i = 0; i < c->series_count; i++, y += BAR) {
        draw_series(sc, &c->series[i], y, out);
    }
    if (c->limit.value > 0) {
        double x = place(sc, c->limit.value);
        vy_text_printf(out,
                       "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\" "
                       "stroke-dasharray=\"4 3\"/>\n",
                       x, top - 4, x, y);
    }
    return y + AFTER;
}

void bench_format_svg(const bench *b, const bench_group *group, vy_text *out)
{
    scale sc = find_scale(group);
    char title[VYRE_DEVICE_NAME_SIZE + 200];
    double height = TOP;
    for (uint32_t i = 0; i < group->cases.count; i++) {
        height += HEAD + AFTER + (double)BAR * group->cases.data[i]->series_count;
    }
    vy_text_printf(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                   "font-family=\"sans-serif\" font-size=\"12\">\n"
                   "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                   WIDTH, height + 24);
    snprintf(title, sizeof title, "%s: %s (%s)", group->name, group->title, b->info.name);
    text_at(out, 12, 22, "font-size=\"15\" font-weight=\"bold\"", title);
    draw_grid(&sc, height, out);
    double y = TOP;
    for (uint32_t i = 0; i < group->cases.count; i++) {
        y = draw_case(&sc, group->cases.data[i], y, out);
    }
    text_at(out, 12, y + 12, "fill=\"#555\"",
            "medians with p10 to p90, logarithmic; dashed: the physical limit");
    vy_text_printf(out, "</svg>\n");
}
