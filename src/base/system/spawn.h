/* Starts a program in a clean state: no signal is blocked or ignored, and the program inherits only
 * the three given descriptors. All other descriptors of this process must be close-on-exec. May be
 * called on any thread, and blocks that thread until the program is executed. */
#ifndef TRAINYARD_BASE_SYSTEM_SPAWN_H
#define TRAINYARD_BASE_SYSTEM_SPAWN_H

#include <sys/types.h>

enum spawn_place {
    SPAWN_IN_OUR_GROUP,   /* the program may read from the terminal */
    SPAWN_IN_OWN_GROUP,   /* the program and its children can be killed as one group */
    SPAWN_IN_OWN_SESSION, /* the program also has no controlling terminal */
};

struct spawn {
    /* argv. The first string is the program, which is searched in $PATH if it has no '/'. */
    char *const *arguments;
    char *const *environment;
    enum spawn_place place;
    int in, out, err; /* descriptors for 0, 1 and 2; `in` may be -1: /dev/null */
};

/* Returns 0, or a positive errno. */
int spawn_process(const struct spawn *spawn, pid_t *ret_pid);

#endif
