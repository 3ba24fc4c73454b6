/* Telling and hearing who holds which port; see host_ports_share.h. */
#include "operator/controller/host_ports_share.h"

#include "operator/reconcile/host_network.h"

#include "base/mem.h"
#include "kube/object.h"

#include <stdlib.h>

enum {
    SYNC_POLL_MS = 20,
    /* How long the jobs of other kinds are waited for before ports of nodes are given out: a kind
     * that is not installed never comes. */
    OTHERS_MS = 10 * 1000,
};

static void tell(struct host_ports_share *share)
{
    if (!share->told)
        host_ports_told(share->ports);
    share->told = true;
}

static void on_timer(struct loop_timer *timer)
{
    struct host_ports_share *share = CONTAINER_OF(timer, struct host_ports_share, timer);

    if (kube_informer_synced(share->jobs))
        tell(share);
    else
        loop_timer_start(timer, SYNC_POLL_MS);
}

void host_ports_share_init(struct host_ports_share *share, struct loop *loop,
                           const struct training_kind *kind, struct host_ports *ports)
{
    *share = (struct host_ports_share){.kind = kind, .made_ms = loop_now_ms(loop)};
    if (!ports)
        share->own = host_ports_new(HOST_PORTS_FIRST, HOST_PORTS_LAST);
    share->ports = ports ? ports : share->own;
    host_ports_expect(share->ports);
    loop_timer_init(loop, &share->timer, on_timer);
}

void host_ports_share_start(struct host_ports_share *share, struct kube_informer *jobs)
{
    share->jobs = jobs;
    loop_timer_start(&share->timer, 0);
}

void host_ports_share_release(struct host_ports_share *share)
{
    _cleanup_free_ char *prefix = mem_printf("%s/", share->kind->row->singular);

    loop_timer_stop(&share->timer);
    tell(share);
    host_ports_forget(share->ports, prefix);
    host_ports_free(share->own);
}

void host_ports_share_set(struct host_ports_share *share, const struct kube_object *job,
                          const int *held, size_t count)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();

    host_ports_set(share->ports,
                   training_host_ports_owner(arena, share->kind, job->namespace_, job->name), held,
                   count);
}

/* What a job holds grows with what is seen of it; it gives up only what its own reconcile decides,
 * or all when it is gone: an older state may be shown after a newer one was decided. */
void host_ports_share_see(struct host_ports_share *share, const struct kube_object *job, bool gone)
{
    _cleanup_(cleanup_arena) struct arena *arena = NULL;
    const int *held = NULL;
    size_t count = 0;

    if (!gone && !kube_meta_annotation(job->json, TRAINING_HOST_PORTS_ANNOTATION))
        return;
    arena = arena_new();
    if (!gone)
        held = training_host_ports_held(arena, job->json, &count);
    host_ports_share_set(share, job, held, count);
}

const struct host_ports *host_ports_share_known(struct host_ports_share *share)
{
    if (host_ports_all_told(share->ports) ||
        loop_now_ms(share->timer.loop) > share->made_ms + OTHERS_MS)
        return share->ports;
    return NULL;
}
