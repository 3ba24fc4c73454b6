/* One value of an object by its path; see json_path.h. */
#include "pipeline/json_path.h"

#include "base/str.h"

#include <string.h>

enum { INDEX_MAX = 1000000 };

static const char *print(struct arena *arena, const struct json *value)
{
    if (!value || value->type == JSON_NULL)
        return NULL;
    return value->type == JSON_STRING ? value->text : json_to_string(arena, value);
}

/* By name, or by position in a list. */
static const struct json *go_down(const struct json *value, const char *name)
{
    int64_t position;

    if (!value || value->type != JSON_ARRAY)
        return json_get(value, name);
    if (str_to_int64(name, 0, INDEX_MAX, &position, NULL) < 0)
        return NULL;
    return json_element(value, (size_t)position);
}

static int refuse(const char *path, struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "'%.100s' is no path of the supported form, '{.metadata.name}' or "
                   "'{.spec.list[0].name}'",
                   path);
}

/* "[0]" or "['name']" at `at`; behind it, or NULL. */
static const char *read_bracket(struct arena *arena, const char *at, const char **ret_name)
{
    char quote = at[1] == '\'' || at[1] == '"' ? at[1] : '\0';
    const char *start = at + (quote ? 2 : 1);
    const char *end = strchr(start, quote ? quote : ']');

    if (!end || end == start || (quote && end[1] != ']'))
        return NULL;
    if (!quote && strspn(start, "0123456789") != (size_t)(end - start))
        return NULL;
    *ret_name = arena_strndup(arena, start, (size_t)(end - start));
    return end + (quote ? 2 : 1);
}

int workflow_json_path(struct arena *arena, const struct json *object, const char *path,
                       const char **ret, struct err *err)
{
    size_t size = strlen(path);
    const char *at = path, *end = path + size, *name, *printed;

    if (size >= 2 && path[0] == '{' && path[size - 1] == '}') {
        at++;
        end--;
    }
    if (*at == '$')
        at++;
    while (object && at < end) {
        if (*at == '[') {
            at = read_bracket(arena, at, &name);
            if (!at || at > end)
                return refuse(path, err);
        } else {
            at += *at == '.';
            size_t length = strcspn(at, ".[{}*?@(");

            if (length > (size_t)(end - at))
                length = (size_t)(end - at);
            if (length == 0)
                return at == end ? 0 : refuse(path, err);
            name = arena_strndup(arena, at, length);
            at += length;
        }
        object = go_down(object, name);
    }
    printed = print(arena, object);
    *ret = printed ? printed : "";
    return 0;
}

const char *workflow_json_path_dotted(struct arena *arena, const struct json *object,
                                      const char *path)
{
    size_t count;
    char **names = str_split(arena, *path == '.' ? path + 1 : path, '.', &count);

    for (size_t i = 0; i < count && object; i++)
        object = go_down(object, names[i]);
    return print(arena, object);
}
