/* How a controller reaches a port of a pod: by its address in a cluster, by the node's own way
 * where pods live in a network that this process is not in. */
#ifndef TRAINYARD_OPERATOR_DIALER_H
#define TRAINYARD_OPERATOR_DIALER_H

#include "base/json/json.h"
#include "loop/loop.h"
#include "net/stream/stream.h"

/* `stream` is the caller's, to be started and closed; NULL where there is no connection, and `err`
 * says why. */
typedef void training_dial_done(void *context, struct stream *stream, const struct err *err);

struct training_dialer {
    /* `done` comes once, from the loop, never from within; then the returned pointer is no more. */
    void *(*open)(void *context, const struct json *pod, int port, training_dial_done *done,
                  void *done_context);
    void (*cancel)(void *dialing); /* `done` does not come any more */
    void *context;
};

/* TCP to status.podIP. */
struct training_dialer training_pod_dialer(struct loop *loop);

#endif
