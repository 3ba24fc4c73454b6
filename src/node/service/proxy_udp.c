/* Serves UDP clients. A client, identified by its address and port, has a session with one backend.
 * Each session has its own socket. Answers are sent from the address that the client used. A
 * session ends after a time without packets, and when its backend is removed. */
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
    DATAGRAMS_A_TURN = 64,
    SESSIONS_MAX = 16 * 1024, /* above this number, the session that was idle longest ends */
    IDLE_MS = 60 * 1000,
};

struct session {
    struct epoll_watch watch;
    struct list_link link; /* in the proxy's list, sorted by deadline */
    struct proxy_listener *listener;
    struct sockaddr_in caller;
    struct proxy_place to;
    int fd; /* -1 if ended; epoll may still report events for it */
    int64_t deadline_ms;
};

static void caller_key(const struct sockaddr_in *caller, char key[PROXY_PLACE_MAX])
{
    const struct proxy_place place = {caller->sin_addr, ntohs(caller->sin_port)};
    proxy_place_text(&place, key);
}

static void session_end(struct session *session)
{
    struct proxy_listener *listener = session->listener;
    struct proxy *proxy = listener->proxy;
    char key[PROXY_PLACE_MAX];
    caller_key(&session->caller, key);
    map_remove(&listener->sessions, key);
    epoll_watch_unset(proxy->epoll_fd, session->fd, &session->watch);
    close(session->fd);
    session->fd = -1;
    list_remove(&session->link);
    list_append(&proxy->dead_sessions, &session->link);
    proxy->session_count--;
}

static void keep_alive(struct session *session)
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
    for (int i = 0; i < DATAGRAMS_A_TURN && session->fd >= 0; i++) {
        struct proxy_listener *listener = session->listener;
        char *piece = listener->proxy->piece;
        ssize_t size = recv(session->fd, piece, RELAY_PIECE, 0);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (size <
            0) { /* no process listens at the backend; the next datagram begins a new session */
            session_end(session);
            return;
        }
        keep_alive(session);
        /* A datagram that cannot be sent is lost, as on any network. */
        (void)!sendto(listener->fd, piece, (size_t)size, MSG_NOSIGNAL,
                      (const struct sockaddr *)&session->caller, sizeof(session->caller));
    }
}

static struct session *session_new(struct proxy_listener *listener,
                                   const struct sockaddr_in *caller)
{
    struct proxy *proxy = listener->proxy;
    const struct proxy_place *to = &listener->to[proxy_listener_choose(listener, caller)];
    struct sockaddr_in address = proxy_place_address(to);
    char key[PROXY_PLACE_MAX];
    if (proxy->session_count == SESSIONS_MAX)
        session_end(LIST_FIRST(&proxy->sessions, struct session, link));
    int fd = proxy_make_socket(proxy, caller->sin_addr, to, SOCK_DGRAM);
    if (fd < 0)
        return NULL;
    struct session *session = mem_zalloc(sizeof(*session));
    session->watch.on_event = on_reply;
    session->listener = listener;
    session->caller = *caller;
    session->to = *to;
    session->fd = fd;
    session->deadline_ms = epoll_watch_now_ms() + IDLE_MS;
    list_append(&proxy->sessions, &session->link);
    proxy->session_count++;
    caller_key(caller, key);
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
    for (int i = 0; i < DATAGRAMS_A_TURN; i++) {
        struct sockaddr_in caller = {0};
        socklen_t caller_size = sizeof(caller);
        char key[PROXY_PLACE_MAX], *piece = listener->proxy->piece;
        ssize_t size =
            recvfrom(listener->fd, piece, RELAY_PIECE, 0, (struct sockaddr *)&caller, &caller_size);
        if (size < 0) /* no packet is left, or the kernel reports that an earlier answer failed */
            return;
        caller_key(&caller, key);
        struct session *session = map_get(&listener->sessions, key);
        if (!session)
            session = session_new(listener, &caller);
        if (!session)
            continue;
        keep_alive(session);
        (void)!send(session->fd, piece, (size_t)size, MSG_NOSIGNAL);
    }
}

static bool is_behind(const struct proxy_listener *listener, const struct proxy_place *to)
{
    for (size_t i = 0; i < listener->count; i++)
        if (listener->to[i].port == to->port &&
            listener->to[i].address.s_addr == to->address.s_addr)
            return true;
    return false;
}

/* Returns one session whose backend is not in the list of backends any more, or NULL. The caller
 * ends one at a time, because that changes the map. */
static struct session *find_stale(const struct proxy_listener *listener)
{
    const char *key;
    void *value;
    for (size_t i = 0; map_next(&listener->sessions, &i, &key, &value);)
        if (!is_behind(listener, &((struct session *)value)->to))
            return value;
    return NULL;
}

void proxy_sessions_check(struct proxy_listener *listener)
{
    for (struct session *session; (session = find_stale(listener));)
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

void proxy_sessions_bury(struct proxy *proxy)
{
    LIST_EACH_SAFE (struct session, session, &proxy->dead_sessions, link)
        free(session);
    list_init(&proxy->dead_sessions);
}
