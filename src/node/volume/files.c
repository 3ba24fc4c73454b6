/* Writes volumes that show API objects as files; see volume/files.h. */
#include "node/volume/files.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/boot.h"
#include "base/system/file.h"
#include "kube/object.h"
#include "node/volume/set.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_DEFAULT = 0644, TOKEN_MAX = 64 * 1024, MAP_TEXT_MAX = 4 * 1024 * 1024 };

/* A volume while its files are gathered. */
struct files_writing {
    struct arena *arena;
    const struct volume_context *context;
    const char *directory;
    int64_t default_mode;
    struct volume_set set;
    struct err *err;
};

static int put_file(struct files_writing *f, const char *path, const char *data, size_t size,
                    int64_t mode)
{
    return volume_set_add(&f->set, path, data, size, (mode_t)mode, f->err);
}

/* ---- Config maps and secrets ---- */

/* Adds one value of the object as a file. `encoded` means that the value is base64. */
static int volume_files_put_value(struct files_writing *f, const struct json *value, bool encoded,
                                  const char *path, int64_t mode)
{
    const char *data = json_text(value);
    char *decoded;
    size_t size = data ? strlen(data) : 0;
    if (!data)
        return 0;
    if (encoded) {
        int result = base64_decode(f->arena, data, &decoded, &size, f->err);
        if (result < 0)
            return err_wrap(f->err, "key '%s'", value->name);
        data = decoded;
    }
    return put_file(f, path, data, size, mode);
}

static int put_item(struct files_writing *f, const struct json *item, const struct json *object,
                    const struct json *source, bool secret)
{
    const char *key = json_get_string(item, "key", "");
    const struct json *text = json_at(object, "data", key, NULL);
    const struct json *binary = json_at(object, "binaryData", key, NULL);
    /* Fails if the key is missing, because a program would not know why its file is missing. */
    if (!text && !binary)
        return json_get_bool(source, "optional", false)
                   ? 0
                   : err_set(f->err, ERR_NOT_FOUND, "%s \"%s\" references non-existent %s key: %s",
                             secret ? "secret" : "configmap", kube_meta_name(object),
                             secret ? "secret" : "config", key);
    return volume_files_put_value(f, text ? text : binary, secret || !text,
                                  json_get_string(item, "path", key),
                                  json_get_int(item, "mode", f->default_mode));
}

/* Adds the keys of a config map or secret: those of `items`, or all keys if there are no items. An
 * empty list is like none, as for the kubelet. */
static int put_keys(struct files_writing *f, const struct json *source, const char *name,
                    bool secret)
{
    const struct json *object =
        node_objects_get(f->context->objects, secret ? &KUBE_SECRETS : &KUBE_CONFIGMAPS,
                         kube_meta_namespace(f->context->facts->pod), name);
    const struct json *items = json_get(source, "items");
    int result = 0;
    if (!object)
        return json_get_bool(source, "optional", false)
                   ? 0
                   : err_set(f->err, ERR_NOT_FOUND, "%s \"%s\" not found",
                             secret ? "secret" : "configmap", name);
    JSON_EACH (item, items) {
        if ((result = put_item(f, item, object, source, secret)) < 0)
            return result;
    }
    if (json_first(items))
        return 0;
    JSON_EACH (entry, json_get(object, "data")) {
        if ((result = volume_files_put_value(f, entry, secret, entry->name, f->default_mode)) < 0)
            return result;
    }
    JSON_EACH (entry, json_get(object, "binaryData")) {
        if ((result = volume_files_put_value(f, entry, true, entry->name, f->default_mode)) < 0)
            return result;
    }
    return 0;
}

/* ---- The pod itself ---- */

static int by_name(const void *a, const void *b)
{
    const struct json *const *first = a, *const *second = b;
    return strcmp((*first)->name, (*second)->name);
}

static void append_quoted(struct buf *text, const char *value)
{
    static const char ESCAPED[] = "\"\\\n\t\r", LETTERS[] = "\"\\ntr";
    buf_append_char(text, '"');
    for (const char *at = value; *at; at++) {
        const char *found = strchr(ESCAPED, *at);
        if (found)
            buf_append_char(text, '\\');
        buf_append_char(text, found ? LETTERS[found - ESCAPED] : *at);
    }
    buf_append_char(text, '"');
}

/* Writes all labels or annotations, sorted by key, as one key="value" per line. */
static const char *map_text(struct arena *arena, const struct json *map)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, MAP_TEXT_MAX);
    size_t count = 0;
    const struct json **entries = arena_zalloc(arena, (json_count(map) + 1) * sizeof(*entries));
    JSON_EACH (entry, map) {
        if (json_text(entry))
            entries[count++] = entry;
    }
    qsort(entries, count, sizeof(*entries), by_name);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&text, "%s%s=", i ? "\n" : "", entries[i]->name);
        append_quoted(&text, json_text(entries[i]));
    }
    return arena_strndup(arena, text.data, text.size);
}

