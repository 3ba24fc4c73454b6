/* Macros that define the row of a kind (struct kube_kind in kind.h). For example,
 *
 *   KUBE_KIND(KUBE_LEASES, KUBE_LEASE_KIND, "coordination.k8s.io", "v1", "leases", "Lease",
 *             NAMESPACED,
 *       .singular = "lease",
 *       .verbs = VERBS_ALL,
 *       .schema = &TYPE_LEASE,
 *       .columns = COLUMNS(LEASE_COLUMNS),
 *       .hooks = {.validate = lease_validate});
 *
 * defines two constants: KUBE_LEASES, the resource, for clients of the API, and KUBE_LEASE_KIND,
 * the row. */
#ifndef TRAINYARD_KUBE_KINDS_ROW_H
#define TRAINYARD_KUBE_KINDS_ROW_H

#include "base/mem.h"
#include "kube/kinds/kinds.h"
#include "kube/table/cells.h"
#include "kube/types/types.h"

#define NAMESPACED   true
#define CLUSTER_WIDE false

/* KUBE_KIND() defines a kind of a named group, and KUBE_CORE_KIND() a kind of the core group. */
#define KUBE_KIND(resource_, row_, group_, version_, plural_, kind_, namespaced_, ...)             \
    DEFINE_KIND(resource_, row_, group_, version_, plural_, kind_, namespaced_,                    \
                group_ "/" version_, plural_ "." group_, __VA_ARGS__)
#define KUBE_CORE_KIND(resource_, row_, plural_, kind_, namespaced_, ...)                          \
    DEFINE_KIND(resource_, row_, "", "v1", plural_, kind_, namespaced_, "v1", plural_, __VA_ARGS__)

#define DEFINE_KIND(resource_, row_, group_, version_, plural_, kind_, namespaced_, api_version_,  \
                    storage_, ...)                                                                 \
    const struct kube_resource resource_ =                                                         \
        RESOURCE_OF(group_, version_, plural_, kind_, namespaced_);                                \
    const struct kube_kind row_ = {.id =                                                           \
                                       RESOURCE_OF(group_, version_, plural_, kind_, namespaced_), \
                                   .api_version = (api_version_),                                  \
                                   .storage = (storage_),                                          \
                                   .list_kind = kind_ "List",                                      \
                                   __VA_ARGS__}

#define RESOURCE_OF(group_, version_, plural_, kind_, namespaced_)                                 \
    {                                                                                              \
        .group = (group_), .version = (version_), .plural = (plural_), .kind = (kind_),            \
        .namespaced = (namespaced_)                                                                \
    }

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The category of kinds that `kubectl get all` shows. */
#define CATEGORY_ALL NAMES("all")

/* ---- Verbs and subresources ------------------------------------------------------------------ */

enum {
    VERBS_ALL = VERB_CREATE | VERB_DELETE | VERB_DELETE_COLLECTION | VERB_GET | VERB_LIST |
                VERB_PATCH | VERB_UPDATE | VERB_WATCH,
    VERBS_STATUS = VERB_GET | VERB_PATCH | VERB_UPDATE,
};

#define SUBRESOURCES(...)                                                                          \
    ((const struct kube_subresource[]){                                                            \
        __VA_ARGS__,                                                                               \
        {.id = SUB_NONE},                                                                          \
    })

#define STATUS_OF(kind_)                                                                           \
    {                                                                                              \
        .id = SUB_STATUS, .name = "status", .kind = (kind_), .verbs = VERBS_STATUS                 \
    }
/* A proxy forwards every HTTP method, so it has a verb for each. */
#define PROXY_OF(kind_)                                                                            \
    {                                                                                              \
        .id = SUB_PROXY, .name = "proxy", .kind = kind_ "ProxyOptions",                            \
        .verbs = VERB_CREATE | VERB_DELETE | VERB_GET | VERB_PATCH | VERB_UPDATE                   \
    }
#define SCALE_OF(paths_)                                                                           \
    {                                                                                              \
        .id = SUB_SCALE, .name = "scale", .kind = "Scale", .group = "autoscaling",                 \
        .version = "v1", .schema = &TYPE_SCALE, .verbs = VERBS_STATUS, .scale = (paths_)           \
    }

/* ---- Columns --------------------------------------------------------------------------------- */

#define COLUMNS(array_)                                                                            \
    {                                                                                              \
        (array_), ARRAY_SIZE(array_)                                                               \
    }

#define COLUMN_NAME                                                                                \
    {                                                                                              \
        "Name", "string", "name", "Name of the object, unique within its namespace.", 0,           \
            table_name                                                                             \
    }
#define COLUMN_AGE                                                                                 \
    {                                                                                              \
        "Age", "string", "", "Time since the object was created.", 0, table_age_cell               \
    }
/* Like COLUMN_AGE, with the type that the printer column of a CustomResourceDefinition has. */
#define COLUMN_AGE_DATE                                                                            \
    {                                                                                              \
        "Age", "date", "", "Time since the object was created.", 0, table_age_cell                 \
    }
#define COLUMN_TEXT(name_, description_, cell_)                                                    \
    {                                                                                              \
        name_, "string", "", description_, 0, cell_                                                \
    }
#define COLUMN_INT(name_, description_, cell_)                                                     \
    {                                                                                              \
        name_, "integer", "", description_, 0, cell_                                               \
    }
/* A column that only `kubectl get -o wide` shows. */
#define COLUMN_WIDE(name_, description_, cell_)                                                    \
    {                                                                                              \
        name_, "string", "", description_, 1, cell_                                                \
    }

#endif
