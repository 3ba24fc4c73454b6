/* Shared by the files of server-side apply (apply*.c). */
#ifndef TRAINYARD_KUBE_PATCH_APPLY_INTERNAL_H
#define TRAINYARD_KUBE_PATCH_APPLY_INTERNAL_H

#include "kube/patch/apply.h"

/* A conflict with one manager. */
struct apply_conflict {
    const struct managed_entry *entry; /* the manager's entry in managedFields */
    struct fieldset fields;            /* the fields of this entry that the apply would change */
};

/* Makes the message and the causes of at least one conflict. Sorts `conflicts` by manager. */
struct apply_conflicts apply_conflicts_describe(struct arena *arena,
                                                struct apply_conflict *conflicts, size_t count);

/* ---- apply_last.c: objects that have the annotation of kubectl's client-side apply */

/* Returns whether the last-applied annotation matters for the write. As in Kubernetes, this is true
 * if the manager has kubectl's default name, so that the write may follow a client-side apply. */
bool apply_last_is_used(const struct managed_write *write);
/* Returns the fields of the last-applied annotation that still have their applied values. A change
 * of these fields is not a conflict. Returns an empty set if the object has no such annotation, or
 * if the annotation is invalid or has another apiVersion than the write. */
struct fieldset apply_last_allowed(struct arena *arena, const struct managed_write *write,
                                   const struct json *live);
/* Updates the last-applied annotation, if the object has one. */
void apply_last_update(struct arena *arena, struct json *object, const struct json *config);

#endif
