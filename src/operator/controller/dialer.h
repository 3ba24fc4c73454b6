/* How a controller connects to a port of a pod: by its address in a cluster, or through the node if
 * pods are in a network that this process is not part of. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_DIALER_H
#define TRAINYARD_OPERATOR_CONTROLLER_DIALER_H

#include "base/json/json.h"
#include "loop/loop.h"
#include "net/stream/stream.h"

/* The caller owns `stream`, starts and closes it. `stream` is NULL on failure, and `err` says why.
 */
typedef void training_dial_done(void *context, struct stream *stream, const struct err *err);

struct training_dialer {
    /* Connects. `done` runs once, on the loop thread, never from within open(); afterwards the
     * returned pointer is invalid. */
    void *(*open)(void *context, const struct json *pod, int port, training_dial_done *done,
                  void *done_context);
    void (*cancel)(void *dialing); /* `done` does not run afterwards */
    void *context;
};

/* Returns a dialer that uses TCP to status.podIP. */
struct training_dialer training_pod_dialer(struct loop *loop);

#endif
