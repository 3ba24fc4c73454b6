/* The cluster description of <trainyard/tf_config.h> for code inside this repository: the same
 * functions with struct err, and the names of tasks. Called by the trainer's commands, by train,
 * and by public.c, group, control*.c and ps. */
#ifndef TRAINYARD_COMM_CLUSTER_TF_CONFIG_H
#define TRAINYARD_COMM_CLUSTER_TF_CONFIG_H

#include "base/err.h"

#include <trainyard/tf_config.h>

/* See ty_tf_config_parse(). `text` has `size` bytes. An empty text describes this process alone. */
int tf_config_parse(const char *text, size_t size, struct ty_tf_config **ret, struct err *err);

/* See ty_tf_config_from_flags(). */
int tf_config_from_flags(const char *ps_hosts, const char *worker_hosts, const char *job_name,
                         int task_index, struct ty_tf_config **ret, struct err *err);

/* Reads TF_CONFIG, or else the variables of PyTorch (MASTER_ADDR …). If neither is set, the cluster
 * is this process alone. `get` returns the value of an environment variable, or NULL. Tests pass
 * their own `get`. The caller frees *ret with ty_tf_config_free(). */
int tf_config_from_environment(const char *(*get)(void *context, const char *name), void *context,
                               struct ty_tf_config **ret, struct err *err);
/* Like tf_config_from_environment(), with getenv(). */
int tf_config_from_process_environment(struct ty_tf_config **ret, struct err *err);

/* Returns the number of tasks of synchronous training: the chief and the workers. */
size_t tf_config_workers(const struct ty_tf_config *config);

/* tf_config_task_name() writes "chief" or "worker 2". tf_config_task_describe() adds the address if
 * it is known: "worker 2 (mnist-worker-2.default.svc:2222)". */
enum { TF_CONFIG_TASK_TEXT_MAX = TY_HOST_MAX + 48 };
void tf_config_task_name(const struct ty_task *task, char text[TF_CONFIG_TASK_TEXT_MAX]);
void tf_config_task_describe(const struct ty_task *task, char text[TF_CONFIG_TASK_TEXT_MAX]);

#endif
