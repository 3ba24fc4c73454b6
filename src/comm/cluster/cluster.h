/* Builds a cluster description task by task, and makes the checks that all input forms share: every
 * address has a valid form, there is at most one chief, no two tasks have the same address, and the
 * task of this process is listed. Called only by the parsers of TF_CONFIG, the flags and the
 * environment. */
#ifndef TRAINYARD_COMM_CLUSTER_CLUSTER_H
#define TRAINYARD_COMM_CLUSTER_CLUSTER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <trainyard/tf_config.h>

/* The tasks that were added so far. Must be zeroed before the first use. */
struct cluster_builder {
    struct ty_task *tasks;
    size_t count;
    size_t capacity;
};

void cluster_builder_release(struct cluster_builder *builder);
#define _cleanup_builder_ _cleanup_(cluster_builder_release)

/* Parses "chief", "worker", "ps" and "evaluator", in upper or lower case. "master" is another name
 * of "chief". */
int cluster_role_parse(const char *text, enum ty_role *ret, struct err *err);

/* Adds one task. `address` is "host:port" or "[v6]:port"; NULL if only the task itself knows its
 * address. Fails if the address is invalid or the cluster has TY_TASKS_MAX tasks. */
int cluster_builder_add(struct cluster_builder *builder, enum ty_role role, int index,
                        const char *address, struct err *err);

/* Adds one task per comma-separated address of `list`; the first has index 0. `list` may be NULL or
 * empty. */
int cluster_builder_add_list(struct cluster_builder *builder, enum ty_role role, const char *list,
                             struct err *err);

/* Returns the number of added tasks with this role. */
size_t cluster_builder_count(const struct cluster_builder *builder, enum ty_role role);

/* Sorts and checks the tasks, and finds the task of this process by `role` and `index`. Stores the
 * description in *ret; the caller frees it with ty_tf_config_free(). On success, the tasks move to
 * the description and the builder becomes empty. */
int cluster_builder_finish(struct cluster_builder *builder, enum ty_role role, int index,
                           struct ty_tf_config **ret, struct err *err);

/* Returns a cluster of one process: a chief without an address. The caller frees it with
 * ty_tf_config_free(). */
struct ty_tf_config *cluster_alone(void);

#endif
