/* Which resources this API serves: names, verbs, subresources, and what each kind adds to the
 * common way a write goes (defaults, preparation, validation). The kinds built in are one constant
 * table; to have another is to add a row and its hooks. A registry has these and the rows of custom
 * resources, which come and go with their definitions. Discovery, routing and the REST handlers
 * read it. */
#ifndef TRAINYARD_ENGINE_REGISTRY_H
#define TRAINYARD_ENGINE_REGISTRY_H

#include "base/json/json.h"
#include "kube/resource.h"
#include "kube/schema/decode.h"
#include "kube/schema/field_error.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

enum registry_verb {
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
const char *registry_verb_name(enum registry_verb verb); /* "deletecollection" */

enum registry_sub {
    SUB_NONE,
    SUB_STATUS,
    SUB_LOG,
    SUB_BINDING,
    SUB_PORT_FORWARD,
    SUB_EXEC,
    SUB_ATTACH,
    SUB_FINALIZE, /* a namespace's spec.finalizers */
    SUB_TOKEN,    /* a service account's */
    SUB_EVICTION, /* a pod's end, asked for politely */
    SUB_PROXY,    /* the HTTP server of a pod or behind a service */
    SUB_SCALE,    /* the number of replicas, as an autoscaling/v1 Scale */
};

/* Where a kind has what a Scale shows, as names with dots between. */
struct registry_scale {
    const char *spec_path;     /* "spec.replicas": the number wanted */
    const char *status_path;   /* how many there are */
    const char *selector_path; /* of its pods: text, or a selector object */
    const char *any_case;      /* a name of the paths that users may write in another case; NULL */
    bool makes_spec;           /* what is absent is 0, and made where it is set */
};

struct registry_subresource {
    enum registry_sub id;
    const char *name;            /* "status" */
    const char *kind;            /* what is sent to it, for discovery */
    const char *group, *version; /* of that kind; NULL: the resource's own */
    unsigned verbs;
    const struct registry_scale *scale; /* of SUB_SCALE */
};

/* What a kind may be called. */
enum registry_name_rule {
    NAME_SUBDOMAIN, /* RFC 1123 subdomain, 253 */
    NAME_LABEL,     /* RFC 1123 label, 63 */
    NAME_LABEL1035, /* RFC 1035 label: begins with a letter */
    NAME_PATH,      /* anything that can be a piece of a path: "system:discovery" */
};

struct api_call;

/* What a kind adds to a write; each may be NULL. They see objects whose metadata is complete and
 * right. `old` is NULL on create. `defaults` comes first, on every write of the main resource, so
 * what a client leaves out stays what it was by default; `create` sets what only the server may say
 * at birth, `assign` what must be unlike that of every other object of the kind. */
struct registry_hooks {
    /* Before anything else, of the object as it was written: a form that is no longer read. */
    void (*refuse)(struct field_errors *errors, const struct json *object);
    void (*defaults)(struct arena *arena, struct json *object);
    void (*create)(struct arena *arena, struct json *object);
    void (*assign)(struct engine *engine, struct field_errors *errors, struct json *object,
                   const struct json *old);
    void (*validate)(struct field_errors *errors, const struct json *object,
                     const struct json *old);
    /* Deletion is asked for the first time: what must be so before the object goes. */
    void (*delete_)(struct arena *arena, struct json *object, int64_t now_ms);
    /* After validation, with the store and who asks at hand: may complete or refuse. */
    int (*admit)(struct api_call *rest, struct json *object, const struct json *old,
                 struct err *err);
    /* A status was written that the server knows better. */
    int (*status)(struct api_call *rest, struct json *object, struct err *err);
};

/* Another version in which clients may see and write a kind. What is stored, and what all of this
 * program works with, is the version of the resource itself. */
struct registry_older {
    const char *version;                /* "v1beta1"; NULL ends a list */
    const char *api_version;            /* "kubeflow.org/v1beta1" */
    const struct schema_object *schema; /* what its objects look like; NULL: it is not described */
    /* An object that a client of this version wrote, into the stored version's form. */
    void (*convert)(struct arena *arena, struct json *object);
};

struct registry_definition;
struct kube_columns;

struct registry_resource {
    struct kube_resource id;
    const struct schema_object *schema; /* what its objects look like */
    enum schema_form form;              /* how they are read */
    const char *singular;
    const char *const *short_names; /* NULL-terminated, as all lists here; NULL: none */
    const char *const *categories;
    const char *const *fields; /* field selectors besides metadata.name and metadata.namespace */
    unsigned verbs;
    const struct registry_subresource *subresources; /* ends with id SUB_NONE */
    enum registry_name_rule name_rule;
    bool generation; /* metadata.generation counts the changes of everything but metadata, status */
    bool transient;  /* answered, never stored: a question, or what is measured */
    bool graceful;   /* a node must confirm the end: deletion waits for a delete with grace 0 */
    const char *list_kind;   /* "PodList" */
    const char *storage;     /* "pods", "tfjobs.kubeflow.org": the first piece of its keys */
    const char *api_version; /* "v1", "kubeflow.org/v1" */
    /* What its objects have as apiVersion in the store, where that is another version's row. */
    const char *stored_version;         /* NULL: api_version */
    const struct registry_older *older; /* ends with version NULL; NULL: none */
    struct registry_hooks hooks;

