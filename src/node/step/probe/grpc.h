/* gRPC's health check, grpc.health.v1.Health/Check, as text: the one call that probes need. Sockets
 * are step/check_grpc.c's. */
#ifndef TRAINYARD_NODE_STEP_GRPC_H
#define TRAINYARD_NODE_STEP_GRPC_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { STEP_GRPC_MAX = 64 * 1024 }; /* bytes of a frame */

/* Everything the client says: HTTP/2 with one request. */
void step_grpc_request(const char *authority, const char *service, struct buf *buf);

/* What the server has said so far. */
struct step_grpc_answer {
    bool over;       /* the stream or the connection is ended */
    bool has_status; /* a health status came … */
    int status;      /* … 1: SERVING */
    int settings;    /* frames of settings that wait to be acknowledged */
};
/* Reads the frames that are whole; returns how many bytes they are, or a negative error. */
int64_t step_grpc_read(const char *data, size_t size, struct step_grpc_answer *answer,
                       struct err *err);
void step_grpc_acknowledge(struct step_grpc_answer *answer, struct buf *buf);

#endif
