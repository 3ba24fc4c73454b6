/* Defines the probes and hooks of a container as its supervisor runs them: with numbers instead of
 * names of ports. They are part of a pod's spec (pod/record/spec.h). Reads and writes their text
 * form. */
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
    struct pod_strings words;   /* exec: program and arguments */
    const char *host;           /* HTTP, TCP and gRPC: an address or a name */
    int64_t port;               /* HTTP, TCP and gRPC */
    const char *path;           /* HTTP */
    bool tls;                   /* HTTP over TLS; any certificate is accepted */
    struct pod_strings headers; /* HTTP: "Name: value" */
    const char *service;        /* gRPC */
    int64_t sleep_ms;           /* sleep: the duration */
};

struct pod_life {
    struct pod_handler probes[PROBE_KINDS];
    struct probe_settings settings[PROBE_KINDS];
    struct pod_handler post_start, pre_stop;
};

void pod_life_write(const struct pod_life *life, struct buf *buf);

/* Reads the records of a container's probes and hooks. The caller sets `arena` and `life`, and sets
 * the other fields to NULL. */
struct pod_life_reader {
    struct arena *arena;
    struct pod_life *life;
    struct pod_handler *handler; /* the probe or hook that the next records belong to, or NULL */
    struct probe_settings *settings; /* the settings of the same probe, or NULL */
};
/* Reads one record. Returns 0, or 1 if the key is not about probes or hooks, or a negative code if
 * the value is not valid. */
int pod_life_read(struct pod_life_reader *reader, const char *key, const char *value,
                  struct err *err);

#endif
