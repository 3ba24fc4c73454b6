/* What a TensorFlow program makes of TF_CONFIG, in short: which port it listens on and how it sees
 * itself among its peers. */
#ifndef TRAINYARD_TESTS_CONFORMANCE_REPLICA_CONFIG_H
#define TRAINYARD_TESTS_CONFORMANCE_REPLICA_CONFIG_H

#include "base/json/json.h"

/* Of the replica's own entry in the cluster; `fallback` where there is none. */
int replica_config_port(const char *tf_config, int fallback);

/* As an estimator's run configuration has it: task_type, task_id, cluster_spec, is_chief, master,
 * num_worker_replicas (the chief is one), num_ps_replicas. An evaluator stands beside the cluster
 * and sees nobody. Without TF_CONFIG (NULL) the program is alone and its own chief. What is no
 * TF_CONFIG becomes {"error": …}. */
struct json *replica_config_describe(struct arena *arena, const char *tf_config);

#endif
