/* Charges the memory of a connection to a payer: the current request, later requests that were
 * received already, bytes that a handler reserves, and unsent responses. When the total budget of a
 * server is full, the largest connection of the payer that uses the most memory is ended
 * (http_connection_end_for_memory()). If that payer itself needs more memory, its request is
 * refused. So the limit hits the client that uses the most memory. */
#include "net/http/connection.h"

#include "base/mem.h"
#include "net/http/response.h"

#include <string.h>

enum {
    /* A connection is charged only after it has used more than this many bytes. This is less than
     * the memory of its TLS session (24 KiB measured). Nearly all requests and responses are
     * smaller, so they need no lookup of the payer. */
    UNCOUNTED_MAX = 16 * 1024,
    PAYER_MAX = 256,
};

/* Writes the name of the payer: the user, or the peer's address without the port if the user is
 * unknown. */
static void write_payer(const struct http_connection *self, char payer[PAYER_MAX])
{
    const char *user = self->response ? self->response->exchange.user : NULL;
    const char *port = strrchr(self->peer, ':');
    size_t size = user ? strlen(user) : port ? (size_t)(port - self->peer) : strlen(self->peer);
    if (size >= PAYER_MAX)
        size = PAYER_MAX - 1;
    memcpy(payer, user ? user : self->peer, size);
    payer[size] = '\0';
}

void http_connection_forget_payer(struct http_connection *self)
{
    budget_release(&self->charged);
    self->payer = budget_payer_unref(self->payer);
}

/* Ends the largest connection of the payer that uses the most memory. Returns false if that is not
 * possible: no connection is charged, this connection has the same payer, or the handler of the
 * largest connection is running. */
static bool make_room(struct http_connection *self)
{
    const struct budget *payer = budget_largest(&self->service->memory->total);
    struct budget *largest = payer ? budget_largest(payer) : NULL;
    if (!largest || payer == &self->payer->budget)
        return false;
    struct http_connection *other = CONTAINER_OF(largest, struct http_connection, charged);
    if (other->in_handler)
        return false;
    http_connection_end_for_memory(other);
    http_connection_forget_payer(other);
    return true;
}

static bool memory_charge_more(struct http_connection *self, size_t more)
{
    struct budget *full;
    while ((full = budget_charge(&self->charged, more)))
        if (full != &self->service->memory->total || !make_room(self))
            return false;
    return true;
}

static size_t bytes_used(const struct http_connection *self)
{
    return self->in_bytes + self->ahead_bytes + self->response_bytes + self->out_bytes;
}

/* Changes the charge to the bytes that the connection uses now. Returns false if there is no room,
 * which cannot happen with `force`. */
static bool memory_update_charge(struct http_connection *self, bool force)
{
    size_t bytes = bytes_used(self);
    if (!self->service->memory || (!self->payer && bytes <= UNCOUNTED_MAX))
        return true;
    if (!self->payer) {
        char payer[PAYER_MAX];
        write_payer(self, payer);
        self->payer = budget_payer_ref(self->service->memory, payer);
        budget_init(&self->charged, &self->payer->budget, SIZE_MAX);
    }
    if (bytes <= self->charged.used)
        budget_give_back(&self->charged, self->charged.used - bytes);
    else if (force)
        budget_force(&self->charged, bytes - self->charged.used);
    else
        return memory_charge_more(self, bytes - self->charged.used);
    return true;
}

bool http_connection_charge_request(struct http_connection *self)
{
    const struct http_parse *parse = &self->parse;
    self->in_bytes = parse->header_size + parse->line.capacity + parse->body.capacity;
    return memory_update_charge(self, false);
}

bool http_connection_charge_ahead(struct http_connection *self)
{
    self->ahead_bytes = self->in.capacity;
    return memory_update_charge(self, false);
}

void http_connection_charge_handled(struct http_connection *self)
{
    const struct http_exchange *exchange = &self->response->exchange;
    size_t used = exchange->arena_is_lent ? 0 : arena_used(exchange->arena);
    if (used > self->response_bytes) /* reserved bytes are charged already */
        self->in_bytes += used - self->response_bytes;
    memory_update_charge(self, true);
}

bool http_connection_charge_response(struct http_connection *self, size_t size)
{
    self->response_bytes = size;
    if (size <= UNCOUNTED_MAX || memory_update_charge(self, false))
        return true;
    /* A single response may be larger than the payer's budget, because lists have their own
     * limit. */
    const struct budget *payer = &self->payer->budget;
    if (size > payer->max && payer->used == self->charged.used)
        return memory_update_charge(self, true);
    self->response_bytes = 0;
    return false;
}

void http_connection_charge_written(struct http_connection *self)
{
    size_t pending = stream_pending(self->stream);
    if (pending <= self->out_bytes && self->response_bytes == 0)
        return; /* out_bytes is an upper bound until everything is sent */
    if (pending > self->out_bytes)
        self->out_bytes = pending;
    self->response_bytes = 0;
    memory_update_charge(self, true);
}

void http_connection_reduce_charge(struct http_connection *self, bool sent)
{
    if (sent)
        self->out_bytes = 0;
    else
        self->in_bytes = self->response_bytes = 0;
    if (!self->payer)
        return;
    if (bytes_used(self) == 0)
        http_connection_forget_payer(self);
    else
        memory_update_charge(self, true);
}
