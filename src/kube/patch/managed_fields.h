/* metadata.managedFields: the managers of an object and the fields that each of them owns. With
 * every write, the writer becomes the only owner of the fields that it changes. The rules and the
 * order of the entries are the same as in Kubernetes (docs/design/apply.md). Pure. */
#ifndef TRAINYARD_KUBE_PATCH_MANAGED_FIELDS_H
#define TRAINYARD_KUBE_PATCH_MANAGED_FIELDS_H

#include "base/json/json.h"
#include "kube/patch/fieldset.h"
#include "kube/schema/schema.h"

enum {
    MANAGED_NAME_MAX = 128,    /* bytes of a manager's name */
    MANAGED_ENTRIES_MAX = 500, /* per object; if an object has more entries, all are ignored */
    MANAGED_UPDATERS_MAX = 10, /* entries of operation Update; if there are more, the oldest are
                                  merged per apiVersion */
};

/* The part of an object that a write can change. The server ignores changes of other parts, so the
 * writer does not become the owner of other fields. */
enum managed_scope {
    MANAGED_ALL,
    MANAGED_ALL_BUT_STATUS,
    MANAGED_STATUS,
};

/* A write and its manager. */
struct managed_write {
    const struct schema_object *type;
    bool custom; /* a custom resource: absent fields have no zero value */
    enum managed_scope scope;
    const char *manager;
    const char *api_version; /* the version in which the manager sees the object */
    const char *subresource; /* "": the object itself */
    int64_t now_ms;
};

/* Sets the managedFields of `object`, the result of a write to `old` (NULL: a new object). `object`
 * still has the managedFields that the client sent: an empty list removes all owners, and an
 * invalid list is ignored. If `old` is not NULL and has no managedFields, `object` gets none. */
void managed_fields_track(struct arena *arena, const struct managed_write *write,
                          const struct json *old, struct json *object);

/* Makes the manager of the write the only owner of the field at `path`. For a write through a
 * subresource of another kind, such as scale. Does nothing if the object has no managedFields. */
void managed_fields_move(struct arena *arena, const struct managed_write *write,
                         struct json *object, const char *const *path);

/* Returns the manager name of a client that sends none: the User-Agent up to the first slash,
 * without control characters; "unknown" if nothing is left. */
const char *managed_fields_name(struct arena *arena, const char *user_agent);

/* ---- For kube/patch/apply.c and tests -------------------------------------------------------- */

struct managed_entry {
    const char *manager, *api_version, *subresource;
    bool applied;    /* true: server-side apply; false: update */
    int64_t time_ms; /* 0: unknown */
    struct fieldset fields;
    struct managed_entry *next;
};

struct managed_fields {
    struct managed_entry *first;
};

/* Reads a list of entries. NULL means an empty list. Returns -ERR_BAD_REQUEST if the list is
 * invalid. Does not copy strings. */
int managed_fields_read(struct arena *arena, const struct json *list, struct managed_fields *ret,
                        struct err *err);
/* Writes the entries into metadata.managedFields. Leaves out entries without fields, and the whole
 * list if it is empty. */
void managed_fields_put(struct arena *arena, const struct managed_fields *managed,
                        struct json *object);

/* Returns the entry of the write's manager for apply (`applied`) or update, or NULL if it has
 * none. */
struct managed_entry *managed_fields_find(const struct managed_fields *managed,
                                          const struct managed_write *write, bool applied);
struct managed_entry *managed_fields_add(struct arena *arena, struct managed_fields *managed,
                                         const struct managed_write *write, bool applied);

/* Returns the set without fields that are never owned: apiVersion, kind and the metadata that the
 * server sets. */
struct fieldset managed_fields_strip(struct arena *arena, struct fieldset set);
/* Returns the paths of the set that the write can change. */
struct fieldset managed_fields_in_scope(struct arena *arena, const struct managed_write *write,
                                        struct fieldset set);
/* Returns an object with the zero values of all fields. A field with its zero value has no
 * owner. */
struct json *managed_fields_zero(struct arena *arena, const struct managed_write *write);
/* Updates all owners for one write. `old` must not be NULL. */
void managed_fields_update(struct arena *arena, struct managed_fields *managed,
                           const struct managed_write *write, const struct json *old,
                           const struct json *object);

#endif
