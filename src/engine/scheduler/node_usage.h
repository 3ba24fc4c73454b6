/* What a pod asks of a node, and what the pods of a node take together. Pure. */
#ifndef TRAINYARD_ENGINE_NODE_USAGE_H
#define TRAINYARD_ENGINE_NODE_USAGE_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* So much of a resource that only some nodes have: "nvidia.com/gpu". */
struct node_extra {
    char *name;
    int64_t amount;
};

struct node_usage {
    size_t pods;
    int64_t cpu_milli;
    int64_t memory_bytes;
    VEC(uint32_t) ports;       /* of the machine: the number, and the protocol above it */
    VEC(uint32_t) inner_ports; /* of the containers, in the same way */
    VEC(struct node_extra *) extras;
    struct map extras_by_name; /* empty while they are few */
};

/* Of one pod: its containers together, or its largest init container, since those run before. The
 * result is to be released. */
void node_usage_of_pod(const struct json *pod, struct node_usage *ret);
void node_usage_release(struct node_usage *usage);

void node_usage_add(struct node_usage *total, const struct node_usage *pod);
void node_usage_subtract(struct node_usage *total, const struct node_usage *pod);
int64_t node_usage_extra(const struct node_usage *usage, const char *name);
/* Whether the node has so much more of it than is used. */
bool node_usage_has_extra(const struct json *node, const struct node_usage *used, const char *name,
                          int64_t more);

/* This condition is False on nodes whose pods have no network of their own. */
#define NODE_USAGE_NAMESPACES "trainyard.dev/Namespaces"
bool node_usage_shares_ports(const struct json *node);
/* Whether one that is there listens on a port that the pod has in its containers. */
bool node_usage_ports_clash(const struct node_usage *used, const struct node_usage *pod);

/* What a node lacks for a pod, in Kubernetes' words. */
struct node_shortage {
    const char *reasons[4];
    size_t count;
    bool permanent; /* it has not so much even when it is empty */
};

/* Whether the node has room for the pod beside what it runs. Of cpu, memory and pods that the node
 * does not count there is always enough; of other resources it does not name there is none. */
bool node_usage_fits(struct arena *arena, const struct json *node, const struct node_usage *used,
                     const struct node_usage *pod, struct node_shortage *ret);

/* What is left there of cpu and memory; INT64_MAX of what the node does not count. */
void node_usage_left(const struct json *node, const struct node_usage *used, int64_t *ret_cpu_milli,
                     int64_t *ret_memory_bytes);
/* Amounts as Kubernetes writes them: "1500m", "8Gi". */
const char *node_usage_cpu_text(struct arena *arena, int64_t cpu_milli);
const char *node_usage_memory_text(struct arena *arena, int64_t memory_bytes);
/* How much of the two, of 100 and on average, would be left with the pod there. */
int node_usage_percent_left(const struct json *node, const struct node_usage *used,
                            const struct node_usage *pod);

#endif
