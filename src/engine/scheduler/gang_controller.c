/* Schedules PodGroups through the API. Gathers the members of a group, places them with
 * scheduler_gang_decide(), assumes all placed members on their nodes, and then binds them. If a
 * binding fails, the pod stays assumed on its node and the binding is sent again. The reason why a
 * group waits is written into its pods only when it has been the same for SETTLE_MS. Otherwise each
 * new pod of a group would change the reason of all its pods. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/gang.h"
#include "engine/scheduler/internal.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    GATHER_MS = 5,   /* the delay of a group after a change, so that more members can arrive */
    SETTLE_MS = 500, /* the time for which a message must be the same before it is written */
};

static const char KEY_PREFIX[] = "group ";
static const char POD_GROUPS[] = "podgroups.scheduling.x-k8s.io";

/* The state of a waiting group. */
struct scheduler_gang_state {
    char *message;
    int64_t message_ms; /* when the message last changed */
    int64_t waits_ms;   /* when the group began to wait, or was last reported to have timed out */
};

/* ---- Keys ------------------------------------------------------------------------------------ */

char *scheduler_gang_key_of(struct arena *arena, const struct kube_object *pod)
{
    const char *group = kube_meta_label(pod->json, SCHEDULER_GANG_LABEL);
    return str_is_empty(group) ? NULL
                               : arena_printf(arena, "%s%s/%s", KEY_PREFIX, pod->namespace_, group);
}

bool scheduler_gang_is_key(const char *key)
{
    return str_has_prefix(key, KEY_PREFIX);
}

void scheduler_gang_enqueue(struct scheduler *scheduler, const char *namespace_, const char *name)
{
    _cleanup_free_ char *key = mem_printf("%s%s/%s", KEY_PREFIX, namespace_, name);
    workqueue_add_after(scheduler->queue, key, GATHER_MS);
}

/* ---- The members ----------------------------------------------------------------------------- */

/* A group as the informers show it. */
struct gathered_group {
    const char *namespace_;
    struct kube_object *group;        /* NULL: it does not exist */
    struct kube_object **waiting;     /* pods that have no node */
    struct scheduler_member *members; /* the waiting pods, for the decision */
    /* Pods that are assumed on a node, but whose binding is neither in flight nor done. */
    struct kube_object **unsent;
    struct scheduler_gang gang;
    size_t unsent_count;
};

static char *pod_key(struct arena *arena, const struct kube_object *pod)
{
    return arena_printf(arena, "%s/%s", pod->namespace_, pod->name);
}

