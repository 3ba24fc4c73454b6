/* Places the members of a PodGroup; see gang.h. A layout assigns nodes to waiting members. Layouts
 * are tried from cheap to expensive: spread like single pods, then packed, and for at most 128
 * members a search with backtracking and a limit on its steps. Packing is NP-hard, so the search
 * may miss the only layout that works. The group then waits for more room. */
#include "engine/scheduler/gang.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/advice.h"
#include "engine/scheduler/score.h"
#include "kube/object.h"
#include "kube/quantity.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEARCH_MEMBERS_MAX = 128,
    SEARCH_STEPS_MAX = 10000,
    SEARCH_STEPS_WITH_NEIGHBOURS = 500, /* the limit if each step checks every placed pod */
};

static const size_t NOWHERE = SIZE_MAX;

/* A layout under construction. */
struct layout {
    struct arena *arena;
    const struct scheduler_gang *gang;
    struct scheduler_view view;   /* the cluster with the members that are placed so far */
    struct scheduler_node *nodes; /* the view's nodes */
    /* The view's pods: first the pods that had a node before, then the placed members. */
    struct scheduler_placed *pods;
    size_t node_count;
    struct node_usage *used;     /* per node, with the members that are placed there */
    struct node_usage *requests; /* per member: the resources that it requests */
    /* [member][node]: the result of scheduler_check_node() */
    struct scheduler_rejection *node_rejections;
    int64_t **scores; /* [member][node]: the score of the node while no member is placed */
    bool checks_pods; /* scheduler_check_neighbours() must check each member */
    size_t *at;       /* per member: its node, or NOWHERE */
    size_t placed;    /* how many waiting members have a node */
    size_t steps;     /* steps of the search so far */
};

static const struct scheduler_rejection *gang_node_rejection(const struct layout *layout,
                                                             size_t member, size_t node)
{
    return &layout->node_rejections[member * layout->node_count + node];
}

/* Returns true if the node is rejected for the member; *ret then has the reasons. */
static bool gang_check_node(const struct layout *layout, size_t member, size_t node,
                            struct scheduler_rejection *ret)
{
    *ret = *gang_node_rejection(layout, member, node);
    if (ret->count > 0 ||
        scheduler_check_room(layout->arena, &layout->view, node, &layout->requests[member], ret))
        return true;
    if (!layout->checks_pods)
        return false;
    struct scheduler_rejection *all =
        ARENA_ARRAY(layout->arena, struct scheduler_rejection, layout->node_count + 1);
    scheduler_check_neighbours(layout->arena, layout->gang->waiting[member].pod, &layout->view,
                               all);
    *ret = all[node];
    return ret->count > 0;
}

static bool gang_fits(const struct layout *layout, size_t member, size_t node)
{
    struct scheduler_rejection rejection;
    return !gang_check_node(layout, member, node, &rejection);
}

static void gang_place_member(struct layout *layout, size_t member, size_t node)
{
    node_usage_add(&layout->used[node], &layout->requests[member]);
    layout->pods[layout->view.pod_count++] =
        (struct scheduler_placed){.pod = layout->gang->waiting[member].pod, .node = node};
    layout->at[member] = node;
    layout->placed++;
}

/* Undoes gang_place_member(). Does nothing if the member has no node. */
static void gang_take_back(struct layout *layout, size_t member)
{
    if (layout->at[member] == NOWHERE)
        return;
    node_usage_subtract(&layout->used[layout->at[member]], &layout->requests[member]);
    size_t last = layout->view.pod_count - 1, at = last;
    while (layout->pods[at].pod != layout->gang->waiting[member].pod ||
           layout->pods[at].node != layout->at[member])
        at--;
    layout->pods[at] = layout->pods[last];
    layout->view.pod_count--;
    layout->at[member] = NOWHERE;
    layout->placed--;
}

static void gang_clear(struct layout *layout)
{
    for (size_t i = layout->gang->waiting_count; i-- > 0;)
        gang_take_back(layout, i);
}

bool scheduler_gang_depends_on_pods(const struct scheduler_gang *gang)
{
    for (size_t i = 0; i < gang->waiting_count; i++)
        if (scheduler_depends_on_pods(gang->waiting[i].pod))
            return true;
    return false;
}

