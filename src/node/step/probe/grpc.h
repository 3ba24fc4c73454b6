/* Writes and reads the messages of gRPC's health check, grpc.health.v1.Health/Check, the only call
 * that probes need. The sockets are in step/probe/check_grpc.c. */
#ifndef TRAINYARD_NODE_STEP_PROBE_GRPC_H
#define TRAINYARD_NODE_STEP_PROBE_GRPC_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { STEP_GRPC_MAX = 64 * 1024 }; /* the size of the largest accepted frame in bytes */

/* Appends everything that the client sends for one request, including the start of HTTP/2. Returns
 * 0, or -ERR_TOO_LARGE if the name of the service is too long. */
int step_grpc_request(const char *authority, const char *service, struct buf *buf, struct err *err);

/* The state of the answer that the server has sent so far. */
struct step_grpc_answer {
    bool over;       /* the stream or the connection has ended */
    bool has_status; /* a health status was received */
    int status;      /* if has_status: the health status; 1 is SERVING */
    int settings;    /* SETTINGS frames that wait for an acknowledgement */
};
/* Reads the complete frames at the beginning of `data` and updates the answer. Returns the size of
 * these frames in bytes, or a negative code. The caller passes the remaining bytes again with those
 * that follow. */
int64_t step_grpc_read(const char *data, size_t size, struct step_grpc_answer *answer,
                       struct err *err);
/* Appends an acknowledgement for each SETTINGS frame that waits for one. */
void step_grpc_acknowledge(struct step_grpc_answer *answer, struct buf *buf);

#endif
