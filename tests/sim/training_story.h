/* A scenario of training jobs: a control plane in virtual time, one controller, and informers for
 * what it creates. Its JSON is quoted (read_json.h). */
#ifndef TRAINYARD_TESTS_SIM_TRAINING_STORY_H
#define TRAINYARD_TESTS_SIM_TRAINING_STORY_H

#include "sim_cluster.h"

#include "kube/client/informer.h"
#include "operator/controller/controller.h"

enum { MINUTE_MS = 60 * 1000 };

struct story {
    struct sim_cluster cluster;
    struct arena *arena;
    const struct training_kind *kind;
    struct training_controller *controller;
    struct kube_informer *jobs, *pods, *services, *events;
    size_t pods_made;
};

/* For cmocka: sets up the controller of a kind with its defaults, and programs that do not fail. */
int story_setup(void **state, const struct training_kind *kind);
int story_teardown(void **state);

/* Creates a job of the story's kind with that name, or "mnist". */
void story_submit_as(struct story *story, const char *name, const char *spec);
void story_submit(struct story *story, const char *spec);

const struct json *story_status(struct story *story); /* the status of "mnist" */
size_t story_count(struct kube_informer *informer);
bool story_has_event(struct story *story, const char *type, const char *reason,
                     const char *message);

#endif
