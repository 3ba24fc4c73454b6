/* Watches sockets by epoll, for code that does not use the event loop: the static trainyard-step,
 * and the proxy, which also runs in the control process. */
#ifndef TRAINYARD_NODE_STEP_HELPER_EPOLL_WATCH_H
#define TRAINYARD_NODE_STEP_HELPER_EPOLL_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A watched socket. The memory of a watch must not be freed before epoll_watch_turn() returns,
 * because epoll_wait() may already have returned further events for it. */
struct epoll_watch {
    void (*on_event)(struct epoll_watch *watch, uint32_t events);
    uint32_t events; /* the events that the socket is watched for */
    bool added;
};

/* Watches a socket for these events. Returns false if the kernel cannot watch it. */
bool epoll_watch_set(int epoll_fd, int fd, struct epoll_watch *watch, uint32_t events);
/* Must be called before the socket is closed. While a child that was just forked still has a copy
 * of the socket, closing alone does not remove the watch. */
void epoll_watch_unset(int epoll_fd, int fd, struct epoll_watch *watch);
/* Handles events, waiting up to timeout_ms for them (-1 means for ever) with the signal mask
 * `mask` (NULL means the current one). */
void epoll_watch_turn(int epoll_fd, int timeout_ms, const sigset_t *mask);

int64_t epoll_watch_now_ms(void);

#endif
