/* The TCP proxy; see proxy.h. A connection is a pair of sockets: first the second one is being
 * connected, then a relay moves bytes between them. */
#include "node/proxy.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "node/relay.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS_A_TURN = 256,
    ACCEPTS_A_TURN = 64,
    BACKLOG = 1024,
    CONNECTIONS_MAX = 32 * 1024,
    TRIES_MAX = 8,          /* places tried for one caller */
    LISTEN_RETRY_MS = 2000, /* a port that is taken may become free */
    ACCEPT_RETRY_MS = 100,  /* after the system ran out of descriptors */
    SYN_TRIES = 3,          /* a place that is gone is given up after 15 s */
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_INTERVAL_S = 10,
};

/* What epoll hands back. */
struct watched {
    void (*on_event)(struct watched *watched, uint32_t events);
    uint32_t events; /* asked for now */
    bool added;
};

struct listener {
    struct watched watched;
    struct proxy *proxy;
    struct proxy_place place;
    char *owner;
    int fd;           /* -1: not listening yet */
    int64_t retry_ms; /* when to try again; 0: no need */
    bool complained;  /* that it cannot listen was told */
    bool wanted;      /* while a table is taken over */
    struct proxy_place *to;
    size_t count, next;
    bool sticky;
};

struct pair_end {
    struct watched watched;
    struct pair *pair;
    int side;
};

struct pair {
    struct proxy *proxy;
    struct pair *next, *previous;
    struct pair_end ends[2]; /* the caller's, and the place's */
    struct relay relay;
    bool connecting;
    bool dead; /* freed after this turn: events of it may be in hand */
    struct proxy_place tries[TRIES_MAX];
    size_t try_count, tried;
};

struct proxy {
    struct proxy_options options;
    int epoll_fd;
    struct map listeners;   /* by "address:port" */
    struct pair live, dead; /* rings */
    size_t connections;
    int64_t wake_ms; /* when something is to be tried again; 0: nothing */
    char *piece;     /* RELAY_PIECE bytes for whoever moves */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wake_at(struct proxy *proxy, int64_t at_ms)
{
    if (!proxy->wake_ms || at_ms < proxy->wake_ms)
        proxy->wake_ms = at_ms;
}

static void watch(struct proxy *proxy, int fd, struct watched *watched, uint32_t events)
{
    if (watched->added && watched->events == events)
        return;
    struct epoll_event event = {.events = events, .data.ptr = watched};
    epoll_ctl(proxy->epoll_fd, watched->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    watched->added = true;
    watched->events = events;
}

/* Not left to close(): a child that is being started may hold the socket for a moment longer. */
static void unwatch(struct proxy *proxy, int fd, struct watched *watched)
{
    if (watched->added)
        epoll_ctl(proxy->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    watched->added = false;
}

/* ---- connections ----------------------------------------------------------------------------- */

static void ring_remove(struct pair *pair)
{
    pair->previous->next = pair->next;
    pair->next->previous = pair->previous;
}

static void ring_add(struct pair *ring, struct pair *pair)
{
    pair->next = ring;
    pair->previous = ring->previous;
    ring->previous->next = pair;
    ring->previous = pair;
}

static void close_side(struct pair *pair, int side, bool reset)
{
    int *fd = &pair->relay.fds[side];
    if (*fd < 0)
        return;
    const struct linger at_once = {.l_onoff = 1};
    if (reset)
        setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    unwatch(pair->proxy, *fd, &pair->ends[side].watched);
    close(*fd);
    *fd = -1;
}

static void pair_end(struct pair *pair, bool reset)
{
    struct proxy *proxy = pair->proxy;
    close_side(pair, 0, reset);
    close_side(pair, 1, reset);
    relay_release(&pair->relay);
    pair->dead = true;
    ring_remove(pair);
    ring_add(&proxy->dead, pair);
    proxy->connections--;
}

static void move(struct pair *pair)
{
    enum relay_result result = relay_move(&pair->relay, pair->proxy->piece);
    if (result != RELAY_GOES_ON) {
        pair_end(pair, result == RELAY_BROKEN);
        return;
    }
    for (int side = 0; side < 2; side++)
        watch(pair->proxy, pair->relay.fds[side], &pair->ends[side].watched,
              relay_events(&pair->relay, side));
}

static void set_options(int fd)
{
    const int on = 1, idle = KEEPALIVE_IDLE_S, interval = KEEPALIVE_INTERVAL_S;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
}

static int make_socket(struct proxy *proxy, const struct proxy_place *to)
{
    int fd = -1;
    if (!proxy->options.make_socket)
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    else if (proxy->options.make_socket(proxy->options.context, to, &fd, NULL) < 0)
        fd = -1;
    return fd;
}

static struct sockaddr_in address_of(const struct proxy_place *place)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(place->port), .sin_addr = place->address};
}

/* Connect to the next place; when none is left the caller is turned away. */
static void connect_next(struct pair *pair)
{
    const int syn_tries = SYN_TRIES;
    while (pair->tried < pair->try_count) {
        const struct proxy_place *to = &pair->tries[pair->tried++];
        struct sockaddr_in address = address_of(to);
        int fd = make_socket(pair->proxy, to);
        if (fd < 0)
            break;
        pair->relay.fds[1] = fd;
        set_options(fd);
        setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &syn_tries, sizeof(syn_tries));
        if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ||
            errno == EINPROGRESS) {
            watch(pair->proxy, fd, &pair->ends[1].watched, EPOLLOUT);
            return;
        }
        close_side(pair, 1, false);
    }
    pair_end(pair, true);
}

