/* Counts matching pods per domain and evaluates the constraints; see topology_spread.h. */
#include "engine/scheduler/topology_spread.h"

#include "base/str.h"
#include "engine/scheduler/node_affinity.h"
#include "engine/scheduler/taints.h"
#include "engine/scheduler/topology.h"
#include "kube/object.h"
#include "kube/selector.h"

static const char SKEW_TOO_LARGE[] = "node(s) didn't match pod topology spread constraints";
static const char NO_LABEL[] =
    "node(s) didn't match pod topology spread constraints (missing required label)";

/* A constraint with its counts. */
struct spread {
    const size_t *domains; /* per node; see topology_domains() */
    int64_t *counts;       /* per domain: pods that the selector matches */
    bool *counted;         /* per node: the node counts for the constraint */
    struct kube_selector selector;
};

static const struct json *constraints_of(const struct json *pod)
{
    return json_at(pod, "spec", "topologySpreadConstraints", NULL);
}

static bool constraint_is_required(const struct json *constraint)
{
    return str_eq(json_get_string(constraint, "whenUnsatisfiable", "DoNotSchedule"),
                  "DoNotSchedule");
}

/* Returns whether the node has the topology labels of all DoNotSchedule constraints. */
static bool has_every_label(const struct json *pod, const struct json *node)
{
    JSON_EACH (constraint, constraints_of(pod)) {
        if (constraint_is_required(constraint) &&
            !kube_meta_label(node, json_get_string(constraint, "topologyKey", "")))
            return false;
    }
    return true;
}

/* Returns whether a node counts for the constraint. Nodes without the topology label of a
 * DoNotSchedule constraint do not count. By default, nodes that the pod's node affinity excludes do
 * not count (nodeAffinityPolicy), but nodes with taints that the pod does not tolerate count
 * (nodeTaintsPolicy). */
static bool topology_spread_counts(struct arena *arena, const struct json *pod,
                                   const struct json *constraint, const struct json *node)
{
    bool by_affinity = str_eq(json_get_string(constraint, "nodeAffinityPolicy", "Honor"), "Honor");
    bool by_taints = str_eq(json_get_string(constraint, "nodeTaintsPolicy", "Ignore"), "Honor");
    return has_every_label(pod, node) &&
           (!by_affinity || node_affinity_matches(arena, pod, node)) &&
           (!by_taints || !taints_untolerated(pod, node));
}

static void spread_init(struct arena *arena, const struct json *pod, const struct json *constraint,
                        const struct scheduler_view *view, struct spread *ret)
{
    ret->domains = topology_domains(arena, view, json_get_string(constraint, "topologyKey", ""));
    ret->counts = ARENA_ARRAY(arena, int64_t, view->count + 1);
    ret->counted = ARENA_ARRAY(arena, bool, view->count + 1);
    topology_selector(arena, constraint, pod, &ret->selector);
    for (size_t node = 0; node < view->count; node++)
        ret->counted[node] = topology_spread_counts(arena, pod, constraint, view->nodes[node].node);
    for (size_t at = 0; at < view->pod_count; at++) {
        const struct scheduler_placed *placed = &view->pods[at];
        if (ret->domains[placed->node] != TOPOLOGY_NONE && ret->counted[placed->node] &&
            !kube_meta_is_deleting(placed->pod) &&
            str_eq(kube_meta_namespace(placed->pod), kube_meta_namespace(pod)) &&
            kube_selector_matches(&ret->selector, kube_meta_labels(placed->pod)))
            ret->counts[ret->domains[placed->node]]++;
    }
}

/* Returns the smallest count of all domains that have a node that counts; 0 if there are fewer such
 * domains than minDomains. */
static int64_t topology_spread_fewest(struct arena *arena, const struct spread *spread,
                                      const struct scheduler_view *view, int64_t min_domains)
{
    int64_t least = INT64_MAX, domains = 0;
    bool *seen = ARENA_ARRAY(arena, bool, view->count + 1);
    for (size_t node = 0; node < view->count; node++) {
        size_t domain = spread->domains[node];
        if (domain == TOPOLOGY_NONE || !spread->counted[node] || seen[domain])
            continue;
        seen[domain] = true;
        domains++;
        least = spread->counts[domain] < least ? spread->counts[domain] : least;
    }
    return domains == 0 || domains < min_domains ? 0 : least;
}

void topology_spread_reject(struct arena *arena, const struct json *pod,
                            const struct scheduler_view *view,
                            struct scheduler_rejection *rejections)
{
    JSON_EACH (constraint, constraints_of(pod)) {
        struct spread spread;
        if (!constraint_is_required(constraint))
            continue;
        spread_init(arena, pod, constraint, view, &spread);
        int64_t least =
            topology_spread_fewest(arena, &spread, view, json_get_int(constraint, "minDomains", 1));
        int64_t self = kube_selector_matches(&spread.selector, kube_meta_labels(pod));
        int64_t most = json_get_int(constraint, "maxSkew", 1);
        for (size_t node = 0; node < view->count; node++) {
            size_t domain = spread.domains[node];
            if (rejections[node].count > 0)
                continue;
            if (domain == TOPOLOGY_NONE)
                scheduler_reject(&rejections[node], NO_LABEL, true);
            else if (spread.counts[domain] + self - least > most)
                scheduler_reject(&rejections[node], SKEW_TOO_LARGE, false);
        }
    }
}

void topology_spread_score(struct arena *arena, const struct json *pod,
                           const struct scheduler_view *view, int64_t *scores)
{
    JSON_EACH (constraint, constraints_of(pod)) {
        struct spread spread;
        if (constraint_is_required(constraint))
            continue;
        spread_init(arena, pod, constraint, view, &spread);
        for (size_t node = 0; node < view->count; node++) {
            size_t domain = spread.domains[node];
            /* A node without the label scores lower than the fullest domain. */
            scores[node] -=
                domain == TOPOLOGY_NONE ? (int64_t)view->pod_count + 1 : spread.counts[domain];
        }
    }
}
