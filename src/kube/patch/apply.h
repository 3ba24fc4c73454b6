/* Server-side apply: a client sends the fields that it wants to set, and becomes their owner.
 * Fields that the client applied earlier but does not send now are removed, unless another manager
 * owns them. It is a conflict if the client sends another value for a field that another manager
 * owns; the client can force the write. Pure: computes the new object and its managedFields from
 * the live object, which is the stored object, and the applied configuration. */
#ifndef TRAINYARD_KUBE_PATCH_APPLY_H
#define TRAINYARD_KUBE_PATCH_APPLY_H

#include "kube/patch/managed_fields.h"

struct apply_conflicts {
    char *message;       /* Kubernetes' message; may be too long for struct err */
    struct json *causes; /* the causes of a Status, a JSON array */
};

/* Applies `config` to `live` (NULL: the object does not exist). With `force`, conflicts are
 * ignored. Returns 0 with the new object in *ret, -ERR_CONFLICT with *ret_conflicts set, or
 * -ERR_UNKNOWN if the configuration cannot be applied. Does not change `live` and `config`. The new
 * object shares no memory with them. */
int apply_config(struct arena *arena, const struct managed_write *write, const struct json *live,
                 const struct json *config, bool force, struct json **ret,
                 struct apply_conflicts *ret_conflicts, struct err *err);

#endif
