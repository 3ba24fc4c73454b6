/* Building a cluster description task by task, whatever form it was written in, and the checks all
 * forms share: one address a task, one task an address, the own task among them. Called by the
 * readers of the forms only. */
#ifndef TRAINYARD_COMM_CLUSTER_H
#define TRAINYARD_COMM_CLUSTER_H

#include "base/cleanup.h"
#include "base/err.h"

#include <trainyard/tf_config.h>

struct cluster_builder {
    struct ty_task *tasks;
    size_t count;
    size_t capacity;
};

void cluster_builder_release(struct cluster_builder *builder);
#define _cleanup_builder_ _cleanup_(cluster_builder_release)

/* "chief" or "master", "worker", "ps", "evaluator", in any case. */
int cluster_role_parse(const char *text, enum ty_role *ret, struct err *err);

/* `address` is "host:port" or "[v6]:port"; NULL: known to nobody but the task itself. */
int cluster_builder_add(struct cluster_builder *builder, enum ty_role role, int index,
                        const char *address, struct err *err);

/* Comma-separated addresses, the first with index 0. */
int cluster_builder_add_list(struct cluster_builder *builder, enum ty_role role, const char *list,
                             struct err *err);

size_t cluster_builder_count(const struct cluster_builder *builder, enum ty_role role);

/* Sort, check, find the own task, and hand out; the builder is empty afterwards. */
int cluster_builder_finish(struct cluster_builder *builder, enum ty_role role, int index,
                           struct ty_tf_config **ret, struct err *err);

/* One chief without an address: a process alone. */
struct ty_tf_config *cluster_alone(void);

#endif
