/* Starting a program as programs expect it: no signal is blocked or ignored, and it has no
 * descriptor of ours but the three it is given (ours are all closed on exec). May be called by any
 * thread; only that one stands still until the program runs. */
#ifndef TRAINYARD_BASE_SPAWN_H
#define TRAINYARD_BASE_SPAWN_H

#include <sys/types.h>

enum spawn_place {
    SPAWN_IN_OUR_GROUP, /* it may read from our terminal */
    SPAWN_IN_OWN_GROUP, /* it and its children can be ended as one */
    SPAWN_IN_OWN_SESSION,
};

struct spawn {
    char *const *arguments; /* the first is the program, looked for in $PATH if it has no '/' */
    char *const *environment;
    enum spawn_place place;
    int in, out, err; /* descriptors; `in` -1: empty */
};

/* 0, or the errno of why not. */
int spawn_process(const struct spawn *spawn, pid_t *ret_pid);

#endif
