/* Writes and parses the messages between the control process (pod/exec.c) and a pod's supervisor
 * (step/server.c) over the socket <pod directory>/socket. A connection carries one request from the
 * control process, then one or more answers from the supervisor; POD_REFUSED or POD_ENDED is the
 * last. Each message consists of records (pod/record/record.h) and may carry descriptors
 * (process/fd_message.h). The control process abandons a request by closing the connection.
 *
 *   exec    Runs a command in a container. The request carries the descriptors for the command's
 *           stdin, stdout and stderr in this order, without those that are not wanted. If a
 *           terminal is wanted, the request carries no descriptor, and POD_STARTED carries the
 *           terminal's master. POD_ENDED says how the command ended.
 *   attach  Copies the container's output from now on, and gives access to its input. The request
 *           carries the descriptors for stdout and stderr, if they are wanted. If the input is
 *           wanted and the container has one, POD_STARTED carries the descriptor to write it to: a
 *           pipe or the terminal's master. POD_ENDED says how the container ended. */
#ifndef TRAINYARD_NODE_POD_RECORD_REQUEST_H
#define TRAINYARD_NODE_POD_RECORD_REQUEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "node/pod/record/spec.h"

#define POD_SOCKET "socket" /* the name of the socket in the pod's directory */

enum {
    POD_REQUEST_MAX = 64 * 1024, /* bytes of a request, mostly for its arguments */
    POD_ANSWER_MAX = 4 * 1024,
};

enum pod_request_kind { POD_EXEC, POD_ATTACH };

struct pod_request {
    enum pod_request_kind kind;
    const char *container;
    struct pod_strings arguments; /* for exec; never empty */
    bool in, out, err;            /* the streams that are wanted */
    bool terminal;                /* for exec: one terminal serves all three streams */
};

/* Returns 0, or -ERR_TOO_LARGE if the message would be larger than POD_REQUEST_MAX. */
int pod_request_write(const struct pod_request *request, struct buf *buf, struct err *err);
/* Parses `text`, and changes it in place. The strings of the request point into `text`, so it must
 * live as long as the request. A NUL byte must follow its `size` bytes. */
int pod_request_parse(struct arena *arena, char *text, size_t size, struct pod_request *ret,
                      struct err *err);

enum pod_answer_kind { POD_STARTED, POD_REFUSED, POD_ENDED };

struct pod_answer {
    enum pod_answer_kind kind;
    struct err why;                /* for POD_REFUSED: why the request was refused */
    int exit_code;                 /* for POD_ENDED; 128 + signal if a signal ended the command */
    char message[ERR_MESSAGE_MAX]; /* for POD_ENDED: why the command never ran, or "" */
};

void pod_answer_write(const struct pod_answer *answer, struct buf *buf);
/* Parses `text`, and changes it in place. A NUL byte must follow its `size` bytes. */
int pod_answer_parse(char *text, size_t size, struct pod_answer *ret, struct err *err);

#endif
