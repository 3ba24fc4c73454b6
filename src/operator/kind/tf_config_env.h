/* TF_CONFIG: how a replica learns who its peers are and which of them it is. */
#ifndef TRAINYARD_OPERATOR_TF_CONFIG_ENV_H
#define TRAINYARD_OPERATOR_TF_CONFIG_ENV_H

#include "operator/kind/training_job.h"

/* The text for one replica, byte for byte what TensorFlow programs get from the incumbent, or NULL
 * for a job of one replica, which gets none. `cluster_domain` (or NULL) is put behind the host
 * names: "cluster.local". */
char *training_tf_config(struct arena *arena, const struct training_job *job,
                         enum training_replica_type type, int index, const char *cluster_domain);

/* Make the part that all replicas have alike beforehand: with a thousand of them it names a
 * thousand peers to each. The job is not to be changed from here on. */
void training_tf_config_prepare(struct arena *arena, struct training_job *job,
                                const char *cluster_domain);

/* Whether a program can be given it: the kernel refuses to start one with a longer variable. */
int training_tf_config_check(struct arena *arena, const struct training_job *job,
                             const char *cluster_domain, struct err *err);

#endif
