/* Defines how a controller connects to a port of a pod. In a cluster it uses the pod's address. If
 * this process is not in the pods' network, it connects through the node. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_DIALER_H
#define TRAINYARD_OPERATOR_CONTROLLER_DIALER_H

#include "base/json/json.h"
#include "loop/loop.h"
#include "net/stream/stream.h"

/* Called with the connected stream, which the called function then owns, starts and closes. On
 * failure `stream` is NULL, and `err` is the reason. */
typedef void training_dial_done(void *context, struct stream *stream, const struct err *err);

struct training_dialer {
    /* Connects to a port of a pod. `done` runs once, on the loop thread, never from within open().
     * After that the returned pointer is invalid. */
    void *(*open)(void *context, const struct json *pod, int port, training_dial_done *done,
                  void *done_context);
    void (*cancel)(void *dialing); /* `done` does not run afterwards */
    void *context;
};

/* Returns a dialer that uses TCP to status.podIP. */
struct training_dialer training_pod_dialer(struct loop *loop);

#endif
