/* Starts a program in the state that programs expect: no signal is blocked or ignored, and it
 * inherits only the three given descriptors (all others are closed on exec). May be called by any
 * thread; only the calling thread waits until the program runs. */
#ifndef TRAINYARD_BASE_SYSTEM_SPAWN_H
#define TRAINYARD_BASE_SYSTEM_SPAWN_H

#include <sys/types.h>

enum spawn_place {
    SPAWN_IN_OUR_GROUP, /* the program may read from the terminal */
    SPAWN_IN_OWN_GROUP, /* the program and its children can be killed as one group */
    SPAWN_IN_OWN_SESSION,
};

struct spawn {
    char *const *arguments; /* the first is the program; searched in $PATH if it has no '/' */
    char *const *environment;
    enum spawn_place place;
    int in, out, err; /* descriptors; with `in` -1 the program reads an empty input */
};

/* Returns 0, or the errno of the failure (not negative). */
int spawn_process(const struct spawn *spawn, pid_t *ret_pid);

#endif