static int downward_value(struct files_writing *f, const struct json *item, const char **ret)
{
    const struct pod_facts *facts = f->context->facts;
    const char *field = json_get_string(json_get(item, "fieldRef"), "fieldPath", "");
    const struct json *resource = json_get(item, "resourceFieldRef");
    if (resource)
        return environment_resource(f->arena, facts, NULL, resource, ret, f->err);
    if (str_eq(field, "metadata.labels"))
        *ret = map_text(f->arena, kube_meta_labels(facts->pod));
    else if (str_eq(field, "metadata.annotations"))
        *ret = map_text(f->arena, json_at(facts->pod, "metadata", "annotations", NULL));
    else
        return environment_field(f->arena, facts, field, ret, f->err);
    return 0;
}

static int put_downward(struct files_writing *f, const struct json *source)
{
    JSON_EACH (item, json_get(source, "items")) {
        const char *value = NULL;
        int result = downward_value(f, item, &value);
        if (result == 0)
            result = put_file(f, json_get_string(item, "path", ""), value, strlen(value),
                              json_get_int(item, "mode", f->default_mode));
        if (result < 0)
            return result;
    }
    return 0;
}

/* Returns the token that is in the volume already, or NULL. It is used if the control process,
 * which does not store tokens, has none for a running pod. */
static const char *present_token(struct files_writing *f, const char *path)
{
    _cleanup_free_ char *file = mem_printf("%s/%s", f->directory, path);
    _cleanup_buf_ struct buf text;
    buf_init(&text, TOKEN_MAX);
    return file_read(file, &text, NULL) < 0 ? NULL : arena_strndup(f->arena, text.data, text.size);
}

static int put_token(struct files_writing *f, const struct json *source)
{
    const struct map *tokens = f->context->tokens;
    const char *path = json_get_string(source, "path", "");
    const char *token = tokens ? map_get(tokens, json_get_string(source, "audience", "")) : NULL;
    if (!token)
        token = present_token(f, path);
    if (!token)
        return err_set(f->err, ERR_NOT_FOUND,
                       "the token of the service account has not been issued yet");
    return put_file(f, path, token, strlen(token), f->default_mode);
}

static int put_projected(struct files_writing *f, const struct json *projected)
{
    JSON_EACH (source, json_get(projected, "sources")) {
        const struct json *config = json_get(source, "configMap");
        const struct json *secret = json_get(source, "secret");
        const struct json *downward = json_get(source, "downwardAPI");
        const struct json *token = json_get(source, "serviceAccountToken");
        int result = 0;
        if (config || secret)
            result = put_keys(f, config ? config : secret,
                              json_get_string(config ? config : secret, "name", ""), !config);
        else if (downward)
            result = put_downward(f, downward);
        else if (token)
            result = put_token(f, token);
        else if (json_first(source))
            result = err_set(f->err, ERR_UNSUPPORTED,
                             "a projected source of type %s is not supported on this machine: "
                             "configMap, secret, downwardAPI and serviceAccountToken are",
                             json_first(source)->name);
        if (result < 0)
            return result;
    }
    return 0;
}

/* ---- The kinds ---- */

static int put_config_map(struct files_writing *f, const struct json *source)
{
    return put_keys(f, source, json_get_string(source, "name", ""), false);
}

static int put_secret(struct files_writing *f, const struct json *source)
{
    return put_keys(f, source, json_get_string(source, "secretName", ""), true);
}

static const struct {
    const char *name;
    int (*put)(struct files_writing *f, const struct json *source);
} KINDS[] = {
    {"configMap", put_config_map},
    {"secret", put_secret},
    {"downwardAPI", put_downward},
    {"projected", put_projected},
};

bool volume_files_is(const struct json *volume)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++)
        if (json_get(volume, KINDS[i].name))
            return true;
    return false;
}

int volume_files_write(struct arena *arena, const struct volume_context *context,
                       const struct json *volume, const char *directory, struct err *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(KINDS); i++) {
        const struct json *source = json_get(volume, KINDS[i].name);
        if (!source)
            continue;
        struct files_writing writing = {.arena = arena,
                                        .context = context,
                                        .directory = directory,
                                        .default_mode =
                                            json_get_int(source, "defaultMode", MODE_DEFAULT),
                                        .set.arena = arena,
                                        .err = err};
        char boot[BOOT_ID_MAX];
        int result = boot_id(boot, err);
        writing.set.boot = boot;
        result = result < 0 ? result : KINDS[i].put(&writing, source);
        return result < 0 ? result
                          : volume_set_publish(&writing.set, directory, context->group, err);
    }
    return err_set(err, ERR_INTERNAL, "this volume shows no files");
}

bool volume_files_show(const struct json *volume, const struct kube_resource *resource,
                       const char *name)
{
    bool secret = resource == &KUBE_SECRETS;
    const char *kind = secret ? "secret" : "configMap";
    if (str_eq(json_get_string(json_get(volume, kind), secret ? "secretName" : "name", NULL), name))
        return true;
    JSON_EACH (source, json_at(volume, "projected", "sources", NULL)) {
        if (str_eq(json_get_string(json_get(source, kind), "name", NULL), name))
            return true;
    }
    return false;
}

bool volume_files_show_pod(const struct json *volume)
{
    if (json_get(volume, "downwardAPI"))
        return true;
    JSON_EACH (source, json_at(volume, "projected", "sources", NULL)) {
        if (json_get(source, "downwardAPI"))
            return true;
    }
    return false;
}
