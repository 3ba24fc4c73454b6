/* The simulated control plane; see sim_cluster.h. */
#include "sim_cluster.h"

#include "base/moment.h"
#include "engine/engine.h"
#include "loop/sim/sim_loop.h"
#include "served_kinds.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void sim_cluster_init(struct sim_cluster *cluster, uint64_t seed)
{
    struct store_options store = {.path = NULL};
    struct engine_options engine = {
        .token = SIM_TOKEN, .version = TRAINYARD_VERSION, .kinds = SERVED_KINDS};
    struct err err = ERR_INIT;
    int64_t wall_ms = 0;

    if (moment_parse("2026-11-15T02:00:00Z", &wall_ms, &err) < 0)
        fail_msg("%s", err.message);
    *cluster = (struct sim_cluster){.loop = sim_loop_new(seed, wall_ms)};
    cluster->rand = sim_loop_rand(cluster->loop);
    if (store_open(cluster->loop, &store, &cluster->store, &err) < 0 ||
        engine_new(cluster->loop, cluster->store, &engine, &cluster->engine, &err) < 0)
        fail_msg("%s", err.message);
    cluster->transport = http_local_new(cluster->loop, engine_handle, cluster->engine, SIM_TOKEN);
    cluster->controllers = engine_controllers_new(cluster->loop, cluster->transport, SERVED_KINDS);
    cluster->client = kube_client_new(cluster->loop, cluster->transport, "sim-test");
    cluster->node = sim_node_new(cluster->loop, cluster->transport, cluster->rand, "sim-node");
    /* The server creates its namespaces before the first request. */
    sim_loop_run_for(cluster->loop, 1000);
}

static void on_closed(void *context)
{
    *(bool *)context = true;
}

void sim_cluster_release(struct sim_cluster *cluster)
{
    bool closed = false;

    sim_node_free(cluster->node);
    kube_client_free(cluster->client);
    engine_controllers_free(cluster->controllers);
    http_transport_free(cluster->transport);
    /* The store's pending answers must reach the engine before it is freed. */
    sim_loop_run_for(cluster->loop, 1000);
    engine_free(cluster->engine);
    store_close(cluster->store, on_closed, &closed);
    sim_loop_run_for(cluster->loop, 1000);
    assert_true(closed);
    loop_free(cluster->loop);
}

void sim_must_succeed(void *context, struct json *object, const struct err *err)
{
    if (err)
        fail_msg("%s", err->message);
}