static void on_connect_event(struct pair *pair, int side)
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (side == 0) { /* nothing was asked for: the caller is gone */
        pair_end(pair, true);
        return;
    }
    getsockopt(pair->relay.fds[1], SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        close_side(pair, 1, false);
        connect_next(pair);
    } else {
        pair->connecting = false;
        move(pair);
    }
}

static void on_pair_event(struct watched *watched, uint32_t events)
{
    struct pair_end *end = CONTAINER_OF(watched, struct pair_end, watched);
    struct pair *pair = end->pair;
    if (pair->dead)
        return;
    if (pair->connecting)
        on_connect_event(pair, end->side);
    else if (events & (EPOLLERR | EPOLLHUP) && relay_is_deaf(&pair->relay, end->side))
        pair_end(pair, true);
    else
        move(pair);
}

/* Where to begin: with the next in turn, or for all callers of one address with the same. */
static size_t choose_first(struct listener *listener, const struct sockaddr_in *caller)
{
    size_t next = listener->next;
    if (listener->sticky)
        return (ntohl(caller->sin_addr.s_addr) * 2654435761U >> 16) % listener->count;
    listener->next = (next + 1) % listener->count;
    return next;
}

static void pair_new(struct listener *listener, int fd, const struct sockaddr_in *caller)
{
    struct proxy *proxy = listener->proxy;
    struct pair *pair = mem_zalloc(sizeof(*pair));
    pair->proxy = proxy;
    pair->connecting = true;
    relay_init(&pair->relay, fd, -1);
    for (int side = 0; side < 2; side++)
        pair->ends[side] =
            (struct pair_end){.watched.on_event = on_pair_event, .pair = pair, .side = side};
    size_t first = choose_first(listener, caller);
    for (size_t i = 0; i < listener->count && i < TRIES_MAX; i++)
        pair->tries[pair->try_count++] = listener->to[(first + i) % listener->count];
    ring_add(&proxy->live, pair);
    proxy->connections++;
    set_options(fd);
    watch(proxy, fd, &pair->ends[0].watched, 0);
    connect_next(pair);
}

/* ---- listening ------------------------------------------------------------------------------- */

static void retry_at(struct listener *listener, int delay_ms)
{
    listener->retry_ms = now_ms() + delay_ms;
    wake_at(listener->proxy, listener->retry_ms);
}

static void on_caller(struct watched *watched, uint32_t events)
{
    struct listener *listener = CONTAINER_OF(watched, struct listener, watched);
    struct proxy *proxy = listener->proxy;
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        struct sockaddr_in caller = {0};
        socklen_t size = sizeof(caller);
        int fd = proxy->connections < CONNECTIONS_MAX
                     ? accept4(listener->fd, (struct sockaddr *)&caller, &size,
                               SOCK_CLOEXEC | SOCK_NONBLOCK)
                     : -1;
        if (fd >= 0) {
            pair_new(listener, fd, &caller);
        } else if (proxy->connections < CONNECTIONS_MAX &&
                   (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) {
            return;
        } else {
            /* Out of descriptors or memory: callers wait in the kernel's queue meanwhile. */
            watch(proxy, listener->fd, &listener->watched, 0);
            retry_at(listener, ACCEPT_RETRY_MS);
            return;
        }
    }
}

