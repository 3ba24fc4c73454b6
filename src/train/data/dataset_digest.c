/* Implements dataset_describe(), which identifies a data set in one line of a log; see
 * dataset.h. */
#include "train/data/dataset_internal.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t add_text(uint64_t hash, const char *text)
{
    return hash_fnv1a(hash, text, strlen(text) + 1);
}

static uint64_t add_number(uint64_t hash, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return add_text(hash, text);
}

/* Adds the name and the size of a file. The digest does not cover the path of the folder, because a
 * volume may be mounted elsewhere the next time. */
static uint64_t add_file(uint64_t hash, const char *path)
{
    struct stat info = {0};
    const char *slash = strrchr(path, '/');
    hash = add_text(hash, slash ? slash + 1 : path);
    return add_number(hash, stat(path, &info) == 0 ? (uint64_t)info.st_size : 0);
}

void dataset_describe(const struct dataset *dataset, char *text, size_t size)
{
    uint64_t hash = add_number(HASH_FNV_START, dataset->generated ? dataset->seed : 0);
    for (size_t i = 0; i < dataset->count; i++) {
        const struct person *person = &dataset->persons[i];
        hash = add_text(hash, person->name);
        hash = add_number(hash, person->count);
        for (size_t j = 0; person->files && j < person->count; j++)
            hash = add_file(hash, person->files[j]);
    }
    snprintf(text, size, "%zu %speople, %zu pictures, digest %08x", dataset->count,
             dataset->generated ? "drawn " : "", dataset->total, (unsigned)(hash ^ hash >> 32));
}
