/* The registry of the kinds that an API server serves: the built-in kinds of kube/kinds/, the kinds
 * that the program adds at start (training kinds, Workflow), and custom resources, which are added
 * and removed with their definitions. Discovery, routing and the REST handlers look kinds up here.
 * The hub of the controllers has a registry of its own (hub_registry()). A row is a struct
 * kube_kind (kube/kinds/kind.h): a kind in one version. The row of a built-in kind may also list
 * older versions.
 *
 * registry_hooks() and registry_find_type() may run on any thread, because they read only what is
 * fixed when the server starts. All other functions must run on the loop thread. */
#ifndef TRAINYARD_ENGINE_KINDS_REGISTRY_H
#define TRAINYARD_ENGINE_KINDS_REGISTRY_H

#include "kube/kinds/kinds.h"

struct engine;
struct api_call;
struct registry;

/* The hooks of a kind that need the store or the state of the engine. They run when an object of
 * the kind is written. Each hook may be NULL. `old` is NULL on create. A hook that returns int
 * returns 0, or a negative code to reject the write. */
struct registry_hooks {
    /* NULL: the last element of a list, whose `admit` runs for every kind */
    const struct kube_kind *kind;
    /* Runs after the defaults of the kind are set. Sets values that must be unique among all
     * objects of the kind. */
    void (*assign)(struct engine *engine, struct field_errors *errors, struct json *object,
                   const struct json *old);
    /* Runs on the first DELETE of an object, before the deletionTimestamp is set. */
    void (*delete_)(const struct registry *registry, struct arena *arena, struct json *object,
                    int64_t now_ms);
    /* Runs after validation. May change the object, or reject it with an error. The hook for every
     * kind runs last, on the object that will be stored. */
    int (*admit)(struct api_call *call, struct json *object, const struct json *old,
                 struct err *err);
    /* Runs on a write of the status. May replace values from the client by values from the
     * server. */
    int (*status)(struct api_call *call, struct json *object, struct err *err);
};

/* `kinds` are served in addition to the kinds of kube/kinds/. `kinds` ends with NULL, `hooks`
 * with an element whose kind is NULL. Both must outlive the registry and may be NULL. */
struct registry *registry_new(const struct kube_kind *const *kinds,
                              const struct registry_hooks *hooks);
/* Drops the references to all definitions. NULL-safe; returns NULL. */
struct registry *registry_free(struct registry *registry);

/* Adds one built-in kind, which must outlive the registry. Called only at start. The built-in kinds
 * are ordered by group and resource, with one exception (kube/kinds/kinds.c). */
void registry_add(struct registry *registry, const struct kube_kind *kind);

/* Returns the hooks of the kind, never NULL. May run on any thread. */
const struct registry_hooks *registry_hooks(const struct registry *registry,
                                            const struct kube_kind *kind);
/* Returns the hooks for every kind: the last element of the list. Never returns NULL. */
const struct registry_hooks *registry_common_hooks(const struct registry *registry);

/* Returns whether a built-in kind has this storage name, such as "tfjobs.kubeflow.org". A
 * CustomResourceDefinition with such a name is stored but has no effect. */
bool registry_is_built_in(const struct registry *registry, const char *storage);

/* ---- Custom resources ------------------------------------------------------------------------ */

/* The rows of one custom resource and their memory. An API server has one row per served version
 * (definition_rows()), the hub has one row (definition_watched_row()). Reference-counted: when the
 * definition is changed or removed, running requests and watches continue with the old rows. */
struct registry_definition {
    const char *name;       /* the storage name of the rows: "mpijobs.kubeflow.org" */
    struct kube_kind *rows; /* the preferred version first */
    size_t count;
    struct arena *arena; /* owns the rows and the name, but not the struct itself */
    unsigned references;
};
/* Returns a definition with `count` empty rows and one reference. Copies the name. */
struct registry_definition *registry_definition_new(const char *name, size_t count);
void registry_definition_unref(struct registry_definition *definition);

/* registry_ref() takes a reference to a row that is needed after this turn of the loop, and returns
 * the row. registry_unref() drops the reference. Neither does anything for a built-in kind. */
const struct kube_kind *registry_ref(const struct kube_kind *kind);
void registry_unref(const struct kube_kind *kind);
/* Takes a reference to the row, which is dropped when the arena is freed. */
void registry_hold(struct arena *arena, const struct kube_kind *kind);

/* Serves the rows of the definition. They replace the rows of an earlier definition with the same
 * name. Takes over the caller's reference. */
void registry_put(struct registry *registry, struct registry_definition *definition);
/* Stops serving the rows of the definition with this name. Does nothing if there is none. */
void registry_remove(struct registry *registry, const char *name);

/* ---- Lookup ---------------------------------------------------------------------------------- */

/* Returns the row at `position`, counted from 0, or NULL after the last row. Built-in kinds come
 * first. */
const struct kube_kind *registry_at(const struct registry *registry, size_t position);

/* Returns the row of a resource, or NULL if the resource is not served in this version. The
 * group is "" for core. If a row is returned, *ret_older is the older version that `version`
 * names, or NULL if `version` is the version of the row. */
const struct kube_kind *registry_find_version(const struct registry *registry, const char *group,
                                              const char *version, const char *plural,
                                              const struct kube_older_version **ret_older);
/* Like registry_find_version(), but does not find older versions. */
const struct kube_kind *registry_find(const struct registry *registry, const char *group,
                                      const char *version, const char *plural);
/* Finds a row by the apiVersion and kind of an object. Also finds older versions. Returns NULL if
 * the kind is not served. */
const struct kube_kind *registry_find_kind(const struct registry *registry, const char *api_version,
                                           const char *kind);
/* A schema_find_type (kube/schema/protobuf.h) with the registry as context. Finds the types of the
 * built-in kinds in their newest version, and of other objects that clients send, such as
 * DeleteOptions. Returns NULL if it finds none. May run on any thread. */
const struct schema_object *registry_find_type(const void *registry, const char *api_version,
                                               const char *kind);
bool registry_has_group_version(const struct registry *registry, const char *group,
                                const char *version);
/* Returns the names of all served groups except core. The list is allocated in the arena, ends with
 * NULL and has no duplicates. The strings belong to the rows. */
const char **registry_groups(const struct registry *registry, struct arena *arena);
/* Returns the versions of a group, the preferred version first, in a list like that of
 * registry_groups(). The list is empty if the group is not served. */
const char **registry_versions(const struct registry *registry, struct arena *arena,
                               const char *group);
/* Compares two versions. Returns a value less than 0 if `a` is preferred to `b`, and 0 if they are
 * equal. The order is that of Kubernetes: v2, v1, v1beta2, v1alpha1, then all other names. */
int registry_version_compare(const char *a, const char *b);

#endif
