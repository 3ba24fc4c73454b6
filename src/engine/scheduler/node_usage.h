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
    VEC(uint32_t) ports;       /* host ports: the number, and the protocol in the bits above */
    VEC(uint32_t) inner_ports; /* container ports, in the same form */
    VEC(struct node_extra *) extras;
    struct map extras_by_name; /* filled when there are many extras */
};

/* The requests of one pod: the sum of its containers or, per resource, its largest init container,
 * because init containers run before. The caller releases the result. */
void node_usage_of_pod(const struct json *pod, struct node_usage *ret);
void node_usage_release(struct node_usage *usage);

void node_usage_add(struct node_usage *total, const struct node_usage *pod);
void node_usage_subtract(struct node_usage *total, const struct node_usage *pod);
int64_t node_usage_extra(const struct node_usage *usage, const char *name);
/* Whether the node has `more` of the resource beside what is used. */
bool node_usage_has_extra(const struct json *node, const struct node_usage *used, const char *name,
                          int64_t more);

/* A node's condition that is False if its pods share the network of the machine. */
#define NODE_USAGE_NAMESPACES "trainyard.dev/Namespaces"
bool node_usage_shares_ports(const struct json *node);
/* Whether a pod of the node listens on a container port of this pod. */
bool node_usage_ports_clash(const struct node_usage *used, const struct node_usage *pod);

/* The resources that a node lacks for a pod, in Kubernetes' messages. */
struct node_shortage {
    const char *reasons[4];
    size_t count;
    bool permanent; /* the node lacks it even when it is empty */
};

/* Whether the node has room for the pod beside the pods that it runs. A node without an amount of
 * cpu, memory or pods has enough of it; a node without an amount of another resource has none. */
bool node_usage_fits(struct arena *arena, const struct json *node, const struct node_usage *used,
                     const struct node_usage *pod, struct node_shortage *ret);

/* The free cpu and memory of the node; INT64_MAX if the node has no amount. */
void node_usage_left(const struct json *node, const struct node_usage *used, int64_t *ret_cpu_milli,
                     int64_t *ret_memory_bytes);
/* Amounts in Kubernetes' notation: "1500m", "8Gi". */
const char *node_usage_cpu_text(struct arena *arena, int64_t cpu_milli);
const char *node_usage_memory_text(struct arena *arena, int64_t memory_bytes);
/* The average of free cpu and free memory in percent, with the pod on the node. */
int node_usage_percent_left(const struct json *node, const struct node_usage *used,
                            const struct node_usage *pod);

#endif
