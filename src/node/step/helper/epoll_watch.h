/* Watches sockets by epoll, for code that does not use the event loop: the helpers of
 * trainyard-step, and the service proxy, which also runs in the control process. */
#ifndef TRAINYARD_NODE_STEP_HELPER_EPOLL_WATCH_H
#define TRAINYARD_NODE_STEP_HELPER_EPOLL_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A watched socket, embedded in the structure of its owner. The memory of a watch must not be freed
 * before epoll_watch_turn() returns, because epoll_wait() may already have returned further events
 * for it. */
struct epoll_watch {
    void (*on_event)(struct epoll_watch *watch, uint32_t events);
    uint32_t events; /* the events that the socket is watched for */
    bool added;      /* the socket is in the epoll instance */
};

/* Watches a socket for these events instead of those before. Returns false if the kernel cannot
 * watch it. */
bool epoll_watch_set(int epoll_fd, int fd, struct epoll_watch *watch, uint32_t events);
/* Must be called before the socket is closed. While a child that was just forked still has a copy
 * of the socket, closing alone does not remove the watch. */
void epoll_watch_unset(int epoll_fd, int fd, struct epoll_watch *watch);
/* Waits up to timeout_ms for events (-1 means without limit) with the signal mask `mask` (NULL
 * means the current one). Then calls on_event() of each watch that has events. Returns early if a
 * signal is handled. */
void epoll_watch_turn(int epoll_fd, int timeout_ms, const sigset_t *mask);

/* Returns the monotonic time. */
int64_t epoll_watch_now_ms(void);

#endif
