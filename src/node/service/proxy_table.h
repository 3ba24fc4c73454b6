/* Defines the table of a proxy: where it listens, and where it connects to. The control process
 * computes the tables (service/service_table.h), and writes the table for clients in pods as text
 * for the process that serves them. The text has one line "listen ADDRESS:PORT" per route. Lines
 * about the route follow: "udp yes" for datagrams, "sticky yes" if clients stay with one backend,
 * and one line "to ADDRESS:PORT" per backend. The parser does not trust its input. */
#ifndef TRAINYARD_NODE_SERVICE_PROXY_TABLE_H
#define TRAINYARD_NODE_SERVICE_PROXY_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROXY_TABLE_MAX = 16 * 1024 * 1024,    /* bytes of text */
    PROXY_PLACE_MAX = INET_ADDRSTRLEN + 6, /* bytes of "ADDRESS:PORT" */
};

struct proxy_place {
    struct in_addr address;
    uint16_t port; /* in host byte order */
};

struct proxy_route {
    struct proxy_place listen;
    struct proxy_place *to; /* the backends */
    size_t count, capacity; /* of `to` */
    bool udp;               /* UDP instead of TCP */
    bool sticky;            /* clients from one address get the same backend until `to` changes */
    /* The object that needs the route, such as "Service/default/web"; or NULL. It is passed to
     * proxy_options.report. It is not in the text. */
    const char *owner;
};

struct proxy_table {
    struct proxy_route *routes;
    size_t count, capacity;
};

/* Adds a route without backends. The returned pointer is valid until the next route is added. */
struct proxy_route *proxy_table_add(struct arena *arena, struct proxy_table *table,
                                    struct proxy_place listen);
/* Adds a backend. */
void proxy_route_add_backend(struct arena *arena, struct proxy_route *route, struct proxy_place to);

/* Writes the place as text, such as "10.96.0.1:443". */
void proxy_place_text(const struct proxy_place *place, char text[PROXY_PLACE_MAX]);
int proxy_place_parse(const char *text, struct proxy_place *ret, struct err *err);

void proxy_table_write(const struct proxy_table *table, struct buf *buf);
/* Parses `text`, and changes it in place; a NUL byte must follow its `size` bytes. The table is
 * allocated in the arena. On failure returns a negative code and leaves `ret` untouched. */
int proxy_table_parse(struct arena *arena, char *text, size_t size, struct proxy_table *ret,
                      struct err *err);

#endif
