/* The probes and hooks of a container, resolved to addresses and ports. They are part of the
 * supervisor's orders (pod/record/spec.h). */
#ifndef TRAINYARD_NODE_POD_LIFE_H
#define TRAINYARD_NODE_POD_LIFE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "node/plan/strings.h"
#include "node/pod/probe.h"

enum pod_handler_kind {
    HANDLER_NONE,
    HANDLER_EXEC,
    HANDLER_HTTP,
    HANDLER_TCP,
    HANDLER_GRPC,
    HANDLER_SLEEP,
};

struct pod_handler {
    enum pod_handler_kind kind;
    struct pod_strings words; /* exec: program and arguments */
    const char *host;         /* HTTP, TCP and gRPC: an address or a name */
    int64_t port;
    const char *path;           /* HTTP */
    bool tls;                   /* HTTP over TLS; any certificate is accepted */
    struct pod_strings headers; /* HTTP: "Name: value" */
    const char *service;        /* gRPC */
    int64_t sleep_ms;
};

struct pod_life {
    struct pod_handler probes[PROBE_KINDS];
    struct probe_figures figures[PROBE_KINDS];
    struct pod_handler post_start, pre_stop;
};

void pod_life_write(const struct pod_life *life, struct buf *buf);

/* The position of a reader of a container's records: the probe or hook that it reads now. */
struct pod_life_reader {
    struct arena *arena;
    struct pod_life *life;
    struct pod_handler *handler; /* the probe or hook that the next records belong to, or NULL */
    struct probe_figures *figures;
};
/* Reads one record. Returns 0, 1 if the key is not about probes or hooks, or a negative code. */
int pod_life_read(struct pod_life_reader *reader, const char *key, const char *value,
                  struct err *err);

#endif