static void layout_init_member(struct layout *layout, size_t member,
                               const struct scheduler_view *view)
{
    const struct json *pod = layout->gang->waiting[member].pod;
    bool *open = ARENA_ARRAY(layout->arena, bool, view->count + 1);
    node_usage_of_pod(pod, &layout->requests[member]);
    layout->at[member] = NOWHERE;
    for (size_t node = 0; node < view->count; node++)
        open[node] = !scheduler_check_node(layout->arena, pod, view->nodes[node].node,
                                           &layout->node_rejections[member * view->count + node]);
    layout->scores[member] = scheduler_scores(layout->arena, pod, view, open);
}

static void layout_init(struct layout *layout, struct arena *arena,
                        const struct scheduler_gang *gang, const struct scheduler_view *view)
{
    size_t members = gang->waiting_count, count = view->count;
    *layout = (struct layout){.arena = arena, .gang = gang, .view = *view, .node_count = count};
    layout->used = ARENA_ARRAY(arena, struct node_usage, count + 1);
    layout->requests = ARENA_ARRAY(arena, struct node_usage, members + 1);
    layout->node_rejections = ARENA_ARRAY(arena, struct scheduler_rejection, members * count + 1);
    layout->scores = ARENA_ARRAY(arena, int64_t *, members + 1);
    layout->at = ARENA_ARRAY(arena, size_t, members + 1);
    layout->nodes = ARENA_ARRAY(arena, struct scheduler_node, count + 1);
    layout->pods = ARENA_ARRAY(arena, struct scheduler_placed, view->pod_count + members + 1);
    /* If no member depends on pods, the view contains pods only if one of them has affinity. */
    layout->checks_pods = view->pod_count > 0 || scheduler_gang_depends_on_pods(gang);
    for (size_t node = 0; node < count; node++) {
        node_usage_add(&layout->used[node], view->nodes[node].used);
        layout->nodes[node] = view->nodes[node];
        layout->nodes[node].used = &layout->used[node];
    }
    for (size_t i = 0; i < view->pod_count; i++)
        layout->pods[i] = view->pods[i];
    layout->view.nodes = layout->nodes;
    layout->view.pods = layout->pods;
    for (size_t member = 0; member < members; member++)
        layout_init_member(layout, member, view);
}

static void layout_release(struct layout *layout)
{
    for (size_t i = 0; i < layout->node_count; i++)
        node_usage_release(&layout->used[i]);
    for (size_t i = 0; i < layout->gang->waiting_count; i++)
        node_usage_release(&layout->requests[i]);
}

/* ---- The order of the members ---------------------------------------------------------------- */

/* Returns how many nodes scheduler_check_node() accepts for the member. */
static size_t nodes_open_to(const struct layout *layout, size_t member)
{
    size_t open = 0;
    for (size_t node = 0; node < layout->node_count; node++)
        open += gang_node_rejection(layout, member, node)->count == 0;
    return open;
}

/* The values by which members are sorted. */
struct rank {
    size_t member, open; /* open: see nodes_open_to() */
    const struct node_usage *requests;
};

static int compare_size(const struct rank *a, const struct rank *b)
{
    const struct node_usage *x = a->requests, *y = b->requests;
    if (x->cpu_milli != y->cpu_milli)
        return x->cpu_milli < y->cpu_milli ? -1 : 1;
    if (x->memory_bytes != y->memory_bytes)
        return x->memory_bytes < y->memory_bytes ? -1 : 1;
    if (x->ports.count != y->ports.count)
        return x->ports.count < y->ports.count ? -1 : 1;
    return 0;
}

static int compare_member(const struct rank *a, const struct rank *b)
{
    return a->member < b->member ? -1 : a->member > b->member;
}

/* Sorts the members with the fewest possible nodes first, then the large ones: the best order to
 * place all members. */
static int compare_hardest_first(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->open != y->open)
        return x->open < y->open ? -1 : 1;
    int by_size = compare_size(y, x);
    return by_size ? by_size : compare_member(x, y);
}

