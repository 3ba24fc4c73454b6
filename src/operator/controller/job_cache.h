/* What the controller knows about each job: the pods, services and PodGroup with the job's labels,
 * as the informers show them; pods that it controls and that have other labels; pods that vanished;
 * and its own writes that the informers have not shown yet. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_JOB_CACHE_H
#define TRAINYARD_OPERATOR_CONTROLLER_JOB_CACHE_H

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
    /* Why the server rejects the pods of the job permanently, as one line, for the job in this
     * generation. NULL: it does not. */
    char *rejection;
    int64_t rejected_generation;
    /* The server did not answer in the last pass: the job is not worked on before this time of the
     * loop's clock, whatever changes. 0: the server answered. */
    int64_t wait_until_ms, wait_ms;
    char *autoscaler; /* the autoscaler as last written (plan_autoscaler.c); NULL: unknown */
    struct kube_own_writes writes;
};

/* Something of the job with this key has changed. */
typedef void job_cache_changed(void *context, const char *key);

struct job_cache {
    struct map entries; /* by key */
    job_cache_changed *changed;
    void *context;
};

void job_cache_init(struct job_cache *cache, job_cache_changed *changed, void *context);
void job_cache_release(struct job_cache *cache);

struct job_entry *job_cache_get(struct job_cache *cache,
                                const char *key); /* creates the entry if it is missing */
/* The job is gone: drops what only this cache knows. The entry is freed with the last of its
 * objects. */
void job_cache_forget(struct job_cache *cache, const char *key);

/* Handles an informer's change of an object, which may move it from one job to another. */
void job_cache_change(struct job_cache *cache, enum job_part part, struct kube_object *old,
                      struct kube_object *new_);

/* A pod that seemed to have vanished exists. `unmatched`: it has other labels now; it is kept until
 * it is released, because no informer shows it any more. */
void job_entry_found(struct job_entry *entry, const struct json *pod, bool unmatched);
void job_entry_drop_unmatched(struct job_entry *entry, const char *name);

/* Waits for the informer to show the object, unless it does already. */
void job_entry_await_object(struct job_entry *entry, enum job_part part, const struct json *object,
                            int64_t now_ms);

/* Return true the first time; with a uid, the first time for that pod. */
bool job_entry_record_event(struct job_entry *entry, const char *reason, const char *message);
bool job_entry_record_pod_event(struct job_entry *entry, const char *uid, const char *reason,
                                const char *message);

/* Records whether the server answered the calls for the job; each time it did not, the wait
 * doubles. */
void job_entry_note_server(struct job_entry *entry, bool answered, int64_t now_ms);

/* Records that the server rejects a pod of the job permanently; the first rejection is kept. */
void job_entry_reject(struct job_entry *entry, const struct json *job, const char *why);
/* Returns why the pods of this job are rejected; NULL if they are not, or if the job was changed
 * since. */
const char *job_entry_rejection(const struct job_entry *entry, const struct json *job);

/* Drops the first vanished pods, which have been handled. */
void job_entry_drop_gone(struct job_entry *entry, size_t count);

#endif
