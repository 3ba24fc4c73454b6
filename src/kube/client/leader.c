/* Runs the leader election; see leader.h for the protocol and lease.h for its decisions. One call
 * is in flight at a time. A write that failed may have changed the lease, so the lease is read
 * again before the next write. */
#include "kube/client/leader.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "kube/client/client_internal.h"
#include "kube/client/lease.h"
#include "kube/object.h"

#include <stdlib.h>

enum { LEASE_MS = 15 * 1000, RENEW_MS = 10 * 1000, RETRY_MS = 2 * 1000 };

struct kube_leader {
    struct loop *loop;
    struct kube_client *client;
    struct kube_leader_listener listener;
    void *context;
    char *namespace_, *name, *identity;
    int64_t lease_ms, renew_ms, retry_ms;

    struct arena *arena;      /* holds the lease */
    struct json *lease;       /* the lease as last seen; NULL: none, or unknown */
    char *record;             /* the newest record of the lease (lease.h) */
    int64_t seen_ms;          /* when `record` was first seen; loop time */
    bool held_by_other;       /* `record` names another holder */
    bool lease_missing;       /* the newest read found no lease */
    int64_t missing_since_ms; /* when a read first found no lease; loop time */
    char *last_message;       /* the previous message to the listener, which is not repeated */

    bool leading;
    bool resigned;              /* kube_leader_resign() was called */
    bool under_way;             /* a call is in flight */
    int64_t sent_ms;            /* when the newest write was sent; loop time */
    struct loop_timer retry;    /* expires when the next call is due */
    struct loop_timer deadline; /* expires when this process must stop leading */
    struct loop_task resign_task;
    void (*resign_done)(void *context);
};

static void leader_attempt(struct kube_leader *leader);

/* ---- the known lease ------------------------------------------------------------------------- */

static void leader_log(struct kube_leader *leader, bool is_warning, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void leader_log(struct kube_leader *leader, bool is_warning, const char *format, ...)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(arena, format, args);
    va_end(args);
    if (str_eq(leader->last_message, message) || leader->resigned)
        return;
    free(leader->last_message);
    leader->last_message = mem_strdup(message);
    leader->listener.on_leader_message(leader->context, is_warning, message);
}

static void leader_forget_lease(struct kube_leader *leader)
{
    arena_reset(leader->arena);
    leader->lease = NULL;
}

static void leader_remember_lease(struct kube_leader *leader, const struct json *lease)
{
    leader_forget_lease(leader);
    leader->lease = json_clone(leader->arena, lease);
    char *record = kube_lease_record(leader->arena, lease);
    const char *holder = kube_lease_holder(lease);
    leader->held_by_other = *holder && !str_eq(holder, leader->identity);
    leader->lease_missing = false;
    if (str_eq(leader->record, record))
        return;
    free(leader->record);
    leader->record = mem_strdup(record);
    leader->seen_ms = loop_now_ms(leader->loop);
}

static void leader_lose(struct kube_leader *leader, const char *why)
{
    if (!leader->leading)
        return;
    leader->leading = false;
    loop_timer_stop(&leader->deadline);
    leader->listener.on_lose(leader->context, why);
}

/* Called when the lease was written: starts to lead, or leads on, until renew_ms after the write
 * was sent. */
static void leader_start_or_extend(struct kube_leader *leader)
{
    int64_t left_ms = leader->sent_ms + leader->renew_ms - loop_now_ms(leader->loop);
    if (left_ms <= 0)
        return; /* the answer came too late: renew_ms is over */
    loop_timer_start(&leader->deadline, left_ms);
    if (leader->leading)
        return;
    leader->leading = true;
    kube_event(leader->client, leader->lease, leader->identity, "Normal", "LeaderElection",
               "%s became leader", leader->identity);
    leader->listener.on_lead(leader->context);
}

static void on_leader_deadline(struct loop_timer *timer)
{
    struct kube_leader *leader = CONTAINER_OF(timer, struct kube_leader, deadline);
    _cleanup_free_ char *why =
        mem_printf("the lease %s/%s could not be renewed for %lld s", leader->namespace_,
                   leader->name, (long long)(leader->renew_ms / 1000));
    leader_lose(leader, why);
}

