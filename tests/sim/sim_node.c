/* The simulated node; see sim_node.h. */
#include "sim_node.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "kube/client/informer.h"
#include "kube/object.h"
#include "operator/kind/training_job.h"

#include <stdlib.h>
#include <string.h>

enum pod_state { POD_STARTING, POD_RUNNING, POD_ENDED, POD_LEAVING };

struct sim_pod {
    struct sim_node *node;
    char *namespace_, *name, *uid;
    char policy[16];
    char container[64]; /* name of the first container */
    bool leaves_words;  /* it is a step of a workflow with outputs */
    bool endless;
    enum pod_state state;
    int restarts;
    struct loop_timer timer;
};

struct sim_node {
    struct loop *loop;
    struct rand *rand;
    struct kube_client *client;
    struct kube_informer *pods;
    struct map by_uid; /* struct sim_pod */
    char *name;
    uint64_t failures; /* percent of programs that fail */
};

static void ignore_answer(void *context, struct json *object, const struct err *err)
{
}

static int64_t draw_ms(struct sim_node *node, int64_t min, int64_t max)
{
    return min + (int64_t)rand_below(node->rand, (uint64_t)(max - min + 1));
}

static void remove_now(struct sim_node *node, const struct sim_pod *pod)
{
    struct kube_delete_options options = {.grace_period_seconds = 0, .uid = pod->uid};

    kube_delete(node->client, &KUBE_PODS, pod->namespace_, pod->name, &options, ignore_answer,
                NULL);
}

/* Reports the pod's status; exit_code -1: still running. The uid protects a later pod of the same
 * name. */
static void report(struct sim_pod *pod, const char *phase, const char *reason, int exit_code)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = json_object(arena);
    struct json *status = json_ensure_object(arena, patch, "status");
    struct json *container = json_object(arena), *state;

    json_set_string(arena, json_ensure_object(arena, patch, "metadata"), "uid", pod->uid);
    json_set_string(arena, status, "phase", phase);
    if (reason)
        json_set_string(arena, status, "reason", reason);
    json_set_string(arena, container, "name", pod->container);
    json_set_int(arena, container, "restartCount", pod->restarts);
    state = json_ensure_object(arena, container, "state");
    if (exit_code >= 0) {
        struct json *end = json_ensure_object(arena, state, "terminated");

        json_set_int(arena, end, "exitCode", exit_code);
        if (pod->leaves_words && exit_code == 0)
            json_set(arena, end, "message",
                     json_stringf(arena, "{\"parameters\":{\"out\":\"%s\"}}", pod->name));
    } else {
        json_ensure_object(arena, state, "running");
    }
    json_append(json_ensure_array(arena, status, "containerStatuses"), container);
    kube_patch(pod->node->client, &KUBE_PODS, pod->namespace_, pod->name, "status", patch,
               ignore_answer, NULL);
}

static int draw_exit_code(struct sim_node *node)
{
    if (rand_below(node->rand, 100) >= node->failures)
        return 0;
    return rand_below(node->rand, 20) == 0 ? 1 : 137;
}

static void end_program(struct sim_pod *pod)
{
    int code = draw_exit_code(pod->node);

    if (str_eq(pod->policy, "Always") || (code != 0 && str_eq(pod->policy, "OnFailure"))) {
        pod->restarts++;
        report(pod, "Running", NULL, -1);
        loop_timer_start(&pod->timer, draw_ms(pod->node, 50, 3000));
        return;
    }
    pod->state = POD_ENDED;
    report(pod, code == 0 ? "Succeeded" : "Failed", NULL, code);
}

static void on_timer(struct loop_timer *timer)
{
    struct sim_pod *pod = CONTAINER_OF(timer, struct sim_pod, timer);

    switch (pod->state) {
    case POD_STARTING:
        pod->state = POD_RUNNING;
        report(pod, "Running", NULL, -1);
        if (!pod->endless)
            loop_timer_start(&pod->timer, draw_ms(pod->node, 50, 3000));
        break;
    case POD_RUNNING:
        end_program(pod);
        break;
    case POD_LEAVING:
        remove_now(pod->node, pod);
        break;
    case POD_ENDED:
        break;
    }
}

static struct sim_pod *pod_new(struct sim_node *node, const struct kube_object *object)
{
    struct sim_pod *pod = mem_zalloc(sizeof(*pod));
    const struct json *container = json_first(json_at(object->json, "spec", "containers", NULL));

    pod->node = node;
    pod->namespace_ = mem_strdup(object->namespace_);
    pod->name = mem_strdup(object->name);
    pod->uid = mem_strdup(object->uid);
    pod->endless = str_eq(kube_meta_label(object->json, TRAINING_TYPE_LABEL), "ps");
    str_copy(pod->policy, sizeof(pod->policy),
             json_get_string(json_get(object->json, "spec"), "restartPolicy", "Always"));
    str_copy(pod->container, sizeof(pod->container), json_get_string(container, "name", ""));
    pod->leaves_words =
        str_eq(json_text(json_element(json_get(container, "command"), 1)), "output");
    loop_timer_init(node->loop, &pod->timer, on_timer);
    loop_timer_start(&pod->timer, draw_ms(node, 1, 300));
    map_put(&node->by_uid, pod->uid, pod);
    return pod;
}

