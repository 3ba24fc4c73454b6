/* What the files of the server share: ps_server.c has the loop and the connections,
 * ps_server_save.c when variables go to disk and who waits for it. Included by those only. */
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
    char stranger[ERR_MESSAGE_MAX]; /* why the last one was refused: the same is not said twice */
    struct ps_wait wait;            /* for workers that have not come yet */
    bool ending;                    /* all have finished: only the last answers are to be sent */
    int64_t ends;                   /* and this long at most */

    struct ps_snapshot *snapshot; /* NULL: none are kept */
    int save_fd;                  /* -1: none is being written */
    uint64_t saved, saving;       /* changes in the last one, and in the one being written */
    int64_t save_started_ms, save_pause_us, next_save_ms;
};

/* Take up what was saved. */
int ps_server_restore(struct ps_server *server, struct err *err);

/* Some session waits for a snapshot. */
void ps_server_save_wanted(struct ps_server *server);
/* The one that was being written has ended: answer those who waited for it. */
void ps_server_saved(struct ps_server *server);
/* Start one if it is time; returns when that will be, INT64_MAX: not before something changes. */
int64_t ps_server_save_due(struct ps_server *server, int64_t now);
/* Write one here and now, before the end. */
int ps_server_save_last(struct ps_server *server, struct err *err);

/* Go on with a session whose turn it is, and watch it or close it. */
void ps_server_progress(struct ps_server *server, struct ps_session *session);

#endif
