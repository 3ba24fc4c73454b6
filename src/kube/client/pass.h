/* One pass of a controller over a workload: the calls that carry out what it decided, in numbered
 * stages, at most so many under way, and all that must be held until the last is answered. A stage
 * begins when every call of the one before has been answered. Controllers embed it in what they
 * know of the plan; what the stages are is theirs. */
#ifndef TRAINYARD_KUBE_PASS_H
#define TRAINYARD_KUBE_PASS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "kube/client/client.h"
#include "kube/client/own_writes.h"
#include "kube/client/shared_object.h"

struct kube_pass;

struct kube_pass_stages {
    int count;
    /* Start the next call of pass->stage, if there is one: its answer ends in a
     * kube_pass_answered(). pass->position is there to count with, and 0 when a stage begins. */
    bool (*start_next)(struct kube_pass *pass);
    /* The stage is through: which is next? NULL: the one after it. */
    int (*after)(struct kube_pass *pass);
};

/* Every stage is through, or the pass was given up. It is the callee's to release. */
typedef void kube_pass_done(void *context, struct kube_pass *pass);

struct kube_pass {
    const struct kube_pass_stages *stages;
    struct loop *loop;
    struct kube_client *client;
    const char *component; /* in whose name events are told */
    size_t calls_max;
    kube_pass_done *done; /* comes from the loop, never from within */
    void *context;
    struct kube_own_writes *writes; /* of the workload; NULL: nobody waits for them */

    struct kube_object *workload;
    struct arena *arena; /* the plan's */

    struct kube_pass *next; /* of its list */

    int stage;
    size_t position;
    bool failed;      /* to be tried again; does not end it by itself */
    bool unreachable; /* it was given up because the server did not answer */
    /* One call at a time until the first has ended, since the server did not answer before. The
     * caller's to set. */
    bool probes;

    /* Private. */
    VEC(struct kube_object *) held;
    size_t under_way;
    struct loop_task end;
    struct kube_pass **list, *previous;
};

/* The first block of members is the caller's to set afterwards. `list` starts as NULL and has the
 * passes of a controller that are not released, in no order. */
void kube_pass_init(struct kube_pass *pass, struct kube_pass **list, struct kube_object *workload);
/* Also with calls under way, if the client has been freed before. */
void kube_pass_release(struct kube_pass *pass);

/* Keep what the plan points into: a reference for the pass. */
const struct json *kube_pass_hold(struct kube_pass *pass, struct kube_object *object);
const struct json **kube_pass_hold_all(struct kube_pass *pass, struct kube_object *const *objects,
                                       size_t count);
/* … all of a map of objects by name, in the order of their names. */
const struct json **kube_pass_hold_map(struct kube_pass *pass, const struct map *objects,
                                       size_t *ret_count);

void kube_pass_start(struct kube_pass *pass);
void kube_pass_answered(struct kube_pass *pass); /* one call; it may have failed */

/* Whether the server answered at all. No answer says nothing about what was asked. */
bool kube_pass_has_answer(const struct err *err);
/* The workload itself could not be written, or a call got no answer, which those after it would not
 * get either. The pass is to be tried again, unless the workload is gone. No stage follows;
 * kube_pass_answered() does. */
void kube_pass_abort(struct kube_pass *pass, const struct err *err);
/* The workload was written, and is now so. */
void kube_pass_add_write(struct kube_pass *pass, const struct json *workload);

/* An event about the workload. */
void kube_pass_event(struct kube_pass *pass, bool warning, const char *reason, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));

#endif
