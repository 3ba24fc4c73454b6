/* Reads and writes JSON objects in files; see json_file.h. */
#include "base/json/json_file.h"

#include "base/system/file.h"

int json_file_read(struct arena *arena, const char *path, struct json **ret, struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, JSON_FILE_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    struct json *object;
    result = json_parse(arena, text.data, text.size, NULL, &object, err);
    if (result < 0)
        return err_wrap(err, "'%s'", path);
    if (object->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "'%s' contains %s where an object is expected", path,
                       json_type_name(object->type));
    *ret = object;
    return 0;
}

int json_file_write(const char *path, const struct json *object, struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, JSON_FILE_MAX);
    json_write_pretty(object, &text);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE, "cannot write '%s': it would be larger than %d bytes",
                       path, JSON_FILE_MAX);
    return file_write_atomic(path, text.data, text.size, 0600, err);
}
