/* Defines how a controller connects to a port of a pod. In a cluster, the controller uses the pod's
 * address. If its process is not in the pod network (`trainyard up`), it connects through the node.
 */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_DIALER_H
#define TRAINYARD_OPERATOR_CONTROLLER_DIALER_H

#include "base/json/json.h"
#include "loop/loop.h"
#include "net/stream/stream.h"

/* Called with the connected stream. The called function owns the stream: it must start and close
 * it. On failure `stream` is NULL, and `err` is the reason. */
typedef void training_dial_done(void *context, struct stream *stream, const struct err *err);

struct training_dialer {
    /* Starts to connect to a port of a pod, and returns a pointer for cancel(). `done` runs once,
     * on the loop thread, never from within open(). After that the pointer is invalid. */
    void *(*open)(void *context, const struct json *pod, int port, training_dial_done *done,
                  void *done_context);
    void (*cancel)(void *dialing); /* `done` does not run afterwards */
    void *context;
};

/* Returns a dialer that uses TCP to status.podIP. */
struct training_dialer training_pod_dialer(struct loop *loop);

#endif
