/* The state directory of an embedded cluster: the paths of its files, and the server that runs
 * there. Used by every command with the option --state. The file names are defined only in
 * state_dir.c. */
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
    const char *lock;       /* lock file; see state_dir_lock() */
    const char *server;     /* file about the running server: pid, port, kubeconfig, version */
    const char *supervisor; /* lock file of the supervisor that restarts the server after a crash */
    const char *restarts;   /* file with the number of restarts and the cause of the last crash */
    const char *reserve;    /* file that reserves disk space for the next start (state_reserve.h) */
    const char *settings;   /* settings for later starts: nodes, node size, shared directories */
    const char *log;        /* log of the server in the background */
    const char *kubeconfig; /* default path of the kubeconfig */
    const char *token;      /* file with the bearer token of the kubeconfig */
    const char *pki;        /* directory with certificates and keys (credentials.h) */
    int server_wait_ms;     /* limit of waiting for a server that starts, stops or restarts */
};

/* Resolves the given directory or, if it is NULL, $XDG_STATE_HOME/trainyard or
 * ~/.local/state/trainyard. The paths in *ret are absolute. */
int state_dir_resolve(struct arena *arena, const char *given, struct state_dir *ret,
                      struct err *err);

/* Creates the directory and its subdirectories, accessible only by this user. */
int state_dir_make(const struct state_dir *state, struct err *err);

/* Locks the state directory for a server with its supervisor, or for `trainyard check`, and deletes
 * the files about the previous server. The lock ends when every process that inherited the
 * descriptor has closed it or has ended, also after kill -9. Returns 0, -ERR_EXISTS if another
 * process holds the lock, or another negative code. */
int state_dir_lock(const struct state_dir *state, int *ret_fd, struct err *err);

/* The crashes of the server since `trainyard up`. */
struct state_restarts {
    int count;         /* number of restarts */
    const char *time;  /* time of the last crash; NULL: no crash so far */
    const char *cause; /* cause of the last crash; see server_restart_cause() */
    bool waiting;      /* the next restart waits for its delay */
    bool gave_up;      /* the server crashed too often and is not restarted */
};
/* Writes the file that state_dir_server() reads into ret->restarts. */
int state_dir_write_restarts(const struct state_dir *state, const struct state_restarts *restarts,
                             struct err *err);

/* The server of a state directory. */
struct state_server {
    bool running;
    pid_t pid;
    int port;
    const char *kubeconfig;
    const char *version;
    struct state_restarts restarts; /* set even if no server runs */
};

/* Finds the running server; ret->running is false if no server runs. While a server starts or stops
 * (also after kill -9), or `trainyard check` runs, waits until this is over. Returns
 * -ERR_UNAVAILABLE if it takes longer than state->server_wait_ms. Does not wait for the restart of
 * a crashed server: ret->restarts.waiting is true then. */
int state_dir_server(struct arena *arena, const struct state_dir *state, struct state_server *ret,
                     struct err *err);
/* Like state_dir_server(), but also waits for the restart of a crashed server. */
int state_dir_await_server(struct arena *arena, const struct state_dir *state,
                           struct state_server *ret, struct err *err);
/* Writes the file in which state_dir_server() finds the running server. */
int state_dir_write_server(const struct state_dir *state, const struct state_server *server,
                           struct err *err);

#endif