static void pod_free(struct sim_pod *pod)
{
    loop_timer_stop(&pod->timer);
    free(pod->namespace_);
    free(pod->name);
    free(pod->uid);
    free(pod);
}

static void on_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct sim_node *node = context;
    const struct kube_object *object = new_ ? new_ : old;
    struct sim_pod *pod = map_get(&node->by_uid, object->uid);

    if (!new_) {
        if (pod) {
            map_remove(&node->by_uid, pod->uid);
            pod_free(pod);
        }
        return;
    }
    if (!str_eq(json_get_string(json_get(new_->json, "spec"), "nodeName", NULL), node->name))
        return;
    if (!pod)
        pod = pod_new(node, new_);
    if (kube_meta_is_deleting(new_->json) && pod->state != POD_LEAVING) {
        pod->state = POD_LEAVING;
        loop_timer_start(&pod->timer, draw_ms(node, 1, 2000));
    }
}

static void register_node(struct sim_node *node)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char *const amounts[][2] = {
        {"cpu", "1000"}, {"memory", "1000Gi"}, {"pods", "1000"}};
    struct json *object = kube_object_make(arena, &KUBE_NODES, NULL, node->name);
    struct json *status = json_ensure_object(arena, object, "status");
    struct json *ready = json_object(arena);

    for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
        json_set_string(arena, json_ensure_object(arena, status, "capacity"), amounts[i][0],
                        amounts[i][1]);
        json_set_string(arena, json_ensure_object(arena, status, "allocatable"), amounts[i][0],
                        amounts[i][1]);
    }
    json_set_string(arena, ready, "type", "Ready");
    json_set_string(arena, ready, "status", "True");
    json_append(json_ensure_array(arena, status, "conditions"), ready);
    kube_create(node->client, &KUBE_NODES, NULL, object, ignore_answer, NULL);
    kube_patch(node->client, &KUBE_NODES, NULL, node->name, "status", object, ignore_answer, NULL);
}

struct sim_node *sim_node_new(struct loop *loop, struct http_transport *transport,
                              struct rand *rand, const char *name)
{
    struct sim_node *node = mem_zalloc(sizeof(*node));

    node->loop = loop;
    node->rand = rand;
    node->name = mem_strdup(name);
    node->failures = rand_below(rand, 90);
    map_init(&node->by_uid);
    node->client = kube_client_new(loop, transport, "sim-node");
    node->pods = kube_informer_new(node->client, &KUBE_PODS, NULL, NULL, on_change, node);
    register_node(node);
    return node;
}

struct sim_node *sim_node_free(struct sim_node *node)
{
    const char *key;
    void *pod;

    if (!node)
        return NULL;
    kube_informer_free(node->pods);
    kube_client_free(node->client);
    for (size_t i = 0; map_next(&node->by_uid, &i, &key, &pod);)
        pod_free(pod);
    map_release(&node->by_uid);
    free(node->name);
    free(node);
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct sim_pod *const *)a)->name, (*(struct sim_pod *const *)b)->name);
}

static struct sim_pod *draw_pod(struct sim_node *node)
{
    VEC(struct sim_pod *) pods = {0};
    struct sim_pod *drawn = NULL;
    const char *key;
    void *pod;

    for (size_t i = 0; map_next(&node->by_uid, &i, &key, &pod);) {
        if (((struct sim_pod *)pod)->state != POD_LEAVING)
            vec_push(&pods, pod);
    }
    /* The map has no order, but the same random number must draw the same pod. */
    if (pods.count > 0) {
        qsort(pods.items, pods.count, sizeof(pods.items[0]), compare_names);
        drawn = pods.items[rand_below(node->rand, pods.count)];
    }
    vec_release(&pods);
    return drawn;
}

void sim_node_set_failures(struct sim_node *node, unsigned percent)
{
    node->failures = percent;
}

void sim_node_disturb_one_pod(struct sim_node *node)
{
    struct sim_pod *pod = draw_pod(node);
    struct kube_delete_options gently = {.grace_period_seconds = -1, .uid = NULL};

    if (!pod)
        return;
    gently.uid = pod->uid;
    switch (rand_below(node->rand, 3)) {
    case 0:
        kube_delete(node->client, &KUBE_PODS, pod->namespace_, pod->name, &gently, ignore_answer,
                    NULL);
        break;
    case 1:
        remove_now(node, pod);
        break;
    default:
        if (pod->state == POD_ENDED)
            break;
        pod->state = POD_ENDED;
        loop_timer_stop(&pod->timer);
        report(pod, "Failed", "Evicted", 137);
        break;
    }
}
