/* Watching by epoll; see step/helper/epoll_watch.h. */
#include "node/step/helper/epoll_watch.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS_A_TURN = 256 };

bool watched_set(int epoll_fd, int fd, struct watched *watched, uint32_t events)
{
    if (watched->added && watched->events == events)
        return true;
    struct epoll_event event = {.events = events, .data.ptr = watched};
    if (epoll_ctl(epoll_fd, watched->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
        return false;
    watched->added = true;
    watched->events = events;
    return true;
}

void watched_unset(int epoll_fd, int fd, struct watched *watched)
{
    if (watched->added)
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    watched->added = false;
}

void watched_turn(int epoll_fd, int timeout_ms, const sigset_t *mask)
{
    struct epoll_event events[EVENTS_A_TURN];
    int count = epoll_pwait(epoll_fd, events, EVENTS_A_TURN, timeout_ms, mask);
    for (int i = 0; i < count; i++) {
        struct watched *watched = events[i].data.ptr;
        watched->on_event(watched, events[i].events);
    }
}

int64_t watched_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
