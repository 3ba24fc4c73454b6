/* Adds the weighted scores of nodes; see score.h. */
#include "engine/scheduler/score.h"

#include "engine/scheduler/node_affinity.h"
#include "engine/scheduler/pod_affinity.h"
#include "engine/scheduler/taints.h"
#include "engine/scheduler/topology_spread.h"

enum { FULL = 100, WEIGHT_TAINTS = 3, WEIGHT_NODES = 2, WEIGHT_NEIGHBOURS = 2, WEIGHT_SPREAD = 2 };

/* Scales the raw scores of the open nodes to 0 … 100 and adds them, times the weight, to `scores`.
 * If all raw scores are equal, adds nothing. */
static void score_add(const struct scheduler_view *view, const bool *open, const int64_t *raw,
                      int weight, int64_t *scores)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t node = 0; node < view->count; node++) {
        if (!open[node])
            continue;
        least = raw[node] < least ? raw[node] : least;
        most = raw[node] > most ? raw[node] : most;
    }
    for (size_t node = 0; node < view->count && most > least; node++)
        if (open[node])
            scores[node] += weight * (FULL * (raw[node] - least) / (most - least));
}

int64_t *scheduler_scores(struct arena *arena, const struct json *pod,
                          const struct scheduler_view *view, const bool *open)
{
    int64_t *scores = ARENA_ARRAY(arena, int64_t, view->count + 1);
    int64_t *by_taints = ARENA_ARRAY(arena, int64_t, view->count + 1);
    int64_t *by_labels = ARENA_ARRAY(arena, int64_t, view->count + 1);
    int64_t *by_neighbours = ARENA_ARRAY(arena, int64_t, view->count + 1);
    int64_t *by_spread = ARENA_ARRAY(arena, int64_t, view->count + 1);
    for (size_t node = 0; node < view->count; node++) {
        by_taints[node] = -(int64_t)taints_count_prefer_no_schedule(pod, view->nodes[node].node);
        by_labels[node] = node_affinity_score(arena, pod, view->nodes[node].node);
    }
    pod_affinity_score(arena, pod, view, by_neighbours);
    topology_spread_score(arena, pod, view, by_spread);
    score_add(view, open, by_taints, WEIGHT_TAINTS, scores);
    score_add(view, open, by_labels, WEIGHT_NODES, scores);
    score_add(view, open, by_neighbours, WEIGHT_NEIGHBOURS, scores);
    score_add(view, open, by_spread, WEIGHT_SPREAD, scores);
    return scores;
}
