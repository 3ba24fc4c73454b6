/* Implements the table of host ports; see host_ports.h. */
#include "operator/reconcile/host_ports.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 65536 };

/* The ports of one owner. */
struct holding {
    size_t count;
    int held[];
};

struct host_ports {
    int first, last;
    int unreported;    /* controllers that have not reported yet */
    struct map owners; /* struct holding by owner */
    uint16_t
        holders[PORTS]; /* number of owners per port; may exceed 1 if an annotation was edited */
};

struct host_ports *host_ports_new(int first, int last)
{
    struct host_ports *ports = mem_zalloc(sizeof(*ports));

    ports->first = first;
    ports->last = last;
    map_init(&ports->owners);
    return ports;
}

struct host_ports *host_ports_free(struct host_ports *ports)
{
    const char *owner;
    void *holding;

    if (!ports)
        return NULL;
    for (size_t i = 0; map_next(&ports->owners, &i, &owner, &holding);)
        free(holding);
    map_release(&ports->owners);
    free(ports);
    return NULL;
}

int host_ports_parse_range(const char *text, int *ret_first, int *ret_last, struct err *err)
{
    int64_t first, last;
    const char *dash = text ? strchr(text, '-') : NULL;
    char begin[16];

    if (!dash || (size_t)(dash - text) >= sizeof(begin))
        return err_set(
            err, ERR_BAD_REQUEST,
            "'%s' is not a port range: expected two numbers with a dash, such as 20000-29999",
            text ? text : "");
    memcpy(begin, text, (size_t)(dash - text));
    begin[dash - text] = '\0';
    if (str_to_int64(begin, 1, PORTS - 1, &first, NULL) < 0 ||
        str_to_int64(dash + 1, 1, PORTS - 1, &last, NULL) < 0 || first > last)
        return err_set(
            err, ERR_BAD_REQUEST,
            "'%s' is not a port range: expected two numbers from 1 to 65535, the smaller one first",
            text);
    *ret_first = (int)first;
    *ret_last = (int)last;
    return 0;
}

static bool is_port(int port)
{
    return port > 0 && port < PORTS;
}

static void host_ports_release(struct host_ports *ports, struct holding *holding)
{
    if (!holding)
        return;
    for (size_t i = 0; i < holding->count; i++)
        ports->holders[holding->held[i]]--;
    free(holding);
}

void host_ports_set(struct host_ports *ports, const char *owner, const int *held, size_t count)
{
    struct holding *holding;

    host_ports_release(ports, map_remove(&ports->owners, owner));
    if (count == 0)
        return;
    holding = mem_zalloc(sizeof(*holding) + count * sizeof(int));
    for (size_t i = 0; i < count; i++) {
        if (!is_port(held[i]) || ports->holders[held[i]] == UINT16_MAX)
            continue;
        holding->held[holding->count++] = held[i];
        ports->holders[held[i]]++;
    }
    map_put(&ports->owners, owner, holding);
}

void host_ports_forget(struct host_ports *ports, const char *prefix)
{
    const char *owner;
    void *holding;

    for (size_t i = 0; map_next(&ports->owners, &i, &owner, &holding);) {
        if (!str_has_prefix(owner, prefix))
            continue;
        _cleanup_free_ char *name = mem_strdup(owner);
        host_ports_set(ports, name, NULL, 0);
        i = 0; /* starts again, because the map has changed */
    }
}

bool host_ports_held_by_others(const struct host_ports *ports, const char *owner, int port)
{
    const struct holding *own = map_get(&ports->owners, owner);
    int holders = is_port(port) ? ports->holders[port] : 0;

    if (holders == 0)
        return false;
    for (size_t i = 0; own && i < own->count; i++)
        holders -= own->held[i] == port;
    return holders > 0;
}

int host_ports_first(const struct host_ports *ports)
{
    return ports->first;
}

int host_ports_last(const struct host_ports *ports)
{
    return ports->last;
}

void host_ports_expect_report(struct host_ports *ports)
{
    ports->unreported++;
}

void host_ports_reported(struct host_ports *ports)
{
    ports->unreported--;
}

bool host_ports_all_reported(const struct host_ports *ports)
{
    return ports->unreported <= 0;
}
