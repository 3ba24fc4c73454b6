/* Tests cluster addresses and node ports through the API: allocated, unique, kept, freed. */
#include "api.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/engine.h"
#include "read_json.h"
#include "served_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SERVICES "/api/v1/namespaces/default/services"

static struct answer make(struct api *api, const char *name, const char *spec)
{
    return api_post(
        api, SERVICES,
        quoted(api->arena,
               arena_printf(api->arena, "{'metadata':{'name':'%s'},'spec':%s}", name, spec)));
}

static const char *address(struct api *api, const char *name)
{
    return api_at(api, arena_printf(api->arena, "%s/%s", SERVICES, name), "spec.clusterIP");
}

static int node_port(struct api *api, const char *name)
{
    struct answer answer = api_get(api, arena_printf(api->arena, "%s/%s", SERVICES, name));
    return atoi(answer_at(api, &answer, "spec.ports.0.nodePort"));
}

static void defaults(void **state)
{
    struct api *api = *state;
    struct answer answer = make(api, "a", "{'ports':[{'port':80}]}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.clusterIP"), "10.96.0.2");
    assert_string_equal(answer_at(api, &answer, "spec.clusterIPs.0"), "10.96.0.2");
    assert_string_equal(answer_at(api, &answer, "spec.ipFamilies.0"), "IPv4");
    assert_string_equal(answer_at(api, &answer, "spec.ports.0.nodePort"), "");
    /* A headless service stays headless and needs no port. */
    answer = make(api, "b", "{'clusterIP':'None'}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.clusterIP"), "None");
    answer = make(api, "c", "{}");
    assert_string_equal(answer_message(&answer),
                        "Service \"c\" is invalid: spec.ports: Required value");
}

static void explicit_addresses(void **state)
{
    struct api *api = *state;
    assert_int_equal(make(api, "a", "{'clusterIP':'10.96.7.7','ports':[{'port':80}]}").status, 201);
    struct answer answer = make(api, "b", "{'clusterIP':'10.96.7.7','ports':[{'port':80}]}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "Service \"b\" is invalid: spec.clusterIPs: Invalid value: "
                        "[\"10.96.7.7\"]: failed to allocate IP 10.96.7.7: provided IP is already "
                        "allocated");
    answer = make(api, "b", "{'clusterIP':'10.0.0.1','ports':[{'port':80}]}");
    assert_non_null(strstr(answer_message(&answer), "The range of valid IPs is 10.96.0.0/16"));
    answer = make(api, "b", "{'clusterIP':'here','ports':[{'port':80}]}");
    assert_non_null(strstr(answer_message(&answer), "must be a valid IP address"));
    /* The address of the API service is reserved. */
    answer = make(api, "b", "{'clusterIP':'10.96.0.1','ports':[{'port':80}]}");
    assert_non_null(strstr(answer_message(&answer), "already allocated"));
    assert_int_equal(
        make(api, "kubernetes", "{'clusterIP':'10.96.0.1','ports':[{'port':443}]}").status, 201);
}

static void changed_addresses(void **state)
{
    struct api *api = *state;
    make(api, "a", "{'ports':[{'port':80}]}");
    struct answer answer =
        api_merge(api, SERVICES "/a", quoted(api->arena, "{'spec':{'clusterIP':'10.96.0.9'}}"));
    assert_string_equal(answer_message(&answer),
                        "Service \"a\" is invalid: spec.clusterIPs[0]: Invalid value: "
                        "[\"10.96.0.9\"]: may not change once set");
    /* A replacement that does not set the address keeps it. */
    answer = api_put(api, SERVICES "/a",
                     quoted(api->arena, "{'metadata':{'name':'a'},'spec':{'type':'NodePort',"
                                        "'ports':[{'port':80,'nodePort':31000}]}}"));
    assert_int_equal(answer.status, 200);
    assert_string_equal(address(api, "a"), "10.96.0.2");
    assert_int_equal(node_port(api, "a"), 31000);
    answer = api_put(api, SERVICES "/a",
                     quoted(api->arena, "{'metadata':{'name':'a'},'spec':{'type':'NodePort',"
                                        "'ports':[{'port':80,'targetPort':81}]}}"));
    assert_int_equal(answer.status, 200);
    assert_int_equal(node_port(api, "a"), 31000);
    /* When the type changes, the node port is free again. */
    answer = api_merge(api, SERVICES "/a", quoted(api->arena, "{'spec':{'type':'ClusterIP'}}"));
    assert_int_equal(answer.status, 200);
    assert_int_equal(node_port(api, "a"), 0);
    assert_int_equal(
        make(api, "b", "{'type':'NodePort','ports':[{'port':1,'nodePort':31000}]}").status, 201);
}

