/* Sockets watched by epoll in programs without the loop: the static trainyard-step, and the proxy
 * that also runs beside it. */
#ifndef TRAINYARD_NODE_STEP_WATCHED_H
#define TRAINYARD_NODE_STEP_WATCHED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What epoll hands back. Whoever is ended while events are handled must be freed after the turn:
 * events of it may still be in hand. */
struct epoll_watch {
    void (*on_event)(struct epoll_watch *watch, uint32_t events);
    uint32_t events; /* asked for now */
    bool added;
};

/* Ask for these events of a socket; false where the system cannot watch it. */
bool epoll_watch_set(int epoll_fd, int fd, struct epoll_watch *watch, uint32_t events);
/* Before it is closed: a child that is being started may hold it for a moment longer. */
void epoll_watch_unset(int epoll_fd, int fd, struct epoll_watch *watch);
/* Handle what has happened, waiting up to timeout_ms (-1: for ever) for it, with the signal mask
 * `mask` meanwhile (NULL: as it is). */
void epoll_watch_turn(int epoll_fd, int timeout_ms, const sigset_t *mask);

int64_t epoll_watch_now_ms(void);

#endif
