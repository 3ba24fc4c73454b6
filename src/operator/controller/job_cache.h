/* What the controller knows of each job beyond the job itself: the pods, services and PodGroup that
 * are labelled with its name, as the informers show them, pods that it controls and that are
 * labelled otherwise, the pods that vanished, and our own writes that the informers have not shown
 * yet. */
#ifndef TRAINYARD_OPERATOR_JOB_CACHE_H
#define TRAINYARD_OPERATOR_JOB_CACHE_H

#include "base/map.h"
#include "base/vec.h"
#include "kube/client/informer.h"
#include "kube/client/own_writes.h"

enum job_part { JOB_PODS, JOB_SERVICES, JOB_POD_GROUPS, JOB_UNMATCHED_PODS, JOB_PARTS };

struct job_entry {
    char *key;                   /* "namespace/name" */
    struct map parts[JOB_PARTS]; /* by name: struct kube_object */
    VEC(struct kube_object *) gone;
    struct map recorded_events; /* events that are not repeated */
    /* Why the server refuses the pods of the job for good, as one line; of the job as it was in
     * this generation. NULL: it does not. */
    char *rejection;
    int64_t rejected_generation;
    /* The server did not answer when the job was last worked on: it is left alone until then, on
     * the loop's clock, whatever is seen of it. 0: the server answered. */
    int64_t wait_until_ms, wait_ms;
    char *autoscaler; /* what was settled of it, as plan_autoscaler.c writes it; NULL: nothing */
    struct kube_own_writes writes;
};

/* Something of the job of this key is not as it was. */
typedef void job_cache_changed(void *context, const char *key);

struct job_cache {
    struct map entries; /* by key */
    job_cache_changed *changed;
    void *context;
};

void job_cache_init(struct job_cache *cache, job_cache_changed *changed, void *context);
void job_cache_release(struct job_cache *cache);

struct job_entry *job_cache_get(struct job_cache *cache, const char *key); /* made if missing */
/* The job is gone: forget what was only ours. The entry goes with the last of its objects. */
void job_cache_forget(struct job_cache *cache, const char *key);

/* An informer's change of an object, which may move it from one job to another. */
void job_cache_change(struct job_cache *cache, enum job_part part, struct kube_object *old,
                      struct kube_object *new_);

/* A pod that seemed to have vanished exists. `unmatched`: not with the labels by which it was seen;
 * it is kept until it is let go of, since no informer will tell of it again. */
void job_entry_found(struct job_entry *entry, const struct json *pod, bool unmatched);
void job_entry_drop_unmatched(struct job_entry *entry, const char *name);

/* Unless the informer shows it already. */
void job_entry_await_object(struct job_entry *entry, enum job_part part, const struct json *object,
                            int64_t now_ms);

/* True the first time; with a uid, the first time of that pod. */
bool job_entry_record_event(struct job_entry *entry, const char *reason, const char *message);
bool job_entry_record_pod_event(struct job_entry *entry, const char *uid, const char *reason,
                                const char *message);

/* Whether the server answered the calls for the job; each time it did not, the wait doubles. */
void job_entry_note_server(struct job_entry *entry, bool answered, int64_t now_ms);

/* The server refused a pod of the job for good; of several refusals the first is kept. */
void job_entry_reject(struct job_entry *entry, const struct json *job, const char *why);
/* Why the pods of this job are refused; NULL: they are not, or the job was changed since. */
const char *job_entry_rejection(const struct job_entry *entry, const struct json *job);

/* The pods gone so far have been dealt with. */
void job_entry_drop_gone(struct job_entry *entry, size_t count);

#endif
