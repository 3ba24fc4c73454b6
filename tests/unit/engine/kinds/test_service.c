/* Tests the types of services through the API: which fields each type gets, rejects, and loses when
 * the type changes. test_service_addresses.c tests addresses and node ports. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
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

static struct answer change_spec(struct api *api, const char *name, const char *spec)
{
    return api_merge(api, arena_printf(api->arena, "%s/%s", SERVICES, name),
                     quoted(api->arena, arena_printf(api->arena, "{'spec':%s}", spec)));
}

static void assert_service(struct api *api, const struct answer *answer, const char *path,
                           const char *value)
{
    if (answer->status > 201)
        fail_msg("%d: %s", answer->status, answer_message(answer));
    if (!str_eq(answer_at(api, answer, path), value))
        fail_msg("%s is '%s', not '%s'", path, answer_at(api, answer, path), value);
}

static void external_name(void **state)
{
    struct api *api = *state;
    struct answer answer = make(api, "a", "{'type':'ExternalName','externalName':'example.com.'}");
    assert_service(api, &answer, "spec.externalName", "example.com.");
    static const char *const none[] = {"clusterIP",    "clusterIPs", "ipFamilyPolicy",
                                       "ipFamilies.0", "ports",      "internalTrafficPolicy"};
    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        assert_service(api, &answer, arena_printf(api->arena, "spec.%s", none[i]), "");
    /* The type changes and changes back: the fields of a type come and go with it. */
    answer =
        change_spec(api, "a", "{'type':'ClusterIP','externalName':null,'ports':[{'port':80}]}");
    assert_service(api, &answer, "spec.clusterIP", "10.96.0.2");
    assert_service(api, &answer, "spec.clusterIPs.0", "10.96.0.2");
    assert_service(api, &answer, "spec.ipFamilies.0", "IPv4");
    answer = change_spec(api, "a", "{'type':'ExternalName','externalName':'example.org'}");
    for (size_t i = 0; i < 4; i++)
        assert_service(api, &answer, arena_printf(api->arena, "spec.%s", none[i]), "");
    /* The former address is free again. */
    answer = make(api, "b", "{'clusterIP':'10.96.0.2','ports':[{'port':80}]}");
    assert_service(api, &answer, "spec.clusterIP", "10.96.0.2");
}

static void load_balancer(void **state)
{
    struct api *api = *state;
    struct answer answer = make(api, "a", "{'type':'LoadBalancer','ports':[{'port':80}]}");
    assert_service(api, &answer, "spec.allocateLoadBalancerNodePorts", "true");
    assert_service(api, &answer, "spec.externalTrafficPolicy", "Cluster");
    assert_in_range(atoi(answer_at(api, &answer, "spec.ports.0.nodePort")), 30000, 32767);
    answer = change_spec(api, "a", "{'externalTrafficPolicy':'Local'}");
    const char *health = answer_at(api, &answer, "spec.healthCheckNodePort");
    assert_in_range(atoi(health), 30000, 32767);
    /* No other service gets this port, neither as a node port nor as a health check port. */
    struct answer other =
        make(api, "b",
             arena_printf(api->arena, "{'type':'NodePort','ports':[{'port':80,'nodePort':%s}]}",
                          health));
    assert_non_null(strstr(answer_message(&other), "provided port is already allocated"));
    answer = change_spec(api, "a", "{'healthCheckNodePort':32000}");
    assert_non_null(
        strstr(answer_message(&answer), "spec.healthCheckNodePort: Forbidden: field is immutable"));
    answer = change_spec(api, "a", "{'type':'ClusterIP'}");
    static const char *const gone[] = {"allocateLoadBalancerNodePorts", "externalTrafficPolicy",
                                       "healthCheckNodePort", "ports.0.nodePort"};
    for (size_t i = 0; i < ARRAY_SIZE(gone); i++)
        assert_service(api, &answer, arena_printf(api->arena, "spec.%s", gone[i]), "");
    /* Without node ports, or with the requested ones. */
    answer = make(api, "c",
                  "{'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,'ports':["
                  "{'name':'a','port':80},{'name':'b','port':81,'nodePort':30222}]}");
    assert_service(api, &answer, "spec.ports.0.nodePort", "");
    assert_service(api, &answer, "spec.ports.1.nodePort", "30222");
}

static void families(void **state)
{
    struct api *api = *state;
    struct answer answer =
        make(api, "a", "{'clusterIP':'None','selector':{'a':'b'},'ports':[{'port':80}]}");
    assert_service(api, &answer, "spec.ipFamilyPolicy", "SingleStack");
    assert_service(api, &answer, "spec.ipFamilies.0", "IPv4");
    assert_service(api, &answer, "spec.ipFamilies.1", "");
    /* A service without a selector has endpoints written by users, which may be of either IP
     * family. */
    answer = make(api, "b", "{'clusterIP':'None'}");
    assert_service(api, &answer, "spec.ipFamilyPolicy", "RequireDualStack");
    assert_service(api, &answer, "spec.ipFamilies.1", "IPv6");
    answer = change_spec(api, "b", "{'ipFamilyPolicy':'SingleStack'}");
    assert_service(api, &answer, "spec.ipFamilies.0", "IPv4");
    assert_service(api, &answer, "spec.ipFamilies.1", "");
}

