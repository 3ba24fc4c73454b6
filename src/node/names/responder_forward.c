/* Forwards queries for names outside of the cluster to the machine's name servers, one server after
 * the other. Each attempt has another random message ID and another local port, so that a host that
 * cannot see the query cannot forge the answer. Queries use UDP. If an answer is too long for UDP
 * and the client uses TCP, the query is repeated over TCP. The process of the responder is in the
 * machine's network, so names that resolve on the machine resolve in pods. */
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
    TRY_MS = 1500,    /* per attempt; the C library in a pod repeats its query after 5 s */
    REPLY_MAX = 4096, /* bytes of a reply over UDP; over TCP, bytes per recv() */
};

/* A forwarded query. */
struct forward {
    struct epoll_watch watch;
    struct list_link link;
    struct responder *responder;
    struct responder_client client;
    uint8_t *query; /* the query as the client has sent it */
    size_t query_size;
    /* The target of an alias of the cluster. "" if the query is forwarded unchanged. */
    char name[DNS_NAME_MAX + 1];
    /* The message to the server, after a prefix for its length, which only TCP needs. */
    uint8_t message[RESPONDER_PREFIX + DNS_QUERY_MAX];
    size_t message_size;                      /* size of the message without the prefix */
    struct resolver resolvers[RESOLVERS_MAX]; /* a copy of the list at the start of this query */
    size_t resolver_count;
    int tries;           /* attempts so far */
    bool over_tcp;       /* the current attempt uses TCP */
    bool connecting;     /* the TCP connection to the server is not established yet */
    struct buf in;       /* bytes of the reply so far, for TCP */
    int fd;              /* the socket to the server, or -1 */
    bool has_ended;      /* in responder->ended_forwards */
    int64_t deadline_ms; /* of the current attempt */
};

/* ---- the machine's name servers -------------------------------------------------------------- */

/* Reads resolv.conf again if it has changed. */
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

/* ---- a query --------------------------------------------------------------------------------- */

static void forward_close_socket(struct forward *forward)
{
    if (forward->fd < 0)
        return;
    epoll_watch_unset(forward->responder->epoll_fd, forward->fd, &forward->watch);
    close(forward->fd);
    forward->fd = -1;
}

/* Ends the query. It is freed later, because epoll may still report events for it. */
static void forward_end(struct forward *forward)
{
    struct responder *responder = forward->responder;
    if (forward->has_ended) /* the client's connection was closed while the answer was sent */
        return;
    forward_close_socket(forward);
    forward->has_ended = true;
    list_remove(&forward->link);
    list_append(&responder->ended_forwards, &forward->link);
    responder->forward_count--;
    if (forward->client.connection)
        responder_connection_end_wait(forward->client.connection);
}

static struct dns_query query_of(const struct forward *forward)
{
    struct dns_query query;
    enum dns_rcode rcode;
    /* Cannot fail: the query was valid when it was received. */
    (void)dns_query_read(forward->query, forward->query_size, &query, &rcode);
    return query;
}

/* Answers the client with SERVFAIL, and ends the query. */
static void forward_fail(struct forward *forward)
{
    const struct dns_query query = query_of(forward);
    responder_answer_code(forward->responder, &forward->client, &query, DNS_SERVFAIL, false);
    forward_end(forward);
}

/* Returns the server of the current attempt. */
static const struct resolver *resolver_of(const struct forward *forward)
{
    return &forward->resolvers[(size_t)(forward->tries - 1) % forward->resolver_count];
}

/* Opens a new socket to the server, with a new random local port. Over UDP, also sends the message.
 * Returns false on failure. */