/* ---- resigning ------------------------------------------------------------------------------- */

static void on_resigned(void *context, struct json *object, const struct err *err)
{
    struct kube_leader *leader = context;
    leader->resign_done(leader->context);
}

static void on_resign_task(struct loop_task *task)
{
    struct kube_leader *leader = CONTAINER_OF(task, struct kube_leader, resign_task);
    if (!leader->lease || !str_eq(kube_lease_holder(leader->lease), leader->identity)) {
        leader->resign_done(leader->context);
        return;
    }
    struct json *object =
        kube_lease_release(leader->arena, leader->lease, loop_wall_ms(leader->loop));
    kube_update(leader->client, &KUBE_LEASES, leader->namespace_, leader->name, object, on_resigned,
                leader);
}

void kube_leader_resign(struct kube_leader *leader, void (*done)(void *context))
{
    leader->resigned = true;
    leader->leading = false;
    leader->resign_done = done;
    loop_timer_stop(&leader->retry);
    loop_timer_stop(&leader->deadline);
    /* A call in flight may still acquire the lease. The task is queued when the call has ended. */
    if (!leader->under_way)
        loop_defer(leader->loop, &leader->resign_task);
}

/* ---- reading and writing --------------------------------------------------------------------- */

/* Called when a call has ended: schedules the next call, or the release of the lease after
 * kube_leader_resign(). */
static void leader_schedule_attempt(struct kube_leader *leader)
{
    leader->under_way = false;
    if (leader->resigned) {
        loop_defer(leader->loop, &leader->resign_task);
        return;
    }
    uint64_t spread_ms = (uint64_t)leader->retry_ms / 5 + 1;
    /* Candidates retry at random times; a leader keeps its interval. */
    int64_t more_ms = leader->leading ? 0 : (int64_t)rand_below(&leader->client->rand, spread_ms);
    loop_timer_start(&leader->retry, leader->retry_ms + more_ms);
}

static void on_lease_written(void *context, struct json *object, const struct err *err)
{
    struct kube_leader *leader = context;
    if (!err) {
        leader_remember_lease(leader, object);
        if (!leader->resigned)
            leader_start_or_extend(leader);
        leader_schedule_attempt(leader);
        return;
    }
    leader_forget_lease(leader);
    bool written_by_other = err->code == ERR_CONFLICT || err->code == ERR_EXISTS;
    if (err->code == ERR_NOT_FOUND)
        leader_lose(leader, "the lease was deleted");
    if (!written_by_other)
        leader_log(leader, true, "cannot write the lease %s/%s: %s", leader->namespace_,
                   leader->name, err->message);
    if (written_by_other && leader->leading && !leader->resigned)
        leader_attempt(leader); /* reads the lease, to find out which process wrote it */
    else
        leader_schedule_attempt(leader);
}

static void write_lease(struct kube_leader *leader)
{
    bool is_new = !leader->lease;
    struct json *object =
        kube_lease_write(leader->arena, leader->lease, leader->namespace_, leader->name,
                         leader->identity, leader->lease_ms, loop_wall_ms(leader->loop));
    leader->sent_ms = loop_now_ms(leader->loop);
    if (is_new)
        kube_create(leader->client, &KUBE_LEASES, leader->namespace_, object, on_lease_written,
                    leader);
    else
        kube_update(leader->client, &KUBE_LEASES, leader->namespace_, leader->name, object,
                    on_lease_written, leader);
}

static void leader_decide(struct kube_leader *leader)
{
    struct kube_lease_view view = {
        .lease = leader->lease,
        .seen_ms = leader->seen_ms,
        .now_ms = loop_now_ms(leader->loop),
        .identity = leader->identity,
    };
    enum kube_lease_step step = kube_lease_decide(&view);
    if (step != KUBE_LEASE_RENEW)
        leader_lose(leader, "this process does not hold the lease any more");
    if (step == KUBE_LEASE_WAIT) {
        leader_log(leader, false, "standing by: %s is the leader",
                   kube_lease_holder(leader->lease));
        leader_schedule_attempt(leader);
    } else {
        write_lease(leader);
    }
}

