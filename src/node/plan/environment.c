/* Builds a container's environment; see plan/environment.h. */
#include "node/plan/environment.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/str.h"
#include "kube/object.h"

#include <ctype.h>
#include <string.h>

enum { VALUE_MAX = 1024 * 1024, ENTRIES_MAX = 16 * 1024 };

static size_t environment_find(const struct pod_strings *environment, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < environment->count; i++)
        if (strncmp(environment->items[i], name, size) == 0 && environment->items[i][size] == '=')
            return i;
    return environment->count;
}

const char *environment_get(const struct pod_strings *environment, const char *name)
{
    size_t position = environment_find(environment, name);
    return position < environment->count ? strchr(environment->items[position], '=') + 1 : NULL;
}

void environment_set(struct arena *arena, struct pod_strings *environment, const char *name,
                     const char *value)
{
    const char *entry = arena_printf(arena, "%s=%s", name, value);
    size_t position = environment_find(environment, name);
    if (position < environment->count)
        environment->items[position] = entry;
    else
        pod_strings_add(arena, environment, entry);
}

const char *environment_expand(struct arena *arena, const char *text,
                               const struct pod_strings *environment)
{
    if (!strchr(text, '$'))
        return text;
    _cleanup_buf_ struct buf out;
    buf_init(&out, VALUE_MAX);
    for (const char *at = text; *at;) {
        const char *close = at[0] == '$' && at[1] == '(' ? strchr(at, ')') : NULL;
        if (at[0] == '$' && at[1] == '$') {
            buf_append_char(&out, '$');
            at += 2;
        } else if (close) {
            const char *name = arena_strndup(arena, at + 2, (size_t)(close - at - 2));
            const char *value = environment_get(environment, name);
            if (value)
                buf_append_str(&out, value);
            else
                buf_append(&out, at, (size_t)(close - at + 1));
            at = close + 1;
        } else {
            buf_append_char(&out, *at++);
        }
    }
    return arena_strndup(arena, out.data, out.size);
}

/* Returns the key of a path such as "metadata.labels['key']", where `map` is "metadata.labels".
 * Returns NULL if the path does not have this form. */
static const char *environment_subscript(struct arena *arena, const char *path, const char *map)
{
    size_t size = strlen(map), whole = strlen(path);
    if (!str_has_prefix(path, map) || whole < size + 4 || strncmp(path + size, "['", 2) != 0 ||
        strcmp(path + whole - 2, "']") != 0)
        return NULL;
    return arena_strndup(arena, path + size + 2, whole - size - 4);
}

int environment_field(struct arena *arena, const struct pod_facts *facts, const char *path,
                      const char **ret, struct err *err)
{
    const struct json *pod = facts->pod, *spec = json_get(pod, "spec");
    const struct {
        const char *path, *value;
    } fields[] = {
        {"metadata.name", kube_meta_name(pod)},
        {"metadata.namespace", kube_meta_namespace(pod)},
        {"metadata.uid", kube_meta_uid(pod)},
        {"spec.nodeName", json_get_string(spec, "nodeName", "")},
        {"spec.serviceAccountName", json_get_string(spec, "serviceAccountName", "default")},
        {"status.podIP", facts->address},
        {"status.podIPs", facts->address},
        {"status.hostIP", facts->host_address},
        {"status.hostIPs", facts->host_address},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (str_eq(path, fields[i].path)) {
            *ret = fields[i].value;
            return 0;
        }
    }
    const char *label = environment_subscript(arena, path, "metadata.labels");
    const char *annotation = environment_subscript(arena, path, "metadata.annotations");
    if (!label && !annotation)
        return err_set(err, ERR_UNSUPPORTED, "fieldPath '%s' is not supported", path);
    const char *value = label ? kube_meta_label(pod, label) : kube_meta_annotation(pod, annotation);
    *ret = value ? value : "";
    return 0;
}

/* Decodes one value of a secret. Fails if the value contains a NUL byte, because an environment
 * cannot contain it. */
static int environment_decode_value(struct arena *arena, const char *text, const char **ret,
                                    struct err *err)
{
    char *value;
    size_t size;
    int result = base64_decode(arena, text, &value, &size, err);
    if (result == 0 && strlen(value) != size)
        result = err_set(err, ERR_INVALID, "the value contains a NUL byte");
    if (result == 0)
        *ret = value;
    return result;
}

static int key_value(struct arena *arena, const struct pod_facts *facts,
                     const struct node_objects *objects, const struct json *reference, bool secret,
                     const char **ret, struct err *err)
{
    const char *name = json_get_string(reference, "name", "");
    const char *key = json_get_string(reference, "key", "");
    const struct json *object = node_objects_get(objects, secret ? &KUBE_SECRETS : &KUBE_CONFIGMAPS,
                                                 kube_meta_namespace(facts->pod), name);
    const char *value = json_get_string(json_get(object, "data"), key, NULL);
    if (value && secret)
        return environment_decode_value(arena, value, ret, err);
    *ret = value;
    if (value || json_get_bool(reference, "optional", false))
        return 0;
    return object ? err_set(err, ERR_NOT_FOUND, "couldn't find key %s in %s %s/%s", key,
                            secret ? "Secret" : "ConfigMap", kube_meta_namespace(facts->pod), name)
                  : err_set(err, ERR_NOT_FOUND, "%s \"%s\" not found",
                            secret ? "secret" : "configmap", name);
}

