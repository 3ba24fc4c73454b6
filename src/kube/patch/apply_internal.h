/* Shared by the files of server-side apply. */
#ifndef TRAINYARD_KUBE_PATCH_APPLY_INTERNAL_H
#define TRAINYARD_KUBE_PATCH_APPLY_INTERNAL_H

#include "kube/patch/apply.h"

/* The fields that another manager owns and that the apply would change. */
struct apply_conflict {
    const struct managed_entry *entry;
    struct fieldset fields;
};

/* Describes the conflicts, sorted by manager, with the fields of each. */
struct apply_conflicts apply_conflicts_describe(struct arena *arena,
                                                struct apply_conflict *conflicts, size_t count);

/* ---- apply_last.c: objects that have the annotation of kubectl's client-side apply */

/* Returns whether the write continues an earlier client-side apply. As in Kubernetes, this is true
 * only if the manager has kubectl's default name. */
bool apply_last_concerns(const struct managed_write *write);
/* Returns the fields of the last-applied annotation that still have their applied values. A change
 * of these fields is not a conflict. Returns an empty set if the object has no such annotation. */
struct fieldset apply_last_allowed(struct arena *arena, const struct managed_write *write,
                                   const struct json *live);
/* Updates the last-applied annotation, if the object has one. */
void apply_last_update(struct arena *arena, struct json *object, const struct json *config);

#endif
