/* How a TensorFlow program reads TF_CONFIG, in short: the port on which it listens, and its view of
 * itself and its peers. */
#ifndef TRAINYARD_TESTS_CONFORMANCE_REPLICA_CONFIG_H
#define TRAINYARD_TESTS_CONFORMANCE_REPLICA_CONFIG_H

#include "base/json/json.h"

/* The port of the replica's own entry in the cluster, or `fallback` if there is none. */
int replica_config_port(const char *tf_config, int fallback);

/* Like the run configuration of an estimator: task_type, task_id, cluster_spec, is_chief, master,
 * num_worker_replicas (including the chief), num_ps_replicas. An evaluator is not part of the
 * cluster and sees no peers. Without TF_CONFIG (NULL) the program is alone and its own chief. An
 * invalid TF_CONFIG becomes {"error": …}. */
struct json *replica_config_describe(struct arena *arena, const char *tf_config);

#endif
