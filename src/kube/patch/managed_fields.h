/* metadata.managedFields: the managers of an object and the fields that each of them owns. A
 * manager is a named writer, such as "kubectl". A writer becomes the only owner of the fields that
 * it changes. The API server calls managed_fields_track() for each create, update and patch, except
 * for server-side apply and for writes of a Scale. The rules and the order of the entries are the
 * same as in Kubernetes (docs/design/apply.md). Pure. */
#ifndef TRAINYARD_KUBE_PATCH_MANAGED_FIELDS_H
#define TRAINYARD_KUBE_PATCH_MANAGED_FIELDS_H

#include "base/json/json.h"
#include "kube/patch/fieldset.h"
#include "kube/schema/schema.h"

enum {
    MANAGED_NAME_MAX = 128,    /* bytes of a manager's name */
    MANAGED_ENTRIES_MAX = 500, /* entries per object; a longer list is invalid */
    /* Limit of entries of operation Update. Above it, the oldest entries with the same apiVersion
     * are merged. */
    MANAGED_UPDATERS_MAX = 10,
};

/* The part of an object that a write can change. The server ignores changes outside of this part,
 * so the writer gets no fields there. */
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
    int64_t now_ms;          /* the time of the write, in milliseconds since 1970 */
};

/* Sets the managedFields of `object`, the result of a write to `old` (NULL: a new object). `object`
 * still has the managedFields that the client sent. A valid list with fields replaces the list of
 * `old`. An empty list removes all owners. Other lists, and all lists in a write to a subresource,
 * are ignored. If `old` is not NULL and the chosen list is empty, `object` gets no
 * managedFields. */
void managed_fields_track(struct arena *arena, const struct managed_write *write,
                          const struct json *old, struct json *object);

/* Makes the manager of the write the only owner of the field at `path`, a NULL-terminated list of
 * names. Used for a write through a subresource of another kind, such as scale. Does nothing if the
 * object has no valid managedFields. */
void managed_fields_move(struct arena *arena, const struct managed_write *write,
                         struct json *object, const char *const *path);

/* Returns the manager name for a client that sends none: the User-Agent up to the first slash,
 * without control characters and invalid UTF-8, cut to MANAGED_NAME_MAX bytes. Returns "unknown" if
 * nothing is left. `user_agent` may be NULL. */
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

/* Reads a list of entries. NULL means an empty list. Returns 0, or -ERR_BAD_REQUEST if the list is
 * invalid. The entries refer to strings of `list`. */
int managed_fields_read(struct arena *arena, const struct json *list, struct managed_fields *ret,
                        struct err *err);
/* Writes the entries into metadata.managedFields. Leaves out entries without fields. Removes
 * managedFields if no entry has fields. */
void managed_fields_put(struct arena *arena, const struct managed_fields *managed,
                        struct json *object);

/* Returns the entry of the write's manager for apply (`applied`) or update, or NULL if it has
 * none. */
struct managed_entry *managed_fields_find(const struct managed_fields *managed,
                                          const struct managed_write *write, bool applied);
/* Adds an entry without fields for the write's manager, and returns it. */
struct managed_entry *managed_fields_add(struct arena *arena, struct managed_fields *managed,
                                         const struct managed_write *write, bool applied);

/* Returns the set without the fields that are never owned: apiVersion, kind, metadata itself, the
 * object's name and namespace, and most of the metadata that the server sets. */
struct fieldset managed_fields_strip(struct arena *arena, struct fieldset set);
/* Returns the paths of the set that the write can change. */
struct fieldset managed_fields_in_scope(struct arena *arena, const struct managed_write *write,
                                        struct fieldset set);
/* Returns the object with which a new object is compared: typed_zero(), or {} for a custom
 * resource. A field of the new object that has the same value there gets no owner. */
struct json *managed_fields_zero(struct arena *arena, const struct managed_write *write);
/* Removes the fields that differ between `old` and `object`, and that the write can change, from
 * all entries. Adds the fields among them that exist in `object` to the writer's entry of operation
 * Update. Merges the oldest of such entries if there are too many. Neither object may be NULL. */
void managed_fields_update(struct arena *arena, struct managed_fields *managed,
                           const struct managed_write *write, const struct json *old,
                           const struct json *object);

#endif
