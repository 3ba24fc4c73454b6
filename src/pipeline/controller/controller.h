/* The workflow controller: watches workflows and their pods, calls the reconcile and carries out
 * its plan. It uses an API server over a transport and nothing else, so it runs beside the embedded
 * cluster and in a real one. All its state is on the server: it may be freed and made again at any
 * moment. */
#ifndef TRAINYARD_PIPELINE_CONTROLLER_CONTROLLER_H
#define TRAINYARD_PIPELINE_CONTROLLER_CONTROLLER_H

#include "loop/loop.h"
#include "net/http/http.h"

#include <stdbool.h>
#include <stddef.h>

struct workflow_controller_options {
    const char *namespace_; /* the only namespace to watch; NULL: all */
    size_t workflows_max;   /* workflows worked on at once; 0: 8 */
    size_t calls_max;       /* calls in flight per workflow; 0: 16 */
    const char
        *step_image;    /* the image that brings the step wrapper into pods; NULL: trainyard/step */
    bool make_accounts; /* create missing service accounts that workflows name */
};

struct workflow_controller;

/* The loop and the transport must outlive the controller. `options` may be NULL. */
struct workflow_controller *
workflow_controller_new(struct loop *loop, struct http_transport *transport,
                        const struct workflow_controller_options *options);
/* Frees at once and cancels all calls. */
struct workflow_controller *workflow_controller_free(struct workflow_controller *controller);

#endif
