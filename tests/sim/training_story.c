/* Shared by the scenarios of training jobs; see training_story.h. */
#include "training_story.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct story *story = context;

    story->pods_made += !old;
}

static void on_any(void *context, struct kube_object *old, struct kube_object *new_)
{
}

int story_setup(void **state, const struct training_kind *kind)
{
    struct story *story = mem_zalloc(sizeof(*story));

    story->kind = kind;
    sim_cluster_init(&story->cluster, 1);
    sim_node_set_failures(story->cluster.node, 0);
    story->arena = arena_new();
    story->jobs =
        kube_informer_new(story->cluster.client, kind->resource, NULL, NULL, on_any, story);
    story->pods = kube_informer_new(story->cluster.client, &KUBE_PODS, NULL, NULL, on_pod, story);
    story->services = kube_informer_new(story->cluster.client, &KUBE_SERVICES, NULL, kind->selector,
                                        on_any, story);
    story->events =
        kube_informer_new(story->cluster.client, &KUBE_EVENTS, NULL, NULL, on_any, story);
    story->controller =
        training_controller_new(story->cluster.loop, story->cluster.transport, kind, NULL);
    *state = story;
    return 0;
}

int story_teardown(void **state)
{
    struct story *story = *state;

    training_controller_free(story->controller);
    kube_informer_free(story->jobs);
    kube_informer_free(story->pods);
    kube_informer_free(story->services);
    kube_informer_free(story->events);
    arena_free(story->arena);
    sim_cluster_release(&story->cluster);
    free(story);
    return 0;
}

void story_submit_as(struct story *story, const char *name, const char *spec)
{
    struct json *job = kube_object_make(story->arena, story->kind->resource, "default", name);

    json_set(story->arena, job, "spec", read_json(story->arena, spec));
    kube_create(story->cluster.client, story->kind->resource, "default", job, sim_must_succeed,
                NULL);
}

void story_submit(struct story *story, const char *spec)
{
    story_submit_as(story, "mnist", spec);
}

const struct json *story_status(struct story *story)
{
    struct kube_object *job = kube_informer_get(story->jobs, "default", "mnist");

    return job ? json_get(job->json, "status") : NULL;
}

size_t story_count(struct kube_informer *informer)
{
    size_t number = 0, position = 0;

    while (kube_informer_next(informer, NULL, &position))
        number++;
    return number;
}

bool story_has_event(struct story *story, const char *type, const char *reason, const char *message)
{
    struct kube_object *event;

    for (size_t i = 0; (event = kube_informer_next(story->events, NULL, &i));) {
        if (str_eq(json_get_string(event->json, "type", ""), type) &&
            str_eq(json_get_string(event->json, "reason", ""), reason) &&
            str_eq(json_get_string(event->json, "message", ""), message))
            return true;
    }
    return false;
}
