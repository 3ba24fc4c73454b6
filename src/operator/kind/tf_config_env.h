/* TF_CONFIG: tells a replica the addresses of its peers and its own index. */
#ifndef TRAINYARD_OPERATOR_KIND_TF_CONFIG_ENV_H
#define TRAINYARD_OPERATOR_KIND_TF_CONFIG_ENV_H

#include "operator/kind/training_job.h"

/* Returns TF_CONFIG of one replica, byte for byte as Kubeflow's operator writes it; NULL for a job
 * of one replica, which gets none. `cluster_domain` (or NULL) is appended to host names:
 * "cluster.local". */
char *training_tf_config(struct arena *arena, const struct training_job *job,
                         enum training_replica_type type, int index, const char *cluster_domain);

/* Computes the part that is the same for all replicas: in a job of a thousand replicas it names a
 * thousand peers. The job must not be changed afterwards. */
void training_tf_config_prepare(struct arena *arena, struct training_job *job,
                                const char *cluster_domain);

/* Returns 0, or an error if TF_CONFIG is longer than the kernel allows for one environment
 * variable. */
int training_tf_config_check(struct arena *arena, const struct training_job *job,
                             const char *cluster_domain, struct err *err);

#endif
