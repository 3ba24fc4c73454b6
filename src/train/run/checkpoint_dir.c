/* Lists, prunes and renames the checkpoints of a directory; see checkpoint.h. */
#include "train/run/checkpoint.h"

#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

void checkpoint_path(const char *directory, uint64_t step, char path[CHECKPOINT_PATH_MAX])
{
    snprintf(path, CHECKPOINT_PATH_MAX, "%s/step-%08llu.ckpt", directory, (unsigned long long)step);
}

static int newest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Returns whether the entry is a file or a symbolic link with the name of a checkpoint,
 * "step-00000120.ckpt". */
static bool is_checkpoint(const struct dirent *entry, uint64_t *ret_step)
{
    unsigned long long step;
    char expected[64];
    if (entry->d_type != DT_REG && entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return false;
    if (sscanf(entry->d_name, "step-%llu.ckpt", &step) != 1)
        return false;
    snprintf(expected, sizeof(expected), "step-%08llu.ckpt", step);
    *ret_step = step;
    return str_eq(entry->d_name, expected);
}

int checkpoint_list(const char *directory, uint64_t **ret_steps, size_t *ret_count, struct err *err)
{
    DIR *stream = opendir(directory);
    if (!stream && errno != ENOENT)
        return err_set_errno(err, errno, "cannot read directory '%s'", directory);
    uint64_t *steps = mem_calloc(CHECKPOINT_DIRECTORY_MAX, sizeof(*steps));
    size_t count = 0;
    for (struct dirent *entry;
         stream && count < CHECKPOINT_DIRECTORY_MAX && (entry = readdir(stream));)
        count += is_checkpoint(entry, &steps[count]);
    if (stream)
        closedir(stream);
    qsort(steps, count, sizeof(*steps), newest_first);
    *ret_steps = steps;
    *ret_count = count;
    return 0;
}

int checkpoint_prune(const char *directory, size_t keep, struct err *err)
{
    _cleanup_free_ uint64_t *steps = NULL;
    size_t count = 0;
    int result = checkpoint_list(directory, &steps, &count, err);
    for (size_t i = keep; result == 0 && i < count; i++) {
        char path[CHECKPOINT_PATH_MAX];
        checkpoint_path(directory, steps[i], path);
        if (unlink(path) < 0 && errno != ENOENT)
            result = err_set_errno(err, errno, "cannot remove '%s'", path);
    }
    return result;
}

/* Returns whether this is the name of a temporary file, "step-00000120.ckpt.a1B2c3". */
static bool is_left_over(const char *name)
{
    unsigned long long step;
    int end = 0;
    return sscanf(name, "step-%llu.ckpt.%n", &step, &end) == 1 && end > 0 &&
           strlen(name + end) == 6;
}

void checkpoint_sweep(const char *directory)
{
    DIR *stream = opendir(directory);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        if (is_left_over(entry->d_name))
            (void)unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream)
        closedir(stream);
}

int checkpoint_set_aside(const char *directory, uint64_t step, struct err *err)
{
    char path[CHECKPOINT_PATH_MAX];
    checkpoint_path(directory, step, path);
    _cleanup_free_ char *aside = mem_printf("%s.damaged", path);
    if (rename(path, aside) < 0)
        return err_set_errno(err, errno, "cannot rename '%s'", path);
    return 0;
}
