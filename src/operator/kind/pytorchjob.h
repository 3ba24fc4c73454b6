/* Declares the functions that the files of PyTorchJob share. TRAINING_PYTORCHJOB
 * (training_kind.h) refers to them. */
#ifndef TRAINYARD_OPERATOR_KIND_PYTORCHJOB_H
#define TRAINYARD_OPERATOR_KIND_PYTORCHJOB_H

#include "operator/kind/training_job.h"

/* Appends the environment of torch.distributed and torchrun to every container of the pod. Appended
 * variables override those of the template. */
void training_pytorch_set_environment(struct arena *arena, const struct training_job *job,
                                      enum training_replica_type type, int index,
                                      const char *cluster_domain, struct json *pod_spec);

/* Validates nprocPerNode and elasticPolicy, and the numbers of replicas of a job that has not
 * started. Returns 0, or -ERR_INVALID for the first mistake. */
int training_pytorch_validate(const struct json *object, struct err *err);

/* Returns the number of replicas of a type in the spec, or `missing` if the spec has no such type.
 */
int64_t training_pytorch_replicas(const struct json *spec, enum training_replica_type type,
                                  int64_t missing);
/* Returns the bounds of elasticPolicy with Kubeflow's defaults. A missing bound equals the other
 * bound. If both are missing, they equal `workers`. */
void training_pytorch_bounds(const struct json *elastic, int64_t workers, int64_t *ret_min,
                             int64_t *ret_max);

#endif
