/* Starts programs; see spawn.h. */
#include "base/system/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

static short flag_of(enum spawn_place place)
{
    switch (place) {
    case SPAWN_IN_OWN_GROUP:
        return POSIX_SPAWN_SETPGROUP;
    case SPAWN_IN_OWN_SESSION:
        return POSIX_SPAWN_SETSID;
    case SPAWN_IN_OUR_GROUP:
        break;
    }
    return 0;
}

int spawn_process(const struct spawn *spawn, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  flag_of(spawn->place)));
    posix_spawn_file_actions_init(&actions);
    if (spawn->in < 0)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&actions, spawn->in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, spawn->out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, spawn->err, STDERR_FILENO);
    int result = posix_spawnp(ret_pid, spawn->arguments[0], &actions, &attributes, spawn->arguments,
                              spawn->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return result;
}
