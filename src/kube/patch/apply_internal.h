/* What the files of apply share. */
#ifndef TRAINYARD_KUBE_APPLY_INTERNAL_H
#define TRAINYARD_KUBE_APPLY_INTERNAL_H

#include "kube/patch/apply.h"

/* The fields that somebody else owns and that are to get another value. */
struct apply_conflict {
    const struct managed_entry *entry;
    struct fieldset fields;
};

/* By manager; the message says of each which fields. */
struct apply_conflicts apply_conflicts_describe(struct arena *arena,
                                                struct apply_conflict *conflicts, size_t count);

/* ---- apply_last.c: objects that were applied by the client before */

/* Only kubectl under its own name does this, as upstream: to use another name is to opt out. */
bool apply_last_concerns(const struct managed_write *write);
/* What the client applied last by itself and nobody changed since: to change it is no conflict.
 * Empty where it did not. */
struct fieldset apply_last_allowed(struct arena *arena, const struct managed_write *write,
                                   const struct json *live);
/* Keep that note up to date, where the object has one. */
void apply_last_update(struct arena *arena, struct json *object, const struct json *config);

#endif