/* Sorts the small members first: the best order to place many members if not all are needed. */
static int compare_easiest_first(const void *a, const void *b)
{
    int by_size = compare_size(a, b);
    return by_size ? by_size : compare_member(a, b);
}

/* Returns the members in the order of `compare`. */
static size_t *gang_sort_members(const struct layout *layout,
                                 int (*compare)(const void *, const void *))
{
    size_t count = layout->gang->waiting_count;
    struct rank *ranks = ARENA_ARRAY(layout->arena, struct rank, count + 1);
    size_t *order = ARENA_ARRAY(layout->arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++)
        ranks[i] = (struct rank){i, nodes_open_to(layout, i), &layout->requests[i]};
    qsort(ranks, count, sizeof(*ranks), compare);
    for (size_t i = 0; i < count; i++)
        order[i] = ranks[i].member;
    return order;
}

/* ---- Layouts --------------------------------------------------------------------------------- */

/* SPREAD prefers nodes with few pods, PACK nodes with few free resources. */
enum manner { SPREAD, PACK };

/* Returns whether node `a` suits the member better than node `b`. */
static bool gang_is_better(const struct layout *layout, enum manner manner, size_t member, size_t a,
                           size_t b)
{
    const struct node_usage *x = &layout->used[a], *y = &layout->used[b];
    const int64_t *scores = layout->scores[member];
    if (manner == SPREAD && scores[a] != scores[b])
        return scores[a] > scores[b];
    if (manner == PACK) {
        int64_t cpu[2], memory[2];
        node_usage_left(layout->nodes[a].node, x, &cpu[0], &memory[0]);
        node_usage_left(layout->nodes[b].node, y, &cpu[1], &memory[1]);
        if (cpu[0] != cpu[1])
            return cpu[0] < cpu[1];
        if (memory[0] != memory[1])
            return memory[0] < memory[1];
    } else if (x->pods != y->pods) {
        return x->pods < y->pods;
    }
    return strcmp(layout->nodes[a].name, layout->nodes[b].name) < 0;
}

/* Places each member on the best node that it fits on. A member that fits on no node gets none. */
static void gang_place_in_order(struct layout *layout, const size_t *order, enum manner manner)
{
    gang_clear(layout);
    for (size_t i = 0; i < layout->gang->waiting_count; i++) {
        size_t best = NOWHERE;
        for (size_t node = 0; node < layout->node_count; node++)
            if ((best == NOWHERE || gang_is_better(layout, manner, order[i], node, best)) &&
                gang_fits(layout, order[i], node))
                best = node;
        if (best != NOWHERE)
            gang_place_member(layout, order[i], best);
    }
}

/* Tries every node for member order[depth] and, for each node, places the rest of the order
 * recursively. Up to `spare` members may be left out. Returns true if the other members are placed.
 * Returns false if there is no such layout, or if the search has used up its steps. */
static bool gang_search(struct layout *layout, const size_t *order, size_t depth, size_t spare)
{
    const size_t most_steps = layout->checks_pods ? SEARCH_STEPS_WITH_NEIGHBOURS : SEARCH_STEPS_MAX;
    if (depth == layout->gang->waiting_count)
        return true;
    for (size_t node = 0; node < layout->node_count; node++) {
        if (++layout->steps > most_steps)
            return false;
        if (!gang_fits(layout, order[depth], node))
            continue;
        gang_place_member(layout, order[depth], node);
        if (gang_search(layout, order, depth + 1, spare))
            return true;
        gang_take_back(layout, order[depth]);
    }
    return spare > 0 && gang_search(layout, order, depth + 1, spare - 1);
}

/* Returns whether all waiting members together request more cpu or memory than all nodes together
 * have free. */
static bool lacks_total_room(const struct layout *layout)
{
    int64_t cpu_left = 0, memory_left = 0, cpu = 0, memory = 0;
    for (size_t i = 0; i < layout->node_count; i++) {
        int64_t more_cpu, more_memory;
        node_usage_left(layout->nodes[i].node, &layout->used[i], &more_cpu, &more_memory);
        if (__builtin_add_overflow(cpu_left, more_cpu, &cpu_left))
            cpu_left = INT64_MAX;
        if (__builtin_add_overflow(memory_left, more_memory, &memory_left))
            memory_left = INT64_MAX;
    }
    for (size_t i = 0; i < layout->gang->waiting_count; i++) {
        cpu += layout->requests[i].cpu_milli;
        memory += layout->requests[i].memory_bytes;
    }
    return cpu > cpu_left || memory > memory_left;
}

