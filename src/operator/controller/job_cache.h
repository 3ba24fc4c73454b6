/* Caches the objects of each job for the controller: the pods, services and PodGroup with the job's
 * labels, as the informers show them; pods that the job controls but that have other labels; and
 * the last states of pods that vanished. An entry also has what the controller must remember about
 * the job between passes. Must be used on the loop thread. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_JOB_CACHE_H
#define TRAINYARD_OPERATOR_CONTROLLER_JOB_CACHE_H

#include "base/map.h"
#include "base/vec.h"
#include "kube/client/informer.h"
#include "kube/client/own_writes.h"

enum job_part { JOB_PODS, JOB_SERVICES, JOB_POD_GROUPS, JOB_UNMATCHED_PODS, JOB_PARTS };

struct job_entry {
    char *key;                      /* "namespace/name" */
    struct map parts[JOB_PARTS];    /* struct kube_object by name */
    VEC(struct kube_object *) gone; /* the last states of pods that vanished */
    struct map recorded_events;     /* events that were reported and are not repeated */
    /* One line that says why the server permanently rejects the pods of the job in generation
     * `rejected_generation`. NULL: the server does not reject them. */
    char *rejection;
    int64_t rejected_generation;
    /* If the server did not answer in the last pass, the job is not reconciled before wait_until_ms
     * on the loop's clock, even if it changes. wait_ms is the length of this wait. Both are 0 if
     * the server answered. */
    int64_t wait_until_ms, wait_ms;
    /* The wanted autoscaler that needs no further call, because it was written, or because the
     * server refused it for good (plan_autoscaler.c). NULL: unknown. */
    char *autoscaler;
    struct kube_own_writes writes; /* writes that the informers have not shown yet */
};

/* Called when an object of the job with this key has changed. */
typedef void job_cache_changed(void *context, const char *key);

struct job_cache {
    struct map entries; /* by key */
    job_cache_changed *changed;
    void *context;
};

void job_cache_init(struct job_cache *cache, job_cache_changed *changed, void *context);
void job_cache_release(struct job_cache *cache);

/* Returns the entry of a job. Creates the entry if it is missing. */
struct job_entry *job_cache_get(struct job_cache *cache, const char *key);
/* Must be called when the job is gone. Keeps only the job's pods, services and PodGroup that still
 * exist. Frees the entry if there are none. Otherwise the function must be called again after the
 * last of them has gone. */
void job_cache_forget(struct job_cache *cache, const char *key);

/* Handles a change of an object that an informer shows. The labels of the object may name another
 * job than before. Calls `changed` for each job concerned. */
void job_cache_change(struct job_cache *cache, enum job_part part, struct kube_object *old,
                      struct kube_object *new_);

/* Must be called when the server has shown that a pod of `gone` still exists; removes it from
 * `gone`. `unmatched` means that its labels are not those of the job any more. Such a pod is stored
 * as an unmatched pod until it is released, because no informer shows it any more. */
void job_entry_found(struct job_entry *entry, const struct json *pod, bool unmatched);
/* Removes an unmatched pod that was released or is gone. */
void job_entry_drop_unmatched(struct job_entry *entry, const char *name);

/* Records a created object, so that the job is not reconciled again before the informer shows the
 * object. Does nothing if the informer has shown it already. */
void job_entry_await_object(struct job_entry *entry, enum job_part part, const struct json *object,
                            int64_t now_ms);

/* Records an event of the job. Returns true if the same event was not recorded before. */
bool job_entry_record_event(struct job_entry *entry, const char *reason, const char *message);
/* Records an event of the pod with this uid; `uid` NULL: of the job. Returns true if the same event
 * was not recorded before for this pod. */
bool job_entry_record_pod_event(struct job_entry *entry, const char *uid, const char *reason,
                                const char *message);

/* Records whether the server answered the calls of a pass. If it did not, the next pass must wait.
 * The wait doubles with each pass without an answer, from 50 ms to 5 s. */
void job_entry_note_server(struct job_entry *entry, bool answered, int64_t now_ms);

/* Records that the server permanently rejects a pod of the job. Only the first rejection per
 * generation of the job is stored. */
void job_entry_reject(struct job_entry *entry, const struct json *job, const char *why);
/* Returns why the server rejects the pods of this job. Returns NULL if the server does not reject
 * them, or if the job has another generation than at the time of the rejection. */
const char *job_entry_rejection(const struct job_entry *entry, const struct json *job);

/* Drops the first `count` vanished pods, which have been handled. */
void job_entry_drop_gone(struct job_entry *entry, size_t count);

#endif