    /* Of custom resources, NULL of those built in. */
    struct registry_definition *definition; /* whose row it is */
    const struct schema *whole;             /* the schema with the rules for whole objects */
    const struct json *source;              /* openAPIV3Schema as it was written */
    const struct kube_columns *columns;     /* what a Table shows; NULL: kube_columns_of() */
    const char *warning;                    /* to who uses this version; NULL: nothing */
};

/* ---- The kinds built in ---------------------------------------------------------------------- */

/* Visit all: position from 0; NULL at the end. */
const struct registry_resource *registry_built_in_at(size_t position);
/* In the stored version; NULL for one that is not there. The group is "" for core. */
const struct registry_resource *registry_built_in(const char *group, const char *version,
                                                  const char *plural);

/* ---- All that is served ---------------------------------------------------------------------- */

/* The rows of one custom resource, one for each version served, and the memory they live in.
 * Counted: requests and watches go on with the rows they began with, whatever becomes of the
 * definition. */
struct registry_definition {
    const char *name;               /* "mpijobs.kubeflow.org", as its rows are stored */
    struct registry_resource *rows; /* what is preferred first */
    size_t count;
    struct arena *arena; /* all of this but the struct itself */
    unsigned references;
};
struct registry_definition *registry_definition_new(const char *name, size_t count);
void registry_definition_unref(struct registry_definition *definition);

/* Hold a row beyond this turn of the loop, and let it go; nothing to do for those built in. */
const struct registry_resource *registry_ref(const struct registry_resource *resource);
void registry_unref(const struct registry_resource *resource);
/* Hold it as long as the arena lives. */
void registry_hold(struct arena *arena, const struct registry_resource *resource);

struct registry;
struct registry *registry_new(void);
struct registry *registry_free(struct registry *registry);

/* Serve its rows, in place of those of the definition of the same name; the reference is taken. */
void registry_put(struct registry *registry, struct registry_definition *definition);
void registry_remove(struct registry *registry, const char *name);

/* Visit all: position from 0, those built in first; NULL at the end. */
const struct registry_resource *registry_at(const struct registry *registry, size_t position);

/* NULL when not served.
 * registry_find() knows a row's own version only; the other one also the older ones, and says in
 * *ret_older which it was (NULL: the row's own). */
const struct registry_resource *registry_find_version(const struct registry *registry,
                                                      const char *group, const char *version,
                                                      const char *plural,
                                                      const struct registry_older **ret_older);
const struct registry_resource *registry_find(const struct registry *registry, const char *group,
                                              const char *version, const char *plural);
/* By what objects say of themselves, also in an older version. */
const struct registry_resource *registry_find_kind(const struct registry *registry,
                                                   const char *api_version, const char *kind);
bool registry_has_group_version(const struct registry *registry, const char *group,
                                const char *version);
/* The named groups served (not core), and the versions of a group with the preferred one first;
 * each once, ends with NULL. The texts are the rows'. */
const char **registry_groups(const struct registry *registry, struct arena *arena);
const char **registry_versions(const struct registry *registry, struct arena *arena,
                               const char *group);
/* Less than 0 where `a` is preferred to `b`, as Kubernetes orders versions: v2, v1, v1beta2,
 * v1alpha1, then all other names. */
int registry_version_compare(const char *a, const char *b);

/* ---- One row --------------------------------------------------------------------------------- */

bool registry_serves_version(const struct registry_resource *resource, const char *version);

/* NULL for one it has not. */
const struct registry_subresource *registry_subresource(const struct registry_resource *resource,
                                                        const char *name);
bool registry_has_status(const struct registry_resource *resource);
bool registry_selects_field(const struct registry_resource *resource, const char *path);

#endif
