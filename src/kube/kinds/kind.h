/* Describes a kind of object in one row (struct kube_kind): its names in the API, the schema of its
 * objects, the columns of `kubectl get`, its defaults and its validation. Everything that depends
 * on a kind reads its row: discovery, routing, decoding, validation, tables, OpenAPI.
 *
 * The rows of Kubernetes' own kinds and of PodGroups are in kube/kinds/ (kinds.h lists them), those
 * of training kinds in operator/kind/, that of Workflow in pipeline/ and that of
 * CustomResourceDefinition in engine/crd/. row.h explains how to write a row. Rows of custom
 * resources are made at run time (engine/crd/).
 *
 * The hooks of a row are pure functions. A hook that needs the state of an API server (a quota, a
 * free address) is not part of the row: engine/hooks.c adds it. */
#ifndef TRAINYARD_KUBE_KINDS_KIND_H
#define TRAINYARD_KUBE_KINDS_KIND_H

#include "base/json/json.h"
#include "kube/resource.h"
#include "kube/schema/decode.h"
#include "kube/schema/field_error.h"
#include "kube/table/table.h"

#include <stdbool.h>
#include <stdint.h>

enum kube_verb {
    VERB_CREATE = 1 << 0,
    VERB_DELETE = 1 << 1,
    VERB_DELETE_COLLECTION = 1 << 2,
    VERB_GET = 1 << 3,
    VERB_LIST = 1 << 4,
    VERB_PATCH = 1 << 5,
    VERB_UPDATE = 1 << 6,
    VERB_WATCH = 1 << 7,
    VERB_LAST = VERB_WATCH,
};
/* Returns the verb's name in RBAC and discovery, such as "deletecollection"; "" for a combination
 * of verbs. */
const char *kube_verb_name(enum kube_verb verb);

enum kube_subresource_id {
    SUB_NONE,
    SUB_STATUS,
    SUB_LOG,
    SUB_BINDING,
    SUB_PORT_FORWARD,
    SUB_EXEC,
    SUB_ATTACH,
    SUB_FINALIZE, /* spec.finalizers of a namespace */
    SUB_TOKEN,    /* a token of a service account */
    SUB_EVICTION, /* deletes a pod for `kubectl drain` */
    SUB_PROXY,    /* forwards HTTP requests to a pod, a service or a node */
    SUB_SCALE,    /* the number of replicas, as an autoscaling/v1 Scale */
};

/* The fields of an object that its Scale shows and changes. A path is a list of names with dots
 * between them. */
struct kube_scale_paths {
    const char *spec_path;     /* the number of replicas wanted: "spec.replicas" */
    const char *status_path;   /* the number of replicas that exist */
    const char *selector_path; /* the selector of the pods: a string, or a selector object */
    const char *any_case;      /* a name in the paths that is matched in any case; or NULL */
    bool makes_spec; /* a missing spec_path reads as 0, and a write of the Scale creates it */
};

struct kube_subresource {
    enum kube_subresource_id id;
    const char *name;                   /* "status" */
    const char *kind;                   /* the kind of the body, for discovery */
    const char *group, *version;        /* the group and version of `kind`; NULL: as the resource */
    const struct schema_object *schema; /* the type of the body; NULL: the kind's own, or none */
    unsigned verbs;                     /* enum kube_verb */
    const struct kube_scale_paths *scale; /* only for SUB_SCALE */
};

/* The rule for the names of a kind's objects. */
enum kube_name_rule {
    NAME_SUBDOMAIN, /* RFC 1123 subdomain, at most 253 characters */
    NAME_LABEL,     /* RFC 1123 label, at most 63 characters */
    NAME_LABEL1035, /* RFC 1035 label: starts with a letter */
    NAME_PATH,      /* any text that can be a segment of a path: "system:discovery" */
};

/* Functions of a kind that run when an object is written, in the order of this struct. Each hook
 * may be NULL. If a client creates the object, it has its name and uid before `defaults` runs. No
 * hook may rely on valid metadata: invalid metadata is reported, but the hooks run, too. */
struct kube_kind_hooks {
    /* Runs first, on the object as the client wrote it. Refuses forms that are no longer
     * supported. */
    void (*refuse)(struct field_errors *errors, const struct json *object);
    /* Runs on every write of the main resource, after the defaults of the schema were set. */
    void (*defaults)(struct arena *arena, struct json *object);
    /* Runs only on create. Sets fields that only the server may set, such as the first status. */
    void (*create)(struct arena *arena, struct json *object);
    /* Runs on every write of the main resource or of its Scale. `old` is NULL on create. */
    void (*validate)(struct field_errors *errors, const struct json *object,
                     const struct json *old);
};

/* Another version in which clients may read and write a kind. The store, the controllers and the
 * hooks only see the version of the row itself. */
struct kube_older_version {
    const char *version;                /* "v1beta1"; NULL ends a list */
    const char *api_version;            /* "kubeflow.org/v1beta1" */
    const struct schema_object *schema; /* the type of its objects; NULL: OpenAPI has none */
    /* Turns an object that a client wrote in this version into one of the row's version. NULL only
     * in rows that serve no requests (engine/crd/). */
    void (*convert)(struct arena *arena, struct json *object);
};

struct registry_definition;

struct kube_kind {
    struct kube_resource id;
    const char *singular;
    const char *list_kind;   /* "PodList" */
    const char *api_version; /* "v1", "kubeflow.org/v1" */
    const char *storage;     /* the first part of its keys in the store: "tfjobs.kubeflow.org" */
    const char *const *short_names; /* ends with NULL, like the next two lists; NULL: none */
    const char *const *categories;
    const char *const *fields; /* field selectors besides metadata.name and metadata.namespace */
    unsigned verbs;            /* enum kube_verb */
    const struct kube_subresource *subresources; /* ends with id SUB_NONE */
    const struct schema_object *schema;          /* the type of its objects */
    enum schema_form form;                       /* how its objects are decoded */
    enum kube_name_rule name_rule;
    bool generation; /* metadata.generation counts changes outside of metadata and status */
    bool transient;  /* its objects are never stored: a review, or a metric */
    bool graceful;   /* deletion waits until a node deletes the object with grace period 0 */
    const struct kube_older_version *older; /* ends with version NULL; NULL: none */
    struct kube_columns columns;            /* what `kubectl get` shows; empty: name and age */
    struct kube_kind_hooks hooks;

    /* Only for custom resources; NULL in built-in rows. */
    struct registry_definition *definition; /* the CustomResourceDefinition of this row */
    const char *stored_version; /* apiVersion of its objects in the store; NULL: api_version */
    const struct schema *whole; /* openAPIV3Schema, compiled; `schema` is a part of it */
    const struct json *source;  /* openAPIV3Schema as it was written */
    const char *warning;        /* sent to clients that use this version; NULL: none */
};

/* Returns whether clients may use the kind in this version: the row's own, or an older one. */
bool kube_kind_serves_version(const struct kube_kind *kind, const char *version);
/* Returns the subresource of this name; NULL if the kind has none. */
const struct kube_subresource *kube_subresource(const struct kube_kind *kind, const char *name);
/* Returns whether the kind has the subresource "status". */
bool kube_kind_has_status(const struct kube_kind *kind);
/* Returns whether a field selector may name the path. */
bool kube_kind_selects_field(const struct kube_kind *kind, const char *path);
/* Returns the columns of the kind, or the columns name and age if it has no columns. */
const struct kube_columns *kube_kind_columns(const struct kube_kind *kind);

#endif
