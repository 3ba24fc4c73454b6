/* Writes and parses the proxy's table; see service/proxy_table.h. */
#include "node/service/proxy_table.h"

#include "base/str.h"
#include "node/pod/record/record.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static void *proxy_table_grow(struct arena *arena, const void *items, size_t count,
                              size_t *capacity, size_t size)
{
    *capacity = *capacity ? *capacity * 2 : 4;
    void *larger = arena_zalloc(arena, *capacity * size);
    return count ? memcpy(larger, items, count * size) : larger;
}

struct proxy_route *proxy_table_add(struct arena *arena, struct proxy_table *table,
                                    struct proxy_place listen)
{
    if (table->count == table->capacity)
        table->routes = proxy_table_grow(arena, table->routes, table->count, &table->capacity,
                                         sizeof(*table->routes));
    struct proxy_route *route = &table->routes[table->count++];
    *route = (struct proxy_route){.listen = listen};
    return route;
}

void proxy_route_add_backend(struct arena *arena, struct proxy_route *route, struct proxy_place to)
{
    if (route->count == route->capacity)
        route->to =
            proxy_table_grow(arena, route->to, route->count, &route->capacity, sizeof(*route->to));
    route->to[route->count++] = to;
}

void proxy_place_text(const struct proxy_place *place, char text[PROXY_PLACE_MAX])
{
    char address[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &place->address, address, sizeof(address));
    snprintf(text, PROXY_PLACE_MAX, "%s:%u", address, place->port);
}

int proxy_place_parse(const char *text, struct proxy_place *ret, struct err *err)
{
    char address[INET_ADDRSTRLEN];
    const char *colon = strchr(text, ':');
    size_t size = colon ? (size_t)(colon - text) : sizeof(address);
    int64_t port;
    if (size >= sizeof(address) || str_to_int64(colon + 1, 1, 65535, &port, NULL) < 0)
        return err_set(err, ERR_BAD_REQUEST, "'%.32s' is not ADDRESS:PORT", text);
    memcpy(address, text, size);
    address[size] = '\0';
    if (inet_pton(AF_INET, address, &ret->address) != 1)
        return err_set(err, ERR_BAD_REQUEST, "'%s' is not an IPv4 address", address);
    ret->port = (uint16_t)port;
    return 0;
}

void proxy_table_write(const struct proxy_table *table, struct buf *buf)
{
    char text[PROXY_PLACE_MAX];
    for (size_t i = 0; i < table->count; i++) {
        const struct proxy_route *route = &table->routes[i];
        proxy_place_text(&route->listen, text);
        record_write(buf, "listen", text);
        if (route->udp)
            record_write(buf, "udp", "yes");
        if (route->sticky)
            record_write(buf, "sticky", "yes");
        for (size_t j = 0; j < route->count; j++) {
            proxy_place_text(&route->to[j], text);
            record_write(buf, "to", text);
        }
    }
}

int proxy_table_parse(struct arena *arena, char *text, size_t size, struct proxy_table *ret,
                      struct err *err)
{
    struct proxy_table table = {0};
    struct record_reader reader;
    struct proxy_route *route = NULL;
    const char *key;
    char *value;
    int result;
    record_reader_init(&reader, text, size);
    while ((result = record_next(&reader, &key, &value, err)) > 0) {
        struct proxy_place place;
        bool *flag = !route                  ? NULL
                     : str_eq(key, "sticky") ? &route->sticky
                     : str_eq(key, "udp")    ? &route->udp
                                             : NULL;
        if (flag && !str_eq(value, "yes"))
            return err_set(err, ERR_BAD_REQUEST, "line %u: '%s' must be 'yes'", reader.line, key);
        if (flag) {
            *flag = true;
            continue;
        }
        if (!str_eq(key, "listen") && !(route && str_eq(key, "to")))
            return err_set(err, ERR_BAD_REQUEST, "line %u: '%s' is not expected here", reader.line,
                           key);
        if (proxy_place_parse(value, &place, err) < 0)
            return err_wrap(err, "line %u", reader.line);
        if (str_eq(key, "listen"))
            route = proxy_table_add(arena, &table, place);
        else
            proxy_route_add_backend(arena, route, place);
    }
    if (result == 0)
        *ret = table;
    return result;
}