/* Returns whether another process may still lead, after a read that found no lease. If the lease
 * was deleted while another process held it, that process may not have noticed yet. So this process
 * waits as if the lease still existed. If it has not seen another holder, it creates the lease at
 * once. */
static bool may_still_be_held(struct kube_leader *leader)
{
    int64_t now_ms = loop_now_ms(leader->loop);
    if (!leader->lease_missing) {
        leader->lease_missing = true;
        leader->missing_since_ms = now_ms;
    }
    return leader->held_by_other && now_ms - leader->missing_since_ms < leader->lease_ms;
}

static void on_lease_read(void *context, struct json *object, const struct err *err)
{
    struct kube_leader *leader = context;
    if (leader->resigned || (err && err->code != ERR_NOT_FOUND)) {
        if (err)
            leader_log(leader, true, "cannot read the lease %s/%s: %s", leader->namespace_,
                       leader->name, err->message);
        else
            leader_remember_lease(leader, object);
        leader_schedule_attempt(leader);
        return;
    }
    if (!err) {
        leader_remember_lease(leader, object);
        leader_decide(leader);
        return;
    }
    leader_forget_lease(leader);
    if (may_still_be_held(leader))
        leader_schedule_attempt(leader);
    else
        leader_decide(leader);
}

static void leader_attempt(struct kube_leader *leader)
{
    leader->under_way = true;
    /* A leader does not read first: other processes do not write a lease that is renewed in time,
     * and the server refuses a write of an old version. */
    if (leader->leading && leader->lease)
        write_lease(leader);
    else
        kube_get(leader->client, &KUBE_LEASES, leader->namespace_, leader->name, on_lease_read,
                 leader);
}

static void on_leader_retry(struct loop_timer *timer)
{
    leader_attempt(CONTAINER_OF(timer, struct kube_leader, retry));
}

struct kube_leader *kube_leader_new(struct loop *loop, struct http_transport *transport,
                                    const struct kube_leader_options *options,
                                    const struct kube_leader_listener *listener, void *context)
{
    struct kube_leader *leader = mem_zalloc(sizeof(*leader));
    leader->loop = loop;
    leader->listener = *listener;
    leader->context = context;
    leader->namespace_ = mem_strdup(options->namespace_);
    leader->name = mem_strdup(options->name);
    leader->identity = mem_strdup(options->identity);
    leader->lease_ms = options->lease_ms ? options->lease_ms : LEASE_MS;
    leader->renew_ms = options->renew_ms ? options->renew_ms : RENEW_MS;
    leader->retry_ms = options->retry_ms ? options->retry_ms : RETRY_MS;
    if (leader->renew_ms >= leader->lease_ms || leader->retry_ms >= leader->renew_ms)
        mem_panic("leader election: the lease must be longer than the renew deadline, and the "
                  "deadline longer than the retry period");
    leader->arena = arena_new();
    leader->client = kube_client_new(loop, transport, "trainyard-leader-election");
    /* A call that hangs must leave time for another one before the deadline. */
    kube_client_set_timeout(leader->client, leader->renew_ms / 2);
    leader->resign_task.callback = on_resign_task;
    loop_timer_init(loop, &leader->retry, on_leader_retry);
    loop_timer_init(loop, &leader->deadline, on_leader_deadline);
    loop_timer_start(&leader->retry, 0);
    return leader;
}

struct kube_leader *kube_leader_free(struct kube_leader *leader)
{
    if (!leader)
        return NULL;
    kube_client_free(leader->client);
    loop_timer_stop(&leader->retry);
    loop_timer_stop(&leader->deadline);
    loop_defer_cancel(leader->loop, &leader->resign_task);
    arena_free(leader->arena);
    free(leader->namespace_);
    free(leader->name);
    free(leader->identity);
    free(leader->record);
    free(leader->last_message);
    free(leader);
    return NULL;
}

const char *kube_leader_holder(const struct kube_leader *leader)
{
    return kube_lease_holder(leader->lease);
}
