/* What a connection makes the server keep, and for whose account: header and body of a request that
 * is read or answered, requests sent ahead, the bytes that a handler reserves, and answers that the
 * peer has not taken. When the total of a server is reached, the payer that has the most loses its
 * largest connection; a payer that is the largest itself is refused. So a client that floods is the
 * one that is turned away. */
#include "net/http/connection.h"

#include "base/mem.h"
#include "net/http/response.h"

#include <string.h>

enum {
    /* Not counted: less than the session of TLS that every connection has (24 KiB measured), and
     * nearly all requests and answers are smaller, for which nothing is looked up then. */
    UNCOUNTED_MAX = 16 * 1024,
    PAYER_MAX = 256,
};

/* A user, or where the peer is: its address without the port. */
static void write_payer(const struct http_connection *self, char payer[PAYER_MAX])
{
    const char *user = self->answer ? self->answer->exchange.user : NULL;
    const char *port = strrchr(self->peer, ':');
    size_t size = user ? strlen(user) : port ? (size_t)(port - self->peer) : strlen(self->peer);
    if (size >= PAYER_MAX)
        size = PAYER_MAX - 1;
    memcpy(payer, user ? user : self->peer, size);
    payer[size] = '\0';
}

void http_connection_forget_payer(struct http_connection *self)
{
    budget_release(&self->kept);
    self->payer = budget_payer_unref(self->payer);
}

/* End the largest connection of the payer that has the most; false if that is our own. */
static bool make_room(struct http_connection *self)
{
    const struct budget *payer = budget_largest(&self->service->memory->total);
    struct budget *kept = payer ? budget_largest(payer) : NULL;
    if (!kept || payer == &self->payer->budget)
        return false;
    struct http_connection *other = CONTAINER_OF(kept, struct http_connection, kept);
    if (other->in_handler)
        return false;
    http_connection_end_for_memory(other);
    http_connection_forget_payer(other);
    return true;
}

static bool memory_charge(struct http_connection *self, size_t more)
{
    struct budget *full;
    while ((full = budget_charge(&self->kept, more)))
        if (full != &self->service->memory->total || !make_room(self))
            return false;
    return true;
}

static size_t bytes_held(const struct http_connection *self)
{
    return self->in_bytes + self->ahead_bytes + self->answer_bytes + self->out_bytes;
}

/* Charge what the connection holds now; false if there is no room for it. */
static bool memory_keep(struct http_connection *self, bool force)
{
    size_t bytes = bytes_held(self);
    if (!self->service->memory || (!self->payer && bytes <= UNCOUNTED_MAX))
        return true;
    if (!self->payer) {
        char payer[PAYER_MAX];
        write_payer(self, payer);
        self->payer = budget_payer_ref(self->service->memory, payer);
        budget_init(&self->kept, &self->payer->budget, SIZE_MAX);
    }
    if (bytes <= self->kept.used)
        budget_give_back(&self->kept, self->kept.used - bytes);
    else if (force)
        budget_force(&self->kept, bytes - self->kept.used);
    else
        return memory_charge(self, bytes - self->kept.used);
    return true;
}

bool http_connection_keep_request(struct http_connection *self)
{
    const struct http_parse *parse = &self->parse;
    self->in_bytes = parse->header_size + parse->line.capacity + parse->body.capacity;
    return memory_keep(self, false);
}

bool http_connection_keep_ahead(struct http_connection *self)
{
    self->ahead_bytes = self->in.capacity;
    return memory_keep(self, false);
}

void http_connection_keep_handled(struct http_connection *self)
{
    const struct http_exchange *exchange = &self->answer->exchange;
    size_t used = exchange->arena_is_lent ? 0 : arena_used(exchange->arena);
    if (used > self->answer_bytes) /* what was reserved has been charged */
        self->in_bytes += used - self->answer_bytes;
    memory_keep(self, true);
}

bool http_connection_keep_response(struct http_connection *self, size_t size)
{
    self->answer_bytes = size;
    if (size <= UNCOUNTED_MAX || memory_keep(self, false))
        return true;
    /* One answer that is larger than the budget must be possible: lists have their own limit. */
    const struct budget *payer = &self->payer->budget;
    if (size > payer->max && payer->used == self->kept.used)
        return memory_keep(self, true);
    self->answer_bytes = 0;
    return false;
}

void http_connection_keep_written(struct http_connection *self)
{
    size_t pending = stream_pending(self->stream);
    if (pending <= self->out_bytes && self->answer_bytes == 0)
        return; /* memory is freed when all is sent */
    if (pending > self->out_bytes)
        self->out_bytes = pending;
    self->answer_bytes = 0;
    memory_keep(self, true);
}

void http_connection_keep_less(struct http_connection *self, bool sent)
{
    if (sent)
        self->out_bytes = 0;
    else
        self->in_bytes = self->answer_bytes = 0;
    if (!self->payer)
        return;
    if (bytes_held(self) == 0)
        http_connection_forget_payer(self);
    else
        memory_keep(self, true);
}
