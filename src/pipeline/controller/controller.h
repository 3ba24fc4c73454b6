/* The workflow controller: watches workflows and their pods, asks the reconcile what shall be done,
 * and does it. It speaks to an API server over a transport and knows nothing else, so it runs
 * beside the embedded cluster as well as in a real one. All its state is on the server: it may be
 * freed and made again at any moment. */
#ifndef TRAINYARD_PIPELINE_CONTROLLER_H
#define TRAINYARD_PIPELINE_CONTROLLER_H

#include "loop/loop.h"
#include "net/http/http.h"

#include <stdbool.h>
#include <stddef.h>

struct workflow_controller_options {
    const char *namespace_; /* the only one to look at; NULL: all */
    size_t workflows_max;   /* worked on at a time; 0: 8 */
    size_t calls_max;       /* calls under way for one workflow; 0: 16 */
    const char *step_image; /* that brings the step wrapper into pods; NULL: trainyard/step */
    bool make_accounts;     /* make the service accounts that workflows name and that are missing */
};

struct workflow_controller;

/* The loop and the transport must outlive it. `options` may be NULL. */
struct workflow_controller *
workflow_controller_new(struct loop *loop, struct http_transport *transport,
                        const struct workflow_controller_options *options);
/* At once: what is under way is cancelled. */
struct workflow_controller *workflow_controller_free(struct workflow_controller *controller);

#endif
