/* Many small and different operations in one launch: a picture of 256 tiles, each painted by an
 * item of its own, then mixed with its neighbours by further items, which wait for those that
 * painted what they read. Writes FILE.ppm; --interpret runs the same on the interpreter, without a
 * device. */
#include <vyre/vyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, TILE = 16, TILES = SIDE * SIDE, PIXELS = TILES * TILE * TILE };
enum { FILL = 8, CHECKER, DISC, MIX };

/* Tile t has pixels 256 t to 256 t + 255; a pixel is 0xbbggrr. */
static const char handlers_text[] =
    "program tiles\n"
    "inout pixel : u32[]\n"
    "fn fill(slot: u32, a0: u32, tile: u32, colour: u32) -> u32 {\n"
    "    if tile >= len(pixel) / 256 { return 16 }\n"
    "    for i in 0 .. 256 { pixel[256 * tile + i] = colour }\n"
    "    return 0\n"
    "}\n"
    "fn checker(slot: u32, a0: u32, tile: u32, colour: u32) -> u32 {\n"
    "    if tile >= len(pixel) / 256 { return 16 }\n"
    "    for i in 0 .. 256 {\n"
    "        let odd = (i / 4 ^ i / 64) & 1\n"
    "        pixel[256 * tile + i] = select(odd == 1, colour, 0xffffff)\n"
    "    }\n"
    "    return 0\n"
    "}\n"
    "fn disc(slot: u32, a0: u32, tile: u32, colour: u32) -> u32 {\n"
    "    if tile >= len(pixel) / 256 { return 16 }\n"
    "    for i in 0 .. 256 {\n"
    "        let x = 2 * i32(i % 16) - 15\n"
    "        let y = 2 * i32(i / 16) - 15\n"
    "        pixel[256 * tile + i] = select(x * x + y * y < 196, colour, 0x202020)\n"
    "    }\n"
    "    return 0\n"
    "}\n"
    "fn mix(slot: u32, source: u32, tile: u32) -> u32 {\n"
    "    if max(source, tile) >= len(pixel) / 256 { return 16 }\n"
    "    for i in 0 .. 256 {\n"
    "        let a = pixel[256 * source + i]\n"
    "        let b = pixel[256 * tile + i]\n"
    "        pixel[256 * tile + i] = (a & b) + ((a ^ b) >> 1 & 0x7f7f7f)\n"
    "    }\n"
    "    return 0\n"
    "}\n"
    "kernel { }\n";

#define PAINTS VYRE_EFFECT_WRITES_OUTPUT | VYRE_EFFECT_IDEMPOTENT

static const vyre_handler handlers[] = {
    {FILL, "fill", PAINTS},
    {CHECKER, "checker", PAINTS},
    {DISC, "disc", PAINTS},
    {MIX, "mix", VYRE_EFFECT_READS_INPUT | VYRE_EFFECT_READS_OUTPUT | VYRE_EFFECT_WRITES_OUTPUT}};

static void fail(const char *what, const vyre_diag *diag)
{
    fprintf(stderr, "tiles: %s: %s\n", what, diag->message);
    exit(1);
}

/* Every tile is painted; every third is then mixed with the one before it, and with the one after.
 */
static uint32_t make_items(vyre_work_item *items)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < TILES; t++) {
        uint32_t x = t % SIDE, y = t / SIDE, colour = (255 - 12 * y) << 16 | (16 * y) << 8 | 16 * x;
        items[count++] = (vyre_work_item){FILL + (x + y) % 3, 0, t, colour};
    }
    for (uint32_t t = 1; t + 1 < TILES; t += 3) {
        items[count++] = (vyre_work_item){MIX, t - 1, t, 0};
        items[count++] = (vyre_work_item){MIX, t + 1, t, 0};
    }
    return count;
}

static void write_picture(const char *path, const uint32_t *pixels)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "P6\n%d %d\n255\n", SIDE * TILE, SIDE * TILE);
    for (uint32_t y = 0; y < SIDE * TILE; y++) {
        for (uint32_t x = 0; x < SIDE * TILE; x++) {
            uint32_t tile = y / TILE * SIDE + x / TILE;
            uint32_t p = pixels[tile * 256 + y % TILE * TILE + x % TILE];
            const unsigned char rgb[3] = {(unsigned char)p, (unsigned char)(p >> 8),
                                          (unsigned char)(p >> 16)};
            fwrite(rgb, 1, sizeof rgb, file);
        }
    }
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static uint32_t pixels[PIXELS];
    static vyre_work_item items[3 * TILES];
    int interpret = argc > 1 && strcmp(argv[1], "--interpret") == 0;
    if (argc != 2 + interpret) {
        fprintf(stderr, "usage: tiles [--interpret] FILE.ppm\n");
        return 2;
    }
    vyre_diag diag;
    vyre_device *device = NULL;
    vyre_program *program = NULL;
    vyre_buffer buffer = {0};
    vyre_binding binding = {
        .kind = VYRE_BINDING_HOST, .count = PIXELS, .in = pixels, .out = pixels};
    if (vyre_program_parse(handlers_text, strlen(handlers_text), "tiles", NULL, &program, &diag)) {
        fail("the handlers", &diag);
    }
    if (!interpret) {
        vyre_buffer_params params;
        vyre_buffer_params_init(&params);
        params.size = sizeof pixels;
        if (vyre_device_create(NULL, &device, &diag) ||
            vyre_buffer_create(device, &params, &buffer, &diag)) {
            fail("the device", &diag);
        }
        binding = (vyre_binding){
            .kind = VYRE_BINDING_RESIDENT, .count = VYRE_COUNT_DECLARED, .buffer = buffer};
    }

    vyre_dispatcher_params params;
    vyre_dispatcher *dispatcher = NULL;
    vyre_dispatcher_params_init(&params);
    params.program = program;
    params.handlers = handlers;
    params.handler_count = sizeof handlers / sizeof *handlers;
    params.bindings = &binding;
    params.binding_count = 1;
    if (vyre_dispatcher_create(device, &params, &dispatcher, &diag)) {
        fail("the dispatcher", &diag);
    }
    vyre_queue_report report;
    uint32_t count = make_items(items);
    if (vyre_dispatcher_run(dispatcher, items, count, NULL, &report, &diag)) {
        fail("the queue", &diag);
    }
    if (device && vyre_buffer_download(device, buffer, 0, pixels, sizeof pixels, &diag)) {
        fail("the picture", &diag);
    }
    write_picture(argv[argc - 1], pixels);
    printf("%u of %u items in %u waves and %u launches\n", report.processed, report.given,
           report.waves, report.launches);

    vyre_dispatcher_destroy(&dispatcher);
    vyre_program_destroy(&program);
    if (device) {
        vyre_device_destroy(&device);
    }
    return report.processed == count ? 0 : 1;
}