static void node_ports(void **state)
{
    struct api *api = *state;
    struct answer answer =
        make(api, "a", "{'type':'NodePort','ports':[{'port':3000,'nodePort':30390}]}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.externalTrafficPolicy"), "Cluster");
    answer = make(api, "b", "{'type':'NodePort','ports':[{'port':3000,'nodePort':30390}]}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30390: "
                        "provided port is already allocated");
    answer = make(api, "b", "{'type':'NodePort','ports':[{'port':3000,'nodePort':80}]}");
    assert_string_equal(answer_message(&answer),
                        "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 80: "
                        "provided port is not in the valid range. The range of valid ports is "
                        "30000-32767");
    answer = make(api, "b", "{'ports':[{'port':3000,'nodePort':30391}]}");
    assert_string_equal(answer_message(&answer),
                        "Service \"b\" is invalid: spec.ports[0].nodePort: Forbidden: may not be "
                        "used when `type` is 'ClusterIP'");
    answer = make(api, "b", "{'type':'NodePort','clusterIP':'None','ports':[{'port':1}]}");
    assert_non_null(
        strstr(answer_message(&answer), "may not be set to 'None' for NodePort services"));
    answer = make(api, "b",
                  "{'type':'NodePort','ports':[{'name':'a','port':1,'nodePort':30001},"
                  "{'name':'b','port':1,'nodePort':30001}]}");
    assert_string_equal(answer_message(&answer),
                        "Service \"b\" is invalid: [spec.ports[1]: Duplicate value: "
                        "{\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":1,"
                        "\"TargetPort\":0,\"NodePort\":0}, "
                        "spec.ports[1].nodePort: Duplicate value: 30001]");
}

/* Creates many services at once, before any is on disk. All addresses and ports must differ. */
static void many_services_get_different_addresses(void **state)
{
    enum { COUNT = 300 };
    struct api *api = *state;
    bool ports[32768] = {0}, hosts[COUNT + 10] = {0};
    for (int i = 0; i < COUNT; i++) {
        char *name = arena_printf(api->arena, "s%d", i);
        struct answer answer = make(api, name, "{'type':'NodePort','ports':[{'port':80}]}");
        assert_int_equal(answer.status, 201);
        int port = atoi(answer_at(api, &answer, "spec.ports.0.nodePort"));
        unsigned high, low;
        assert_int_equal(
            sscanf(answer_at(api, &answer, "spec.clusterIP"), "10.96.%u.%u", &high, &low), 2);
        assert_in_range(port, 30000, 32767);
        assert_in_range(high * 256 + low, 2, COUNT + 1);
        assert_false(ports[port]);
        assert_false(hosts[high * 256 + low]);
        ports[port] = hosts[high * 256 + low] = true;
    }
}

static void addresses_are_freed_on_delete(void **state)
{
    struct api *api = *state;
    static const char spec[] =
        "{'type':'NodePort','clusterIP':'10.96.1.1','ports':[{'port':80,'nodePort':30390}]}";
    for (int i = 0; i < 3; i++) {
        assert_int_equal(make(api, "a", spec).status, 201);
        assert_int_equal(make(api, "b", spec).status, 422);
        assert_int_equal(api_delete(api, SERVICES "/a", NULL).status, 200);
    }
    assert_int_equal(make(api, "b", spec).status, 201);
}

/* A dry run allocates nothing. */
static void a_dry_run_allocates_nothing(void **state)
{
    struct api *api = *state;
    static const char body[] = "{'metadata':{'name':'a'},'spec':{'type':'NodePort','ports':[{'port'"
                               ":1,'nodePort':30390}]}}";
    assert_int_equal(api_post(api, SERVICES "?dryRun=All", quoted(api->arena, body)).status, 201);
    assert_int_equal(
        make(api, "b", "{'type':'NodePort','ports':[{'port':1,'nodePort':30390}]}").status, 201);
}

/* A new engine on the same store knows which addresses are allocated. */
static void addresses_are_kept_after_a_restart(void **state)
{
    struct api *api = *state;
    struct engine *again;
    struct err err = ERR_INIT;
    make(api, "a", "{'type':'NodePort','ports':[{'port':80,'nodePort':30390}]}");
    const struct engine_options options = {.token = API_TOKEN, .kinds = SERVED_KINDS};
    assert_int_equal(engine_new(api->loop, api->store, &options, &again, &err), 0);
    http_transport_free(api->transport);
    engine_free(api->engine);
    api->engine = again;
    api->transport = http_local_new(api->loop, engine_handle, again, API_TOKEN);
    assert_int_equal(
        make(api, "b", "{'type':'NodePort','ports':[{'port':1,'nodePort':30390}]}").status, 422);
    assert_int_equal(make(api, "b", "{'ports':[{'port':1}]}").status, 201);
    assert_string_not_equal(address(api, "b"), address(api, "a"));
}

/* A rejected service keeps none of the node ports that were allocated for it. */
static void a_rejected_service_allocates_nothing(void **state)
{
    struct api *api = *state;
    _cleanup_buf_ struct buf ports;
    buf_init(&ports, 1 << 20);
    for (int i = 1; i <= 2769; i++)
        buf_printf(&ports, "%s{'name':'p%d','port':%d}", i > 1 ? "," : "", i, i);
    struct answer answer =
        make(api, "a", arena_printf(api->arena, "{'type':'NodePort','ports':[%s]}", ports.data));
    assert_string_equal(answer_message(&answer),
                        "Service \"a\" is invalid: spec.ports[2768].nodePort: Invalid value: 0: "
                        "all ports of the range 30000-32767 are taken");
    assert_int_equal(make(api, "a", "{'type':'NodePort','ports':[{'port':1}]}").status, 201);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        TEST(defaults),
        TEST(explicit_addresses),
        TEST(changed_addresses),
        TEST(node_ports),
        TEST(many_services_get_different_addresses),
        TEST(addresses_are_freed_on_delete),
        TEST(a_dry_run_allocates_nothing),
        TEST(addresses_are_kept_after_a_restart),
        TEST(a_rejected_service_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
