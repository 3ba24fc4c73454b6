/* The resources that a pod requests, and the sum of the requests of a node's pods. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_NODE_USAGE_H
#define TRAINYARD_ENGINE_SCHEDULER_NODE_USAGE_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* An amount of an extended resource: "nvidia.com/gpu". */
struct node_extra {
    char *name;
    int64_t amount;
};

struct node_usage {
    size_t pods;
    int64_t cpu_milli;
    int64_t memory_bytes;
    VEC(uint32_t) ports;       /* host ports: the number in the low bits, the protocol above */
    VEC(uint32_t) inner_ports; /* container ports, in the same form */
    VEC(struct node_extra *) extras;
    struct map extras_by_name; /* filled when there are many extras */
};

/* Reads the requests of one pod. Per resource, that is the sum of its containers or its largest
 * init container, whichever is larger, because init containers run before the others. The caller
 * releases the result. */
void node_usage_of_pod(const struct json *pod, struct node_usage *ret);
void node_usage_release(struct node_usage *usage);

void node_usage_add(struct node_usage *total, const struct node_usage *pod);
void node_usage_subtract(struct node_usage *total, const struct node_usage *pod);
int64_t node_usage_extra(const struct node_usage *usage, const char *name);
/* Whether the node has `more` of the resource in addition to `used`. */
bool node_usage_has_extra(const struct json *node, const struct node_usage *used, const char *name,
                          int64_t more);

/* A condition of a node. It is False if the node's pods share the network of the machine. */
#define NODE_USAGE_NAMESPACES "trainyard.dev/Namespaces"
bool node_usage_shares_ports(const struct json *node);
/* Whether a pod in `used` has the same container port as `pod`. */
bool node_usage_ports_clash(const struct node_usage *used, const struct node_usage *pod);

/* The resources that a node lacks for a pod, in Kubernetes' messages. */
struct node_shortage {
    const char *reasons[4];
    size_t count;
    bool permanent; /* the node would lack one of them even without any pod */
};

/* Whether the node has the resources and the host ports for the pod in addition to `used`. If the
 * node does not state its cpu, memory or pods, it has enough of that resource. If it does not state
 * another resource, it has none of it. */
bool node_usage_fits(struct arena *arena, const struct json *node, const struct node_usage *used,
                     const struct node_usage *pod, struct node_shortage *ret);

/* Returns the free cpu and memory of the node; INT64_MAX if the node does not state the amount. */
void node_usage_left(const struct json *node, const struct node_usage *used, int64_t *ret_cpu_milli,
                     int64_t *ret_memory_bytes);
/* Amounts in Kubernetes' notation: "1500m", "8Gi". */
const char *node_usage_cpu_text(struct arena *arena, int64_t cpu_milli);
const char *node_usage_memory_text(struct arena *arena, int64_t memory_bytes);
/* Returns the average of the free cpu and the free memory in percent, after the pod is placed on
 * the node. */
int node_usage_percent_left(const struct json *node, const struct node_usage *used,
                            const struct node_usage *pod);

#endif
