/* The messages of gRPC's health check, grpc.health.v1.Health/Check, the only call that probes
 * need. step/probe/check_grpc.c has the sockets. */
#ifndef TRAINYARD_NODE_STEP_PROBE_GRPC_H
#define TRAINYARD_NODE_STEP_PROBE_GRPC_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { STEP_GRPC_MAX = 64 * 1024 }; /* bytes of a frame */

/* Writes everything that the client sends: HTTP/2 with one request. */
void step_grpc_request(const char *authority, const char *service, struct buf *buf);

/* What the server has sent so far. */
struct step_grpc_answer {
    bool over;       /* the stream or the connection has ended */
    bool has_status; /* a health status has come */
    int status;      /* if has_status: the health status; 1 is SERVING */
    int settings;    /* SETTINGS frames that wait for an acknowledgement */
};
/* Reads the complete frames. Returns their size in bytes, or a negative code. */
int64_t step_grpc_read(const char *data, size_t size, struct step_grpc_answer *answer,
                       struct err *err);
void step_grpc_acknowledge(struct step_grpc_answer *answer, struct buf *buf);

#endif
