/* What a pod asks of a node, and what the pods of a node take together. Pure. */
#ifndef TRAINYARD_ENGINE_NODE_USAGE_H
#define TRAINYARD_ENGINE_NODE_USAGE_H

#include "base/json.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct node_usage {
    size_t pods;
    int64_t cpu_milli;
    int64_t memory_bytes;
    VEC(uint32_t) ports; /* of the machine: the number, and the protocol above it */
};

/* Of one pod: its containers together, or its largest init container, since those run before. The
 * result is to be released. */
void node_usage_of_pod(const struct json *pod, struct node_usage *ret);
void node_usage_release(struct node_usage *usage);

void node_usage_add(struct node_usage *total, const struct node_usage *pod);
void node_usage_subtract(struct node_usage *total, const struct node_usage *pod);

/* Why the node has no room for the pod beside what it runs, in Kubernetes' words; NULL: it has. A
 * resource the node does not count is never short. */
const char *node_usage_shortage(const struct json *node, const struct node_usage *used,
                                const struct node_usage *pod);

/* What is left there of cpu and memory; INT64_MAX of what the node does not count. */
void node_usage_left(const struct json *node, const struct node_usage *used, int64_t *ret_cpu_milli,
                     int64_t *ret_memory_bytes);

#endif
