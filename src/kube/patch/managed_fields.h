/* metadata.managedFields: who owns which fields of an object. Every write goes through here: what
 * it changes becomes its manager's, and nobody else's. The rules, down to the order of the entries,
 * are those of Kubernetes (docs/design/apply.md). Pure. */
#ifndef TRAINYARD_KUBE_MANAGED_FIELDS_H
#define TRAINYARD_KUBE_MANAGED_FIELDS_H

#include "base/json/json.h"
#include "kube/patch/fieldset.h"
#include "kube/schema/schema.h"

enum {
    MANAGED_NAME_MAX = 128,    /* bytes of a manager's name */
    MANAGED_ENTRIES_MAX = 500, /* read of one object; more are as good as none */
    MANAGED_UPDATERS_MAX = 10, /* that changed an object without apply; the oldest are merged */
};

/* What a write can change: the rest is put back before anybody sees it, so it is owned by nobody
 * for having been sent. */
enum managed_scope {
    MANAGED_ALL,
    MANAGED_ALL_BUT_STATUS,
    MANAGED_STATUS,
};

/* A write, and who makes it. */
struct managed_write {
    const struct schema_object *type;
    bool custom; /* of a custom resource: it has no fields that nobody set */
    enum managed_scope scope;
    const char *manager;
    const char *api_version; /* in which he sees the object */
    const char *subresource; /* "": the object itself */
    int64_t now_ms;
};

/* `object` is what the write makes of `old` (NULL: it is new), with whatever managedFields the
 * client sent; sets those it is to have. An empty list forgets all owners, one that cannot be
 * understood counts as not sent, and an object whose owners are not known stays so. */
void managed_fields_track(struct arena *arena, const struct managed_write *write,
                          const struct json *old, struct json *object);

/* One field changed in a way that only says where it stands: the scale of an object. */
void managed_fields_move(struct arena *arena, const struct managed_write *write,
                         struct json *object, const char *const *path);

/* What an HTTP client is called that does not say: the User-Agent up to the first slash. */
const char *managed_fields_name(struct arena *arena, const char *user_agent);

/* ---- The parts; for kube/patch/apply.c and tests
 * --------------------------------------------------- */

struct managed_entry {
    const char *manager, *api_version, *subresource;
    bool applied;    /* else updated */
    int64_t time_ms; /* 0: not known */
    struct fieldset fields;
    struct managed_entry *next;
};

struct managed_fields {
    struct managed_entry *first;
};

/* ERR_BAD_REQUEST for what is no list of entries; NULL is an empty list. Texts are not copied. */
int managed_fields_read(struct arena *arena, const struct json *list, struct managed_fields *ret,
                        struct err *err);
/* Into metadata; entries without fields are left out, and the list where it is empty. */
void managed_fields_put(struct arena *arena, const struct managed_fields *managed,
                        struct json *object);

/* The entry of this writer, updating or applying; NULL where he has none. */
struct managed_entry *managed_fields_find(const struct managed_fields *managed,
                                          const struct managed_write *write, bool applied);
struct managed_entry *managed_fields_add(struct arena *arena, struct managed_fields *managed,
                                         const struct managed_write *write, bool applied);

/* What nobody owns, taken away: apiVersion, kind, and the metadata that are the server's. */
struct fieldset managed_fields_strip(struct arena *arena, struct fieldset set);
/* What the write can change of the set. */
struct fieldset managed_fields_in_scope(struct arena *arena, const struct managed_write *write,
                                        struct fieldset set);
/* The object before anybody said anything about it. */
struct json *managed_fields_zero(struct arena *arena, const struct managed_write *write);
/* The update of all owners for one write; `old` is not NULL. */
void managed_fields_update(struct arena *arena, struct managed_fields *managed,
                           const struct managed_write *write, const struct json *old,
                           const struct json *object);

#endif