/* Returns the message "0/3 nodes are available: …" for a member, with the other members on their
 * nodes. */
static const char *gang_explain(const struct layout *layout, size_t member)
{
    struct scheduler_rejection *why =
        ARENA_ARRAY(layout->arena, struct scheduler_rejection, layout->node_count + 1);
    for (size_t node = 0; node < layout->node_count; node++)
        if (!gang_check_node(layout, member, node, &why[node]))
            scheduler_reject(&why[node], "node(s) were reserved for other pods of the group",
                             false);
    return scheduler_explain(layout->arena, why, layout->node_count);
}

/* Returns the explanation for the first member of the order that has no node. */
static const char *explain_first(const struct layout *layout, const size_t *order)
{
    for (size_t i = 0; i < layout->gang->waiting_count; i++)
        if (layout->at[order[i]] == NOWHERE)
            return gang_explain(layout, order[i]);
    return "";
}

/* Stores a layout with all members, else one with at least `needed` members, else the one with the
 * most members that was found. If fewer than `needed` members are placed, *ret_why is the message
 * for the first member without a node. */
static void gang_place_members(struct layout *layout, size_t needed, const char **ret_why)
{
    static const struct {
        int (*compare)(const void *, const void *);
        enum manner manner;
    } tries[] = {
        {compare_hardest_first, SPREAD},
        {compare_hardest_first, PACK},
        {compare_easiest_first, SPREAD},
        {compare_easiest_first, PACK},
    };
    size_t all = layout->gang->waiting_count, most = 0, best = 0;
    size_t *orders[ARRAY_SIZE(tries)];
    for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
        orders[i] = gang_sort_members(layout, tries[i].compare);
        gang_place_in_order(layout, orders[i], tries[i].manner);
        if (layout->placed == all)
            return;
        if (i == 0 || layout->placed > most) {
            most = layout->placed;
            best = i;
            *ret_why = explain_first(layout, orders[i]);
        }
    }
    gang_clear(layout);
    if (most < needed && all <= SEARCH_MEMBERS_MAX &&
        !(needed == all && lacks_total_room(layout)) &&
        gang_search(layout, orders[0], 0, all - needed))
        return;
    gang_clear(layout);
    gang_place_in_order(layout, orders[best], tries[best].manner);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

size_t scheduler_gang_min_member(const struct json *group)
{
    int64_t min_member = json_get_int(json_get(group, "spec"), "minMember", 1);
    return min_member < 1 ? 1 : (size_t)min_member;
}

/* Sets the same message for all waiting members, which get no node. */
static void gang_set_message(struct scheduler_gang *gang, const char *message)
{
    for (size_t i = 0; i < gang->waiting_count; i++) {
        gang->waiting[i].node = NULL;
        gang->waiting[i].message = message;
    }
}

static void gang_assign_nodes(struct scheduler_gang *gang, const struct layout *layout)
{
    for (size_t i = 0; i < gang->waiting_count; i++) {
        struct scheduler_member *member = &gang->waiting[i];
        bool has_place = layout->at[i] != NOWHERE;
        member->node = has_place ? layout->nodes[layout->at[i]].name : NULL;
        member->message = has_place ? NULL : gang_explain(layout, i);
    }
}

static const char *amount_text(struct arena *arena, int64_t value, bool is_cpu)
{
    return is_cpu ? node_usage_cpu_text(arena, value) : node_usage_memory_text(arena, value);
}

/* Checks the cpu and memory in spec.minResources of a group of which no member has a node: the
 * nodes that the first waiting member may use must have these resources free in total. Returns a
 * message if they do not. Returns NULL if they do, or if the field is not set. */
