/* Answers DNS queries in the pod network; see names/responder.h. */
#include "node/names/responder_internal.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PACKETS_PER_EVENT = 64 }; /* so that other sockets get their turn */

int64_t responder_now_ms(const struct responder *responder)
{
    return responder->options.now_ms ? responder->options.now_ms() : epoll_watch_now_ms();
}

size_t responder_answer_max(const struct responder_client *client, const struct dns_query *query)
{
    return client->over_tcp ? DNS_TCP_MAX : dns_query_udp_max(query);
}

void responder_send(struct responder *responder, const struct responder_client *client,
                    const void *data, size_t size)
{
    if (size == 0)
        return;
    if (client->over_tcp && client->connection)
        responder_connection_send(client->connection, data, size);
    else if (!client->over_tcp)
        (void)!sendto(responder->options.udp_fd, data, size, MSG_NOSIGNAL,
                      (const struct sockaddr *)&client->peer, sizeof(client->peer));
}

void responder_answer_code(struct responder *responder, const struct responder_client *client,
                           const struct dns_query *query, enum dns_rcode rcode, bool is_cut)
{
    struct dns_answer answer;
    dns_answer_begin(&answer, query, responder->scratch, responder_answer_max(client, query));
    answer.is_cut = answer.is_cut || is_cut;
    responder_send(responder, client, responder->scratch, dns_answer_end(&answer, rcode, false));
}

void responder_handle(struct responder *responder, const struct responder_client *client,
                      const void *data, size_t size)
{
    struct dns_query query;
    enum dns_rcode rcode;
    char alias[DNS_NAME_MAX + 1];
    size_t answer_size = 0;
    if (!dns_query_read(data, size, &query, &rcode))
        return;
    if (rcode != DNS_NOERROR) {
        responder_answer_code(responder, client, &query, rcode, false);
        return;
    }
    switch (names_answer(&responder->table, &query, NULL, responder->scratch,
                         responder_answer_max(client, &query), &answer_size, alias)) {
    case NAMES_ANSWERED:
        responder_send(responder, client, responder->scratch, answer_size);
        break;
    case NAMES_OUTSIDE:
        responder_forward(responder, client, &query, size, NULL);
        break;
    case NAMES_ALIAS_OUTSIDE:
        responder_forward(responder, client, &query, size, alias);
        break;
    }
}

static void on_udp(struct epoll_watch *watch, uint32_t events)
{
    struct responder *responder = CONTAINER_OF(watch, struct responder, udp);
    (void)events;
    for (int i = 0; i < PACKETS_PER_EVENT; i++) {
        uint8_t query[RESPONDER_QUERY_MAX];
        struct responder_client client = {0};
        socklen_t peer_size = sizeof(client.peer);
        ssize_t size = recvfrom(responder->options.udp_fd, query, sizeof(query), 0,
                                (struct sockaddr *)&client.peer, &peer_size);
        /* An error means that no packet is left, or reports that an earlier answer was not
         * delivered. */
        if (size < 0)
            return;
        responder_handle(responder, &client, query, (size_t)size);
    }
}

int responder_new(const struct responder_options *options, struct responder **ret, struct err *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot watch sockets");
    struct responder *responder = mem_zalloc(sizeof(*responder));
    responder->options = *options;
    responder->epoll_fd = fd;
    responder->udp.on_event = on_udp;
    responder->tcp.on_event = responder_accept;
    names_table_init(&responder->table);
    if (!epoll_watch_set(fd, options->udp_fd, &responder->udp, EPOLLIN) ||
        !epoll_watch_set(fd, options->tcp_fd, &responder->tcp, EPOLLIN)) {
        err_set_errno(err, errno, "cannot watch the sockets of the name server");
        /* The caller keeps the sockets. */
        responder->options.udp_fd = responder->options.tcp_fd = -1;
        responder_free(responder);
        return -err->code;
    }
    *ret = responder;
    return 0;
}

struct responder *responder_free(struct responder *responder)
{
    if (!responder)
        return NULL;
    responder_connections_end(responder);
    responder_forwards_end(responder);
    names_table_release(&responder->table);
    if (responder->options.udp_fd >= 0)
        close(responder->options.udp_fd);
    if (responder->options.tcp_fd >= 0)
        close(responder->options.tcp_fd);
    close(responder->epoll_fd);
    free(responder);
    return NULL;
}

void responder_set(struct responder *responder, struct names_table *table)
{
    names_table_release(&responder->table);
    responder->table = *table;
    *table = (struct names_table){0};
}

/* Lowers the deadline to `other` if that is earlier. 0 means no deadline. */
static void responder_take_earlier(int64_t *deadline, int64_t other)
{
    if (other && (!*deadline || other < *deadline))
        *deadline = other;
}

/* Returns the milliseconds until the next deadline, or -1 if there is none. */
static int until_deadline(const struct responder *responder)
{
    int64_t deadline = responder->accept_ms;
    responder_take_earlier(&deadline, responder_connections_deadline(responder));
    responder_take_earlier(&deadline, responder_forwards_deadline(responder));
    int64_t left = deadline - responder_now_ms(responder);
    return !deadline ? -1 : left > 0 ? (int)left : 0;
}

void responder_run(struct responder *responder, int timeout_ms, const sigset_t *mask)
{
    int left = until_deadline(responder);
    if (left >= 0 && (timeout_ms < 0 || left < timeout_ms))
        timeout_ms = left;
    epoll_watch_turn(responder->epoll_fd, timeout_ms, mask);
    int64_t now = responder_now_ms(responder);
    responder_forwards_expire(responder, now);
    responder_connections_expire(responder, now);
    responder_forwards_free_ended(responder);
    responder_connections_free_closed(responder);
}
