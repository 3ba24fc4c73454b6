/* Forwards queries for names outside of the cluster to the machine's name servers, one server after
 * the other. Each attempt has another random message ID and another port, so that a host that
 * cannot see the query cannot forge the answer. Queries use UDP. If an answer is too long for UDP
 * and the client uses TCP, the query is repeated over TCP. This process is in the machine's
 * network, so names that resolve on the machine resolve in pods. */
#include "node/names/responder_internal.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TRIES_MAX = 3,
    TRY_MS = 1500, /* per attempt; the C library in a pod waits 5 s in total */
    REPLY_MAX = 4096,
};

struct forward {
    struct epoll_watch watch;
    struct list_link link;
    struct responder *responder;
    struct responder_asker asker;
    uint8_t *query; /* as received */
    size_t query_size;
    /* The target of an alias of the cluster. "" if the query is forwarded unchanged. */
    char name[DNS_NAME_MAX + 1];
    /* The message to the server, after a prefix for its length, which only TCP needs. */
    uint8_t asked[RESPONDER_PREFIX + DNS_ASK_MAX];
    size_t asked_size;                        /* size of the message, without its length */
    struct resolver resolvers[RESOLVERS_MAX]; /* a copy of the list at the start of this query */
    size_t resolver_count;
    int tries;
    bool over_tcp, connecting;
    struct buf in; /* bytes of the reply so far, for TCP */
    int fd;        /* the socket to the server, or -1 */
    bool is_dead;  /* freed later, because epoll may still report events for it */
    int64_t deadline_ms;
};

/* ---- the machine's name servers -------------------------------------------------------------- */

static void read_resolvers(struct responder *responder)
{
    struct file_stamp stamp;
    const char *path = responder->options.resolv_conf;
    if (!path || !file_stamp_get(path, &stamp)) {
        responder->resolver_count = 0;
        responder->resolv_stamp = (struct file_stamp){0};
        return;
    }
    if (file_stamp_eq(&stamp, &responder->resolv_stamp))
        return;
    _cleanup_buf_ struct buf text;
    buf_init(&text, RESOLVERS_FILE_MAX);
    responder->resolver_count =
        file_read(path, &text, NULL) == 0 ? resolvers_parse(text.data, responder->resolvers) : 0;
    responder->resolv_stamp = stamp;
    for (size_t i = 0; responder->options.port && i < responder->resolver_count; i++)
        responder->resolvers[i].ipv4.sin_port =
            htons(responder->options.port); /* sin6_port has the same offset */
}

/* ---- one question ---------------------------------------------------------------------------- */

static void hang_up(struct forward *forward)
{
    if (forward->fd < 0)
        return;
    epoll_watch_unset(forward->responder->epoll_fd, forward->fd, &forward->watch);
    close(forward->fd);
    forward->fd = -1;
}

static void forward_end(struct forward *forward)
{
    struct responder *responder = forward->responder;
    if (forward->is_dead) /* the client's connection was closed while the answer was sent */
        return;
    hang_up(forward);
    forward->is_dead = true;
    list_remove(&forward->link);
    list_append(&responder->dead_forwards, &forward->link);
    responder->forward_count--;
    if (forward->asker.line)
        responder_line_done(forward->asker.line);
}

static struct dns_query query_of(const struct forward *forward)
{
    struct dns_query query;
    enum dns_rcode rcode;
    (void)dns_query_read(forward->query, forward->query_size, &query,
                         &rcode); /* the query was valid when it came */
    return query;
}

static void forward_fail(struct forward *forward)
{
    const struct dns_query query = query_of(forward);
    responder_refuse(forward->responder, &forward->asker, &query, DNS_SERVFAIL, false);
    forward_end(forward);
}

static const struct resolver *resolver_of(const struct forward *forward)
{
    return &forward->resolvers[(size_t)(forward->tries - 1) % forward->resolver_count];
}

