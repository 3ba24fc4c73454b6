/* The state of a parameter server. server.c has the loop and the connections; server_save.c decides
 * when variables are written to disk and answers the workers that wait for it. Included by those
 * two only. */
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
    /* The last reported reason of a refusal; the same reason is not reported twice in a row. */
    char last_refusal[ERR_MESSAGE_MAX];
    struct ps_wait wait; /* the workers that have not connected yet */
    bool ending;         /* all workers have finished: only the last answers are still sent */
    int64_t ends; /* when it ends even if answers are left, unless a snapshot is being written */

    struct ps_snapshot *snapshot; /* NULL: the server keeps no snapshots */
    int save_fd; /* readable when the current snapshot is written; -1: none is being written */
    uint64_t saved, saving; /* change counts of the last snapshot and of the current one */
    int64_t save_started_ms, save_pause_us, next_save_ms;
};

/* Restores the last snapshot, if one exists. */
int ps_server_restore(struct ps_server *server, struct err *err);

/* A session waits for a snapshot: starts one as soon as possible. */
void ps_server_save_wanted(struct ps_server *server);
/* The current snapshot has been written or has failed: answers the sessions that waited for it. */
void ps_server_saved(struct ps_server *server);
/* Starts a snapshot if one is due. Returns when the next one is due (monotonic, ms); INT64_MAX: not
 * before a variable changes. */
int64_t ps_server_save_due(struct ps_server *server, int64_t now);
/* Writes a snapshot in this process, before the server ends. */
int ps_server_save_last(struct ps_server *server, struct err *err);

/* Continues a session, then watches its descriptor or closes it. */
void ps_server_progress(struct ps_server *server, struct ps_session *session);

#endif
