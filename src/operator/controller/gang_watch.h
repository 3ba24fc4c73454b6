/* The PodGroups of one kind of job as the server shows them, if it has any: the definition may be
 * missing, may not be ours to read, and may come later. */
#ifndef TRAINYARD_OPERATOR_GANG_WATCH_H
#define TRAINYARD_OPERATOR_GANG_WATCH_H

#include "kube/client/informer.h"
#include "operator/reconcile/gang.h"

struct gang_watch;

/* `namespace_` NULL: all. */
struct gang_watch *gang_watch_new(struct kube_client *client, const struct training_kind *kind,
                                  const char *namespace_, const char *scheduler,
                                  kube_informer_change *change, void *context);
/* Before its client is freed. */
struct gang_watch *gang_watch_free(struct gang_watch *watch);

/* There is something to go by: the first list, or the reason why there is none. */
bool gang_watch_is_ready(const struct gang_watch *watch);
/* What the server says instead of it; or NULL. */
const struct err *gang_watch_failure(const struct gang_watch *watch);
const struct kube_resource *gang_watch_resource(const struct gang_watch *watch);
void gang_watch_resync(struct gang_watch *watch); /* begin the watch anew */
/* As things are now; a change from known to missing or back is logged. */
const struct training_gang *gang_watch_inspect(struct gang_watch *watch);

#endif
