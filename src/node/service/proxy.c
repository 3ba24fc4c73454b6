/* Implements the proxy's listening sockets and its event loop; see service/proxy.h. */
#include "node/service/proxy_internal.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "node/service/relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ACCEPTS_PER_EVENT = 64, /* then other sockets are served */
    BACKLOG = 1024,
    CONNECTIONS_MAX = 32 * 1024,
    LISTEN_RETRY_MS = 2000, /* a port in use may become free */
    ACCEPT_RETRY_MS = 100,  /* pause after descriptors or memory were exhausted */
};

void proxy_wake_at(struct proxy *proxy, int64_t at_ms)
{
    if (!proxy->wake_ms || at_ms < proxy->wake_ms)
        proxy->wake_ms = at_ms;
}

struct sockaddr_in proxy_place_address(const struct proxy_place *place)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(place->port), .sin_addr = place->address};
}

/* ---- listening ------------------------------------------------------------------------------- */

size_t proxy_listener_choose(struct proxy_listener *listener, const struct sockaddr_in *client)
{
    size_t next = listener->next;
    if (listener->sticky)
        return (ntohl(client->sin_addr.s_addr) * 2654435761U >> 16) % listener->count;
    listener->next = (next + 1) % listener->count;
    return next;
}

static void listener_retry_later(struct proxy_listener *listener, int delay_ms)
{
    listener->retry_ms = epoll_watch_now_ms() + delay_ms;
    proxy_wake_at(listener->proxy, listener->retry_ms);
}

static void on_client(struct epoll_watch *watch, uint32_t events)
{
    struct proxy_listener *listener = CONTAINER_OF(watch, struct proxy_listener, watch);
    struct proxy *proxy = listener->proxy;
    for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
        struct sockaddr_in client = {0};
        socklen_t size = sizeof(client);
        int fd = proxy->connections < CONNECTIONS_MAX
                     ? accept4(listener->fd, (struct sockaddr *)&client, &size,
                               SOCK_CLOEXEC | SOCK_NONBLOCK)
                     : -1;
        if (fd >= 0) {
            proxy_pair_new(proxy, fd, client.sin_addr, listener->to, listener->count,
                           proxy_listener_choose(listener, &client));
        } else if (proxy->connections < CONNECTIONS_MAX &&
                   (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) {
            return;
        } else {
            /* Descriptors or memory are exhausted, or CONNECTIONS_MAX is reached. Stops accepting
             * for a while; new clients wait in the kernel's queue. */
            epoll_watch_set(proxy->epoll_fd, listener->fd, &listener->watch, 0);
            listener_retry_later(listener, ACCEPT_RETRY_MS);
            return;
        }
    }
}

static int listener_bind(struct proxy_listener *listener, struct err *err)
{
    const int on = 1;
    struct sockaddr_in address = proxy_place_address(&listener->place);
    char text[PROXY_PLACE_MAX];
    proxy_place_text(&listener->place, text);
    int type = listener->udp ? SOCK_DGRAM : SOCK_STREAM;
    _cleanup_fd_ int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make a socket");
    if (!listener->udp) /* with SO_REUSEADDR, two UDP sockets could share one port */
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        (!listener->udp && listen(fd, BACKLOG) < 0))
        return err_set_errno(err, errno, "cannot listen on %s", text);
    listener->fd = TAKE_FD(fd);
    return 0;
}

static void listener_open(struct proxy_listener *listener)
{
    struct proxy *proxy = listener->proxy;
    struct err err = ERR_INIT;
    bool failed = listener->fd < 0 && listener_bind(listener, &err) < 0;
    listener->retry_ms = 0;
    if (failed || !epoll_watch_set(proxy->epoll_fd, listener->fd, &listener->watch, EPOLLIN))
        listener_retry_later(listener, LISTEN_RETRY_MS);
    if (failed != listener->failure_reported && proxy->options.report)
        proxy->options.report(proxy->options.context, listener->owner, &listener->place,
                              listener->udp ? SOCK_DGRAM : SOCK_STREAM, failed ? &err : NULL);
    listener->failure_reported = failed;
}

static void listener_free(struct proxy_listener *listener)
{
    listener->count = 0;
    proxy_sessions_check(listener);
    map_release(&listener->sessions);
    if (listener->fd >= 0) {
        epoll_watch_unset(listener->proxy->epoll_fd, listener->fd, &listener->watch);
        close(listener->fd);
    }
    free(listener->owner);
    free(listener->to);
    free(listener);
}

