/* One pass of a controller over a workload. A pass makes the API calls that carry out the
 * controller's plan, in numbered stages and with a limit of calls in flight. It references the
 * objects that the calls use. A stage begins when every call of the stage before has been answered.
 * A controller embeds struct kube_pass in its own struct and defines the stages. */
#ifndef TRAINYARD_KUBE_CLIENT_PASS_H
#define TRAINYARD_KUBE_CLIENT_PASS_H

#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "kube/client/client.h"
#include "kube/client/own_writes.h"
#include "kube/client/shared_object.h"

struct kube_pass;

struct kube_pass_stages {
    int count;
    /* Starts the next call of pass->stage and returns true, or returns false if there is none. Each
     * call ends with kube_pass_answered(). pass->position is a counter for this function; it is 0
     * when a stage begins. */
    bool (*start_next)(struct kube_pass *pass);
    /* Runs at the end of a stage and returns the next stage. NULL: the following number. */
    int (*after)(struct kube_pass *pass);
};

/* Called when all stages have ended, or when the pass was aborted and its calls have ended. The
 * callee releases the pass. */
typedef void kube_pass_done(void *context, struct kube_pass *pass);

struct kube_pass {
    const struct kube_pass_stages *stages;
    struct loop *loop;
    struct kube_client *client;
    const char *component; /* the reporting component of events */
    size_t calls_max;      /* limit of calls in flight */
    kube_pass_done *done;  /* runs on the loop thread, never from within a call of this interface */
    void *context;
    struct kube_own_writes *writes; /* writes of the workload; NULL: they are not tracked */

    struct kube_object *workload;
    struct arena *arena; /* holds the plan */

    int stage;        /* number of the current stage */
    size_t position;  /* counter of start_next() within the stage */
    bool failed;      /* the controller must repeat the pass, which still runs to its end */
    bool unreachable; /* the pass was aborted because the server did not answer */
    /* Only one call is in flight until the first answer arrives. The caller sets this if the server
     * did not answer in the previous pass. */
    bool probes;

    /* Private. */
    VEC(struct kube_object *) held; /* the references of kube_pass_hold() */
    size_t under_way;               /* number of calls in flight */
    struct loop_task end;           /* calls `done` */
    struct list_link link;          /* in the `list` of kube_pass_init() */
};

/* Adds the pass to `list`, the passes of a controller that are not released yet, in no particular
 * order. The caller sets the first block of members afterwards. */
void kube_pass_init(struct kube_pass *pass, struct list_head *list, struct kube_object *workload);
/* Removes the pass from its list and frees what it holds, but not struct kube_pass. May be called
 * with calls in flight only if the client was freed before. */
void kube_pass_release(struct kube_pass *pass);

/* Keeps a reference to the object until the pass is released. Returns its tree. */
const struct json *kube_pass_hold(struct kube_pass *pass, struct kube_object *object);
/* Like kube_pass_hold(), for `count` objects. The returned array is in the arena of the pass. */
const struct json **kube_pass_hold_all(struct kube_pass *pass, struct kube_object *const *objects,
                                       size_t count);
/* Like kube_pass_hold_all(), for all objects of a map, sorted by their names. */
const struct json **kube_pass_hold_map(struct kube_pass *pass, const struct map *objects,
                                       size_t *ret_count);

/* Starts the first stage and returns. `done` runs later, even if no stage has a call. */
void kube_pass_start(struct kube_pass *pass);
/* Must be called when a call has ended, with or without success. Starts further calls. */
void kube_pass_answered(struct kube_pass *pass);

/* Returns whether the server answered with this error. Returns false for a timeout, a lost
 * connection and the HTTP statuses 503 and 504, because it is unknown then whether the call had an
 * effect. */
bool kube_pass_has_answer(const struct err *err);
/* Lets the pass end after the calls in flight. Used if the workload could not be written or a call
 * got no answer. Sets `failed`, so that the pass is repeated, or clears it if `err` says that the
 * workload does not exist (ERR_NOT_FOUND). The caller must still call kube_pass_answered(). */
void kube_pass_abort(struct kube_pass *pass, const struct err *err);
/* Records a write of the workload in `writes`. `workload` is the server's answer. */
void kube_pass_add_write(struct kube_pass *pass, const struct json *workload);

/* Records an event about the workload. */
void kube_pass_event(struct kube_pass *pass, bool warning, const char *reason, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));

#endif
