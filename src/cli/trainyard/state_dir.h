/* The state directory of an embedded cluster: its files, and the server that runs there. Every
 * command that takes --state uses this file; no other file knows the names of the files. */
#ifndef TRAINYARD_CLI_TRAINYARD_STATE_DIR_H
#define TRAINYARD_CLI_TRAINYARD_STATE_DIR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <sys/types.h>

struct state_dir {
    const char *path;
    const char *database;   /* database of the store */
    const char *lock;       /* lock file; held while a server runs */
    const char *server;     /* the running server: pid, port, kubeconfig, version */
    const char *supervisor; /* lock file of the supervisor that restarts the server after a crash */
    const char *restarts;   /* number of restarts, and the cause of the last crash */
    const char *room;       /* disk space reserved for the next start */
    const char *settings;   /* settings for the next `up`: nodes, their size, shared directories */
    const char *log;        /* log of the server in the background */
    const char *kubeconfig;
    const char *token;
    const char *pki;
    int patience_ms; /* how long a command waits for a server that starts, stops or restarts */
};

/* Resolves the given directory, or $XDG_STATE_HOME/trainyard, or ~/.local/state/trainyard; always
 * absolute. */
int state_dir_resolve(struct arena *arena, const char *given, struct state_dir *ret,
                      struct err *err);

/* Creates the directory, accessible by this user only. */
int state_dir_make(const struct state_dir *state, struct err *err);

/* Locks the state directory for a server. The lock is held until the descriptor is closed, also by
 * kill -9. Returns -ERR_EXISTS if a server runs. */
int state_dir_lock(const struct state_dir *state, int *ret_fd, struct err *err);

/* The crashes of the server since `up`. */
struct state_restarts {
    int count;        /* number of restarts */
    const char *time; /* time of the last crash; NULL: there was none */
    const char *cause;
    bool waiting; /* the next restart waits for its delay */
    bool gave_up; /* the server crashed too often and is not restarted */
};
int state_dir_write_restarts(const struct state_dir *state, const struct state_restarts *restarts,
                             struct err *err);

struct state_server {
    bool running;
    pid_t pid;
    int port;
    const char *kubeconfig;
    const char *version;
    struct state_restarts restarts; /* set even if no server runs */
};

/* Gets the running server; `running` is false if there is none. While a server starts or stops
 * (also after kill -9), the call waits for it, up to `patience_ms`. It does not wait for the
 * restart of a crashed server. */
int state_dir_server(struct arena *arena, const struct state_dir *state, struct state_server *ret,
                     struct err *err);
/* Like state_dir_server(), but also waits for a restart. Returns -ERR_UNAVAILABLE after
 * `patience_ms`. */
int state_dir_await_server(struct arena *arena, const struct state_dir *state,
                           struct state_server *ret, struct err *err);
int state_dir_write_server(const struct state_dir *state, const struct state_server *server,
                           struct err *err);

#endif
