/* Volumes as directories; see volumes.h. */
#include "node/volumes.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "node/claim_data.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct filling {
    struct arena *arena;
    const struct volume_context *context;
    const char *directory;
    int64_t default_mode;
    struct err *err;
};

/* A path inside the volume as the API allows it: relative and without "..". */
static bool is_inner_path(const char *path)
{
    if (!path[0] || path[0] == '/')
        return false;
    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return false;
    return true;
}

static int put_file(struct filling *f, const char *path, const char *data, size_t size,
                    int64_t mode)
{
    if (!is_inner_path(path))
        return err_set(f->err, ERR_INVALID, "'%s' is no path inside a volume", path);
    char *whole = arena_printf(f->arena, "%s/%s", f->directory, path);
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    int result = file_make_dirs(whole, 0755, f->err);
    *slash = '/';
    return result < 0 ? result : file_replace(whole, data, size, (mode_t)(mode & 0777), f->err);
}

/* Every key that is asked for must be there: a program would miss its file and not know why. */
static int check_keys(struct filling *f, const struct json *source, const struct json *object,
                      const char *kind, const char *name)
{
    if (json_get_bool(source, "optional", false))
        return 0;
    JSON_EACH (item, json_get(source, "items")) {
        const char *key = json_get_string(item, "key", "");
        if (!json_at(object, "data", key, NULL) && !json_at(object, "binaryData", key, NULL))
            return err_set(f->err, ERR_NOT_FOUND, "%s '%s' has no key '%s'", kind, name, key);
    }
    return 0;
}

/* The keys of a config map or secret, all or those of `items`. */
static int put_keys(struct filling *f, const struct json *source, const char *name, bool secret)
{
    const struct json *object =
        node_objects_get(f->context->objects, secret ? &KUBE_SECRETS : &KUBE_CONFIGMAPS,
                         kube_meta_namespace(f->context->facts->pod), name);
    if (!object)
        return json_get_bool(source, "optional", false)
                   ? 0
                   : err_set(f->err, ERR_NOT_FOUND, "%s '%s' not found",
                             secret ? "secret" : "configmap", name);
    int missing = check_keys(f, source, object, secret ? "secret" : "configmap", name);
    if (missing < 0)
        return missing;
    const struct json *items = json_get(source, "items");
    const struct json *maps[] = {json_get(object, "data"), json_get(object, "binaryData")};
    for (size_t m = 0; m < ARRAY_SIZE(maps); m++) {
        JSON_EACH (entry, maps[m]) {
            const char *path = items ? NULL : entry->name;
            int64_t mode = f->default_mode;
            JSON_EACH (item, items) {
                if (str_eq(json_get_string(item, "key", ""), entry->name)) {
                    path = json_get_string(item, "path", entry->name);
                    mode = json_get_int(item, "mode", mode);
                }
            }
            if (!path || !json_text(entry))
                continue;
            const char *data = json_text(entry);
            char *decoded;
            size_t size = strlen(data);
            int result = 0;
            if (secret || m == 1) {
                result = base64_decode(f->arena, data, &decoded, &size, f->err);
                data = result == 0 ? decoded : data;
            }
            if (result == 0)
                result = put_file(f, path, data, size, mode);
            if (result < 0)
                return result;
        }
    }
    return 0;
}

/* All labels or annotations, one key="value" a line, as the downward API writes them. */
static const char *map_text(struct arena *arena, const struct json *map)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1024 * 1024);
    JSON_EACH (entry, map) {
        buf_printf(&text, "%s=\"%s\"\n", entry->name, json_text(entry) ? json_text(entry) : "");
    }
    return arena_strndup(arena, text.data, text.size);
}

static int put_downward(struct filling *f, const struct json *source)
{
    JSON_EACH (item, json_get(source, "items")) {
        const struct pod_facts *facts = f->context->facts;
        const char *field = json_get_string(json_get(item, "fieldRef"), "fieldPath", "");
        const char *value = NULL;
        int result = 0;
        if (str_eq(field, "metadata.labels"))
            value = map_text(f->arena, kube_meta_labels(facts->pod));
        else if (str_eq(field, "metadata.annotations"))
            value = map_text(f->arena, json_at(facts->pod, "metadata", "annotations", NULL));
        else
            result = environment_field(f->arena, facts, field, &value, f->err);
        if (result == 0)
            result = put_file(f, json_get_string(item, "path", ""), value, strlen(value),
                              json_get_int(item, "mode", f->default_mode));
        if (result < 0)
            return result;
    }
    return 0;
}

