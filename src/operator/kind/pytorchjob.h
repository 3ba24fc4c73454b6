/* What the files of the PyTorchJob share. */
#ifndef TRAINYARD_OPERATOR_PYTORCHJOB_H
#define TRAINYARD_OPERATOR_PYTORCHJOB_H

#include "operator/kind/training_job.h"

/* The environment in which torch.distributed and torchrun find the other processes: appended to
 * every container of the pod, so that it wins over what the template says. */
void training_pytorch_set_environment(struct arena *arena, const struct training_job *job,
                                      enum training_replica_type type, int index,
                                      const char *cluster_domain, struct json *pod_spec);

/* nprocPerNode, elasticPolicy, and how many replicas of each type there may be. */
int training_pytorch_validate(const struct json *object, struct err *err);

/* The replicas of a type as the spec asks for them; `missing` where it has no such type. */
int64_t training_pytorch_replicas(const struct json *spec, enum training_replica_type type,
                                  int64_t missing);
/* The bounds of elasticPolicy, with the incumbent's defaults: each the other's, or else `workers`.
 */
void training_pytorch_bounds(const struct json *elastic, int64_t workers, int64_t *ret_min,
                             int64_t *ret_max);

#endif
