/* The substitute for Volcano; see sim_volcano.h. It checks all groups at a short interval, like a
 * scheduling cycle. */
#include "sim_volcano.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/client/informer.h"
#include "kube/object.h"

#include <stdlib.h>

enum { CYCLE_MS = 1000 };

struct sim_volcano {
    struct kube_client *client;
    struct kube_informer *groups, *pods;
    struct loop_timer cycle;
    size_t room;
};

static void ignore_change(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static void ignore_answer(void *context, struct json *object, const struct err *err)
{
}

static const char *phase_of(const struct kube_object *object)
{
    return json_get_string(json_get(object->json, "status"), "phase", "");
}

static void set_phase(struct sim_volcano *volcano, const struct kube_object *group,
                      const char *phase)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = json_object(arena);

    json_set_string(arena, json_ensure_object(arena, patch, "metadata"), "uid", group->uid);
    json_set_string(arena, json_ensure_object(arena, patch, "status"), "phase", phase);
    kube_patch(volcano->client, &KUBE_VOLCANO_PODGROUPS, group->namespace_, group->name, "status",
               patch, ignore_answer, NULL);
}

static int64_t count_running(struct sim_volcano *volcano, const struct kube_object *group)
{
    struct kube_object *pod;
    int64_t running = 0;

    for (size_t i = 0; (pod = kube_informer_next(volcano->pods, group->namespace_, &i));)
        running +=
            str_eq(kube_meta_annotation(pod->json, "scheduling.k8s.io/group-name"), group->name) &&
            str_eq(phase_of(pod), "Running");
    return running;
}

static void on_cycle(struct loop_timer *timer)
{
    struct sim_volcano *volcano = CONTAINER_OF(timer, struct sim_volcano, cycle);
    struct kube_object *group;
    size_t inside = 0;

    for (size_t i = 0; (group = kube_informer_next(volcano->groups, NULL, &i));)
        inside += str_eq(phase_of(group), "Inqueue") || str_eq(phase_of(group), "Running");
    for (size_t i = 0; (group = kube_informer_next(volcano->groups, NULL, &i));) {
        const struct json *spec = json_get(group->json, "spec");

        if (str_eq(phase_of(group), "")) {
            set_phase(volcano, group, "Pending");
        } else if (str_eq(phase_of(group), "Pending") && inside < volcano->room) {
            set_phase(volcano, group, "Inqueue");
            inside++;
        } else if (str_eq(phase_of(group), "Inqueue") &&
                   count_running(volcano, group) >= json_get_int(spec, "minMember", 1)) {
            set_phase(volcano, group, "Running");
        }
    }
    loop_timer_start(timer, CYCLE_MS);
}

struct sim_volcano *sim_volcano_new(struct loop *loop, struct http_transport *transport,
                                    size_t room)
{
    struct sim_volcano *volcano = mem_zalloc(sizeof(*volcano));

    volcano->room = room;
    volcano->client = kube_client_new(loop, transport, "sim-volcano");
    volcano->groups = kube_informer_new(volcano->client, &KUBE_VOLCANO_PODGROUPS, NULL, NULL,
                                        ignore_change, volcano);
    volcano->pods =
        kube_informer_new(volcano->client, &KUBE_PODS, NULL, NULL, ignore_change, volcano);
    loop_timer_init(loop, &volcano->cycle, on_cycle);
    loop_timer_start(&volcano->cycle, CYCLE_MS);
    return volcano;
}

struct sim_volcano *sim_volcano_free(struct sim_volcano *volcano)
{
    if (!volcano)
        return NULL;
    loop_timer_stop(&volcano->cycle);
    kube_informer_free(volcano->groups);
    kube_informer_free(volcano->pods);
    kube_client_free(volcano->client);
    free(volcano);
    return NULL;
}

void sim_volcano_set_room(struct sim_volcano *volcano, size_t room)
{
    volcano->room = room;
}
