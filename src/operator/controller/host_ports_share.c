/* Reports the ports of a controller's jobs to the table of host ports; see host_ports_share.h. */
#include "operator/controller/host_ports_share.h"

#include "operator/reconcile/host_network.h"

#include "base/mem.h"
#include "kube/object.h"

#include <stdlib.h>

enum {
    SYNC_POLL_MS = 20, /* interval of checking whether the jobs have been listed */
    /* Limits the wait for the reports of other controllers before ports are assigned. The limit is
     * needed, because the controller of a kind that is not installed never reports. */
    REPORT_WAIT_MS = 10 * 1000,
};

static void share_report(struct host_ports_share *share)
{
    if (!share->reported)
        host_ports_reported(share->ports);
    share->reported = true;
}

static void on_share_timer(struct loop_timer *timer)
{
    struct host_ports_share *share = CONTAINER_OF(timer, struct host_ports_share, timer);

    if (kube_informer_synced(share->jobs))
        share_report(share);
    else
        loop_timer_start(timer, SYNC_POLL_MS);
}

void host_ports_share_init(struct host_ports_share *share, struct loop *loop,
                           const struct training_kind *kind, struct host_ports *ports)
{
    *share = (struct host_ports_share){.kind = kind, .created_ms = loop_now_ms(loop)};
    if (!ports)
        share->own_table = host_ports_new(HOST_PORTS_FIRST, HOST_PORTS_LAST);
    share->ports = ports ? ports : share->own_table;
    host_ports_expect_report(share->ports);
    loop_timer_init(loop, &share->timer, on_share_timer);
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
    share_report(share);
    host_ports_forget(share->ports, prefix);
    host_ports_free(share->own_table);
}

void host_ports_share_set(struct host_ports_share *share, const struct kube_object *job,
                          const int *held, size_t count)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();

    host_ports_set(share->ports,
                   training_host_ports_owner(arena, share->kind, job->namespace_, job->name), held,
                   count);
}

/* Adds the ports of an observed job, but does not release any. Only the job's own reconcile, or the
 * deletion of the job, releases ports, because an informer may show an older state after a newer
 * decision. */
void host_ports_share_observe(struct host_ports_share *share, const struct kube_object *job,
                              bool gone)
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

const struct host_ports *host_ports_share_table(struct host_ports_share *share)
{
    if (host_ports_all_reported(share->ports) ||
        loop_now_ms(share->timer.loop) > share->created_ms + REPORT_WAIT_MS)
        return share->ports;
    return NULL;
}
