/* Writes and reads the files in a pod's directory by which the control process tells the supervisor
 * how and when to end the pod: the stop request, and a changed deadline. 'trainyard down' also
 * writes stop requests. */
#ifndef TRAINYARD_NODE_POD_RECORD_STOP_H
#define TRAINYARD_NODE_POD_RECORD_STOP_H

#include "node/pod/record/state.h"

/* The stop request: how to end the pod. pod_stop_store() writes it to <directory>/stop before
 * pod_stop_tell() is called. */
struct pod_stop {
    int64_t grace_ms; /* replaces pod_spec.grace_ms */
    /* The pod is to continue later: the cluster stops, has lost its pod network, or runs without
     * the pod's node. Containers that fail now, or whose restart policy says so, run again then. */
    bool pause;
    /* The pod's object is being deleted or is gone. `deleted` overrides `pause`, because the mark
     * of an earlier pause may still exist. The supervisor exits even if the disk has no room for
     * the last state. */
    bool deleted;
    /* Why the whole pod ends: "Evicted"; or "". */
    char reason[POD_REASON_MAX], message[POD_MESSAGE_MAX];
};
/* Writes the stop request. Does not wait for the disk, because the supervisor that reads the
 * request does not outlive a crash of the machine. Also creates an empty mark file for a pause, an
 * eviction or a deletion, because an empty file can often be created even if the disk is full. */
int pod_stop_store(const char *directory, const struct pod_stop *stop, struct err *err);
/* Reads the stop request. If its file cannot be read, the grace period, the reason and the message
 * in `ret` stay as they are. Sets `pause` and `deleted` from the mark files. If the reason is empty
 * and an eviction is marked, sets the reason to "Evicted" and also sets the message. */
void pod_stop_load(const char *directory, struct pod_stop *ret);
/* Removes the mark file of a pause. The supervisor calls it after it has stored the state of a pod
 * that is not paused again. */
void pod_pause_clear(const char *directory);
/* Sends SIGTERM to the supervisor, which then reads the stop request. The signal has the si_code
 * SI_QUEUE, so that the supervisor can distinguish it from the SIGTERM that init sends to every
 * process when the machine goes down. */
void pod_stop_tell(int supervisor_pidfd);
/* Returns whether a SIGTERM with this si_code comes from pod_stop_tell(). */
bool pod_stop_is_told(int signal_code);

/* The file <directory>/deadline contains the wall time at which the supervisor must start to end
 * the pod. It exists only if that time was changed after the pod was planned. After
 * pod_deadline_store() the control process sends SIGHUP to the supervisor, which calls
 * pod_deadline_load(). Loading returns -ERR_NOT_FOUND if the file does not exist, and then leaves
 * the output untouched. */
int pod_deadline_store(const char *directory, int64_t wall_ms, struct err *err);
int pod_deadline_load(const char *directory, int64_t *ret_wall_ms, struct err *err);

#endif
