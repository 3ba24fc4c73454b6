/* Removes the files of deleted pods on a thread of the pool; see pod/sweeper.h. */
#include "node/pod/sweeper.h"

#include "node/limits/cgroup_base.h"
#include "node/network/namespaces.h"
#include "node/plan/kubeconfig.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <stdlib.h>

/* One pod to be removed. A thread of the pool owns it while its batch is in progress. */
struct removal {
    struct removal *next;
    char *uid, *directory;
    enum pod_remains remains;
    struct err err; /* why the removal failed; code 0 if it did not */
};

struct pod_sweeper {
    struct loop *loop;
    char *handout_dir;
    bool plain;
    struct removal *first, **end; /* the queue: its first pod, and the end of its list */
    struct removal_batch *batch;  /* the batch in progress, or NULL */
};

struct removal_batch {
    struct loop_work work;
    struct pod_sweeper *sweeper; /* NULL if the sweeper was freed meanwhile */
    char *handout_dir;
    bool plain;
    struct removal *first;
};

static struct removal *removal_free(struct removal *removal)
{
    struct removal *next = removal->next;
    free(removal->uid);
    free(removal->directory);
    free(removal);
    return next;
}

static int remove_pod(const struct removal_batch *batch, struct removal *removal)
{
    struct err *err = &removal->err;
    int result = 0;
    if (removal->remains == POD_REMAINS_PROCESSES)
        result = node_pod_end(removal->directory, batch->plain, 0, err);
    if (result < 0)
        return result;
    cgroup_base_remove_pod(removal->directory); /* before the pod's files, which list the groups */
    result = plan_handouts_remove(batch->handout_dir, removal->uid, err);
    return result < 0 ? result : file_remove_tree(removal->directory, err);
}

static void batch_work(struct loop_work *work)
{
    struct removal_batch *batch = CONTAINER_OF(work, struct removal_batch, work);
    for (struct removal *removal = batch->first; removal; removal = removal->next)
        (void)remove_pod(batch, removal);
}

static void batch_done(struct loop_work *work);

/* Takes a batch from the queue and gives it to the pool. */
static void batch_start(struct pod_sweeper *sweeper)
{
    struct removal_batch *batch = mem_zalloc(sizeof(*batch));
    batch->work = (struct loop_work){.work = batch_work, .done = batch_done};
    batch->sweeper = sweeper;
    batch->handout_dir = mem_strdup(sweeper->handout_dir);
    batch->plain = sweeper->plain;
    batch->first = sweeper->first;
    struct removal **at = &sweeper->first;
    for (size_t i = 0; i < POD_SWEEPER_BATCH && *at; i++)
        at = &(*at)->next;
    sweeper->first = *at;
    if (!sweeper->first)
        sweeper->end = &sweeper->first;
    *at = NULL;
    sweeper->batch = batch;
    loop_work_start(sweeper->loop, &batch->work);
}

static void batch_done(struct loop_work *work)
{
    struct removal_batch *batch = CONTAINER_OF(work, struct removal_batch, work);
    struct pod_sweeper *sweeper = batch->sweeper;
    for (struct removal *removal = batch->first; removal; removal = removal_free(removal))
        if (removal->err.code)
            log_warning(removal->uid, "%s", removal->err.message);
    free(batch->handout_dir);
    free(batch);
    if (!sweeper)
        return;
    sweeper->batch = NULL;
    if (sweeper->first)
        batch_start(sweeper);
}

struct pod_sweeper *pod_sweeper_new(struct loop *loop, const char *handout_dir, bool plain)
{
    struct pod_sweeper *sweeper = mem_zalloc(sizeof(*sweeper));
    sweeper->loop = loop;
    sweeper->handout_dir = mem_strdup(handout_dir);
    sweeper->plain = plain;
    sweeper->end = &sweeper->first;
    return sweeper;
}

struct pod_sweeper *pod_sweeper_free(struct pod_sweeper *sweeper)
{
    if (!sweeper)
        return NULL;
    if (sweeper->batch)
        sweeper->batch->sweeper = NULL;
    for (struct removal *removal = sweeper->first; removal;)
        removal = removal_free(removal);
    free(sweeper->handout_dir);
    free(sweeper);
    return NULL;
}

void pod_sweeper_add(struct pod_sweeper *sweeper, const char *uid, const char *directory,
                     enum pod_remains remains)
{
    struct removal *removal = mem_zalloc(sizeof(*removal));
    removal->uid = mem_strdup(uid);
    removal->directory = mem_strdup(directory);
    removal->remains = remains;
    *sweeper->end = removal;
    sweeper->end = &removal->next;
    if (!sweeper->batch)
        batch_start(sweeper);
}
