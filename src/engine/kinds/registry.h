/* The kinds that an API server serves: the built-in ones of kube/kinds/, those that the program
 * adds at start (training kinds, Workflow), and custom resources, which come and go with their
 * definitions. Discovery, routing and the REST handlers ask it. kube/kinds/kind.h says what a row
 * holds.
 *
 * Must be used on the loop thread, but for registry_hooks(). */
#ifndef TRAINYARD_ENGINE_KINDS_REGISTRY_H
#define TRAINYARD_ENGINE_KINDS_REGISTRY_H

#include "kube/kinds/kinds.h"

struct engine;
struct api_call;
struct registry;

/* What the engine adds to the writes of a kind because it needs the store or the engine's state.
 * Each hook may be NULL. `old` is NULL on create. */
struct registry_hooks {
    const struct kube_kind *kind; /* NULL ends a list; its `admit` is for every kind */
    /* Runs after the row's defaults. Sets what must be unique among all objects of the kind. */
    void (*assign)(struct engine *engine, struct field_errors *errors, struct json *object,
                   const struct json *old);
    /* Runs when deletion is requested for the first time, before the object is marked. */
    void (*delete_)(const struct registry *registry, struct arena *arena, struct json *object,
                    int64_t now_ms);
    /* Runs after validation. May complete the object or refuse it. The hook for every kind runs
     * last, on the object as it will be stored. */
    int (*admit)(struct api_call *call, struct json *object, const struct json *old,
                 struct err *err);
    /* Runs on a write of the status. Corrects what the server knows better than the client. */
    int (*status)(struct api_call *call, struct json *object, struct err *err);
};

/* `kinds` are served besides those of kube/kinds/, and `hooks` are added; both end with NULL, must
 * outlive the registry, and may be NULL themselves. */
struct registry *registry_new(const struct kube_kind *const *kinds,
                              const struct registry_hooks *hooks);
struct registry *registry_free(struct registry *registry);

/* Serves one more built-in kind. It stands in the order of groups and resources. */
void registry_add(struct registry *registry, const struct kube_kind *kind);

/* The hooks of the kind; never NULL. May be called on any thread. */
const struct registry_hooks *registry_hooks(const struct registry *registry,
                                            const struct kube_kind *kind);
/* The hooks for every kind: those of the row that ends the list. Never NULL. */
const struct registry_hooks *registry_common_hooks(const struct registry *registry);

/* Whether a kind that is no custom resource has this storage name, such as "tfjobs.kubeflow.org".
 * A definition of that name is kept and changes nothing. */
bool registry_is_built_in(const struct registry *registry, const char *storage);

/* ---- Custom resources ------------------------------------------------------------------------ */

/* The rows of one custom resource, one row per served version, and the memory they live in.
 * Reference-counted: requests and watches go on with the rows they began with after the definition
 * has changed or gone. */
struct registry_definition {
    const char *name;       /* "mpijobs.kubeflow.org", the storage name of its rows */
    struct kube_kind *rows; /* the preferred version first */
    size_t count;
    struct arena *arena; /* owns all of this but the struct itself */
    unsigned references;
};
struct registry_definition *registry_definition_new(const char *name, size_t count);
void registry_definition_unref(struct registry_definition *definition);

/* Keeps a row beyond this turn of the loop, and releases it. Does nothing for built-in kinds. */
const struct kube_kind *registry_ref(const struct kube_kind *kind);
void registry_unref(const struct kube_kind *kind);
/* Keeps the row as long as the arena lives. */
void registry_hold(struct arena *arena, const struct kube_kind *kind);

/* Serves the rows of the definition instead of those of the definition of the same name, if there
 * is one. Takes the caller's reference. */
void registry_put(struct registry *registry, struct registry_definition *definition);
void registry_remove(struct registry *registry, const char *name);

/* ---- Lookup ---------------------------------------------------------------------------------- */

/* The row at `position`, counted from 0, built-in kinds first; NULL after the last. */
const struct kube_kind *registry_at(const struct registry *registry, size_t position);

/* Returns NULL if the resource is not served in this version. The group is "" for core. Finds older
 * versions, too: *ret_older is the one found, or NULL if it is the row's own. */
const struct kube_kind *registry_find_version(const struct registry *registry, const char *group,
                                              const char *version, const char *plural,
                                              const struct kube_older_version **ret_older);
/* Like registry_find_version(), but finds a row's own version only. */
const struct kube_kind *registry_find(const struct registry *registry, const char *group,
                                      const char *version, const char *plural);
/* By apiVersion and kind of an object, also in an older version. Returns NULL if not served. */
const struct kube_kind *registry_find_kind(const struct registry *registry, const char *api_version,
                                           const char *kind);
/* A schema_find_type (kube/schema/protobuf.h) with the registry as context: the type of objects of
 * a built-in kind, and of what clients send besides, such as DeleteOptions. */
const struct schema_object *registry_find_type(const void *registry, const char *api_version,
                                               const char *kind);
bool registry_has_group_version(const struct registry *registry, const char *group,
                                const char *version);
/* The named groups that are served (core has no name), and the versions of a group with the
 * preferred one first. Each name stands once; the list ends with NULL. The texts are the rows'. */
const char **registry_groups(const struct registry *registry, struct arena *arena);
const char **registry_versions(const struct registry *registry, struct arena *arena,
                               const char *group);
/* Less than 0 if `a` is preferred to `b`, as Kubernetes orders versions: v2, v1, v1beta2, v1alpha1,
 * then all other names. */
int registry_version_compare(const char *a, const char *b);

#endif