static int gang_compare_names(const void *a, const void *b)
{
    const struct kube_object *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Adds a pod of the group. A pod that has failed or is being deleted does not count as a member;
 * its replacement does. */
static void gang_add_pod(struct scheduler *scheduler, struct arena *arena,
                         struct gathered_group *gathered, struct kube_object *pod)
{
    const char *phase = json_get_string(json_get(pod->json, "status"), "phase", "");
    const char *key = pod_key(arena, pod);
    struct scheduler_assumption *assumption = scheduler_assumed(scheduler, key);
    if (kube_meta_is_deleting(pod->json) || str_eq(phase, "Failed"))
        return;
    if (assumption && !assumption->sent)
        gathered->unsent[gathered->unsent_count++] = pod;
    if (assumption || str_eq(phase, "Succeeded") ||
        json_get_string(json_get(pod->json, "spec"), "nodeName", "")[0])
        gathered->gang.placed++;
    else if (scheduler_is_responsible(pod->json))
        gathered->waiting[gathered->gang.waiting_count++] = pod;
}

static void gang_gather(struct scheduler *scheduler, struct arena *arena, const char *key,
                        struct gathered_group *ret)
{
    struct kube_informer *pods = hub_informer(scheduler->hub, "pods");
    const char *from = key + strlen(KEY_PREFIX), *slash = strchr(from, '/');
    const char *namespace_ = arena_strndup(arena, from, (size_t)(slash - from));
    const char *name = arena_strdup(arena, slash + 1);
    struct kube_object *pod;
    size_t count = 0;
    *ret = (struct gathered_group){.namespace_ = namespace_};
    for (size_t at = 0; (pod = kube_informer_next(pods, namespace_, &at));)
        count += str_eq(kube_meta_label(pod->json, SCHEDULER_GANG_LABEL), name);
    ret->waiting = ARENA_ARRAY(arena, struct kube_object *, count + 1);
    ret->unsent = ARENA_ARRAY(arena, struct kube_object *, count + 1);
    ret->members = ARENA_ARRAY(arena, struct scheduler_member, count + 1);
    for (size_t at = 0; (pod = kube_informer_next(pods, namespace_, &at));)
        if (str_eq(kube_meta_label(pod->json, SCHEDULER_GANG_LABEL), name))
            gang_add_pod(scheduler, arena, ret, pod);
    qsort(ret->waiting, ret->gang.waiting_count, sizeof(struct kube_object *), gang_compare_names);
    for (size_t i = 0; i < ret->gang.waiting_count; i++)
        ret->members[i].pod = ret->waiting[i]->json;
    ret->group = kube_informer_get(hub_informer(scheduler->hub, POD_GROUPS), namespace_, name);
    ret->gang.name = name;
    ret->gang.group = ret->group ? ret->group->json : NULL;
    ret->gang.waiting = ret->members;
}

/* Places the group and assumes the placed members on their nodes, so that no other pod gets these
 * resources. */
static void gang_decide(struct scheduler *scheduler, struct arena *arena,
                        struct gathered_group *gathered)
{
    if (gathered->gang.waiting_count == 0)
        return;
    struct scheduler_gathered cluster;
    scheduler_gather(scheduler, arena, "", gathered->waiting[0]->json,
                     scheduler_gang_depends_on_pods(&gathered->gang), &cluster);
    scheduler_gang_decide(arena, &gathered->gang, &cluster.view);
    scheduler_gathered_release(&cluster);
    for (size_t i = 0; i < gathered->gang.waiting_count; i++) {
        struct kube_object *pod = gathered->waiting[i];
        if (!gathered->members[i].node)
            continue;
        scheduler_assume(scheduler, pod_key(arena, pod), pod->json, gathered->members[i].node);
        gathered->unsent[gathered->unsent_count++] = pod;
    }
}

/* ---- Groups that wait ------------------------------------------------------------------------ */

static void state_free(struct scheduler_gang_state *state)
{
    if (!state)
        return;
    free(state->message);
    free(state);
}

/* Returns the state of the group. Creates it if the group has not waited before. */
static struct scheduler_gang_state *state_of(struct scheduler *scheduler, const char *key)
{
    struct scheduler_gang_state *state = map_get(&scheduler->gangs, key);
    if (!state) {
        state = mem_zalloc(sizeof(*state));
        state->waits_ms = loop_now_ms(hub_loop(scheduler->hub));
        map_put(&scheduler->gangs, key, state);
    }
    return state;
}

/* Remembers the message. Returns whether it has been the same for SETTLE_MS. If not, queues the
 * group again. */
static bool gang_message_is_stable(struct scheduler *scheduler, const char *key,
                                   struct scheduler_gang_state *state, const char *message)
{
    int64_t now_ms = loop_now_ms(hub_loop(scheduler->hub));
    if (!str_eq(state->message, message)) {
        free(state->message);
        state->message = mem_strdup(message);
        state->message_ms = now_ms;
    }
    int64_t left_ms = state->message_ms + SETTLE_MS - now_ms;
    if (left_ms > 0)
        workqueue_add_after(scheduler->queue, key, left_ms);
    return left_ms <= 0;
}

/* Handles spec.scheduleTimeoutSeconds. A waiting group has no reserved resources that could be
 * released, so this only reports the timeout. The group is tried again as before. */
static void gang_check_timeout(struct scheduler *scheduler, const char *key,
                               struct scheduler_gang_state *state,
                               const struct gathered_group *gathered, const char *message)
{
    int64_t now_ms = loop_now_ms(hub_loop(scheduler->hub));
    int64_t seconds =
        json_get_int(json_get(gathered->gang.group, "spec"), "scheduleTimeoutSeconds", 0);
    if (seconds <= 0)
        return;
    if (now_ms >= state->waits_ms + seconds * 1000) {
        kube_event(hub_client(scheduler->hub), gathered->gang.group, "scheduler-plugins-scheduler",
                   "Warning", "ScheduleTimeout",
                   "not scheduled within %" PRId64 " s, trying again: %s", seconds, message);
        state->waits_ms = now_ms;
    }
    workqueue_add_after(scheduler->queue, key, state->waits_ms + seconds * 1000 - now_ms);
}

/* ---- Work ------------------------------------------------------------------------------------ */

void scheduler_gang_work(struct scheduler *scheduler, const char *key)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct gathered_group gathered;
    gang_gather(scheduler, arena, key, &gathered);
    gang_decide(scheduler, arena, &gathered);
    const char *message = NULL; /* the message of the first member that gets no node */
    struct scheduler_pass *pass = scheduler_pass_new(scheduler, key);
    for (size_t i = 0; i < gathered.unsent_count; i++)
        scheduler_bind(scheduler, pod_key(arena, gathered.unsent[i]), gathered.unsent[i], pass);
    for (size_t i = 0; i < gathered.gang.waiting_count && !message; i++)
        message = gathered.members[i].message;
    if (message) {
        struct scheduler_gang_state *state = state_of(scheduler, key);
        bool is_stable = gang_message_is_stable(scheduler, key, state, message);
        gang_check_timeout(scheduler, key, state, &gathered, message);
        for (size_t i = 0; is_stable && i < gathered.gang.waiting_count; i++)
            if (gathered.members[i].message)
                scheduler_report(scheduler, pod_key(arena, gathered.waiting[i]),
                                 gathered.waiting[i], gathered.members[i].message, NULL, pass);
    } else {
        state_free(map_remove(&scheduler->gangs, key));
    }
    scheduler_pass_unref(pass);
}

void scheduler_gang_resume(struct scheduler *scheduler)
{
    struct kube_informer *pods = hub_informer(scheduler->hub, "pods");
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, NULL, &at));) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct gathered_group gathered;
        const char *key = scheduler_gang_key_of(arena, pod);
        if (!key || !scheduler_is_responsible(pod->json) ||
            scheduler_assumed(scheduler, pod_key(arena, pod)))
            continue;
        gang_gather(scheduler, arena, key, &gathered);
        /* If the group has its minimum, its waiting pods are scheduled like single pods, without
         * reserved resources. */
        if (gathered.gang.group && gathered.gang.placed > 0 &&
            gathered.gang.placed < scheduler_gang_min_member(gathered.gang.group))
            gang_decide(scheduler, arena, &gathered);
    }
}

void scheduler_gang_release(struct scheduler *scheduler)
{
    const char *key;
    void *value;
    for (size_t at = 0; map_next(&scheduler->gangs, &at, &key, &value);)
        state_free(value);
    map_release(&scheduler->gangs);
}