static int value_from(struct arena *arena, const struct pod_facts *facts,
                      const struct node_objects *objects, const struct json *container,
                      const struct json *from, const char **ret, struct err *err)
{
    const struct json *field = json_get(from, "fieldRef");
    const struct json *config = json_get(from, "configMapKeyRef");
    const struct json *secret = json_get(from, "secretKeyRef");
    const struct json *resource = json_get(from, "resourceFieldRef");
    if (resource)
        return environment_resource(arena, facts, container, resource, ret, err);
    if (field)
        return environment_field(arena, facts, json_get_string(field, "fieldPath", ""), ret, err);
    if (config || secret)
        return key_value(arena, facts, objects, config ? config : secret, secret && !config, ret,
                         err);
    return err_set(err, ERR_UNSUPPORTED, "valueFrom of this kind is not supported on this machine");
}

/* Returns whether the prefix and the key form the name of a variable. By the rule of Kubernetes it
 * consists of letters, digits, '_', '-' and '.', and does not start with a digit. */
static bool is_variable_name(const char *prefix, const char *key)
{
    const char *first = prefix[0] ? prefix : key, *const parts[] = {prefix, key};
    if (!first[0] || isdigit((unsigned char)first[0]))
        return false;
    for (size_t i = 0; i < 2; i++)
        for (const char *at = parts[i]; *at; at++)
            if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
                return false;
    return true;
}

static int add_from(struct arena *arena, const struct pod_facts *facts,
                    const struct node_objects *objects, const struct json *from,
                    struct pod_strings *ret, struct err *err)
{
    const struct json *config = json_get(from, "configMapRef");
    const struct json *reference = config ? config : json_get(from, "secretRef");
    const char *name = json_get_string(reference, "name", "");
    const char *prefix = json_get_string(from, "prefix", "");
    const struct json *object = node_objects_get(objects, config ? &KUBE_CONFIGMAPS : &KUBE_SECRETS,
                                                 kube_meta_namespace(facts->pod), name);
    if (!object && !json_get_bool(reference, "optional", false))
        return err_set(err, ERR_NOT_FOUND, "%s \"%s\" not found", config ? "configmap" : "secret",
                       name);
    JSON_EACH (entry, json_get(object, "data")) {
        const char *value = json_text(entry);
        if (ret->count > ENTRIES_MAX)
            return err_set(err, ERR_TOO_MANY,
                           "the container has more than %d environment variables", ENTRIES_MAX);
        if (!value || !is_variable_name(prefix, entry->name) ||
            (!config && environment_decode_value(arena, value, &value, NULL) < 0))
            continue;
        environment_set(arena, ret, arena_printf(arena, "%s%s", prefix, entry->name), value);
    }
    return 0;
}

int environment_build(struct arena *arena, const struct pod_facts *facts,
                      const struct node_objects *objects, const struct json *container,
                      struct pod_strings *ret, struct err *err)
{
    JSON_EACH (from, json_get(container, "envFrom")) {
        int result = add_from(arena, facts, objects, from, ret, err);
        if (result < 0)
            return result;
    }
    JSON_EACH (variable, json_get(container, "env")) {
        const char *name = json_get_string(variable, "name", "");
        const char *value = json_get_string(variable, "value", "");
        const struct json *from = json_get(variable, "valueFrom");
        if (ret->count > ENTRIES_MAX)
            return err_set(err, ERR_TOO_MANY,
                           "the container has more than %d environment variables", ENTRIES_MAX);
        if (from) {
            int result = value_from(arena, facts, objects, container, from, &value, err);
            if (result < 0)
                return err_wrap(err, "environment variable '%s'", name);
            if (!value)
                continue; /* optional, and missing */
        } else {
            value = environment_expand(arena, value, ret);
        }
        environment_set(arena, ret, name, value);
    }
    return 0;
}

void environment_find_skipped(struct arena *arena, const struct json *pod,
                              const struct node_objects *objects, const struct json *container,
                              environment_skipped *tell, void *context)
{
    JSON_EACH (from, json_get(container, "envFrom")) {
        const struct json *config = json_get(from, "configMapRef");
        const char *name =
            json_get_string(config ? config : json_get(from, "secretRef"), "name", "");
        const struct json *object = node_objects_get(
            objects, config ? &KUBE_CONFIGMAPS : &KUBE_SECRETS, kube_meta_namespace(pod), name);
        const char *keys = "";
        JSON_EACH (entry, json_get(object, "data")) {
            if (!is_variable_name(json_get_string(from, "prefix", ""), entry->name))
                keys = arena_printf(arena, "%s%s%s", keys, keys[0] ? ", " : "", entry->name);
        }
        if (keys[0])
            tell(context, config ? "configMap" : "secret", name, keys);
    }
}
