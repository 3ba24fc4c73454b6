/* Converts a path in a container to a path that the user can open; see report_location.h. The path
 * comes from the user's program and is only displayed. */
#include "operator/reconcile/report_location.h"

#include "operator/reconcile/progress_text.h"

#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum { PATH_BYTES_MAX = 1024 };

static bool is_plain_path(const char *path)
{
    return path && path[0] == '/' && strlen(path) <= PATH_BYTES_MAX && !strstr(path, "/../") &&
           training_progress_is_plain(path);
}

/* Returns the part of the path after the mount path, without a leading slash. Returns NULL if the
 * path is not below the mount path. */
static const char *rest_below(const char *mount, const char *path)
{
    size_t size = strlen(mount);

    while (size > 0 && mount[size - 1] == '/')
        size--;
    if (size == 0 || strncmp(path, mount, size) != 0 || path[size] != '/')
        return NULL;
    return path + size + 1;
}

/* Returns the innermost mount that contains the path. */
static const struct json *find_mount(const struct json *spec, const char *container,
                                     const char *path, const char **ret_rest)
{
    const struct json *found = NULL;

    JSON_EACH (each, json_get(spec, "containers")) {
        if (!str_eq(json_get_string(each, "name", NULL), container))
            continue;
        JSON_EACH (mount, json_get(each, "volumeMounts")) {
            const char *rest = rest_below(json_get_string(mount, "mountPath", ""), path);

            if (rest && (!found || strlen(rest) < strlen(*ret_rest))) {
                found = mount;
                *ret_rest = rest;
            }
        }
    }
    return found;
}

static const struct json *report_find_volume(const struct json *spec, const char *name)
{
    JSON_EACH (volume, json_get(spec, "volumes")) {
        if (str_eq(json_get_string(volume, "name", NULL), name))
            return volume;
    }
    return NULL;
}

static char *report_join_path(struct arena *arena, const char *directory, const char *rest)
{
    size_t size = strlen(directory);

    while (size > 0 && directory[size - 1] == '/')
        size--;
    return arena_printf(arena, "%.*s/%s", (int)size, directory, rest);
}

const char *training_report_location(struct arena *arena, const struct training_claims *claims,
                                     const struct json *pod, const struct json *spec,
                                     const char *container, const char *path)
{
    const char *rest = NULL;
    const struct json *mount =
        is_plain_path(path) ? find_mount(spec, container, path, &rest) : NULL;
    const struct json *volume = report_find_volume(spec, json_get_string(mount, "name", ""));
    const char *claim =
        json_get_string(json_get(volume, "persistentVolumeClaim"), "claimName", NULL);
    const char *directory = json_get_string(json_get(volume, "hostPath"), "path", NULL);
    const char *part = json_get_string(mount, "subPath", "");

    if (!volume || json_get(mount, "subPathExpr")) /* the value of subPathExpr is unknown */
        return NULL;
    if (part[0])
        rest = report_join_path(arena, part, rest);
    if (claim && claims)
        directory = claims->directory(claims->context, arena, kube_meta_namespace(pod), claim);
    if (directory && claims)
        return report_join_path(arena, directory, rest);
    if (directory)
        return arena_printf(arena, "%s on node %s", report_join_path(arena, directory, rest),
                            json_get_string(json_get(pod, "spec"), "nodeName", "?"));
    return claim ? arena_printf(arena, "%s in claim %s", rest, claim) : NULL;
}
