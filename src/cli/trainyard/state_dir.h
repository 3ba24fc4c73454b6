/* What an embedded cluster keeps in its state directory, and who runs there now. Every command that
 * takes --state looks through this file; nobody else knows the names of the files. */
#ifndef TRAINYARD_CLI_TRAINYARD_STATE_DIR_H
#define TRAINYARD_CLI_TRAINYARD_STATE_DIR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <sys/types.h>

struct state_dir {
    const char *path;
    const char *database; /* the store */
    const char *lock;     /* held by the running server: the sign of life */
    const char *server;   /* who runs: pid, port, kubeconfig, version */
    const char *keeper;   /* held by the process that starts the server again after a crash */
    const char *restarts; /* how often that was, and why */
    const char *room;     /* blocks that the next start may use */
    const char *settings; /* what later `up`s keep: the nodes, their size, the shared directories */
    const char *log;      /* of the server in the background */
    const char *kubeconfig;
    const char *token;
    const char *pki;
    int patience_ms; /* how long a command waits for a server that starts, ends or restarts */
};

/* The directory given, or $XDG_STATE_HOME/trainyard, or ~/.local/state/trainyard; always absolute.
 */
int state_dir_resolve(struct arena *arena, const char *given, struct state_dir *ret,
                      struct err *err);

/* Make it, for this user's eyes only. */
int state_dir_make(const struct state_dir *state, struct err *err);

/* Become the server: the lock is held until the descriptor closes, also by kill -9. ERR_EXISTS if
 * one runs. */
int state_dir_lock(const struct state_dir *state, int *ret_fd, struct err *err);

/* The crashes of a server since `up`. */
struct state_restarts {
    int count;        /* how often it was started again */
    const char *time; /* of the last crash; NULL: there was none */
    const char *cause;
    bool waiting; /* the next start is put off for a while */
    bool gave_up; /* it crashed too often and is not started again */
};
int state_dir_write_restarts(const struct state_dir *state, const struct state_restarts *restarts,
                             struct err *err);

struct state_server {
    bool running;
    pid_t pid;
    int port;
    const char *kubeconfig;
    const char *version;
    struct state_restarts restarts; /* known also while no server runs */
};

/* The server that runs here; `running` is false if none does. While a server starts or ends, also
 * after kill -9, the call waits for it, up to `patience_ms`. The call does not wait for a server
 * that crashed and is about to be restarted. */
int state_dir_server(struct arena *arena, const struct state_dir *state, struct state_server *ret,
                     struct err *err);
/* Like state_dir_server(), but waits for a restart too. Returns -ERR_UNAVAILABLE after
 * `patience_ms`. */
int state_dir_await_server(struct arena *arena, const struct state_dir *state,
                           struct state_server *ret, struct err *err);
int state_dir_write_server(const struct state_dir *state, const struct state_server *server,
                           struct err *err);

#endif
