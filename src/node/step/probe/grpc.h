/* Writes and reads the messages of gRPC's health check, grpc.health.v1.Health/Check, the only call
 * that probes need. The sockets are in step/probe/check_grpc.c. */
#ifndef TRAINYARD_NODE_STEP_PROBE_GRPC_H
#define TRAINYARD_NODE_STEP_PROBE_GRPC_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { STEP_GRPC_MAX = 64 * 1024 }; /* bytes of a frame */

/* Writes everything that the client sends for one request, including the start of HTTP/2. */
void step_grpc_request(const char *authority, const char *service, struct buf *buf);

/* The state of the answer that the server has sent so far. */
struct step_grpc_answer {
    bool over;       /* the stream or the connection has ended */
    bool has_status; /* a health status was received */
    int status;      /* if has_status: the health status; 1 is SERVING */
    int settings;    /* SETTINGS frames that wait for an acknowledgement */
};
/* Reads the complete frames. Returns their size in bytes, or a negative code. */
int64_t step_grpc_read(const char *data, size_t size, struct step_grpc_answer *answer,
                       struct err *err);
void step_grpc_acknowledge(struct step_grpc_answer *answer, struct buf *buf);

#endif
