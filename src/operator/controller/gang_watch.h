/* Watches the PodGroups of one kind of job, for job_watch.c. The server may not have the definition
 * of PodGroups, may forbid reading them, or may get the definition later. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_GANG_WATCH_H
#define TRAINYARD_OPERATOR_CONTROLLER_GANG_WATCH_H

#include "kube/client/informer.h"
#include "operator/reconcile/gang.h"

struct gang_watch;

/* Creates the watch. `namespace_` NULL means all namespaces. `scheduler` is the name of the gang
 * scheduler, which decides the kind of the PodGroups. `change` is called for each changed PodGroup.
 */
struct gang_watch *gang_watch_new(struct kube_client *client, const struct training_kind *kind,
                                  const char *namespace_, const char *scheduler,
                                  kube_informer_change *change, void *context);
/* Must be called before the client is freed. */
struct gang_watch *gang_watch_free(struct gang_watch *watch);

/* Returns whether PodGroups have been listed once, or the server answered that it has no PodGroups
 * or forbids reading them. */
bool gang_watch_is_ready(const struct gang_watch *watch);
/* Returns the error of the last list of PodGroups, or NULL. */
const struct err *gang_watch_failure(const struct gang_watch *watch);
const struct kube_resource *gang_watch_resource(const struct gang_watch *watch);
void gang_watch_resync(struct gang_watch *watch); /* see kube_informer_resync() */
/* Returns the gang, after its `missing` is updated from the last answer of the server. Logs when
 * PodGroups become available or unavailable, and when the reason changes. */
const struct training_gang *gang_watch_inspect(struct gang_watch *watch);

#endif
