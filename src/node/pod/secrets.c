/* Reads and writes the list of files that contain secrets; see pod/secrets.h. */
#include "node/pod/secrets.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/pod/record/record.h"

enum { LIST_BYTES_MAX = 1024 * 1024, PATHS_MAX = 256 };

int pod_secrets_load(struct arena *arena, const char *list, struct pod_strings *ret,
                     struct err *err)
{
    _cleanup_buf_ struct buf text;
    struct record_reader reader;
    const char *key;
    char *value;
    buf_init(&text, LIST_BYTES_MAX);
    int result = file_read(list, &text, err);
    if (result == -ERR_NOT_FOUND) {
        err_clear(err);
        return 0;
    }
    if (result < 0)
        return result;
    record_reader_init(&reader, text.data, text.size);
    while ((result = record_next(&reader, &key, &value, err)) > 0)
        if (str_eq(key, "secret"))
            pod_strings_add(arena, ret, arena_strdup(arena, value));
    return result < 0 ? err_wrap(err, "'%s'", list) : 0;
}

/* If the list has more than PATHS_MAX paths, leaves out paths of files that do not exist. */
static void secrets_write_list(struct buf *text, const struct pod_strings *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        if (paths->count <= PATHS_MAX || file_exists(paths->items[i]))
            record_write(text, "secret", paths->items[i]);
}

int pod_secrets_add(const char *list, const char *path, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_strings paths = {0};
    int result = pod_secrets_load(arena, list, &paths, err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < paths.count; i++)
        if (str_eq(paths.items[i], path))
            return 0;
    pod_strings_add(arena, &paths, path);
    _cleanup_buf_ struct buf text;
    buf_init(&text, LIST_BYTES_MAX);
    secrets_write_list(&text, &paths);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE, "'%s' would have more than %d bytes", list,
                       (int)LIST_BYTES_MAX);
    return file_write_atomic(list, text.data, text.size, 0600, err);
}