static void ports_and_node_ports(void **state)
{
    struct api *api = *state;
    /* Both protocols get the same node port, whichever of them sets it. */
    struct answer answer = make(api, "a",
                                "{'type':'NodePort','ports':[{'name':'tcp','port':53},"
                                "{'name':'udp','port':53,'protocol':'UDP','nodePort':30053}]}");
    assert_service(api, &answer, "spec.ports.0.nodePort", "30053");
    assert_service(api, &answer, "spec.ports.1.nodePort", "30053");
    /* A node port belongs to the name of its port. */
    answer = api_put(api, SERVICES "/a",
                     quoted(api->arena, "{'metadata':{'name':'a'},'spec':{'type':'NodePort',"
                                        "'ports':[{'name':'tcp','port':54}]}}"));
    assert_service(api, &answer, "spec.ports.0.nodePort", "30053");
    answer = make(api, "b", "{'ports':[{'port':80,'targetPort':''}],'sessionAffinity':'ClientIP'}");
    assert_service(api, &answer, "spec.ports.0.targetPort", "80");
    assert_service(api, &answer, "spec.sessionAffinityConfig.clientIP.timeoutSeconds", "10800");
    answer = change_spec(api, "b", "{'sessionAffinity':'None'}");
    assert_service(api, &answer, "spec.sessionAffinityConfig", "");
    answer = make(api, "c", "{'externalIPs':['192.0.2.1'],'ports':[{'port':80}]}");
    assert_service(api, &answer, "spec.externalTrafficPolicy", "Cluster");
}

static void refused(void **state)
{
    static const struct {
        const char *spec, *complaint;
    } rows[] = {
        {"{'type':'ExternalName','externalName':'A_b'}",
         "spec.externalName: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must"},
        {"{'type':'ExternalName','externalName':'a','clusterIP':'None','clusterIPs':['None']}",
         "spec.clusterIPs: Forbidden: may not be set for ExternalName services"},
        {"{'type':'LoadBalancer','clusterIP':'None','ports':[{'port':80}]}",
         "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for LoadBalancer "
         "services"},
        {"{'ipFamilies':['IPv6'],'ports':[{'port':80}]}",
         "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster"},
        {"{'ipFamilies':['IPv4','IPv4'],'ports':[{'port':80}]}",
         "spec.ipFamilies[1]: Duplicate value: \"IPv4\""},
        {"{'ipFamilies':['IPx'],'ports':[{'port':80}]}",
         "spec.ipFamilies[0]: Unsupported value: \"IPx\": supported values: \"IPv4\", \"IPv6\""},
        {"{'ipFamilyPolicy':'RequireDualStack','ports':[{'port':80}]}",
         "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
         "for dual-stack services"},
        {"{'clusterIPs':['10.96.0.9'],'ports':[{'port':80}]}",
         "spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: must be empty when `clusterIP` is not "
         "specified"},
        {"{'clusterIP':'10.96.0.8','clusterIPs':['10.96.0.9'],'ports':[{'port':80}]}",
         "spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: first value must match `clusterIP`"},
        {"{'clusterIP':'None','clusterIPs':['None','10.96.0.9'],'ports':[{'port':80}]}",
         "'None' must be the first and only value"},
        {"{'clusterIP':'::1','ports':[{'port':80}]}",
         "spec.clusterIPs[0]: Invalid value: [\"::1\"]: IPv6 is not configured on this cluster"},
        {"{'externalIPs':['here'],'ports':[{'port':80}]}",
         "spec.externalIPs[0]: Invalid value: \"here\": must be a valid IP address, (e.g. "
         "10.9.8.7 or 2001:db8::ffff)"},
        {"{'externalIPs':['127.0.0.1'],'ports':[{'port':80}]}",
         "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range "
         "(127.0.0.0/8, ::1/128)"},
        {"{'externalIPs':['::'],'ports':[{'port':80}]}", "may not be unspecified (::)"},
        {"{'externalIPs':['fe80::1'],'ports':[{'port':80}]}",
         "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
        {"{'externalIPs':['::ffff:224.0.0.1'],'ports':[{'port':80}]}",
         "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
        {"{'loadBalancerSourceRanges':['10.0.0.0/8'],'ports':[{'port':80}]}",
         "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is "
         "'LoadBalancer'"},
        {"{'type':'LoadBalancer','loadBalancerSourceRanges':['10.0.0.0/33'],'ports':[{'port':80}]}",
         "spec.LoadBalancerSourceRanges[0]: Invalid value: \"10.0.0.0/33\": must be a valid CIDR "
         "value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"},
        {"{'loadBalancerClass':'x','ports':[{'port':80}]}",
         "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
        {"{'allocateLoadBalancerNodePorts':true,'ports':[{'port':80}]}",
         "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is "
         "'LoadBalancer'"},
        {"{'healthCheckNodePort':30000,'ports':[{'port':80}]}",
         "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is "
         "'LoadBalancer' and `externalTrafficPolicy` is 'Local'"},
        {"{'internalTrafficPolicy':'x','ports':[{'port':80}]}",
         "spec.internalTrafficPolicy: Unsupported value: \"x\": supported values: \"Cluster\", "
         "\"Local\""},
        {"{'trafficDistribution':'x','ports':[{'port':80}]}",
         "spec.trafficDistribution: Unsupported value: \"x\""},
        {"{'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':0}},"
         "'ports':[{'port':80}]}",
         "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater "
         "than 0 and less than 86400"},
        {"{'ports':[{'port':80,'appProtocol':'a b'}]}",
         "spec.ports[0].appProtocol: Invalid value: \"a b\": name part must consist of"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct answer answer = make(api, "a", rows[i].spec);
        if (answer.status != 422 || !strstr(answer_message(&answer), rows[i].complaint))
            fail_msg("%s: %d, %s", rows[i].spec, answer.status, answer_message(&answer));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        TEST(external_name),        TEST(load_balancer), TEST(families),
        TEST(ports_and_node_ports), TEST(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
