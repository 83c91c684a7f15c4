/* A folder of a test's own under the build, for what the engine keeps on disk. Functions end the
 * test on a failure of their own. */
#ifndef VY_TESTS_FOLDER_H
#define VY_TESTS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the folder of this process away with all that is in it. */
void folder_clear(void);
/* The path of something in it, which need not be there; valid until the next call but seven. */
const char *folder_path(const char *name);
/* Of something in its folder `below`; valid until the next call. */
const char *folder_below(const char *below, const char *name);
/* The permissions of that file, by its whole path. */
unsigned folder_mode(const char *path);
/* Files in its folder `below` whose names begin so; the last one's name. */
unsigned folder_find(const char *below, const char *beginning, char *out, size_t size);
/* Allocated by malloc. */
unsigned char *folder_read(const char *below, const char *name, size_t *out_size);
/* Makes `below`, and writes the file. */
void folder_write(const char *below, const char *name, const void *data, size_t size);

#endif
