/* What the control process and a pod's supervisor say to each other over the supervisor's socket,
 * <pod directory>/socket: one request a connection, then answers until one of them says the last.
 * Records as in pod/record.h, one message each; descriptors travel along (process/fd_message.h). A
 * connection that control closes means that nobody waits any more.
 *
 *   exec    run a command in a container. With the request come the descriptors for its stdin,
 *           stdout and stderr, those that are wanted, in this order; with POD_STARTED the master of
 *           its terminal, where one is wanted instead; POD_ENDED says how it ended.
 *   attach  hear what a container says from now on, and speak to it. With the request come the
 *           descriptors for its stdout and stderr; with POD_STARTED the one to write its input to,
 *           where it is wanted, which is the terminal's master of a container that has one;
 *           POD_ENDED says that the container has ended.
 */
#ifndef TRAINYARD_NODE_POD_REQUEST_H
#define TRAINYARD_NODE_POD_REQUEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "node/pod/spec.h"

#define POD_SOCKET "socket" /* its name in the pod's directory */

enum {
    POD_REQUEST_MAX = 64 * 1024, /* bytes of a request; its arguments dominate */
    POD_ANSWER_MAX = 4 * 1024,
};

enum pod_request_kind { POD_EXEC, POD_ATTACH };

struct pod_request {
    enum pod_request_kind kind;
    const char *container;
    struct pod_strings arguments; /* of exec; never empty */
    bool in, out, err;            /* what is wanted */
    bool terminal;                /* of exec: all three are one */
};

/* ERR_TOO_LARGE where the arguments are too long. */
int pod_request_write(const struct pod_request *request, struct buf *buf, struct err *err);
/* `text` is cut up in place and must live as long as the request. */
int pod_request_parse(struct arena *arena, char *text, size_t size, struct pod_request *ret,
                      struct err *err);

enum pod_answer_kind { POD_STARTED, POD_REFUSED, POD_ENDED };

struct pod_answer {
    enum pod_answer_kind kind;
    struct err why;                /* of POD_REFUSED */
    int exit_code;                 /* of POD_ENDED; 128 + signal where one ended it */
    char message[ERR_MESSAGE_MAX]; /* of POD_ENDED: why the command never ran, or "" */
};

void pod_answer_write(const struct pod_answer *answer, struct buf *buf);
int pod_answer_parse(char *text, size_t size, struct pod_answer *ret, struct err *err);

#endif