/* Opens a new socket to the server, with a new random local port. */
static bool forward_dial(struct forward *forward, bool over_tcp)
{
    const struct resolver *resolver = resolver_of(forward);
    struct responder *responder = forward->responder;
    hang_up(forward);
    forward->over_tcp = forward->connecting = over_tcp;
    forward->watch.added = false;
    buf_clear(&forward->in);
    forward->fd = socket(resolver->any.sa_family,
                         (over_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (forward->fd < 0 ||
        (connect(forward->fd, &resolver->any, resolver->size) < 0 && errno != EINPROGRESS) ||
        (!over_tcp &&
         send(forward->fd, forward->asked + RESPONDER_PREFIX, forward->asked_size, 0) < 0) ||
        !epoll_watch_set(responder->epoll_fd, forward->fd, &forward->watch,
                         over_tcp ? EPOLLOUT : EPOLLIN))
        return false;
    forward->deadline_ms = responder_now_ms(responder) + TRY_MS;
    list_remove(&forward->link);
    list_append(&responder->forwards, &forward->link);
    return true;
}

static void draw_number(struct forward *forward)
{
    const struct dns_query query = query_of(forward);
    uint16_t id;
    rand_secure(&id, sizeof(id));
    forward->asked_size = dns_query_pass_on(&query, forward->name[0] ? forward->name : NULL, id,
                                            forward->asked + RESPONDER_PREFIX);
    forward->asked[0] = (uint8_t)(forward->asked_size >> 8);
    forward->asked[1] = (uint8_t)forward->asked_size;
}

static void forward_try_next(struct forward *forward)
{
    while (forward->tries < TRIES_MAX && forward->resolver_count) {
        forward->tries++;
        draw_number(forward);
        if (forward_dial(forward, false))
            return;
    }
    forward_fail(forward);
}

/* ---- its answer ------------------------------------------------------------------------------ */

static void pass_back(struct forward *forward, const struct dns_query *query, uint8_t *data,
                      size_t size)
{
    if (size > responder_answer_max(&forward->asker, query)) {
        responder_refuse(forward->responder, &forward->asker, query, DNS_NOERROR, true);
        return;
    }
    memcpy(data, forward->query, sizeof(query->id));
    responder_say(forward->responder, &forward->asker, data, size);
}

/* Answers a query for an alias of the cluster with the name server's reply, if the alias still
 * exists. */
static void answer_alias(struct forward *forward, const struct dns_query *query,
                         const struct dns_reply *reply)
{
    struct responder *responder = forward->responder;
    const struct names_learnt learnt = {forward->name, *reply};
    char alias[DNS_NAME_MAX + 1];
    size_t size;
    if (names_answer(&responder->table, query, &learnt, responder->scratch,
                     responder_answer_max(&forward->asker, query), &size, alias) == NAMES_ANSWERED)
        responder_say(responder, &forward->asker, responder->scratch, size);
    else
        responder_refuse(responder, &forward->asker, query, DNS_SERVFAIL, false);
}

static bool is_helpless(enum dns_rcode rcode)
{
    return rcode == DNS_SERVFAIL || rcode == DNS_REFUSED || rcode == DNS_NOTIMP;
}

/* Handles a packet from the server. Returns false, and ignores the packet, if it does not answer
 * the query. */
static bool take_reply(struct forward *forward, uint8_t *data, size_t size)
{
    struct dns_reply reply;
    if (!dns_reply_read(data, size, forward->asked + RESPONDER_PREFIX, forward->asked_size, &reply))
        return false;
    if (is_helpless(reply.rcode) && forward->tries < TRIES_MAX && forward->resolver_count > 1) {
        forward_try_next(forward);
        return true;
    }
    if (reply.is_cut && !forward->over_tcp && forward->asker.over_tcp) {
        if (!forward_dial(forward, true))
            forward_try_next(forward);
        return true;
    }
    const struct dns_query query = query_of(forward);
    if (!forward->name[0])
        pass_back(forward, &query, data, size);
    else if (is_helpless(reply.rcode))
        responder_refuse(forward->responder, &forward->asker, &query, DNS_SERVFAIL, false);
    else
        answer_alias(forward, &query, &reply);
    forward_end(forward);
    return true;
}

static void on_udp_reply(struct forward *forward)
{
    uint8_t data[REPLY_MAX];
    ssize_t size = recv(forward->fd, data, sizeof(data), 0);
    if (size >= 0)
        (void)take_reply(forward, data, (size_t)size);
    else if (errno != EAGAIN && errno != EINTR) /* no server listens there */
        forward_try_next(forward);
}

static void on_tcp_reply(struct forward *forward)
{
    size_t size = RESPONDER_PREFIX + forward->asked_size;
    if (forward->connecting) {
        forward->connecting = false;
        if (send(forward->fd, forward->asked, size, MSG_NOSIGNAL) != (ssize_t)size ||
            !epoll_watch_set(forward->responder->epoll_fd, forward->fd, &forward->watch, EPOLLIN))
            forward_try_next(forward);
        return;
    }
    char *room = buf_reserve(&forward->in, REPLY_MAX);
    ssize_t got = room ? recv(forward->fd, room, REPLY_MAX, 0) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        forward_try_next(forward);
        return;
    }
    buf_commit(&forward->in, (size_t)got);
    uint8_t *data = (uint8_t *)forward->in.data;
    if (forward->in.size < RESPONDER_PREFIX)
        return;
    size_t length = (size_t)data[0] << 8 | data[1];
    if (forward->in.size - RESPONDER_PREFIX >= length &&
        !take_reply(forward, data + RESPONDER_PREFIX, length))
        forward_try_next(forward);
}

static void on_reply(struct epoll_watch *watch, uint32_t events)
{
    struct forward *forward = CONTAINER_OF(watch, struct forward, watch);
    (void)events;
    if (forward->is_dead)
        return;
    if (forward->over_tcp)
        on_tcp_reply(forward);
    else
        on_udp_reply(forward);
}

/* ---- all of them ----------------------------------------------------------------------------- */

void responder_forward(struct responder *responder, const struct responder_asker *asker,
                       const struct dns_query *query, size_t query_size, const char *name)
{
    read_resolvers(responder);
    if (responder->resolver_count == 0 || responder->forward_count == RESPONDER_FORWARDS_MAX ||
        (asker->line && !responder_line_wait(asker->line))) {
        responder_refuse(responder, asker, query, DNS_SERVFAIL, false);
        return;
    }
    struct forward *forward = mem_zalloc(sizeof(*forward));
    forward->watch.on_event = on_reply;
    forward->responder = responder;
    forward->asker = *asker;
    forward->fd = -1;
    forward->query = memcpy(mem_alloc(query_size), query->data, query_size);
    forward->query_size = query_size;
    if (name)
        memcpy(forward->name, name, strlen(name) + 1);
    memcpy(forward->resolvers, responder->resolvers, sizeof(forward->resolvers));
    forward->resolver_count = responder->resolver_count;
    buf_init(&forward->in, RESPONDER_PREFIX + DNS_TCP_MAX + REPLY_MAX);
    list_append(&responder->forwards, &forward->link);
    responder->forward_count++;
    forward_try_next(forward);
}

void responder_forwards_forget(struct responder *responder, const struct responder_line *line)
{
    LIST_EACH_SAFE (struct forward, forward, &responder->forwards, link) {
        if (forward->asker.line != line)
            continue;
        forward->asker.line = NULL;
        forward_end(forward);
    }
}

void responder_forwards_expire(struct responder *responder, int64_t now_ms)
{
    while (responder_forwards_deadline(responder) &&
           responder_forwards_deadline(responder) <= now_ms)
        forward_try_next(LIST_FIRST(&responder->forwards, struct forward, link));
}

int64_t responder_forwards_deadline(const struct responder *responder)
{
    const struct forward *first = LIST_FIRST(&responder->forwards, struct forward, link);
    return first ? first->deadline_ms : 0;
}

void responder_forwards_bury(struct responder *responder)
{
    LIST_EACH_SAFE (struct forward, forward, &responder->dead_forwards, link) {
        buf_release(&forward->in);
        free(forward->query);
        free(forward);
    }
    list_init(&responder->dead_forwards);
}

void responder_forwards_end(struct responder *responder)
{
    while (!list_is_empty(&responder->forwards))
        forward_end(LIST_FIRST(&responder->forwards, struct forward, link));
    responder_forwards_bury(responder);
}
