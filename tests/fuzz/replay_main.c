/* The main() of a fuzz harness that runs as an ordinary test. Every file of the given corpus
 * directory goes through the harness, with mutations that are the same in every run. Inputs are
 * copied to memory of their exact size, so that a sanitizer sees a read past the end. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/system/file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MAX = 1 << 20, MUTATIONS = 300, CHANGES_MAX = 6 };

static void run(const void *data, size_t size)
{
    uint8_t *copy = mem_alloc(size);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Makes one small change. `data` has room for twice the size. Returns the new size. */
static size_t mutate(struct rand *rand, uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t at = rand_below(rand, size), count = 1 + rand_below(rand, size - at);
    switch (rand_below(rand, 6)) {
    case 0: /* one bit */
        data[at] ^= (uint8_t)(1u << rand_below(rand, 8));
        return size;
    case 1: /* any byte */
        data[at] = (uint8_t)rand_next(rand);
        return size;
    case 2: /* a byte that grammars care about */
        data[at] = (uint8_t) "{}[]\",:\\\n\t -0&*!|"[rand_below(rand, 18)];
        return size;
    case 3: /* a cut */
        memmove(data + at, data + at + count, size - at - count);
        return size - count;
    case 4: /* a repetition */
        memmove(data + at + count, data + at, size - at);
        return size + count;
    default: /* an early end */
        return at;
    }
}

static void replay(const struct buf *file)
{
    run(file->data, file->size);
    struct rand rand;
    rand_init_keyed(&rand, 1, file->size, file->size ? (uint8_t)file->data[0] : 0);
    uint8_t *data = mem_alloc((file->size + 1) << CHANGES_MAX);
    for (int i = 0; i < MUTATIONS; i++) {
        memcpy(data, file->data, file->size);
        size_t size = file->size;
        for (uint64_t changes = 1 + rand_below(&rand, CHANGES_MAX); changes; changes--)
            size = mutate(&rand, data, size);
        run(data, size);
    }
    free(data);
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    if (!directory) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
        return 2;
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *path = mem_printf("%s/%s", argv[1], entry->d_name);
        _cleanup_buf_ struct buf file;
        struct err err = ERR_INIT;
        buf_init(&file, FILE_MAX);
        if (file_read(path, &file, &err) < 0) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        replay(&file);
        files++;
    }
    closedir(directory);
    if (files == 0) {
        fprintf(stderr, "the corpus '%s' is empty\n", argv[1]);
        return 1;
    }
    printf("%d files, %d mutations of each\n", files, MUTATIONS);
    return 0;
}
