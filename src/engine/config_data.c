/* ConfigMaps and Secrets: maps of files and variables. */
#include "engine/kinds.h"

#include "base/base64.h"
#include "base/str.h"

#include <string.h>

enum { DATA_MAX = 1024 * 1024 }; /* bytes of all values, as upstream */

static const char KEY_CHARACTERS[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

static bool is_key(const char *key)
{
    size_t size = strlen(key);
    return size > 0 && size <= 253 && strspn(key, KEY_CHARACTERS) == size && !str_eq(key, ".") &&
           !str_eq(key, "..") && !str_has_prefix(key, "..");
}

/* Returns the bytes of all values. */
static size_t validate_map(struct field_errors *errors, const struct json *map, const char *field,
                           bool base64)
{
    size_t total = 0;
    if (map && map->type != JSON_OBJECT && map->type != JSON_NULL) {
        field_invalid(errors, field, map, "must be an object of strings");
        return 0;
    }
    JSON_EACH (value, map) {
        const char *path = field_path(errors, "%s[%s]", field, value->name);
        if (!is_key(value->name))
            field_invalid(errors, path, json_string(errors->arena, value->name),
                          "a valid config key must consist of alphanumeric characters, '-', '_' or "
                          "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
                          "validation is '[-._a-zA-Z0-9]+')");
        const char *text = json_text(value);
        char *bytes;
        size_t size;
        if (!text)
            field_invalid(errors, path, value, "must be a string; quote it");
        else if (base64 && base64_decode(errors->arena, text, &bytes, &size, NULL) < 0)
            field_invalid(errors, path, json_string(errors->arena, "…"), "must be base64");
        else
            total += value->size;
    }
    return total;
}

static void validate_immutable(struct field_errors *errors, const struct json *object,
                               const struct json *old, const char *const *maps)
{
    if (!json_get_bool(old, "immutable", false))
        return;
    for (; *maps; maps++) {
        const struct json *before = json_get(old, *maps), *after = json_get(object, *maps);
        if (before != after && !(before && after && json_equal(before, after)))
            field_forbidden(errors, *maps, "field is immutable when `immutable` is set");
    }
    if (!json_get_bool(object, "immutable", false))
        field_forbidden(errors, "immutable", "field is immutable when `immutable` is set");
}

static void validate_size(struct field_errors *errors, size_t total)
{
    if (total > DATA_MAX)
        field_invalid(errors, "data", NULL, "Too long: must have at most %d bytes", DATA_MAX);
}

void kind_configmap_validate(struct field_errors *errors, const struct json *map,
                             const struct json *old)
{
    static const char *const maps[] = {"data", "binaryData", NULL};
    size_t total = validate_map(errors, json_get(map, "data"), "data", false) +
                   validate_map(errors, json_get(map, "binaryData"), "binaryData", true);
    validate_size(errors, total);
    validate_immutable(errors, map, old, maps);
}

/* stringData is a way to write, never to read: it goes into data, encoded. */
void kind_secret_defaults(struct arena *arena, struct json *secret)
{
    if (str_is_empty(json_get_string(secret, "type", "")))
        json_set_string(arena, secret, "type", "Opaque");
    const struct json *plain = json_get(secret, "stringData");
    if (!plain || plain->type != JSON_OBJECT)
        return;
    struct json *data = json_ensure_object(arena, secret, "data");
    JSON_EACH (value, plain) {
        if (value->type == JSON_STRING)
            json_set_string(arena, data, value->name,
                            base64_encode(arena, value->text, value->size));
    }
    json_remove(secret, "stringData");
}

void kind_secret_validate(struct field_errors *errors, const struct json *secret,
                          const struct json *old)
{
    static const char *const maps[] = {"data", NULL};
    validate_size(errors, validate_map(errors, json_get(secret, "data"), "data", true));
    validate_immutable(errors, secret, old, maps);
    const char *type = json_get_string(old, "type", NULL);
    if (type && !str_eq(type, json_get_string(secret, "type", "")))
        field_invalid(errors, "type", json_get(secret, "type"), "field is immutable");
}
