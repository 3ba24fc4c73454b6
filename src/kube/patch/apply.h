/* Server-side apply: a client says what it wants of an object, and only that. What it wants becomes
 * its own; what it wanted last time and does not want any more goes away, unless somebody else
 * wants it; and where it wants another value than somebody else does, that is a conflict, which it
 * may force. Pure: from the live object, with its managedFields, and what is applied comes the new
 * one, with its managedFields. */
#ifndef TRAINYARD_KUBE_APPLY_H
#define TRAINYARD_KUBE_APPLY_H

#include "kube/patch/managed_fields.h"

struct apply_conflicts {
    char *message;       /* in Kubernetes' words; longer than an err holds */
    struct json *causes; /* of a Status */
};

/* `live` is NULL where there is no such object. ERR_CONFLICT fills `ret_conflicts`; what cannot be
 * applied at all is ERR_UNKNOWN. Neither tree is changed, and the result shares nothing with
 * them. */
int apply_config(struct arena *arena, const struct managed_write *write, const struct json *live,
                 const struct json *config, bool force, struct json **ret,
                 struct apply_conflicts *ret_conflicts, struct err *err);

#endif
