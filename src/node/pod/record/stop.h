/* The files in a pod's directory by which the control process tells the supervisor how and when to
 * end the pod. */
#ifndef TRAINYARD_NODE_POD_RECORD_STOP_H
#define TRAINYARD_NODE_POD_RECORD_STOP_H

#include "node/pod/record/state.h"

/* The order to end a pod, in <directory>/stop. It is written before the supervisor is signalled. */
struct pod_stop {
    int64_t grace_ms; /* time between SIGTERM and SIGKILL */
    bool pause;       /* the cluster stops, or runs without the pod's node: containers that have not
                         succeeded run again later */
    bool deleted; /* the pod's object is deleted: its supervisor exits even if the disk has no room
                     for the last state */
    /* Why the whole pod ends: "Evicted"; or "". */
    char reason[POD_REASON_MAX], message[POD_MESSAGE_MAX];
};
/* Writes the order. Does not wait for the disk, because no supervisor that reads it outlives a
 * crash of the machine. A pause, an eviction and a deletion are also marked by an empty file,
 * because it can be created on a full disk. */
int pod_stop_store(const char *directory, const struct pod_stop *stop, struct err *err);
/* Reads the order. `pause` and `deleted` are set from the mark files. If the order could not be
 * stored, the other fields keep their values, but the reason becomes "Evicted" if an eviction is
 * marked. */
void pod_stop_load(const char *directory, struct pod_stop *ret);
void pod_pause_clear(const char *directory); /* removes the mark of a pause: the pod runs again */
/* Sends SIGTERM to the supervisor with the si_code SI_QUEUE, so that the supervisor can distinguish
 * it from the SIGTERM that init sends to every process when the machine goes down.
 * pod_stop_is_told() returns true for that si_code. */
void pod_stop_tell(int supervisor_pidfd);
bool pod_stop_is_told(int signal_code);

/* The file <directory>/deadline contains the wall time at which the supervisor begins to end the
 * pod. It exists only if that time was changed after the pod was planned. The control process
 * writes the file and sends SIGHUP to the supervisor. */
int pod_deadline_store(const char *directory, int64_t wall_ms, struct err *err);
int pod_deadline_load(const char *directory, int64_t *ret_wall_ms, struct err *err);

#endif
