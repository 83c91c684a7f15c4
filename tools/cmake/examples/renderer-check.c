/* Looks at the picture of examples/renderer: renderer-check FILE.png REFERENCE [--write]. It
 * mirrors itself from left to right, shows the pond in front of the background, and is as bright in
 * each of its squares as the reference says, within what devices round otherwise. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH   960
#define HEIGHT  600
#define SQUARE  40
#define COLUMNS (WIDTH / SQUARE)
#define ROWS    (HEIGHT / SQUARE)

static unsigned char pixels[HEIGHT][WIDTH][3];

static int read_picture(const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) {
        fprintf(stderr, "%s: %s\n", path, image.message);
        return 1;
    }
    if (image.width != WIDTH || image.height != HEIGHT) {
        fprintf(stderr, "%s: %u by %u pixels\n", path, (unsigned)image.width,
                (unsigned)image.height);
        return 1;
    }
    image.format = PNG_FORMAT_RGB;
    return !png_image_finish_read(&image, NULL, pixels, 0, NULL);
}

/* Pixels that differ from their mirror images by more than a few steps; edges of triangles may. */
static int check_mirror(void)
{
    unsigned count = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH / 2; x++) {
            int worst = 0;
            for (int c = 0; c < 3; c++) {
                int difference = abs(pixels[y][x][c] - pixels[y][WIDTH - 1 - x][c]);
                worst = difference > worst ? difference : worst;
            }
            count += worst > 16;
        }
    }
    printf("%u pixels differ from their mirror images\n", count);
    return count > WIDTH * HEIGHT / 200;
}

/* The pond is bright against its background, which is one colour. */
static int check_pond(void)
{
    unsigned pond = 0, bright = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const unsigned char *p = pixels[y][x];
            pond += memcmp(p, pixels[0][0], 3) != 0;
            bright += p[0] + p[1] + p[2] > 600;
        }
    }
    printf("%u pixels of pond, %u of them bright\n", pond, bright);
    return pond < WIDTH * HEIGHT / 3 || pond > WIDTH * HEIGHT / 2 || bright < 500 ||
           bright > pond / 8;
}

static int mean_of(int row, int column, int colour)
{
    int sum = 0;
    for (int y = 0; y < SQUARE; y++) {
        for (int x = 0; x < SQUARE; x++) {
            sum += pixels[row * SQUARE + y][column * SQUARE + x][colour];
        }
    }
    return (sum + SQUARE * SQUARE / 2) / (SQUARE * SQUARE);
}

static int check_squares(const char *path, int writes)
{
    FILE *file = fopen(path, writes ? "w" : "r");
    int worst = 0, sum = 0;
    if (!file) {
        fprintf(stderr, "%s cannot be opened\n", path);
        return 1;
    }
    for (int i = 0; i < ROWS * COLUMNS * 3; i++) {
        int mean = mean_of(i / 3 / COLUMNS, i / 3 % COLUMNS, i % 3), expected = -1000;
        if (writes) {
            fprintf(file, "%d%c", mean,
                    i % 3 < 2                       ? ','
                    : i / 3 % COLUMNS < COLUMNS - 1 ? ' '
                                                    : '\n');
        } else if (fscanf(file, i % 3 < 2 ? "%d," : "%d ", &expected) != 1) {
            fprintf(stderr, "%s is too short\n", path);
        }
        int difference = writes ? 0 : abs(mean - expected);
        worst = difference > worst ? difference : worst;
        sum += difference;
    }
    fclose(file);
    printf("squares differ by up to %d steps of 255, by %.3f in the mean\n", worst,
           sum / (double)(ROWS * COLUMNS * 3));
    return worst > 10 || sum > ROWS * COLUMNS * 3 / 2;
}

int main(int argc, char **argv)
{
    int writes = argc == 4 && strcmp(argv[3], "--write") == 0;
    if (argc < 3 || read_picture(argv[1])) {
        return 2;
    }
    int wrong = check_mirror();
    wrong |= check_pond();
    wrong |= check_squares(argv[2], writes);
    return wrong;
}