static int try_to_listen(struct listener *listener, struct err *err)
{
    const int on = 1;
    struct sockaddr_in address = address_of(&listener->place);
    char text[PROXY_PLACE_MAX];
    proxy_place_text(&listener->place, text);
    _cleanup_fd_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0)
        return err_set_errno(err, errno, "cannot listen on %s", text);
    listener->fd = TAKE_FD(fd);
    return 0;
}

static void begin_to_listen(struct listener *listener)
{
    struct proxy *proxy = listener->proxy;
    struct err err = ERR_INIT;
    bool failed = listener->fd < 0 && try_to_listen(listener, &err) < 0;
    listener->retry_ms = 0;
    if (failed)
        retry_at(listener, LISTEN_RETRY_MS);
    else
        watch(proxy, listener->fd, &listener->watched, EPOLLIN);
    if (failed != listener->complained && proxy->options.news)
        proxy->options.news(proxy->options.context, listener->owner, &listener->place,
                            failed ? &err : NULL);
    listener->complained = failed;
}

static void listener_free(struct listener *listener)
{
    if (listener->fd >= 0) {
        unwatch(listener->proxy, listener->fd, &listener->watched);
        close(listener->fd);
    }
    free(listener->owner);
    free(listener->to);
    free(listener);
}

static void take_route(struct proxy *proxy, const struct proxy_route *route)
{
    char key[PROXY_PLACE_MAX];
    proxy_place_text(&route->listen, key);
    struct listener *listener = map_get(&proxy->listeners, key);
    bool is_new = !listener;
    if (is_new) {
        listener = mem_zalloc(sizeof(*listener));
        listener->watched.on_event = on_caller;
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
    if (is_new)
        begin_to_listen(listener);
}

/* Visits a listener at a time, since what is removed changes the map. */
static struct listener *find_unwanted(const struct proxy *proxy, const char **ret_key)
{
    void *value;
    for (size_t i = 0; map_next(&proxy->listeners, &i, ret_key, &value);)
        if (!((struct listener *)value)->wanted)
            return value;
    return NULL;
}

void proxy_set(struct proxy *proxy, const struct proxy_table *table)
{
    const char *key;
    void *value;
    for (size_t i = 0; map_next(&proxy->listeners, &i, &key, &value);)
        ((struct listener *)value)->wanted = false;
    for (size_t i = 0; i < table->count; i++)
        if (table->routes[i].count > 0)
            take_route(proxy, &table->routes[i]);
    for (struct listener *listener; (listener = find_unwanted(proxy, &key));) {
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
    proxy->live.next = proxy->live.previous = &proxy->live;
    proxy->dead.next = proxy->dead.previous = &proxy->dead;
    map_init(&proxy->listeners);
    *ret = proxy;
    return 0;
}

static void bury(struct proxy *proxy)
{
    while (proxy->dead.next != &proxy->dead) {
        struct pair *pair = proxy->dead.next;
        ring_remove(pair);
        free(pair);
    }
}

struct proxy *proxy_free(struct proxy *proxy)
{
    if (!proxy)
        return NULL;
    proxy_set(proxy, &(struct proxy_table){0});
    while (proxy->live.next != &proxy->live)
        pair_end(proxy->live.next, false);
    bury(proxy);
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

static void retry(struct proxy *proxy)
{
    int64_t now = now_ms();
    const char *key;
    void *value;
    proxy->wake_ms = 0;
    for (size_t i = 0; map_next(&proxy->listeners, &i, &key, &value);) {
        struct listener *listener = value;
        if (listener->retry_ms && listener->retry_ms <= now)
            begin_to_listen(listener);
        else if (listener->retry_ms)
            wake_at(proxy, listener->retry_ms);
    }
}

static int until_wake(const struct proxy *proxy)
{
    int64_t left = proxy->wake_ms - now_ms();
    return !proxy->wake_ms ? -1 : left > 0 ? (int)left : 0;
}

int proxy_run(struct proxy *proxy, int timeout_ms, const sigset_t *mask)
{
    struct epoll_event events[EVENTS_A_TURN];
    int wake = until_wake(proxy);
    if (wake >= 0 && (timeout_ms < 0 || wake < timeout_ms))
        timeout_ms = wake;
    int count = epoll_pwait(proxy->epoll_fd, events, EVENTS_A_TURN, timeout_ms, mask);
    for (int i = 0; i < count; i++) {
        struct watched *watched = events[i].data.ptr;
        watched->on_event(watched, events[i].events);
    }
    bury(proxy);
    if (until_wake(proxy) == 0)
        retry(proxy);
    return until_wake(proxy);
}
