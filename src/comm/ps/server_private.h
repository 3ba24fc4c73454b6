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
    /* The last reported reason of a rejection; the same reason is not reported twice in a row. */
    char last_refusal[ERR_MESSAGE_MAX];
    struct ps_wait wait; /* the workers that have not connected yet */
    bool ending;         /* all workers have finished: only the last answers are still sent */
    int64_t ends; /* deadline (monotonic, ms) for the last answers; a running snapshot extends it */

    struct ps_snapshot *snapshot; /* NULL: the server writes no snapshots */
    int save_fd; /* readable when the current snapshot is complete; -1: none is being written */
    uint64_t saved, saving; /* ps_store_changes() at the last snapshot, and at the current one */
    int64_t save_started_ms, save_pause_us, next_save_ms;
};

/* Restores the last snapshot, if one exists. */
int ps_server_restore(struct ps_server *server, struct err *err);

/* Called when a session waits for a snapshot: starts a snapshot as soon as possible, or answers the
 * session if all changes are on disk already or the server writes no snapshots. */
void ps_server_save_wanted(struct ps_server *server);
/* Called when the current snapshot is complete or has failed: answers the sessions that waited for
 * it. */
void ps_server_saved(struct ps_server *server);
/* Starts a snapshot if one is due. Returns the time of the next snapshot (monotonic, ms), or
 * INT64_MAX if no snapshot is planned. */
int64_t ps_server_save_due(struct ps_server *server, int64_t now);
/* Writes the last snapshot before the server ends, without a child process. */
int ps_server_save_last(struct ps_server *server, struct err *err);

/* Continues a session, then updates its epoll events or closes it. */
void ps_server_progress(struct ps_server *server, struct ps_session *session);

#endif
