/* Runs the passes of the workload controllers; see workloads.h. */
#include "engine/controllers/workloads.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

enum { PARALLEL = 16, CALLS_MAX = 16, UNSYNCED_MS = 20 };

static void workloads_writes_free(struct kube_own_writes *writes)
{
    if (!writes)
        return;
    kube_own_writes_release(writes);
    free(writes);
}

static struct kube_own_writes *workloads_writes_of(struct workloads *workloads, const char *key)
{
    struct kube_own_writes *writes = map_get(&workloads->writes, key);
    if (!writes) {
        writes = mem_zalloc(sizeof(*writes));
        kube_own_writes_init(writes);
        map_put(&workloads->writes, key, writes);
    }
    return writes;
}

static void workloads_run_free(struct workload_run *run)
{
    kube_pass_release(&run->pass);
    free(run->key);
    free(run);
}

static void on_workloads_done(void *context, struct kube_pass *pass)
{
    struct workloads *workloads = context;
    struct workload_run *run = CONTAINER_OF(pass, struct workload_run, pass);
    if (!pass->failed && run->requeue_ms >= 0)
        workqueue_add_after(workloads->queue, run->key, run->requeue_ms);
    workqueue_done(workloads->queue, run->key, pass->failed);
    workloads_run_free(run);
}

static void workloads_reconcile(struct workloads *workloads, const char *key,
                                struct kube_object *object)
{
    struct workload_run *run = mem_zalloc(workloads->kind->run_size);
    kube_pass_init(&run->pass, &workloads->passes, object);
    run->pass.stages = workloads->kind->stages;
    run->pass.loop = hub_loop(workloads->hub);
    run->pass.client = hub_client(workloads->hub);
    run->pass.component = workloads->kind->component;
    run->pass.calls_max = CALLS_MAX;
    run->pass.writes = workloads_writes_of(workloads, key);
    run->pass.done = on_workloads_done;
    run->pass.context = workloads;
    run->hub = workloads->hub;
    run->key = mem_strdup(key);
    run->requeue_ms = -1;
    workloads->kind->plan(run);
    kube_pass_start(&run->pass);
}

static void workloads_work(void *context, const char *key)
{
    struct workloads *workloads = context;
    if (!hub_synced(workloads->hub)) {
        workqueue_defer(workloads->queue, key, UNSYNCED_MS);
        return;
    }
    struct kube_object *object =
        kube_informer_find(hub_informer(workloads->hub, workloads->kind->storage), key);
    if (!object) {
        workloads_writes_free(map_remove(&workloads->writes, key));
        workqueue_done(workloads->queue, key, false);
        return;
    }
    int64_t wait_ms = kube_own_writes_wait_ms(workloads_writes_of(workloads, key), object->json,
                                              loop_now_ms(hub_loop(workloads->hub)));
    if (wait_ms > 0)
        /* If the informers show the write earlier, the key is queued then. */
        workqueue_defer(workloads->queue, key, wait_ms);
    else
        workloads_reconcile(workloads, key, object);
}

void workloads_add(struct workloads *workloads, const char *namespace_, const char *name)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", namespace_, name);
    workqueue_add(workloads->queue, key);
}

void workloads_saw(struct workloads *workloads, const char *namespace_, const char *name,
                   const char *write)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", namespace_, name);
    struct kube_own_writes *writes = map_get(&workloads->writes, key);
    if (writes)
        kube_own_writes_observe(writes, write);
}

void workloads_run_wrote(struct workload_run *run, const char *write)
{
    kube_own_writes_add_created(run->pass.writes, write, loop_now_ms(run->pass.loop));
}

void workloads_init(struct workloads *workloads, struct hub *hub, const struct workload_kind *kind)
{
    *workloads = (struct workloads){.hub = hub, .kind = kind};
    workloads->queue = workqueue_new(hub_loop(hub), PARALLEL, workloads_work, workloads);
    map_init(&workloads->writes);
}

void workloads_release(struct workloads *workloads)
{
    const char *key;
    void *value;
    LIST_EACH_SAFE (struct kube_pass, pass, &workloads->passes, link)
        workloads_run_free(CONTAINER_OF(pass, struct workload_run, pass));
    workqueue_free(workloads->queue);
    for (size_t at = 0; map_next(&workloads->writes, &at, &key, &value);)
        workloads_writes_free(value);
    map_release(&workloads->writes);
}
