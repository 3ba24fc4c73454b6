/* Builds the pod and the service of one replica, as new objects in `arena`. plan.c calls
 * training_pod_new() and training_service_new() when the controller creates the object. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_POD_TEMPLATE_H
#define TRAINYARD_OPERATOR_RECONCILE_POD_TEMPLATE_H

#include "operator/kind/training_job.h"

struct json *training_pod_new(struct arena *arena, const struct training_job *job,
                              enum training_replica_type type, int index,
                              const char *cluster_domain);
struct json *training_service_new(struct arena *arena, const struct training_job *job,
                                  enum training_replica_type type, int index);

/* Returns whether the template has a restart policy. The replica's own policy overrides it. */
bool training_template_sets_restart_policy(const struct training_job *job,
                                           enum training_replica_type type);

#endif
