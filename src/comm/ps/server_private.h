/* The state of a parameter server. server.c has the loop and the connections. server_save.c decides
 * when snapshots are written, and answers the workers that wait for a snapshot. Included by
 * server.c and server_save.c only. */
#ifndef TRAINYARD_COMM_PS_SERVER_PRIVATE_H
#define TRAINYARD_COMM_PS_SERVER_PRIVATE_H

#include "base/vec.h"
#include "comm/ps/member.h"
#include "comm/ps/session.h"
#include "comm/ps/snapshot.h"
#include "comm/ps/wait.h"

struct ps_server {
    const struct ps_server_options *options;
    struct ps_member member;
    struct handshake_identity identity;
    struct ps_store *store;
    int epoll, listener;
    VEC(struct ps_session *) sessions;
    /* The reason of the previous rejection; the same reason is not reported twice in a row. */
    char last_refusal[ERR_MESSAGE_MAX];
    struct ps_wait wait; /* the workers that have not connected yet */
    bool ending;         /* all workers have finished, and the server sends their last answers */
    /* Deadline (monotonic, ms) for the last answers. The server waits longer while a snapshot is
     * being written. Valid only if `ending` is true. */
    int64_t ending_deadline;

    struct ps_snapshot *snapshot; /* NULL: the server writes no snapshots */
    int save_fd;     /* readable when the child that writes a snapshot has ended; -1: no child */
    uint64_t saved;  /* ps_store_changes() at the newest snapshot that was written or restored */
    uint64_t saving; /* ps_store_changes() at the start of the snapshot that is being written */
    int64_t save_started_ms; /* when the current snapshot was started (monotonic, ms) */
    int64_t save_pause_us;   /* how long the server paused to start the current snapshot */
    int64_t next_save_ms;    /* when the next snapshot is due (monotonic, ms) */
};

/* Restores the newest usable snapshot, if one exists, and reports the result. Does nothing if the
 * server writes no snapshots. */
int ps_server_restore(struct ps_server *server, struct err *err);

/* Called when a session waits for a snapshot. Starts a snapshot, or answers all waiting sessions if
 * all changes are on disk already or the server writes no snapshots. While a snapshot is being
 * written, does nothing: ps_server_saved() then starts the next snapshot. */
void ps_server_save_wanted(struct ps_server *server);
/* Called when the current snapshot is complete or has failed. Answers the sessions that waited for
 * this snapshot. Starts another snapshot if other sessions wait. */
void ps_server_saved(struct ps_server *server);
/* Starts a snapshot if one is due. Returns the time of the next snapshot (monotonic, ms), or
 * INT64_MAX if a snapshot is being written, nothing has changed, or the server writes no
 * snapshots. */
int64_t ps_server_save_if_due(struct ps_server *server, int64_t now);
/* Called before the server ends. Waits for a snapshot that is being written, then writes a snapshot
 * without a child process, unless all changes are on disk already. */
int ps_server_save_last(struct ps_server *server, struct err *err);

/* Continues a session as far as its connection allows, then updates its epoll events. Closes the
 * session if the connection or the handshake fails. */
void ps_server_progress(struct ps_server *server, struct ps_session *session);

#endif
