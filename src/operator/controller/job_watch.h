/* Runs the informers of a controller: for the jobs of its kind and for their objects, each reduced
 * to the fields that are used. Must be used on the controller's loop thread. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_JOB_WATCH_H
#define TRAINYARD_OPERATOR_CONTROLLER_JOB_WATCH_H

#include "kube/client/informer.h"
#include "operator/controller/controller.h"
#include "operator/controller/gang_watch.h"
#include "operator/controller/job_cache.h"

/* Called when a pod, a service or a PodGroup has changed. */
typedef void job_watch_part_change(void *context, enum job_part part, struct kube_object *old,
                                   struct kube_object *new_);

struct job_watch {
    const struct training_kind *kind;
    struct kube_informer *jobs, *pods, *services;
    struct gang_watch *gang; /* NULL without gang scheduling */

    /* Private. */
    job_watch_part_change *part_changed;
    void *context;
};

/* Starts the informers. Uses namespace_ and gang_scheduler of `options`. */
void job_watch_start(struct job_watch *watch, struct kube_client *client,
                     const struct training_kind *kind,
                     const struct training_controller_options *options,
                     kube_informer_change *job_changed, job_watch_part_change *part_changed,
                     void *context);
/* Frees the informers. Must be called before the client is freed. */
void job_watch_stop(struct job_watch *watch);

/* Restarts every watch. Used if the watches do not show the controller's own writes in time. */
void job_watch_resync(struct job_watch *watch);
bool job_watch_is_ready(const struct job_watch *watch); /* every resource has been listed once; for
                                                           PodGroups see gang_watch_is_ready() */
/* Returns the state of the controller. `queued` is 0, because only the controller knows it. */
struct training_controller_view job_watch_inspect(const struct job_watch *watch);

#endif
