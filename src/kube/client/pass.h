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

/* Called when all stages have ended or the pass was aborted. The callee releases the pass. */
typedef void kube_pass_done(void *context, struct kube_pass *pass);

struct kube_pass {
    const struct kube_pass_stages *stages;
    struct loop *loop;
    struct kube_client *client;
    const char *component; /* the reporting component of events */
    size_t calls_max;
    kube_pass_done *done; /* runs on the loop thread, never from within a call of this interface */
    void *context;
    struct kube_own_writes *writes; /* writes of the workload; NULL: they are not tracked */

    struct kube_object *workload;
    struct arena *arena; /* holds the plan */

    int stage;
    size_t position;
    bool failed;      /* the controller must repeat the pass, which still runs to its end */
    bool unreachable; /* the pass was aborted because the server did not answer */
    /* Only one call is in flight until the first answer arrives. The caller sets this if the server
     * did not answer in the previous pass. */
    bool probes;

    /* Private. */
    VEC(struct kube_object *) held;
    size_t under_way;
    struct loop_task end;
    struct list_link link; /* in the `list` of kube_pass_init() */
};

/* The caller sets the first block of members afterwards. `list` contains all passes of a controller
 * that are not released yet, in no particular order. It starts empty. */
void kube_pass_init(struct kube_pass *pass, struct list_head *list, struct kube_object *workload);
/* May be called with calls in flight if the client was freed before. */
void kube_pass_release(struct kube_pass *pass);

/* Keeps a reference to the object until the pass is released. Returns its tree. */
const struct json *kube_pass_hold(struct kube_pass *pass, struct kube_object *object);
const struct json **kube_pass_hold_all(struct kube_pass *pass, struct kube_object *const *objects,
                                       size_t count);
/* Like kube_pass_hold(), for all objects of a map, sorted by name. */
const struct json **kube_pass_hold_map(struct kube_pass *pass, const struct map *objects,
                                       size_t *ret_count);

void kube_pass_start(struct kube_pass *pass);
void kube_pass_answered(struct kube_pass *pass); /* one call has ended, with or without success */

/* Returns whether the server answered with this error. Without an answer it is unknown whether the
 * call had an effect. */
bool kube_pass_has_answer(const struct err *err);
/* Ends the pass after the calls in flight, because the workload could not be written or a call got
 * no answer. Sets `failed`, so that the pass is repeated; clears it if `err` says that the workload
 * is gone. The caller must still call kube_pass_answered(). */
void kube_pass_abort(struct kube_pass *pass, const struct err *err);
/* Records a write of the workload in `writes`. `workload` is the server's answer. */
void kube_pass_add_write(struct kube_pass *pass, const struct json *workload);

/* Records an event about the workload. */
void kube_pass_event(struct kube_pass *pass, bool warning, const char *reason, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));

#endif
