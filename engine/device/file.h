/* Small files of the library's own, in a folder that the caller names. They hold what can be made
 * again, so nothing here is an error: what cannot be read is not there, what cannot be written is
 * left. Paths are UTF-8. On Windows files have the owner and the rights that their folder gives. */
#ifndef VY_FILE_H
#define VY_FILE_H

#include "codegen/base/base.h"

/* The whole file, allocated: freed with vy_free(allocator, data, *out_size). NULL unless it is a
 * plain file (no link) of this user, not empty and no larger than `limit`. */
void *vy_disk_read(const vyre_allocator *allocator, const char *folder, const char *name,
                   size_t limit, size_t *out_size);
/* Whoever reads meanwhile or after a crash finds the old file or the new one, whole. Folders that
 * are missing are made, for this user alone. `unique` tells apart writers of one process. Thread-
 * safety: safe, across processes too; the last one stays. */
bool vy_disk_write(const vyre_allocator *allocator, const char *folder, const char *name,
                   const void *data, size_t size, uint32_t unique);

#endif
