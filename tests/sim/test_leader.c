/* Tests leader election in virtual time on the real API. Three candidates use a network that loses
 * calls and answers. Each is now and then cut off, killed and restarted, or resigns, all drawn from
 * a seed. The rules: there are never two leaders; there is one once the faults stop; and a leader
 * that resigns is replaced within a few seconds. TRAINYARD_SIM_SEEDS is the number of seeds;
 * TRAINYARD_SIM_SEED runs a single seed. */
#include "fault_transport.h"
#include "sim_cluster.h"
#include "sim_seeds.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/client/leader.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS_DEFAULT = 200, CANDIDATES = 3, TROUBLES = 60, LEASE_MS = 15 * 1000 };

struct run;

struct candidate {
    struct run *run;
    int number, lives;
    struct http_transport *transport;
    struct kube_leader *leader; /* NULL: the candidate is dead */
    bool leads, resigned;
};

struct run {
    struct sim_cluster cluster;
    uint64_t seed;
    struct candidate candidates[CANDIDATES];
    int changes;
};

#define check(run, condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("TRAINYARD_SIM_SEED=%llu: ", (unsigned long long)(run)->seed);             \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

static void on_lead(void *context)
{
    struct candidate *candidate = context;
    struct run *run = candidate->run;
    check(run, !candidate->leads, "told twice that it leads");
    check(run, !candidate->resigned, "leads after it resigned");
    for (int i = 0; i < CANDIDATES; i++)
        check(run, !run->candidates[i].leads, "%d leads while %d does", candidate->number, i);
    candidate->leads = true;
    run->changes++;
}

static void on_lose(void *context, const char *why)
{
    struct candidate *candidate = context;
    check(candidate->run, candidate->leads, "lost what it did not have");
    candidate->leads = false;
}

static void on_leader_message(void *context, bool trouble, const char *sentence)
{
}

static void on_resigned(void *context)
{
    ((struct candidate *)context)->resigned = true;
}

static void start_candidate(struct candidate *candidate)
{
    static const struct kube_leader_listener LISTENER = {on_lead, on_lose, on_leader_message};
    char identity[32];
    snprintf(identity, sizeof(identity), "candidate-%d-%d", candidate->number, candidate->lives++);
    struct kube_leader_options options = {
        .namespace_ = "default", .name = "operator", .identity = identity};
    candidate->leads = candidate->resigned = false;
    candidate->leader = kube_leader_new(candidate->run->cluster.loop, candidate->transport,
                                        &options, &LISTENER, candidate);
}

/* Like kill -9: the candidate's memory is lost, but a call that it has sent may still arrive. */
static void kill_candidate(struct candidate *candidate)
{
    candidate->leader = kube_leader_free(candidate->leader);
    candidate->leads = false;
}

static void set_faults(struct candidate *candidate, unsigned refuse, unsigned lose)
{
    struct fault_rates rates = {.refuse = refuse, .lose = lose};
    fault_transport_set(candidate->transport, &rates);
}

static void cause_fault(struct run *run)
{
    struct candidate *candidate = &run->candidates[rand_below(run->cluster.rand, CANDIDATES)];
    switch (rand_below(run->cluster.rand, 6)) {
    case 0:
        if (candidate->leader)
            kill_candidate(candidate);
        break;
    case 1:
        if (candidate->leader && !candidate->resigned) {
            candidate->leads = false; /* it has stopped its work before */
            kube_leader_resign(candidate->leader, on_resigned);
            sim_loop_run_for(run->cluster.loop, 40 * 1000);
            check(run, candidate->resigned, "resigning does not end");
            kill_candidate(candidate);
        }
        break;
    case 2:
        set_faults(candidate, 1000, 0); /* cut off */
        break;
    case 3:
        set_faults(candidate, 0, 700); /* its calls arrive, but most answers are lost */
        break;
    case 4:
        set_faults(candidate, 200, 200);
        break;
    default:
        set_faults(candidate, 0, 0);
        if (!candidate->leader)
            start_candidate(candidate);
    }
}

static int count_leaders(const struct run *run)
{
    int count = 0;
    for (int i = 0; i < CANDIDATES; i++)
        count += run->candidates[i].leads;
    return count;
}

static void run_init(struct run *run, uint64_t seed)
{
    *run = (struct run){.seed = seed};
    sim_cluster_init(&run->cluster, seed);
    for (int i = 0; i < CANDIDATES; i++) {
        struct candidate *candidate = &run->candidates[i];
        struct fault_rates none = {0};
        candidate->run = run;
        candidate->number = i;
        candidate->transport = fault_transport_new(run->cluster.loop, run->cluster.transport,
                                                   run->cluster.rand, &none);
        start_candidate(candidate);
    }
}

