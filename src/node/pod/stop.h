/* How and when a pod ends: files in its directory through which the control process tells its
 * supervisor. */
#ifndef TRAINYARD_NODE_POD_STOP_H
#define TRAINYARD_NODE_POD_STOP_H

#include "node/pod/state.h"

/* How a pod is to be ended: <directory>/stop, written before its supervisor is told. */
struct pod_stop {
    int64_t grace_ms; /* between SIGTERM and SIGKILL */
    bool pause;       /* the cluster goes down, not the pod: what was not done runs again later */
    bool deleted;     /* the pod's object is deleted: its supervisor ends even if no room is left to
                       * write the last state */
    /* Why the pod as a whole is ended: "Evicted"; or "". */
    char reason[POD_REASON_MAX], message[POD_MESSAGE_MAX];
};
/* Does not wait for the disk: a supervisor that reads it lives no longer than the machine runs.
 * That a pod is paused, evicted or deleted is marked besides by an empty file, for which a full
 * disk has room: it holds though nothing else can be written. */
int pod_stop_store(const char *directory, const struct pod_stop *stop, struct err *err);
/* What was not stored stays as it is. */
void pod_stop_load(const char *directory, struct pod_stop *ret);
void pod_pause_clear(const char *directory); /* it goes on */
/* Tell the supervisor. The signal is SIGTERM, queued: one that is not has another sender, as when
 * the machine goes down, and none of us has asked for the end of the pod. */
void pod_stop_tell(int supervisor_pidfd);
bool pod_stop_is_told(int signal_code);

/* <directory>/deadline: when the pod must have ended, where that was changed while it ran; wall
 * time. Control writes it and sends SIGHUP. */
int pod_deadline_store(const char *directory, int64_t wall_ms, struct err *err);
int pod_deadline_load(const char *directory, int64_t *ret_wall_ms, struct err *err);

#endif
