/* Finds the API resource of a manifest; see resource_kind.h. */
#include "pipeline/reconcile/resource_kind.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/kinds.h"

#include <ctype.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Cluster-scoped kinds that users write in manifests. */
static const char *const CLUSTER_WIDE[] = {"ClusterRole",
                                           "ClusterRoleBinding",
                                           "CustomResourceDefinition",
                                           "Namespace",
                                           "Node",
                                           "PersistentVolume",
                                           "PriorityClass",
                                           "StorageClass"};

static bool is_cluster_wide(const char *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(CLUSTER_WIDE); i++)
        if (str_eq(CLUSTER_WIDE[i], kind))
            return true;
    return false;
}

static const char *plural_of(struct arena *arena, const char *kind)
{
    char *plural = arena_printf(arena, "%sies", kind); /* room for the longest ending */
    size_t size = strlen(kind);

    for (char *at = plural; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    if (str_has_suffix(kind, "points")) /* Endpoints is its own plural */
        plural[size] = '\0';
    else if (str_has_suffix(kind, "s"))
        memcpy(plural + size, "es", 3);
    else if (str_has_suffix(kind, "y"))
        memcpy(plural + size - 1, "ies", 4);
    else
        memcpy(plural + size, "s", 2);
    return plural;
}

int workflow_resource_kind(struct arena *arena, const struct json *object,
                           struct kube_resource *ret, struct err *err)
{
    const char *version = json_get_string(object, "apiVersion", "");
    const char *kind = json_get_string(object, "kind", "");
    const struct kube_kind *known = kube_kind_find(version, kind);
    const char *slash = strchr(version, '/');

    if (!version[0] || !kind[0])
        return err_set(err, ERR_INVALID, "manifest: apiVersion and kind must be given");
    if (known && known->id.namespaced) {
        *ret = known->id;
        return 0;
    }
    if (known || is_cluster_wide(kind))
        return err_set(err, ERR_FORBIDDEN,
                       "manifest: a %s is cluster-scoped, but a workflow can create objects only "
                       "in its own namespace",
                       kind);
    /* Kind and version become parts of a path. */
    if (strspn(kind, LETTERS) != strlen(kind) || strspn(version, LETTERS "-./") != strlen(version))
        return err_set(err, ERR_INVALID, "manifest: invalid apiVersion '%.60s' or kind '%.60s'",
                       version, kind);
    *ret = (struct kube_resource){
        .group = slash ? arena_strndup(arena, version, (size_t)(slash - version)) : "",
        .version = slash ? slash + 1 : version,
        .plural = plural_of(arena, kind),
        .kind = kind,
        .namespaced = true,
    };
    return 0;
}