/* Creates or updates the listener of a route. */
static void listener_update(struct proxy *proxy, const struct proxy_route *route)
{
    char place[PROXY_PLACE_MAX], key[PROXY_PLACE_MAX + sizeof("/udp")];
    proxy_place_text(&route->listen, place);
    snprintf(key, sizeof(key), "%s%s", place, route->udp ? "/udp" : "");
    struct proxy_listener *listener = map_get(&proxy->listeners, key);
    bool is_new = !listener;
    if (is_new) {
        listener = mem_zalloc(sizeof(*listener));
        listener->watch.on_event = route->udp ? proxy_on_datagram : on_client;
        listener->udp = route->udp;
        map_init(&listener->sessions);
        listener->proxy = proxy;
        listener->place = route->listen;
        listener->fd = -1;
        map_put(&proxy->listeners, key, listener);
    }
    free(listener->owner);
    free(listener->to);
    listener->owner = mem_strdup(route->owner ? route->owner : "");
    listener->to = mem_alloc(route->count * sizeof(*route->to));
    memcpy(listener->to, route->to, route->count * sizeof(*route->to));
    listener->count = route->count;
    listener->next %= route->count;
    listener->sticky = route->sticky;
    listener->wanted = true;
    proxy_sessions_check(listener);
    if (is_new)
        listener_open(listener);
}

/* Returns one listener whose route is not in the new table, or has no backend there. Returns NULL
 * if there is none. The caller removes the listener and calls again, because a removal ends the
 * iteration over the map. */
static struct proxy_listener *find_unwanted(const struct proxy *proxy, const char **ret_key)
{
    void *value;
    for (size_t i = 0; map_next(&proxy->listeners, &i, ret_key, &value);)
        if (!((struct proxy_listener *)value)->wanted)
            return value;
    return NULL;
}

void proxy_set(struct proxy *proxy, const struct proxy_table *table)
{
    const char *key;
    void *value;
    for (size_t i = 0; map_next(&proxy->listeners, &i, &key, &value);)
        ((struct proxy_listener *)value)->wanted = false;
    for (size_t i = 0; i < table->count; i++)
        if (table->routes[i].count > 0)
            listener_update(proxy, &table->routes[i]);
    for (struct proxy_listener *listener; (listener = find_unwanted(proxy, &key));) {
        map_remove(&proxy->listeners, key);
        listener_free(listener);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

int proxy_new(const struct proxy_options *options, struct proxy **ret, struct err *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot watch sockets");
    struct proxy *proxy = mem_zalloc(sizeof(*proxy));
    if (options)
        proxy->options = *options;
    proxy->epoll_fd = fd;
    proxy->piece = mem_alloc(RELAY_PIECE);
    proxy_pairs_init(proxy);
    map_init(&proxy->listeners);
    *ret = proxy;
    return 0;
}

struct proxy *proxy_free(struct proxy *proxy)
{
    if (!proxy)
        return NULL;
    proxy_set(proxy, &(struct proxy_table){0});
    proxy_pairs_end(proxy);
    proxy_sessions_free_dead(proxy);
    map_release(&proxy->listeners);
    close(proxy->epoll_fd);
    free(proxy->piece);
    free(proxy);
    return NULL;
}

int proxy_fd(const struct proxy *proxy)
{
    return proxy->epoll_fd;
}

size_t proxy_connections(const struct proxy *proxy)
{
    return proxy->connections;
}

static void proxy_retry_listeners(struct proxy *proxy)
{
    int64_t now = epoll_watch_now_ms();
    const char *key;
    void *value;
    proxy->wake_ms = 0;
    for (size_t i = 0; map_next(&proxy->listeners, &i, &key, &value);) {
        struct proxy_listener *listener = value;
        if (listener->retry_ms && listener->retry_ms <= now)
            listener_open(listener);
        else if (listener->retry_ms)
            proxy_wake_at(proxy, listener->retry_ms);
    }
    proxy_sessions_expire(proxy, now);
}

static int until_wake(const struct proxy *proxy)
{
    int64_t left = proxy->wake_ms - epoll_watch_now_ms();
    return !proxy->wake_ms ? -1 : left > 0 ? (int)left : 0;
}

int proxy_run(struct proxy *proxy, int timeout_ms, const sigset_t *mask)
{
    int wake = until_wake(proxy);
    if (wake >= 0 && (timeout_ms < 0 || wake < timeout_ms))
        timeout_ms = wake;
    epoll_watch_turn(proxy->epoll_fd, timeout_ms, mask);
    proxy_pairs_free_dead(proxy);
    proxy_sessions_free_dead(proxy);
    if (until_wake(proxy) == 0)
        proxy_retry_listeners(proxy);
    return until_wake(proxy);
}
