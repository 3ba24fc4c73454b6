/* How and when a pod ends: files in its directory that the control process writes for the
 * supervisor. */
#ifndef TRAINYARD_NODE_POD_RECORD_STOP_H
#define TRAINYARD_NODE_POD_RECORD_STOP_H

#include "node/pod/record/state.h"

/* The order to end a pod, in <directory>/stop. It is written before the supervisor is signalled. */
struct pod_stop {
    int64_t grace_ms; /* time between SIGTERM and SIGKILL */
    bool pause;   /* the cluster stops, not the pod: containers that have not succeeded run again
                     later */
    bool deleted; /* the pod's object is deleted: its supervisor exits even if the disk has no room
                     for the last state */
    /* Why the whole pod ends: "Evicted"; or "". */
    char reason[POD_REASON_MAX], message[POD_MESSAGE_MAX];
};
/* Writes the order. Does not wait for the disk, because no supervisor that reads it outlives a
 * crash of the machine. For a pause, an eviction and a deletion it also creates an empty file each,
 * because that works on a full disk too. */
int pod_stop_store(const char *directory, const struct pod_stop *stop, struct err *err);
/* Reads the order. A field that was not stored keeps its value. */
void pod_stop_load(const char *directory, struct pod_stop *ret);
void pod_pause_clear(const char *directory); /* removes the mark of a pause: the pod runs again */
/* Signals the supervisor. SIGTERM is queued with sigqueue() semantics, so that the supervisor can
 * tell it from the SIGTERM that init sends to every process when the machine goes down. */
void pod_stop_tell(int supervisor_pidfd);
bool pod_stop_is_told(int signal_code);

/* The file <directory>/deadline contains the wall time at which the pod must have ended. It exists
 * only if that time was changed after the pod was planned. The control process writes the file and
 * sends SIGHUP to the supervisor. */
int pod_deadline_store(const char *directory, int64_t wall_ms, struct err *err);
int pod_deadline_load(const char *directory, int64_t *ret_wall_ms, struct err *err);

#endif