static int put_token(struct filling *f, const struct json *source)
{
    const struct map *tokens = f->context->tokens;
    const char *token = tokens ? map_get(tokens, json_get_string(source, "audience", "")) : NULL;
    if (!token)
        return err_set(f->err, ERR_NOT_FOUND, "the token of the service account is not there yet");
    return put_file(f, json_get_string(source, "path", ""), token, strlen(token), f->default_mode);
}

static int put_projected(struct filling *f, const struct json *projected)
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
        if (result < 0)
            return result;
    }
    return 0;
}

static int prepare_host_path(const struct json *source, struct volume *ret, struct err *err)
{
    const char *path = json_get_string(source, "path", "");
    const char *type = json_get_string(source, "type", "");
    struct stat info;
    if (path[0] != '/')
        return err_set(err, ERR_INVALID, "hostPath '%s' is not absolute", path);
    if (str_eq(type, "DirectoryOrCreate")) {
        int result = file_make_dirs(path, 0755, err);
        if (result < 0)
            return result;
    }
    if (stat(path, &info) < 0)
        return err_set_errno(err, errno, "hostPath '%s'", path);
    if ((str_has_prefix(type, "Directory") && !S_ISDIR(info.st_mode)) ||
        (str_has_prefix(type, "File") && !S_ISREG(info.st_mode)))
        return err_set(err, ERR_INVALID, "hostPath '%s' is no %s", path, type);
    ret->source = path;
    return 0;
}

/* Everybody may write there, whoever the container runs as: the way to it is closed to others. */
static int make_open_directory(const char *path, struct err *err)
{
    int result = file_make_dirs(path, 0755, err);
    if (result == 0 && chmod(path, 0777) < 0)
        result = err_set_errno(err, errno, "cannot open '%s' to the pod", path);
    return result;
}

char *volume_claim_path(struct arena *arena, const char *state_dir, const char *namespace_,
                        const char *claim)
{
    return arena_printf(arena, "%s/volumes/%s/%s", state_dir, namespace_, claim);
}

/* The volume of a bound claim. One that was made for it lies where claims do (*ret_given NULL), one
 * that somebody made by hand where he says. */
static int find_volume(const struct volume_context *context, const char *name,
                       const struct json **ret_given, struct err *err)
{
    const struct json *volume = node_objects_get(context->objects, &KUBE_PVS, "", name);
    const struct json *spec = json_get(volume, "spec");
    if (!volume)
        return err_set(err, ERR_NOT_FOUND, "persistentvolume '%s' not found", name);
    *ret_given = json_get(spec, "hostPath");
    if (!*ret_given)
        *ret_given = json_get(spec, "local");
    if (!*ret_given && !kube_meta_annotation(volume, CLAIM_DATA_ANNOTATION))
        return err_set(err, ERR_INVALID,
                       "persistentvolume '%s' is no directory of this machine: only hostPath and "
                       "local are supported",
                       name);
    return 0;
}

static int prepare_claim(struct arena *arena, const struct volume_context *context,
                         const struct json *source, struct volume *ret, struct err *err)
{
    const char *namespace_ = kube_meta_namespace(context->facts->pod);
    const char *name = json_get_string(source, "claimName", "");
    if (!str_is_dns_subdomain(name)) /* it becomes part of a path */
        return err_set(err, ERR_INVALID, "'%s' is no name of a claim", name);
    const struct json *claim = node_objects_get(context->objects, &KUBE_PVCS, namespace_, name);
    if (!claim)
        return err_set(err, ERR_NOT_FOUND, "persistentvolumeclaim '%s' not found", name);
    if (!str_eq(json_get_string(json_get(claim, "status"), "phase", ""), "Bound"))
        return err_set(err, ERR_NOT_FOUND,
                       "persistentvolumeclaim '%s' is not bound: 'kubectl describe pvc %s' says "
                       "what it waits for",
                       name, name);
    ret->read_only = json_get_bool(source, "readOnly", false);
    const char *volume = json_get_string(json_get(claim, "spec"), "volumeName", "");
    const struct json *given = NULL;
    int result = volume[0] ? find_volume(context, volume, &given, err) : 0;
    if (result < 0 || given)
        return result < 0 ? result : prepare_host_path(given, ret, err);
    char *path = volume_claim_path(arena, context->state_dir, namespace_, name);
    ret->source = path;
    return make_open_directory(path, err);
}

