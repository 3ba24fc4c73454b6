/* What the operator answers over plain HTTP: /healthz (it is alive), /readyz (it can do its work,
 * or stands by to), /metrics. Only numbers and the state of the process leave through here. */
#ifndef TRAINYARD_CLI_TRAINYARD_OPERATOR_SERVER_H
#define TRAINYARD_CLI_TRAINYARD_OPERATOR_SERVER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "loop/loop.h"
#include "net/http/prometheus.h"

struct operator_server;

struct operator_server_options {
    /* ":8080", "127.0.0.1:8080", "[::1]:8080" or "8080"; "0" or "": none. Where both are the same
     * there is one. Everything is answered on both. */
    const char *metrics_address, *health_address;
    struct prometheus *metrics;
    /* Whether it is ready, and a sentence about it either way. */
    bool (*is_ready)(void *context, struct buf *sentence);
    void *context;
};

int operator_server_new(struct loop *loop, const struct operator_server_options *options,
                        struct operator_server **ret, struct err *err);
/* `closed` comes from the loop, and then it is gone. */
void operator_server_close(struct operator_server *server, void (*closed)(void *context),
                           void *context);

/* An address as above in its parts; *ret_port -1: none. */
int operator_server_parse(struct arena *arena, const char *text, const char **ret_host,
                          int *ret_port, struct err *err);

#endif
