/* Runs a probe that calls gRPC's health check, in a child of the supervisor. The protocol is in
 * step/probe/grpc.c. */
#include "node/step/probe/check.h"

#include "node/step/probe/grpc.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { SERVING = 1 };

static const char *const STATUSES[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};

/* Sends the request and reads until the call is over. */
static int check_grpc_call(int fd, const char *authority, const char *service, int64_t deadline_ms,
                           struct step_grpc_answer *ret, struct err *err)
{
    _cleanup_buf_ struct buf request, answer;
    buf_init(&request, STEP_GRPC_MAX);
    buf_init(&answer, STEP_GRPC_MAX);
    int result = step_grpc_request(authority, service, &request, err);
    if (result < 0)
        return result;
    *ret = (struct step_grpc_answer){0};
    while (!ret->over) {
        if (request.size && file_write_all(fd, request.data, request.size, err) < 0)
            return err_wrap(err, "write");
        buf_clear(&request);
        if (!step_wait(fd, POLLIN, deadline_ms))
            return err_set(err, ERR_TIMEOUT, "timeout");
        char piece[4096];
        ssize_t got = read(fd, piece, sizeof(piece));
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0)
            return err_set(err, ERR_IO, "error reading server preface: EOF");
        buf_append(&answer, piece, (size_t)got);
        int64_t used = step_grpc_read(answer.data, answer.size, ret, err);
        if (used < 0 || answer.overflowed)
            return used < 0 ? (int)used : err_set(err, ERR_TOO_LARGE, "the answer is too large");
        buf_consume(&answer, (size_t)used);
        step_grpc_acknowledge(ret, &request);
    }
    return 0;
}

void step_check_grpc(const struct pod_handler *handler, int64_t deadline_ms, int64_t timeout_ms,
                     struct step_verdict *ret)
{
    struct err err = ERR_INIT;
    struct step_grpc_answer answer;
    char authority[128], message[POD_MESSAGE_MAX];
    snprintf(authority, sizeof(authority), "%.100s:%d", handler->host, (int)handler->port);
    _cleanup_fd_ int fd =
        step_dial(NULL, handler->host, (int)handler->port, deadline_ms, message, sizeof(message));
    long long seconds = (long long)timeout_ms / 1000;
    ret->outcome = CHECK_FAILED;
    if (fd < 0) {
        /* The kubelet reports every failed connection as a timeout, because it tries to connect
         * until its timeout. This message is that of the kubelet with the reason added. */
        snprintf(ret->message, sizeof(ret->message),
                 "timeout: failed to connect service \"%s\" within %llds: %.200s", authority,
                 seconds, message);
        return;
    }
    int result = check_grpc_call(fd, authority, handler->service ? handler->service : "",
                                 deadline_ms, &answer, &err);
    if (result == -ERR_TIMEOUT)
        snprintf(ret->message, sizeof(ret->message),
                 "timeout: health rpc did not complete within %llds", seconds);
    else if (result < 0)
        snprintf(ret->message, sizeof(ret->message), "error: health rpc probe failed: %.300s",
                 err.message);
    else if (!answer.has_status)
        snprintf(ret->message, sizeof(ret->message),
                 "error: this server does not implement the grpc health protocol "
                 "(grpc.health.v1.Health), or knows no service \"%.200s\"",
                 handler->service ? handler->service : "");
    else if (answer.status != SERVING)
        snprintf(ret->message, sizeof(ret->message), "service unhealthy (responded with \"%s\")",
                 answer.status >= 0 && answer.status < (int)ARRAY_SIZE(STATUSES)
                     ? STATUSES[answer.status]
                     : "UNKNOWN");
    else
        ret->outcome = CHECK_PASSED;
}
