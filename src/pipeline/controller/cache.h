/* The workflow controller's cache of each workflow: its pods as the informer shows them, and what
 * the next pass needs: deleted pods, results of actions, and the controller's own writes that the
 * informers have not reported yet. A pass reconciles one workflow and carries out the plan. Must be
 * used on the loop thread. */
#ifndef TRAINYARD_PIPELINE_CONTROLLER_CACHE_H
#define TRAINYARD_PIPELINE_CONTROLLER_CACHE_H

#include "base/map.h"
#include "base/vec.h"
#include "kube/client/own_writes.h"
#include "kube/client/shared_object.h"

/* The result of an action; see struct workflow_result. */
struct workflow_cached_result {
    char *node_id;
    struct kube_object *object; /* the server's answer, or NULL */
    char *error;                /* the server's error, or NULL */
};

/* What the controller knows about one workflow. */
struct workflow_entry {
    char *key;       /* "namespace/name" */
    struct map pods; /* by name: struct kube_object */
    /* Deleted pods and results that no pass has handled yet, in the order of their arrival. */
    VEC(struct kube_object *) gone;
    VEC(struct workflow_cached_result) results;
    struct kube_own_writes writes;
};

struct workflow_cache {
    struct map entries; /* key → struct workflow_entry */
};

void workflow_cache_init(struct workflow_cache *cache);
void workflow_cache_release(struct workflow_cache *cache);
/* Returns the entry of a workflow. Creates the entry if it does not exist. */
struct workflow_entry *workflow_cache_get(struct workflow_cache *cache, const char *key);
/* Must be called when the workflow is gone. Drops its results, deleted pods and own writes. Frees
 * the entry if the workflow has no pods left; otherwise the function must be called again when the
 * last pod is gone. */
void workflow_cache_forget(struct workflow_cache *cache, const char *key);
/* Stores a change of a pod that the informer has reported. `old` is NULL for a new pod, `new_` for
 * a deleted pod. */
void workflow_cache_change(struct workflow_cache *cache, const char *key, struct kube_object *old,
                           struct kube_object *new_);

/* Stores the result of a node's action until a pass has handled it. Either `object` or `error` is
 * given. */
void workflow_entry_keep_result(struct workflow_entry *entry, const char *node_id,
                                const struct json *object, const char *error);
/* Drops the first `results` results and the first `gone` deleted pods, which a pass has handled. */
void workflow_entry_drop(struct workflow_entry *entry, size_t results, size_t gone);

/* Lets the next pass wait until the informer has reported a pod that this controller created. */
void workflow_entry_await_pod(struct workflow_entry *entry, const struct json *pod, int64_t now_ms);
#endif
