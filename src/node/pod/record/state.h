/* The state of a pod's containers, in the file <pod directory>/state. At each change the supervisor
 * writes a new file and renames it over the old file, so that a reader never sees half a state. The
 * control process and the next supervisor read the file. */
#ifndef TRAINYARD_NODE_POD_RECORD_STATE_H
#define TRAINYARD_NODE_POD_RECORD_STATE_H

#include "base/buf.h"
#include "base/err.h"
#include "node/pod/record/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Limit of the state file in bytes. It has room for the largest state: per container two
     * escaped termination messages, of this run and of the previous run, and all other records. */
    POD_STATE_MAX = 2 * 1024 * 1024,
    POD_REASON_MAX = 64,
    POD_IMAGE_MAX = 512,
    POD_MESSAGE_MAX = ERR_MESSAGE_MAX,
    POD_TERMINATION_MESSAGE_MAX = 4096, /* bytes of a termination message, as in Kubernetes */
    POD_EVENTS_MAX = 64, /* the number of events that are kept; a slow reader misses older ones */
};

enum container_phase { CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_TERMINATED };

struct container_end {
    bool known; /* false if there is no such run, or it has not ended; the other fields are then
                   empty */
    int exit_code;
    int signal; /* the signal that ended the run, or 0 */
    int64_t started_ms, finished_ms;
    char reason[POD_REASON_MAX]; /* "Completed", "Error", "OOMKilled", "StartError", … */
    char message[POD_TERMINATION_MESSAGE_MAX + 1];
};

struct container_state {
    char name[64];
    char image[POD_IMAGE_MAX];         /* as the spec names it */
    char image_id[POD_REASON_MAX * 2]; /* "sha256:…", or "" if the image has no ID */
    enum container_phase phase;
    char reason[POD_REASON_MAX];   /* while waiting: why, such as "CrashLoopBackOff" */
    char message[POD_MESSAGE_MAX]; /* while waiting: details of the reason */
    int64_t started_ms;            /* while running: the wall time of the start */
    int64_t next_start_ms; /* while waiting: the earliest wall time of the next start, or 0 */
    int64_t pid;           /* the sandbox's first process; 0 if none runs */
    /* The index, from 0, of the current run; while waiting, of the next run. pod/status.c computes
     * Kubernetes' restart count from this index; that count excludes a run that has not been
     * started. */
    int64_t restarts;
    int level;                 /* restarts since the back-off was reset; sets the next delay */
    bool started, ready;       /* while running: the results of the startup and readiness probes */
    struct container_end end;  /* while terminated: how this run ended */
    struct container_end last; /* how the run before this one ended */
};

/* An event that the control process is to create for the pod. */
struct pod_event {
    /* 1 for the first event of the pod, then one more per event, also under the next supervisor. 0
     * means no event. */
    int64_t number;
    bool is_warning;
    char container[64]; /* the container that the event is about; "" means the whole pod */
    char reason[POD_REASON_MAX];
    char message[POD_MESSAGE_MAX];
};

struct pod_state {
    bool finished; /* no container runs, and none will */
    /* Why the whole pod is being ended or was ended: "DeadlineExceeded", "Evicted"; or "". */
    char reason[POD_REASON_MAX], message[POD_MESSAGE_MAX];
    int64_t last_event; /* number of the newest event; 0: none */
    struct pod_event
        *events[POD_EVENTS_MAX]; /* event n is at n % POD_EVENTS_MAX; NULL if there is none */
    size_t count;
    struct container_state *containers; /* in the order of the spec */
};

void pod_state_release(struct pod_state *state); /* safe on zeroed memory, and twice */
#define _cleanup_pod_state_ _cleanup_(pod_state_release)

/* Moves the parts that concern the whole pod from an earlier state to this one: whether and why the
 * pod is finished, and its events. */
void pod_state_inherit(struct pod_state *state, struct pod_state *earlier);
/* Appends a waiting container. The pointer is valid until the next call. */
struct container_state *pod_state_add(struct pod_state *state, const char *name);
struct container_state *pod_state_find(const struct pod_state *state, const char *name);

/* Records an event about a container, or about the whole pod if `container` is NULL. */
void pod_state_record_event(struct pod_state *state, const char *container, bool is_warning,
                            const char *reason, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Adds an empty event with this number. It becomes the newest event and replaces the event in its
 * slot. pod/record/state_text.c calls it for each event that it reads. */
struct pod_event *pod_state_add_event(struct pod_state *state, int64_t number);
/* Returns the event with this number, or NULL if it was replaced or does not exist yet. */
const struct pod_event *pod_state_event(const struct pod_state *state, int64_t number);

void pod_state_write(const struct pod_state *state, struct buf *buf);
/* Parses `text`, and changes it in place; a NUL byte must follow its `size` bytes. The caller
 * releases the state. On failure returns a negative code and leaves `ret` untouched. */
int pod_state_parse(char *text, size_t size, struct pod_state *ret, struct err *err);

/* pod_state_load() reads <directory>/state. It returns -ERR_NOT_FOUND if the file does not exist.
 * pod_state_store() replaces the file and waits until the new file is on the disk. */
int pod_state_load(const char *directory, struct pod_state *ret, struct err *err);
int pod_state_store(const char *directory, const struct pod_state *state, struct err *err);
/* Like pod_state_store(), but does not wait for the disk. Used if only results of probes or events
 * have changed: the next supervisor determines the results again, and events may be lost. */
int pod_state_show(const char *directory, const struct pod_state *state, struct err *err);

/* Returns <directory>/logs/<container>.<run>.log, where `run` is the restart count. The caller
 * frees it. */
char *pod_log_path(const char *directory, const char *container, int64_t run);
/* Returns <directory>/messages/<container>, which the container sees at its
 * terminationMessagePath. The caller frees it. */
char *pod_message_path(const char *directory, const char *container);

#endif
