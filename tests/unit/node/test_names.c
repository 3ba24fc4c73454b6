/* Names of services and pods, as TF_CONFIG and people write them. */
#include "node_test.h"

#include "node/names.h"

#include <arpa/inet.h>

static struct json *services, *pods;

static const struct json *find_service(void *context, const char *namespace_, const char *name)
{
    JSON_EACH (service, services) {
        const struct json *meta = json_get(service, "metadata");
        if (str_eq(json_get_string(meta, "namespace", ""), namespace_) &&
            str_eq(json_get_string(meta, "name", ""), name))
            return service;
    }
    return NULL;
}

static const struct json *next_pod(void *context, const char *namespace_, size_t *position)
{
    for (const struct json *pod; (pod = json_element(pods, *position));) {
        ++*position;
        if (str_eq(json_get_string(json_get(pod, "metadata"), "namespace", ""), namespace_))
            return pod;
    }
    return NULL;
}

static const char *lookup(const char *name)
{
    static char text[1024];
    const struct names_source source = {find_service, next_pod, NULL};
    struct dns_found found = {0};
    int count = names_lookup(&source, name, &found);
    snprintf(text, sizeof(text), "%d%s%s", count, found.alias[0] ? " = " : "", found.alias);
    for (int i = 0; i < count; i++) {
        char address[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &found.addresses[i], address, sizeof(address));
        strcat(strcat(text, " "), address);
    }
    return text;
}

static void lookups(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    services = read_json(
        arena,
        "[{'metadata':{'name':'mnist-worker-0','namespace':'default'},"
        "  'spec':{'clusterIP':'None','publishNotReadyAddresses':true,'selector':{'i':'0'}}},"
        " {'metadata':{'name':'web','namespace':'default'},'spec':{'selector':{'app':'web'}}},"
        " {'metadata':{'name':'hand','namespace':'default'},'spec':{}},"
        " {'metadata':{'name':'own','namespace':'default'},'spec':{'clusterIP':'10.96.0.9',"
        "  'selector':{'app':'web'}}},"
        " {'metadata':{'name':'out','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'example.com.','selector':{'app':'web'}}},"
        " {'metadata':{'name':'alias','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'further.default.svc.cluster.local'}},"
        " {'metadata':{'name':'further','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'own.default.svc.cluster.local.'}},"
        " {'metadata':{'name':'circle','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'circle.default.svc'}}]");
    pods = read_json(
        arena,
        "[{'metadata':{'name':'a','namespace':'default','labels':{'i':'0'}},"
        "  'status':{'podIP':'10.244.1.1','phase':'Pending'}},"
        " {'metadata':{'name':'b','namespace':'default','labels':{'app':'web'}},"
        "  'spec':{'hostname':'b','subdomain':'web'},"
        "  'status':{'podIP':'10.244.1.2','phase':'Running','conditions':[{'type':'Ready','status':"
        "'True'}]}},"
        " {'metadata':{'name':'c','namespace':'default','labels':{'app':'web'}},"
        "  'status':{'podIP':'10.244.1.3','phase':'Running'}},"
        " {'metadata':{'name':'d','namespace':'default','labels':{'i':'0'}},"
        "  'status':{'podIP':'10.244.1.4','phase':'Succeeded'}},"
        " {'metadata':{'name':'e','namespace':'other','labels':{'i':'0'}},"
        "  'status':{'podIP':'10.244.1.5','phase':'Running'}}]");
    /* Not ready is good enough where the service says so; ended is not. */
    assert_string_equal(lookup("mnist-worker-0.default.svc.cluster.local"), "1 10.244.1.1");
    assert_string_equal(lookup("mnist-worker-0.default.svc"), "1 10.244.1.1");
    assert_string_equal(lookup("web.default.svc"), "1 10.244.1.2");
    assert_string_equal(lookup("own.default.svc.cluster.local"), "1 10.96.0.9");
    assert_string_equal(lookup("kubernetes.docker.internal"), "1 10.244.0.1");
    assert_string_equal(lookup("host.docker.internal"), "-1");
    assert_string_equal(lookup("b.web.default.svc.cluster.local"), "1 10.244.1.2");
    assert_string_equal(lookup("x.web.default.svc"), "-1");
    assert_string_equal(lookup("hand.default.svc"), "0");
    assert_string_equal(lookup("web.other.svc"), "-1");
    assert_string_equal(lookup("10-244-1-9.default.pod.cluster.local"), "1 10.244.1.9");
    assert_string_equal(lookup("ten.default.pod"), "-1");
    assert_string_equal(lookup("localhost"), "1 127.0.0.1");
    /* A name for another one, be it in the cluster or not. */
    assert_string_equal(lookup("out.default.svc"), "0 = example.com");
    assert_string_equal(lookup("b.out.default.svc"), "-1");
    assert_string_equal(lookup("alias.default.svc"),
                        "1 = further.default.svc.cluster.local 10.96.0.9");
    assert_string_equal(lookup("circle.default.svc"), "0 = circle.default.svc");
    static const char *const NONE[] = {"",
                                       ".",
                                       "svc",
                                       "web.default",
                                       "example.org",
                                       "a..svc",
                                       "cluster.local",
                                       "a.b.c.d.e.f.g.h.i.j"};
    for (size_t i = 0; i < ARRAY_SIZE(NONE); i++)
        if (!str_eq(lookup(NONE[i]), "-1"))
            fail_msg("'%s': %s", NONE[i], lookup(NONE[i]));
    char huge[1000];
    memset(huge, 'a', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    assert_string_equal(lookup(huge), "-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lookups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
