/* Serves UDP clients; see service/proxy_internal.h. A client, which is an address and a port, has a
 * session with one backend. Each session has its own socket to the backend. The listener sends the
 * backend's answers, so that they come from the address that the client has used. A session ends
 * after a time without packets, when its backend is removed, when the backend refuses packets, or
 * when there are too many sessions. */
#include "node/service/proxy_internal.h"

#include "base/mem.h"
#include "node/service/relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    DATAGRAMS_PER_EVENT = 64,
    SESSIONS_MAX = 16 * 1024, /* if there are more, the session that was idle longest ends */
    IDLE_MS = 60 * 1000,      /* a session without packets ends after this time */
};

struct session {
    struct epoll_watch watch;
    struct list_link link; /* in proxy.sessions or proxy.dead_sessions */
    struct proxy_listener *listener;
    struct sockaddr_in client;
    struct proxy_place to; /* the backend */
    int fd; /* -1 if the session has ended; it is freed later, because epoll may report events */
    int64_t deadline_ms;
};

static void client_key(const struct sockaddr_in *client, char key[PROXY_PLACE_MAX])
{
    const struct proxy_place place = {client->sin_addr, ntohs(client->sin_port)};
    proxy_place_text(&place, key);
}

static void session_end(struct session *session)
{
    struct proxy_listener *listener = session->listener;
    struct proxy *proxy = listener->proxy;
    char key[PROXY_PLACE_MAX];
    client_key(&session->client, key);
    map_remove(&listener->sessions, key);
    epoll_watch_unset(proxy->epoll_fd, session->fd, &session->watch);
    close(session->fd);
    session->fd = -1;
    list_remove(&session->link);
    list_append(&proxy->dead_sessions, &session->link);
    proxy->session_count--;
}

/* Moves the deadline of the session after a packet. */
static void session_extend(struct session *session)
{
    struct proxy *proxy = session->listener->proxy;
    session->deadline_ms = epoll_watch_now_ms() + IDLE_MS;
    list_remove(&session->link);
    list_append(&proxy->sessions, &session->link);
}

static void on_reply(struct epoll_watch *watch, uint32_t events)
{
    struct session *session = CONTAINER_OF(watch, struct session, watch);
    (void)events;
    for (int i = 0; i < DATAGRAMS_PER_EVENT && session->fd >= 0; i++) {
        struct proxy_listener *listener = session->listener;
        char *piece = listener->proxy->piece;
        ssize_t size = recv(session->fd, piece, RELAY_PIECE, 0);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        /* The backend cannot be reached, for example because no process listens there. The client's
         * next datagram begins a new session. */
        if (size < 0) {
            session_end(session);
            return;
        }
        session_extend(session);
        /* A datagram that cannot be sent is lost, as on any network. */
        (void)!sendto(listener->fd, piece, (size_t)size, MSG_NOSIGNAL,
                      (const struct sockaddr *)&session->client, sizeof(session->client));
    }
}

static struct session *session_new(struct proxy_listener *listener,
                                   const struct sockaddr_in *client)
{
    struct proxy *proxy = listener->proxy;
    const struct proxy_place *to = &listener->to[proxy_listener_choose(listener, client)];
    struct sockaddr_in address = proxy_place_address(to);
    char key[PROXY_PLACE_MAX];
    if (proxy->session_count == SESSIONS_MAX)
        session_end(LIST_FIRST(&proxy->sessions, struct session, link));
    int fd = proxy_make_socket(proxy, client->sin_addr, to, SOCK_DGRAM);
    if (fd < 0)
        return NULL;
    struct session *session = mem_zalloc(sizeof(*session));
    session->watch.on_event = on_reply;
    session->listener = listener;
    session->client = *client;
    session->to = *to;
    session->fd = fd;
    session->deadline_ms = epoll_watch_now_ms() + IDLE_MS;
    list_append(&proxy->sessions, &session->link);
    proxy->session_count++;
    client_key(client, key);
    map_put(&listener->sessions, key, session);
    proxy_wake_at(proxy, session->deadline_ms);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        !epoll_watch_set(proxy->epoll_fd, fd, &session->watch, EPOLLIN)) {
        session_end(session);
        return NULL;
    }
    return session;
}

void proxy_on_datagram(struct epoll_watch *watch, uint32_t events)
{
    struct proxy_listener *listener = CONTAINER_OF(watch, struct proxy_listener, watch);
    (void)events;
    for (int i = 0; i < DATAGRAMS_PER_EVENT; i++) {
        struct sockaddr_in client = {0};
        socklen_t client_size = sizeof(client);
        char key[PROXY_PLACE_MAX], *piece = listener->proxy->piece;
        ssize_t size =
            recvfrom(listener->fd, piece, RELAY_PIECE, 0, (struct sockaddr *)&client, &client_size);
        if (size < 0) /* no packet is left, or the kernel reports that an earlier answer failed */
            return;
        client_key(&client, key);
        struct session *session = map_get(&listener->sessions, key);
        if (!session)
            session = session_new(listener, &client);
        if (!session)
            continue;
        session_extend(session);
        (void)!send(session->fd, piece, (size_t)size, MSG_NOSIGNAL);
    }
}

static bool is_backend_of(const struct proxy_listener *listener, const struct proxy_place *to)
{
    for (size_t i = 0; i < listener->count; i++)
        if (listener->to[i].port == to->port &&
            listener->to[i].address.s_addr == to->address.s_addr)
            return true;
    return false;
}

/* Returns one session whose backend is not in the list of backends any more, or NULL. The caller
 * ends it and calls again, because session_end() removes the session from the map and the
 * iteration cannot continue. */
static struct session *find_stale_session(const struct proxy_listener *listener)
{
    const char *key;
    void *value;
    for (size_t i = 0; map_next(&listener->sessions, &i, &key, &value);)
        if (!is_backend_of(listener, &((struct session *)value)->to))
            return value;
    return NULL;
}

void proxy_sessions_check(struct proxy_listener *listener)
{
    for (struct session *session; (session = find_stale_session(listener));)
        session_end(session);
}

void proxy_sessions_expire(struct proxy *proxy, int64_t now_ms)
{
    while (!list_is_empty(&proxy->sessions)) {
        struct session *session = LIST_FIRST(&proxy->sessions, struct session, link);
        if (session->deadline_ms > now_ms) {
            proxy_wake_at(proxy, session->deadline_ms);
            return;
        }
        session_end(session);
    }
}

void proxy_sessions_free_dead(struct proxy *proxy)
{
    LIST_EACH_SAFE (struct session, session, &proxy->dead_sessions, link)
        free(session);
    list_init(&proxy->dead_sessions);
}
