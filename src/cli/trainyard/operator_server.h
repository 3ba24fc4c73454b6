/* The operator's HTTP server: /healthz and /livez (the process is alive), /readyz (the operator
 * works, or waits to become the leader) and /metrics. operator_process.c runs it. The server never
 * exposes more than metrics and the state of the process, because it has no authentication. */
#ifndef TRAINYARD_CLI_TRAINYARD_OPERATOR_SERVER_H
#define TRAINYARD_CLI_TRAINYARD_OPERATOR_SERVER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "loop/loop.h"
#include "net/http/prometheus.h"

struct operator_server;

struct operator_server_options {
    /* ":8080", "127.0.0.1:8080", "[::1]:8080" or "8080"; "0" or "": do not listen. If both
     * addresses are equal, there is one listener. Every listener serves all paths. */
    const char *metrics_address, *health_address;
    struct prometheus *metrics; /* must outlive the server */
    /* Returns whether the operator is ready. Appends a sentence about its state in both cases. */
    bool (*is_ready)(void *context, struct buf *sentence);
    void *context;
};

/* Opens the listeners. Returns 0 or a negative code. *ret is set even on failure; the caller must
 * close the server in both cases. */
int operator_server_new(struct loop *loop, const struct operator_server_options *options,
                        struct operator_server **ret, struct err *err);
/* Starts to close the server and returns at once. `closed` is called on the loop thread after the
 * server has been freed. */
void operator_server_close(struct operator_server *server, void (*closed)(void *context),
                           void *context);

/* Splits an address in the format of operator_server_options. *ret_host is "" for all addresses of
 * the machine. Sets *ret_port to -1 for "0" and "". Returns 0 or -ERR_USAGE. */
int operator_server_parse(struct arena *arena, const char *text, const char **ret_host,
                          int *ret_port, struct err *err);

#endif