static bool forward_connect(struct forward *forward, bool over_tcp)
{
    const struct resolver *resolver = resolver_of(forward);
    struct responder *responder = forward->responder;
    forward_close_socket(forward);
    forward->over_tcp = forward->connecting = over_tcp;
    forward->watch.added = false;
    buf_clear(&forward->in);
    forward->fd = socket(resolver->any.sa_family,
                         (over_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (forward->fd < 0 ||
        (connect(forward->fd, &resolver->any, resolver->size) < 0 && errno != EINPROGRESS) ||
        (!over_tcp &&
         send(forward->fd, forward->message + RESPONDER_PREFIX, forward->message_size, 0) < 0) ||
        !epoll_watch_set(responder->epoll_fd, forward->fd, &forward->watch,
                         over_tcp ? EPOLLOUT : EPOLLIN))
        return false;
    forward->deadline_ms = responder_now_ms(responder) + TRY_MS;
    list_remove(&forward->link);
    list_append(&responder->forwards, &forward->link);
    return true;
}

/* Writes the message to the server, with a new random ID. */
static void forward_write_message(struct forward *forward)
{
    const struct dns_query query = query_of(forward);
    uint16_t id;
    rand_secure(&id, sizeof(id));
    forward->message_size = dns_query_pass_on(&query, forward->name[0] ? forward->name : NULL, id,
                                              forward->message + RESPONDER_PREFIX);
    forward->message[0] = (uint8_t)(forward->message_size >> 8);
    forward->message[1] = (uint8_t)forward->message_size;
}

/* Asks the next server. After the last attempt, answers the client with SERVFAIL. */
static void forward_try_next(struct forward *forward)
{
    while (forward->tries < TRIES_MAX && forward->resolver_count) {
        forward->tries++;
        forward_write_message(forward);
        if (forward_connect(forward, false))
            return;
    }
    forward_fail(forward);
}

/* ---- the reply ------------------------------------------------------------------------------- */

/* Sends the server's reply to the client, with the ID of the client's query. */
static void forward_send_reply(struct forward *forward, const struct dns_query *query,
                               uint8_t *data, size_t size)
{
    if (size > responder_answer_max(&forward->client, query)) {
        responder_answer_code(forward->responder, &forward->client, query, DNS_NOERROR, true);
        return;
    }
    memcpy(data, forward->query, sizeof(query->id));
    responder_send(forward->responder, &forward->client, data, size);
}

/* Answers a query for an alias of the cluster with the alias in the current table and, if the alias
 * has not changed, the addresses in the server's reply. */
static void answer_alias(struct forward *forward, const struct dns_query *query,
                         const struct dns_reply *reply)
{
    struct responder *responder = forward->responder;
    const struct names_outside_reply outside = {forward->name, *reply};
    char alias[DNS_NAME_MAX + 1];
    size_t size;
    if (names_answer(&responder->table, query, &outside, responder->scratch,
                     responder_answer_max(&forward->client, query), &size, alias) == NAMES_ANSWERED)
        responder_send(responder, &forward->client, responder->scratch, size);
    else
        responder_answer_code(responder, &forward->client, query, DNS_SERVFAIL, false);
}

/* Returns true if another server may know more. */
static bool is_server_failure(enum dns_rcode rcode)
{
    return rcode == DNS_SERVFAIL || rcode == DNS_REFUSED || rcode == DNS_NOTIMP;
}

/* Handles a packet from the server. Returns false, and ignores the packet, if it is no reply to the
 * message. */
static bool forward_handle_reply(struct forward *forward, uint8_t *data, size_t size)
{
    struct dns_reply reply;
    if (!dns_reply_read(data, size, forward->message + RESPONDER_PREFIX, forward->message_size,
                        &reply))
        return false;
    if (is_server_failure(reply.rcode) && forward->tries < TRIES_MAX &&
        forward->resolver_count > 1) {
        forward_try_next(forward);
        return true;
    }
    if (reply.is_cut && !forward->over_tcp && forward->client.over_tcp) {
        if (!forward_connect(forward, true))
            forward_try_next(forward);
        return true;
    }
    const struct dns_query query = query_of(forward);
    if (!forward->name[0])
        forward_send_reply(forward, &query, data, size);
    else if (is_server_failure(reply.rcode))
        responder_answer_code(forward->responder, &forward->client, &query, DNS_SERVFAIL, false);
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
        (void)forward_handle_reply(forward, data, (size_t)size);
    else if (errno != EAGAIN && errno != EINTR) /* for example, no server listens at this address */
        forward_try_next(forward);
}

static void on_tcp_reply(struct forward *forward)
{
    size_t size = RESPONDER_PREFIX + forward->message_size;
    if (forward->connecting) {
        forward->connecting = false;
        if (send(forward->fd, forward->message, size, MSG_NOSIGNAL) != (ssize_t)size ||
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
        !forward_handle_reply(forward, data + RESPONDER_PREFIX, length))
        forward_try_next(forward);
}

static void on_reply(struct epoll_watch *watch, uint32_t events)
{
    struct forward *forward = CONTAINER_OF(watch, struct forward, watch);
    (void)events;
    if (forward->has_ended)
        return;
    if (forward->over_tcp)
        on_tcp_reply(forward);
    else
        on_udp_reply(forward);
}

/* ---- all queries ----------------------------------------------------------------------------- */

void responder_forward(struct responder *responder, const struct responder_client *client,
                       const struct dns_query *query, size_t query_size, const char *name)
{
    read_resolvers(responder);
    if (responder->resolver_count == 0 || responder->forward_count == RESPONDER_FORWARDS_MAX ||
        (client->connection && !responder_connection_begin_wait(client->connection))) {
        responder_answer_code(responder, client, query, DNS_SERVFAIL, false);
        return;
    }
    struct forward *forward = mem_zalloc(sizeof(*forward));
    forward->watch.on_event = on_reply;
    forward->responder = responder;
    forward->client = *client;
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

void responder_forwards_drop(struct responder *responder,
                             const struct responder_connection *connection)
{
    LIST_EACH_SAFE (struct forward, forward, &responder->forwards, link) {
        if (forward->client.connection != connection)
            continue;
        forward->client.connection = NULL;
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

void responder_forwards_free_ended(struct responder *responder)
{
    LIST_EACH_SAFE (struct forward, forward, &responder->ended_forwards, link) {
        buf_release(&forward->in);
        free(forward->query);
        free(forward);
    }
    list_init(&responder->ended_forwards);
}

void responder_forwards_end(struct responder *responder)
{
    while (!list_is_empty(&responder->forwards))
        forward_end(LIST_FIRST(&responder->forwards, struct forward, link));
    responder_forwards_free_ended(responder);
}