static void run_release(struct run *run)
{
    for (int i = 0; i < CANDIDATES; i++) {
        kube_leader_free(run->candidates[i].leader);
        http_transport_free(run->candidates[i].transport);
    }
    sim_cluster_release(&run->cluster);
}

static void run_seed(uint64_t seed)
{
    struct run run;
    run_init(&run, seed);
    sim_loop_run_for(run.cluster.loop, 10 * 1000);
    check(&run, count_leaders(&run) == 1, "no candidate leads before any fault");
    for (int i = 0; i < TROUBLES; i++) {
        cause_fault(&run);
        sim_loop_run_for(run.cluster.loop, (int64_t)rand_below(run.cluster.rand, 20 * 1000));
    }
    for (int i = 0; i < CANDIDATES; i++) {
        set_faults(&run.candidates[i], 0, 0);
        if (!run.candidates[i].leader)
            start_candidate(&run.candidates[i]);
    }
    sim_loop_run_for(run.cluster.loop, 60 * 1000);
    check(&run, count_leaders(&run) == 1, "no candidate leads after the faults");
    check(&run, run.changes > 1, "nothing happened");
    int changes = run.changes;
    sim_loop_run_for(run.cluster.loop, 600 * 1000);
    check(&run, count_leaders(&run) == 1 && run.changes == changes, "it changes without need");
    run_release(&run);
}

static void at_most_one_candidate_leads_under_faults(void **state)
{
    sim_seeds_run(sim_seeds_requested(SEEDS_DEFAULT), run_seed);
}

static struct candidate *find_leader(struct run *run)
{
    for (int i = 0; i < CANDIDATES; i++)
        if (run->candidates[i].leads)
            return &run->candidates[i];
    return NULL;
}

/* Returns how long no candidate leads after the leader is gone. */
static int64_t wait_for_leader_ms(struct run *run)
{
    int64_t since_ms = loop_now_ms(run->cluster.loop);
    while (count_leaders(run) == 0 && loop_now_ms(run->cluster.loop) - since_ms < 120 * 1000)
        sim_loop_run_for(run->cluster.loop, 100);
    return loop_now_ms(run->cluster.loop) - since_ms;
}

static void killed_leader_is_replaced_after_its_lease(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run run;
        run_init(&run, seed);
        sim_loop_run_for(run.cluster.loop, 30 * 1000);
        kill_candidate(find_leader(&run));
        int64_t gap = wait_for_leader_ms(&run);
        check(&run, gap > LEASE_MS - 3000 && gap < LEASE_MS + 6000, "gap of %lld ms",
              (long long)gap);
        run_release(&run);
    }
}

static void resigned_leader_is_replaced_soon(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct run run;
        run_init(&run, seed);
        sim_loop_run_for(run.cluster.loop, 30 * 1000);
        struct candidate *leader = find_leader(&run);
        leader->leads = false;
        kube_leader_resign(leader->leader, on_resigned);
        int64_t gap = wait_for_leader_ms(&run);
        check(&run, gap < 3000, "gap of %lld ms", (long long)gap);
        check(&run, leader->resigned, "resigning does not end");
        run_release(&run);
    }
}

static void on_done(void *context, struct json *object, const struct err *err)
{
}

static void on_lease(void *context, struct json *lease, const struct err *err)
{
    struct run *run = context;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    check(run, lease != NULL, "no lease");
    struct json *stolen = json_clone(arena, lease);
    json_set_string(arena, json_get(stolen, "spec"), "holderIdentity", "a thief");
    kube_update(run->cluster.client, &KUBE_LEASES, "default", "operator", stolen, on_done, run);
}

static void leader_stops_if_the_lease_has_another_holder(void **state)
{
    struct run run;
    run_init(&run, 1);
    sim_loop_run_for(run.cluster.loop, 30 * 1000);
    kube_get(run.cluster.client, &KUBE_LEASES, "default", "operator", on_lease, &run);
    sim_loop_run_for(run.cluster.loop, 3000);
    check(&run, count_leaders(&run) == 0, "it does not notice");
    run_release(&run);
}

static void deleted_lease_is_created_again(void **state)
{
    struct run run;
    run_init(&run, 1);
    sim_loop_run_for(run.cluster.loop, 30 * 1000);
    kube_delete(run.cluster.client, &KUBE_LEASES, "default", "operator", NULL, on_done, &run);
    sim_loop_run_for(run.cluster.loop, 30 * 1000);
    check(&run, count_leaders(&run) == 1, "no candidate leads");
    run_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_most_one_candidate_leads_under_faults),
        cmocka_unit_test(killed_leader_is_replaced_after_its_lease),
        cmocka_unit_test(resigned_leader_is_replaced_soon),
        cmocka_unit_test(leader_stops_if_the_lease_has_another_holder),
        cmocka_unit_test(deleted_lease_is_created_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
