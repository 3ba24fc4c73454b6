/* Serves TCP clients; see service/proxy_internal.h. For each client, tries one backend after the
 * other until one accepts the connection. Then a relay copies bytes between client and backend. */
#include "node/service/proxy_internal.h"

#include "base/mem.h"
#include "node/network/pod_network.h"
#include "node/service/relay.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TRIES_MAX = 8, /* backends tried per client */
    SYN_TRIES =
        3, /* TCP_SYNCNT: if a backend does not answer, the next is tried after 15 to 19 s */
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_INTERVAL_S = 10,
};

struct pair_end {
    struct epoll_watch watch;
    struct pair *pair;
    int side;
};

/* A client and its backend. */
struct pair {
    struct list_link link; /* in proxy.live or proxy.dead */
    struct proxy *proxy;
    struct pair_end ends[2]; /* the client's end, and the backend's end */
    struct relay relay;
    struct in_addr client; /* the client's address */
    bool connecting;       /* no backend has accepted yet */
    bool dead;             /* ended, but freed later, because epoll may still report events */
    struct proxy_place tries[TRIES_MAX]; /* the backends to try, in this order */
    size_t try_count;                    /* of `tries` */
    size_t tried;                        /* how many backends were tried */
};

/* Closes one side. With `reset`, the peer gets a reset instead of an end. */
static void close_side(struct pair *pair, int side, bool reset)
{
    int *fd = &pair->relay.fds[side];
    if (*fd < 0)
        return;
    const struct linger at_once = {.l_onoff = 1};
    if (reset)
        setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    epoll_watch_unset(pair->proxy->epoll_fd, *fd, &pair->ends[side].watch);
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
    list_remove(&pair->link);
    list_append(&proxy->dead, &pair->link);
    proxy->connections--;
}

static void pair_move_bytes(struct pair *pair)
{
    enum relay_result result = relay_move(&pair->relay, pair->proxy->piece);
    if (result != RELAY_GOES_ON) {
        pair_end(pair, result == RELAY_BROKEN);
        return;
    }
    for (int side = 0; side < 2; side++)
        epoll_watch_set(pair->proxy->epoll_fd, pair->relay.fds[side], &pair->ends[side].watch,
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

bool proxy_keeps_client_address(struct in_addr client, struct in_addr to)
{
    /* A pod drops packets that come from its own address, so the two addresses must differ. Both
     * must be pods, because the rules that deliver answers to the proxy see only packets between
     * pods. */
    return pod_network_has_pod(client) && pod_network_has_pod(to) && client.s_addr != to.s_addr;
}

/* Binds the socket to the client's address. If the kernel refuses, the backend sees the gateway's
 * address instead. */
static void proxy_keep_client_address(int fd, struct in_addr client)
{
    const int on = 1;
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = client};
    /* bind() takes no port. connect() chooses it, so that several connections can share a port. */
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    if (setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on)) == 0)
        (void)bind(fd, (const struct sockaddr *)&address, sizeof(address));
}

int proxy_make_socket(struct proxy *proxy, struct in_addr client, const struct proxy_place *to,
                      int type)
{
    int fd = -1;
    if (!proxy->options.make_socket)
        fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    else if (proxy->options.make_socket(proxy->options.context, to, type, &fd, NULL) < 0)
        fd = -1;
    if (fd >= 0 && proxy->options.transparent && proxy_keeps_client_address(client, to->address))
        proxy_keep_client_address(fd, client);
    return fd;
}

/* Starts to connect to the next backend. If none is left, or no socket can be created, resets the
 * client's connection. */
static void connect_next(struct pair *pair)
{
    const int syn_tries = SYN_TRIES;
    while (pair->tried < pair->try_count) {
        const struct proxy_place *to = &pair->tries[pair->tried++];
        struct sockaddr_in address = proxy_place_address(to);
        int fd = proxy_make_socket(pair->proxy, pair->client, to, SOCK_STREAM);
        if (fd < 0)
            break;
        pair->relay.fds[1] = fd;
        set_options(fd);
        setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &syn_tries, sizeof(syn_tries));
        if ((connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ||
             errno == EINPROGRESS) &&
            epoll_watch_set(pair->proxy->epoll_fd, fd, &pair->ends[1].watch, EPOLLOUT))
            return;
        close_side(pair, 1, false);
    }
    pair_end(pair, true);
}

static void on_connect_event(struct pair *pair, int side)
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (side == 0) { /* only errors and hangups are reported while connecting: the client is gone */
        pair_end(pair, true);
        return;
    }
    getsockopt(pair->relay.fds[1], SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        close_side(pair, 1, false);
        connect_next(pair);
    } else {
        pair->connecting = false;
        pair_move_bytes(pair);
    }
}

static void on_pair_event(struct epoll_watch *watch, uint32_t events)
{
    struct pair_end *end = CONTAINER_OF(watch, struct pair_end, watch);
    struct pair *pair = end->pair;
    if (pair->dead)
        return;
    if (pair->connecting)
        on_connect_event(pair, end->side);
    else if (events & (EPOLLERR | EPOLLHUP) && relay_is_paused(&pair->relay, end->side))
        pair_end(pair, true);
    else
        pair_move_bytes(pair);
}

void proxy_pair_new(struct proxy *proxy, int fd, struct in_addr client,
                    const struct proxy_place *to, size_t count, size_t first)
{
    struct pair *pair = mem_zalloc(sizeof(*pair));
    pair->proxy = proxy;
    pair->client = client;
    pair->connecting = true;
    relay_init(&pair->relay, fd, -1);
    for (int side = 0; side < 2; side++)
        pair->ends[side] =
            (struct pair_end){.watch.on_event = on_pair_event, .pair = pair, .side = side};
    for (size_t i = 0; i < count && i < TRIES_MAX; i++)
        pair->tries[pair->try_count++] = to[(first + i) % count];
    list_append(&proxy->live, &pair->link);
    proxy->connections++;
    set_options(fd);
    if (epoll_watch_set(proxy->epoll_fd, fd, &pair->ends[0].watch, 0))
        connect_next(pair);
    else
        pair_end(pair, true);
}

void proxy_pairs_init(struct proxy *proxy)
{
    list_init(&proxy->live);
    list_init(&proxy->dead);
}

void proxy_pairs_free_dead(struct proxy *proxy)
{
    LIST_EACH_SAFE (struct pair, pair, &proxy->dead, link)
        free(pair);
    list_init(&proxy->dead);
}

void proxy_pairs_end(struct proxy *proxy)
{
    while (!list_is_empty(&proxy->live))
        pair_end(LIST_FIRST(&proxy->live, struct pair, link), false);
    proxy_pairs_free_dead(proxy);
}
