/* ConfigMaps and Secrets: their rows, defaults and validation. */
#include "kube/kinds/row.h"

#include "base/base64.h"
#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/rule.h"
#include "kube/object.h"

#include <string.h>

enum { DATA_MAX = 1024 * 1024 }; /* bytes of all values, as in Kubernetes */

/* Returns the number of bytes that the base64 text encodes. */
static size_t decoded_size(const struct json *text)
{
    size_t size = text->size / 4 * 3;
    for (size_t i = text->size; i > 0 && text->text[i - 1] == '='; i--)
        size--;
    return size;
}

/* Validates a map and returns the size of all its values in bytes. */
static size_t validate_map(struct field_errors *errors, const struct json *map, const char *field,
                           bool encoded)
{
    size_t total = 0;
    JSON_EACH (value, map) {
        rule_config_key(errors, value->name, field_path(errors, "%s[%s]", field, value->name));
        if (json_text(value))
            total += encoded ? decoded_size(value) : value->size;
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

static void validate_size(struct field_errors *errors, size_t total, const char *field)
{
    if (total > DATA_MAX)
        field_too_long(errors, field, DATA_MAX);
}

static void configmap_validate(struct field_errors *errors, const struct json *map,
                               const struct json *old)
{
    static const char *const maps[] = {"data", "binaryData", NULL};
    size_t total = validate_map(errors, json_get(map, "data"), "data", false) +
                   validate_map(errors, json_get(map, "binaryData"), "binaryData", true);
    const struct json *binary = json_get(map, "binaryData");
    _cleanup_json_names_ struct json_names names = {0};
    JSON_EACH (value, json_get(map, "data")) {
        if (json_names_find(&names, binary, value->name))
            field_invalid(errors, field_path(errors, "data[%s]", value->name),
                          json_string(errors->arena, value->name),
                          "duplicate of key present in binaryData");
    }
    validate_size(errors, total, "[]"); /* Kubernetes uses this field name */
    validate_immutable(errors, map, old, maps);
}

/* Appends the member, or replaces the value of the member of the same name. */
static void put_member(struct json_names *names, struct json *object, struct json *member)
{
    if (json_names_add(names, object, member, strlen(member->name))) {
        json_list_append(object, member);
        return;
    }
    struct json *old = json_names_find(names, object, member->name);
    old->type = member->type;
    old->text = member->text;
    old->size = member->size;
}

/* stringData can be written but not read: its values are encoded and moved into data. */
static void secret_defaults(struct arena *arena, struct json *secret)
{
    if (str_is_empty(json_get_string(secret, "type", "")))
        json_set_string(arena, secret, "type", "Opaque");
    const struct json *plain = json_get(secret, "stringData");
    if (!plain || plain->type != JSON_OBJECT)
        return;
    _cleanup_json_names_ struct json_names names = {0};
    struct json *data = json_object(arena);
    for (struct json *member = json_first(json_ensure_object(arena, secret, "data")), *next; member;
         member = next) {
        next = member->next;
        put_member(&names, data, member);
    }
    JSON_EACH (value, plain) {
        if (value->type != JSON_STRING)
            continue;
        struct json *member = json_string(arena, base64_encode(arena, value->text, value->size));
        member->name = value->name;
        put_member(&names, data, member);
    }
    json_set(arena, secret, "data", data);
    json_remove(secret, "stringData");
}

#define ACCOUNT_ANNOTATION "kubernetes.io/service-account.name"

/* Checks that the value, if there is one, is JSON as 'docker login' writes it. */
static void validate_docker(struct field_errors *errors, const struct json *data, const char *key)
{
    const char *encoded = json_get_string(data, key, NULL);
    struct json *config = NULL;
    char *text;
    size_t size;
    if (!encoded || base64_decode(errors->arena, encoded, &text, &size, NULL) < 0)
        return;
    if (json_parse(errors->arena, text, size, NULL, &config, NULL) < 0 ||
        (config->type != JSON_OBJECT && config->type != JSON_NULL))
        field_invalid(errors, field_path(errors, "data[%s]", key),
                      json_string(errors->arena, "<secret contents redacted>"),
                      "must be JSON, as 'docker login' writes it");
}

/* Checks that a secret has the keys that its type requires. */
static void validate_secret_type(struct field_errors *errors, const struct json *secret)
{
    static const struct {
        const char *type, *keys[3];
        bool any;    /* one of the keys is enough */
        bool filled; /* the value must not be empty */
    } rows[] = {
        {"kubernetes.io/dockercfg", {".dockercfg"}},
        {"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}},
        {"kubernetes.io/basic-auth", {"username", "password"}, .any = true},
        {"kubernetes.io/ssh-auth", {"ssh-privatekey"}, .filled = true},
        {"kubernetes.io/tls", {"tls.crt", "tls.key"}},
    };
    const char *type = json_get_string(secret, "type", "");
    const struct json *data = json_get(secret, "data");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!str_eq(type, rows[i].type))
            continue;
        bool any = false;
        for (size_t key = 0; rows[i].keys[key]; key++)
            any |= json_get(data, rows[i].keys[key]) != NULL;
        for (size_t key = 0; rows[i].keys[key]; key++) {
            const struct json *value = json_get(data, rows[i].keys[key]);
            bool missing = !value || (rows[i].filled && !rule_is_set(value));
            if (missing && !(rows[i].any && any))
                field_required(errors, field_path(errors, "data[%s]", rows[i].keys[key]), NULL);
        }
    }
    if (str_eq(type, "kubernetes.io/dockercfg"))
        validate_docker(errors, data, ".dockercfg");
    if (str_eq(type, "kubernetes.io/dockerconfigjson"))
        validate_docker(errors, data, ".dockerconfigjson");
    if (str_eq(type, "kubernetes.io/service-account-token") &&
        str_is_empty(kube_meta_annotation(secret, ACCOUNT_ANNOTATION)))
        field_required(errors, "metadata.annotations[" ACCOUNT_ANNOTATION "]", NULL);
}

static void secret_validate(struct field_errors *errors, const struct json *secret,
                            const struct json *old)
{
    static const char *const maps[] = {"data", NULL};
    validate_size(errors, validate_map(errors, json_get(secret, "data"), "data", true), "data");
    validate_secret_type(errors, secret);
    validate_immutable(errors, secret, old, maps);
    const char *type = json_get_string(old, "type", NULL);
    if (type && !str_eq(type, json_get_string(secret, "type", "")))
        field_invalid(errors, "type", json_get(secret, "type"), "field is immutable");
}

static const struct kube_column CONFIGMAP_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_INT("Data", "Number of keys in the data.", table_data_count),
    COLUMN_AGE,
};

static const struct kube_column SECRET_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Type", "Type of the secret.", table_secret_type),
    COLUMN_INT("Data", "Number of keys in the data.", table_data_count),
    COLUMN_AGE,
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_CONFIGMAPS, KUBE_CONFIGMAP_KIND, "configmaps", "ConfigMap", NAMESPACED,
    .schema = &TYPE_CONFIG_MAP,
    .singular = "configmap",
    .short_names = NAMES("cm"),
    .verbs = VERBS_ALL,
    .columns = COLUMNS(CONFIGMAP_COLUMNS),
    .hooks = {.validate = configmap_validate});

KUBE_CORE_KIND(KUBE_SECRETS, KUBE_SECRET_KIND, "secrets", "Secret", NAMESPACED,
    .schema = &TYPE_SECRET,
    .singular = "secret",
    .fields = NAMES("type"),
    .verbs = VERBS_ALL,
    .columns = COLUMNS(SECRET_COLUMNS),
    .hooks = {.defaults = secret_defaults, .validate = secret_validate});
