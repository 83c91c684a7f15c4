/* A main for fuzzers that no libFuzzer drives: runs every file that it is given, and the files of
 * every folder. Exit: 0 all were run; 1 one cannot be read; 2 usage. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    bool ok = false;
    if (data) {
        rewind(file);
        ok = fread(data, 1, (size_t)size, file) == (size_t)size;
    }
    if (ok) {
        printf("%s\n", path);
        fflush(stdout);
        /* Memory of exactly that size, so that a sanitizer sees a read beyond it. */
        uint8_t *exact = realloc(data, size ? (size_t)size : 1);
        data = exact ? exact : data;
        (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    } else {
        fprintf(stderr, "%s cannot be read\n", path);
    }
    free(data);
    if (file) {
        fclose(file);
    }
    return ok;
}

static bool run_folder(const char *path)
{
    DIR *folder = opendir(path);
    bool ok = folder != NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[1024];
        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            ok = run_file(name) && ok;
        }
    }
    if (folder) {
        closedir(folder);
    }
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = true;
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE|FOLDER...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        struct stat info;
        bool is_folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
        ok = (is_folder ? run_folder(argv[i]) : run_file(argv[i])) && ok;
    }
    return !ok;
}
