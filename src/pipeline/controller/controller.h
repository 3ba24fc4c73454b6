/* The workflow controller: watches workflows and their pods, reconciles them and carries out the
 * resulting plans. It only needs a transport to an API server, so it runs with the embedded cluster
 * and in a Kubernetes cluster. All state that must survive is on the server: the controller may be
 * freed and created again at any time. */
#ifndef TRAINYARD_PIPELINE_CONTROLLER_CONTROLLER_H
#define TRAINYARD_PIPELINE_CONTROLLER_CONTROLLER_H

#include "loop/loop.h"
#include "net/http/http.h"

#include <stdbool.h>
#include <stddef.h>

struct workflow_controller_options {
    const char *namespace_; /* the only namespace to watch; NULL: all */
    size_t workflows_max;   /* workflows that are reconciled at the same time; 0: 8 */
    size_t calls_max;       /* calls in flight per workflow; 0: 16 */
    /* The image that copies the step wrapper into pods; NULL: trainyard/step. */
    const char *step_image;
    bool make_accounts; /* create missing service accounts that workflows name */
};

struct workflow_controller;

/* The loop and the transport must outlive the controller. `options` may be NULL. */
struct workflow_controller *
workflow_controller_new(struct loop *loop, struct http_transport *transport,
                        const struct workflow_controller_options *options);
/* Cancels all calls and frees the controller. NULL-safe; returns NULL. */
struct workflow_controller *workflow_controller_free(struct workflow_controller *controller);

#endif
