/* A service with small limits and short timeouts, for tests of a connection in virtual time. */
#ifndef TRAINYARD_TESTS_UNIT_NET_SMALL_SERVICE_H
#define TRAINYARD_TESTS_UNIT_NET_SMALL_SERVICE_H

#include "net/http/connection.h"

static inline struct http_service small_service(struct loop *loop, http_handler *handler,
                                                void *context,
                                                void (*on_closed)(struct http_service *service))
{
    return (struct http_service){
        .loop = loop,
        .handler = handler,
        .context = context,
        .header_max = 1000,
        .body_max = 200000,
        .handshake_timeout_ms = 1000,
        .header_timeout_ms = 2000,
        .body_timeout_ms = 3000,
        .idle_timeout_ms = 50000,
        .on_closed = on_closed,
        .date_second = -1,
    };
}

#endif
