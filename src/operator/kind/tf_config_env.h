/* Builds TF_CONFIG, the environment variable with the addresses of the replicas of a TFJob and with
 * the type and index of the replica that gets it. Called through the table TRAINING_TFJOB. Pure. */
#ifndef TRAINYARD_OPERATOR_KIND_TF_CONFIG_ENV_H
#define TRAINYARD_OPERATOR_KIND_TF_CONFIG_ENV_H

#include "operator/kind/training_job.h"

/* Returns TF_CONFIG of one replica in `arena`, byte for byte as Kubeflow's operator writes it,
 * unless the job has a shared_address, assigned ports, or evaluator_in_cluster set to false.
 * Returns NULL for a job with one replica, which gets no TF_CONFIG. `cluster_domain`, such as
 * "cluster.local", is appended to host names; it may be NULL. */
char *training_tf_config(struct arena *arena, const struct training_job *job,
                         enum training_replica_type type, int index, const char *cluster_domain);

/* Computes the part of TF_CONFIG that is the same for all replicas, and stores it in the job.
 * Otherwise each of a thousand replicas would compute the addresses of all thousand. Does nothing
 * for a job with enableDynamicWorker or with one replica. The replicas of the job must not change
 * afterwards. */
void training_tf_config_prepare(struct arena *arena, struct training_job *job,
                                const char *cluster_domain);

/* Returns 0, or -ERR_INVALID if TF_CONFIG is longer than the kernel allows for one environment
 * variable. */
int training_tf_config_check(struct arena *arena, const struct training_job *job,
                             const char *cluster_domain, struct err *err);

#endif
