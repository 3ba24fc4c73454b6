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

/* The requests of one pod, or the sum of the requests of several pods. */
struct node_usage {
    size_t pods;
    int64_t cpu_milli;
    int64_t memory_bytes;
    VEC(uint32_t) ports;       /* host ports: the number in the low 16 bits, the protocol above */
    VEC(uint32_t) inner_ports; /* container ports in the form of `ports`; at most 1000 per pod */
    VEC(struct node_extra *) extras;
    struct map extras_by_name; /* filled when there are many extras */
};

/* Reads the requests of one pod. Per resource, that is the sum of its containers and sidecars, or
 * the largest amount while an init container runs, if that is more. The caller calls
 * node_usage_release(). */
void node_usage_of_pod(const struct json *pod, struct node_usage *ret);
void node_usage_release(struct node_usage *usage);

void node_usage_add(struct node_usage *total, const struct node_usage *pod);
void node_usage_subtract(struct node_usage *total, const struct node_usage *pod);
/* Returns the amount of an extended resource; 0 if `usage` does not have it. */
int64_t node_usage_extra(const struct node_usage *usage, const char *name);
/* Returns whether the node has `more` of the extended resource in addition to `used`. A node that
 * does not state the resource has none of it. */
bool node_usage_has_extra(const struct json *node, const struct node_usage *used, const char *name,
                          int64_t more);

/* The type of a node condition. Its status is False if the pods of the node share the network of
 * the machine. */
#define NODE_USAGE_NAMESPACES "trainyard.dev/Namespaces"
/* Returns whether the condition NODE_USAGE_NAMESPACES of the node is False. */
bool node_usage_shares_ports(const struct json *node);
/* Returns whether `used` and `pod` have a container port in common. */
bool node_usage_ports_clash(const struct node_usage *used, const struct node_usage *pod);

/* Why a pod does not fit on a node, in the words of Kubernetes' messages. */
struct node_shortage {
    const char *reasons[4];
    size_t count;
    bool permanent; /* one of the requests is larger than the whole node */
};

/* Returns whether the node has the resources and the host ports for the pod in addition to `used`.
 * If not, *ret has the reasons, which are valid as long as the arena. If the node does not state
 * its cpu, memory or pods, it has enough of that resource. If it does not state another resource,
 * it has none of it. */
bool node_usage_fits(struct arena *arena, const struct json *node, const struct node_usage *used,
                     const struct node_usage *pod, struct node_shortage *ret);

/* Sets *ret_cpu_milli and *ret_memory_bytes to the free amounts of the node; INT64_MAX if the node
 * does not state the amount. An amount is negative if the node is overcommitted. */
void node_usage_left(const struct json *node, const struct node_usage *used, int64_t *ret_cpu_milli,
                     int64_t *ret_memory_bytes);
/* The next two functions return an amount in Kubernetes' notation, allocated in the arena: "1500m",
 * "8Gi". */
const char *node_usage_cpu_text(struct arena *arena, int64_t cpu_milli);
const char *node_usage_memory_text(struct arena *arena, int64_t memory_bytes);
/* Returns the average of the free cpu and the free memory in percent, after the pod is placed on
 * the node. An amount that the node does not state counts as 0 percent. */
int node_usage_percent_left(const struct json *node, const struct node_usage *used,
                            const struct node_usage *pod);

#endif
