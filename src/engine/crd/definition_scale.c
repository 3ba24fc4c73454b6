/* Checks the values of a custom resource that its Scale shows, as Kubernetes does; see
 * definition.h. A number of replicas must be an integer from 0 to INT32_MAX, and the selector must
 * be a string. Messages quote values as Go prints them. */
#include "engine/crd/definition.h"

#include "base/buf.h"
#include "base/str.h"

#include <inttypes.h>

enum { QUOTE_MAX = 1024 }; /* bytes of a value in a message */

/* Returns the type that Go has for the value. */
static const char *go_type(const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        return "<nil>";
    case JSON_BOOL:
        return "bool";
    case JSON_INT:
        return "int64";
    case JSON_REAL:
        return "float64";
    case JSON_STRING:
        return "string";
    case JSON_ARRAY:
        return "[]interface {}";
    case JSON_OBJECT:
        return "map[string]interface {}";
    }
    return "";
}

/* Appends the value as Go prints it. */
static void write_quoted(const struct json *value, struct buf *buf)
{
    const char *between = "";
    if (value->type == JSON_STRING) {
        buf_append_str(buf, json_text(value));
    } else if (value->type == JSON_NULL) {
        buf_append_str(buf, "<nil>");
    } else if (value->type == JSON_ARRAY || value->type == JSON_OBJECT) {
        buf_append_str(buf, value->type == JSON_OBJECT ? "map[" : "[");
        JSON_EACH (part, value) {
            buf_append_str(buf, between);
            if (value->type == JSON_OBJECT)
                buf_printf(buf, "%s:", part->name);
            write_quoted(part, buf);
            between = " ";
        }
        buf_append_char(buf, ']');
    } else {
        json_write(value, buf);
    }
}

/* Returns the value at the path, or NULL if it is missing. Adds an error if the value does not have
 * the type `type`, or if a parent of the value is not an object. */
static const struct json *find_scale_value(struct field_errors *errors, const char *path,
                                           const struct json *object, enum json_type type)
{
    struct arena *arena = errors->arena;
    const char *wanted = type == JSON_INT ? "int64" : "string", *so_far = "";
    const struct json *at = object, *wrong = NULL;
    size_t count;
    char **names = str_split(arena, path, '.', &count);
    for (size_t i = 0; i < count && at && !wrong; i++) {
        so_far = arena_printf(arena, "%s.%s", so_far, names[i]);
        if (at->type != JSON_OBJECT && at->type != JSON_NULL)
            wrong = at, wanted = "map[string]interface{}";
        at = json_get(at, names[i]);
    }
    if (!wrong && at && at->type != type)
        wrong = at;
    if (!wrong)
        return at;
    _cleanup_buf_ struct buf text;
    buf_init(&text, QUOTE_MAX);
    write_quoted(wrong, &text);
    field_invalid(errors, field_path(errors, ".%s", path),
                  type == JSON_INT ? json_int(arena, 0) : json_string(arena, ""),
                  "%s accessor error: %s is of the type %s, expected %s", so_far,
                  text.size ? text.data : "", go_type(wrong), wanted);
    return NULL;
}

static void check_number(struct field_errors *errors, const char *path, const struct json *object)
{
    const struct json *number = find_scale_value(errors, path, object, JSON_INT);
    if (number && number->integer < 0)
        field_invalid(errors, field_path(errors, ".%s", path), number,
                      "should be a non-negative integer");
    else if (number && number->integer > INT32_MAX)
        field_invalid(errors, field_path(errors, ".%s", path), number,
                      "should be less than or equal to %d", INT32_MAX);
}

void definition_check_scale(struct field_errors *errors, const struct kube_scale_paths *scale,
                            const struct json *object)
{
    check_number(errors, scale->spec_path, object);
    check_number(errors, scale->status_path, object);
    if (scale->selector_path)
        find_scale_value(errors, scale->selector_path, object, JSON_STRING);
}
