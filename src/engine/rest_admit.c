/* What a write needs besides being right in itself: what the store must have for it or hold after
 * it. Hooks of the registry, called after validation and before the write is queued. */
#include "engine/bootstrap.h"
#include "engine/rest.h"
#include "kube/object.h"

/* A namespace comes with its account and certificate, in the same commit: who made it may use it at
 * once. */
int rest_admit_namespace(struct rest *rest, struct json *namespace_, const struct json *old,
                         struct err *err)
{
    if (old || rest->dry_run)
        return 0;
    struct bootstrap bootstrap = engine_bootstrap(rest->engine);
    return bootstrap_namespace_content(&bootstrap, kube_meta_name(namespace_), err);
}
