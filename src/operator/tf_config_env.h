/* TF_CONFIG: how a replica learns who its peers are and which of them it is. */
#ifndef TRAINYARD_OPERATOR_TF_CONFIG_ENV_H
#define TRAINYARD_OPERATOR_TF_CONFIG_ENV_H

#include "operator/tfjob.h"

/* The text for one replica, byte for byte what TensorFlow programs get from the incumbent, or NULL
 * for a job of one replica, which gets none. `cluster_domain` (or NULL) is put behind the host
 * names: "cluster.local". */
char *tfjob_tf_config(struct arena *arena, const struct tfjob *job, enum tfjob_replica_type type,
                      int index, const char *cluster_domain);

/* "<job>-<type>-<index>": the pod, its service and its host. */
char *tfjob_replica_name(struct arena *arena, const struct tfjob *job, enum tfjob_replica_type type,
                         int index);

#endif
