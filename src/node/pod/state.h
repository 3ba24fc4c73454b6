/* What became of a pod's containers: written by its supervisor as <pod directory>/state at each
 * change, aside and renamed, and read by the control process and by the next supervisor. */
#ifndef TRAINYARD_NODE_POD_STATE_H
#define TRAINYARD_NODE_POD_STATE_H

#include "base/buf.h"
#include "base/err.h"
#include "node/pod/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Every container's last message of this run and the one before, escaped, and the rest. */
    POD_STATE_MAX = 2 * 1024 * 1024,
    POD_REASON_MAX = 64,
    POD_IMAGE_MAX = 512,
    POD_MESSAGE_MAX = ERR_MESSAGE_MAX,
    POD_TERMINATION_MESSAGE_MAX = 4096, /* bytes of a termination message, as in Kubernetes */
    POD_EVENTS_MAX = 64,                /* of the newest so many; who reads late misses the older */
};

enum container_phase { CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_TERMINATED };

struct container_end {
    bool known; /* there was one */
    int exit_code;
    int signal; /* that ended it, or 0 */
    int64_t started_ms, finished_ms;
    char reason[POD_REASON_MAX]; /* "Completed", "Error", "OOMKilled", "StartError", … */
    char message[POD_TERMINATION_MESSAGE_MAX + 1];
};

struct container_state {
    char name[64];
    char image[POD_IMAGE_MAX];         /* as its plan names it */
    char image_id[POD_REASON_MAX * 2]; /* "sha256:…" of an image that has one */
    enum container_phase phase;
    char reason[POD_REASON_MAX]; /* of waiting: "CrashLoopBackOff" */
    char message[POD_MESSAGE_MAX];
    int64_t started_ms;        /* of running */
    int64_t next_start_ms;     /* of waiting: wall time of the next attempt, or 0 */
    int64_t pid;               /* of the sandbox's first process, while running */
    int64_t restarts;          /* number of the run that runs, or ended, or comes next */
    int level;                 /* of the back-off */
    bool started, ready;       /* as its probes say, while it runs */
    struct container_end end;  /* of terminated */
    struct container_end last; /* the run before this one */
};

/* Something that happened and is to be told as an event of the pod. */
struct pod_event {
    int64_t number; /* grows by one, also from one supervisor to the next; 0: none */
    bool is_warning;
    char container[64]; /* it is about; "": the whole pod */
    char reason[POD_REASON_MAX];
    char message[POD_MESSAGE_MAX];
};

struct pod_state {
    bool finished; /* nothing runs and nothing will */
    /* Why the pod as a whole was ended: "DeadlineExceeded", "Evicted"; or "". */
    char reason[POD_REASON_MAX], message[POD_MESSAGE_MAX];
    int64_t last_event;                       /* number of the newest event; 0: none */
    struct pod_event *events[POD_EVENTS_MAX]; /* number n at n % POD_EVENTS_MAX, or NULL */
    size_t count;
    struct container_state *containers; /* in the spec's order */
};

void pod_state_release(struct pod_state *state); /* safe on zeroed memory and twice */
#define _cleanup_pod_state_ _cleanup_(pod_state_release)

/* Take over what is the pod's as a whole: whether it is finished and why, and the news. */
void pod_state_inherit(struct pod_state *state, struct pod_state *earlier);
struct container_state *pod_state_add(struct pod_state *state, const char *name);
struct container_state *pod_state_find(const struct pod_state *state, const char *name);

/* Add to the news, about a container or, with NULL, the whole pod. */
void pod_state_record_event(struct pod_state *state, const char *container, bool is_warning,
                            const char *reason, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* An empty entry with that number, which becomes the newest; one with the same slot is forgotten.
 * For pod/state_text.c. */
struct pod_event *pod_state_add_event(struct pod_state *state, int64_t number);
/* News with that number, or NULL if it is forgotten or yet to come. */
const struct pod_event *pod_state_event(const struct pod_state *state, int64_t number);

void pod_state_write(const struct pod_state *state, struct buf *buf);
/* The state read is the caller's to release; on failure nothing is left. */
int pod_state_parse(char *text, size_t size, struct pod_state *ret, struct err *err);

/* <directory>/state; ERR_NOT_FOUND when there is none yet. */
int pod_state_load(const char *directory, struct pod_state *ret, struct err *err);
int pod_state_store(const char *directory, const struct pod_state *state, struct err *err);
/* The same without waiting for the disk: for what would be found out again. */
int pod_state_show(const char *directory, const struct pod_state *state, struct err *err);

/* <directory>/logs/<container>.<run>.log: runs are counted by restarts. */
char *pod_log_path(const char *directory, const char *container, int64_t run);
/* <directory>/messages/<container>: what the container writes to its terminationMessagePath. */
char *pod_message_path(const char *directory, const char *container);

#endif