static int prepare_empty(const struct volume_context *context, const struct json *source,
                         const char *directory, struct volume *ret, struct err *err)
{
    /* Memory can be given to one container only: mounts are each container's own. */
    if (str_eq(json_get_string(source, "medium", ""), "Memory") &&
        json_count(json_at(context->facts->pod, "spec", "containers", NULL)) +
                json_count(json_at(context->facts->pod, "spec", "initContainers", NULL)) ==
            1) {
        ret->source = NULL;
        return 0;
    }
    return make_open_directory(directory, err);
}

static const struct json *first_source(const struct json *volume)
{
    JSON_EACH (member, volume) {
        if (!str_eq(member->name, "name"))
            return member;
    }
    return NULL;
}

int volume_prepare(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct volume *ret, struct err *err)
{
    const char *name = json_get_string(volume, "name", "");
    if (!str_is_dns_label(name))
        return err_set(err, ERR_INVALID, "'%s' is no name of a volume", name);
    const struct json *source = first_source(volume);
    const char *type = source ? source->name : "emptyDir";
    const char *directory = arena_printf(arena, "%s/volumes/%s", context->pod_dir, name);
    struct filling filling = {.arena = arena,
                              .context = context,
                              .directory = directory,
                              .default_mode = json_get_int(source, "defaultMode", 0644),
                              .err = err};
    *ret = (struct volume){.name = name, .source = directory};
    int result;
    if (str_eq(type, "emptyDir")) {
        result = prepare_empty(context, source, directory, ret, err);
    } else if (str_eq(type, "hostPath")) {
        result = prepare_host_path(source, ret, err);
    } else if (str_eq(type, "persistentVolumeClaim")) {
        result = prepare_claim(arena, context, source, ret, err);
    } else {
        ret->read_only = true;
        result = file_make_dirs(directory, 0755, err);
        if (result < 0)
            return result;
        if (str_eq(type, "configMap"))
            result = put_keys(&filling, source, json_get_string(source, "name", ""), false);
        else if (str_eq(type, "secret"))
            result = put_keys(&filling, source, json_get_string(source, "secretName", ""), true);
        else if (str_eq(type, "downwardAPI"))
            result = put_downward(&filling, source);
        else if (str_eq(type, "projected"))
            result = put_projected(&filling, source);
        else
            result = err_set(err, ERR_UNSUPPORTED,
                             "a volume of type %s is not supported on this machine", type);
    }
    return result < 0 ? err_wrap(err, "volume '%s'", name) : 0;
}

/* ---- Refreshing ---- */

/* Keys that are gone from the object go from a volume that shows all of them. */
static int remove_stale(const struct filling *f, const struct json *object)
{
    DIR *directory = opendir(f->directory);
    const struct dirent *entry;
    if (!directory)
        return err_set_errno(f->err, errno, "cannot read '%s'", f->directory);
    while ((entry = readdir(directory)))
        if (entry->d_type == DT_REG && !json_at(object, "data", entry->d_name, NULL) &&
            !json_at(object, "binaryData", entry->d_name, NULL))
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    return 0;
}

int volume_refresh(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, const struct kube_resource *resource,
                   const char *name, struct err *err)
{
    bool secret = resource == &KUBE_SECRETS;
    const char *kind = secret ? "secret" : "configMap";
    const struct json *own = json_get(volume, kind), *projected = json_get(volume, "projected");
    const struct json *object = node_objects_get(context->objects, resource,
                                                 kube_meta_namespace(context->facts->pod), name);
    struct filling f = {
        .arena = arena,
        .context = context,
        .directory = arena_printf(arena, "%s/volumes/%s", context->pod_dir,
                                  json_get_string(volume, "name", "")),
        .default_mode = json_get_int(own ? own : projected, "defaultMode", 0644),
        .err = err,
    };
    int result = 0;
    if (!object)
        return 0; /* it is gone: what the pod has of it stays */
    if (str_eq(json_get_string(own, secret ? "secretName" : "name", NULL), name)) {
        result = put_keys(&f, own, name, secret);
        if (result == 0 && !json_get(own, "items"))
            result = remove_stale(&f, object);
    }
    JSON_EACH (source, json_get(projected, "sources")) {
        const struct json *part = json_get(source, kind);
        if (result == 0 && str_eq(json_get_string(part, "name", NULL), name))
            result = put_keys(&f, part, name, secret);
    }
    return result < 0 ? err_wrap(err, "volume '%s'", json_get_string(volume, "name", "")) : 0;
}
