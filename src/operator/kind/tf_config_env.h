/* Builds TF_CONFIG, which contains the addresses of all replicas and the index of the replica that
 * gets it. */
#ifndef TRAINYARD_OPERATOR_KIND_TF_CONFIG_ENV_H
#define TRAINYARD_OPERATOR_KIND_TF_CONFIG_ENV_H

#include "operator/kind/training_job.h"

/* Returns TF_CONFIG of one replica, byte for byte as Kubeflow's operator writes it. Returns NULL
 * for a job with one replica, which gets no TF_CONFIG. `cluster_domain`, such as "cluster.local",
 * is appended to host names; it may be NULL. */
char *training_tf_config(struct arena *arena, const struct training_job *job,
                         enum training_replica_type type, int index, const char *cluster_domain);

/* Computes the part of TF_CONFIG that is the same for all replicas, because a job of a thousand
 * replicas has a thousand peers in it. The job must not be changed afterwards. */
void training_tf_config_prepare(struct arena *arena, struct training_job *job,
                                const char *cluster_domain);

/* Returns 0, or a negative code if TF_CONFIG is longer than the kernel allows for one environment
 * variable. */
int training_tf_config_check(struct arena *arena, const struct training_job *job,
                             const char *cluster_domain, struct err *err);

#endif
