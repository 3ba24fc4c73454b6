/* Watches sockets by epoll; see step/helper/epoll_watch.h. */
#include "node/step/helper/epoll_watch.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS_PER_TURN = 256 };

bool epoll_watch_set(int epoll_fd, int fd, struct epoll_watch *watch, uint32_t events)
{
    if (watch->added && watch->events == events)
        return true;
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (epoll_ctl(epoll_fd, watch->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0)
        return false;
    watch->added = true;
    watch->events = events;
    return true;
}

void epoll_watch_unset(int epoll_fd, int fd, struct epoll_watch *watch)
{
    if (watch->added)
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    watch->added = false;
}

void epoll_watch_turn(int epoll_fd, int timeout_ms, const sigset_t *mask)
{
    struct epoll_event events[EVENTS_PER_TURN];
    int count = epoll_pwait(epoll_fd, events, EVENTS_PER_TURN, timeout_ms, mask);
    for (int i = 0; i < count; i++) {
        struct epoll_watch *watch = events[i].data.ptr;
        watch->on_event(watch, events[i].events);
    }
}

int64_t epoll_watch_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