static const char *gang_lacking(const struct layout *layout)
{
    const struct json *wants = json_at(layout->gang->group, "spec", "minResources", NULL);
    int64_t left[2] = {0, 0};
    for (size_t node = 0; node < layout->node_count && json_count(wants); node++) {
        int64_t more[2];
        if (gang_node_rejection(layout, 0, node)->count > 0)
            continue;
        node_usage_left(layout->nodes[node].node, &layout->used[node], &more[0], &more[1]);
        for (size_t i = 0; i < ARRAY_SIZE(left); i++)
            if (__builtin_add_overflow(left[i], more[i], &left[i]))
                left[i] = INT64_MAX;
    }
    for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
        const char *name = i == 0 ? "cpu" : "memory";
        struct kube_quantity quantity;
        const struct json *value = json_get(wants, name);
        if (!value || kube_quantity_from_json(value, &quantity, NULL) < 0)
            continue;
        int64_t wanted = i == 0 ? kube_quantity_milli(&quantity) : kube_quantity_value(&quantity);
        if (wanted > left[i])
            return arena_printf(layout->arena,
                                "pod group \"%s\" needs %s %s at once, but only %s is free",
                                layout->gang->name, amount_text(layout->arena, wanted, i == 0),
                                name, amount_text(layout->arena, left[i], i == 0));
    }
    return NULL;
}

/* Returns a message that too few members fit. `why` is the message for the first member that does
 * not fit. If the group needs all its pods and none has a node, adds advice. */
static const char *gang_shortage_text(const struct layout *layout, size_t min_member,
                                      const char *why)
{
    const struct scheduler_gang *gang = layout->gang;
    size_t fit = gang->placed + layout->placed;
    const char *advice =
        gang->placed == 0 && min_member == gang->waiting_count
            ? scheduler_advice(layout->arena, &layout->view, layout->requests, gang->waiting_count)
            : NULL;
    const char *but = "none fits:", *group = "";
    if (fit > 0)
        but = arena_printf(layout->arena, "only %zu fit%s: for the next one", fit,
                           fit == 1 ? "s" : "");
    if (min_member > 1)
        group = arena_printf(layout->arena, "pod group \"%s\" needs %zu pods at once, but %s ",
                             gang->name, min_member, but);
    return arena_printf(layout->arena, "%s%s%s%s", group, why, advice ? " " : "",
                        advice ? advice : "");
}

static void gang_place_together(struct scheduler_gang *gang, struct layout *layout,
                                size_t min_member)
{
    size_t needed = min_member - gang->placed;
    const char *lacks = gang->placed == 0 ? gang_lacking(layout) : NULL, *why = NULL;
    gang_place_members(layout, needed, &why);
    /* The message about a member that does not fit says more than the message about a total, so it
     * is written if both apply. */
    if (layout->placed < needed)
        gang_set_message(gang, gang_shortage_text(layout, min_member, why));
    else if (lacks)
        gang_set_message(gang, lacks);
    else
        gang_assign_nodes(gang, layout);
}

/* Returns the members in the order of gang->waiting. */
static size_t *gang_keep_order(const struct layout *layout)
{
    size_t *order = ARENA_ARRAY(layout->arena, size_t, layout->gang->waiting_count + 1);
    for (size_t i = 0; i < layout->gang->waiting_count; i++)
        order[i] = i;
    return order;
}

void scheduler_gang_decide(struct arena *arena, struct scheduler_gang *gang,
                           const struct scheduler_view *view)
{
    if (gang->waiting_count == 0)
        return;
    if (!gang->group) {
        gang_set_message(gang, arena_printf(arena, "pod group \"%s\" does not exist", gang->name));
        return;
    }
    size_t min_member = scheduler_gang_min_member(gang->group);
    size_t members = gang->placed + gang->waiting_count;
    if (members < min_member) {
        gang_set_message(gang, arena_printf(arena, "pod group \"%s\": %zu of %zu members exist",
                                            gang->name, members, min_member));
        return;
    }
    struct layout layout;
    layout_init(&layout, arena, gang, view);
    if (gang->placed < min_member) {
        gang_place_together(gang, &layout, min_member);
    } else {
        gang_place_in_order(&layout, gang_keep_order(&layout), SPREAD);
        gang_assign_nodes(gang, &layout);
    }
    layout_release(&layout);
}
