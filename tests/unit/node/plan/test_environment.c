/* Tests the environment: expansion, references, and which value takes precedence. */
#include "node_test.h"

#include "node/plan/environment.h"

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    const struct json *all = context;
    return json_at(all, resource->plural, name, NULL);
}

static void variables_are_expanded(void **state)
{
    static const struct {
        const char *text, *result;
    } CASES[] = {
        {"plain", "plain"},     {"$(A)", "1"},     {"x$(A)y$(B)z", "x1ytwoz"},
        {"$(NONE)", "$(NONE)"}, {"$$(A)", "$(A)"}, {"$$$(A)", "$1"},
        {"$A", "$A"},           {"$(A", "$(A"},    {"$", "$"},
        {"a$$b", "a$b"},        {"$()", "$()"},    {"$(EMPTY)", ""},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_strings environment = {0};
    environment_set(arena, &environment, "A", "1");
    environment_set(arena, &environment, "B", "two");
    environment_set(arena, &environment, "EMPTY", "");
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++)
        assert_string_equal(environment_expand(arena, CASES[i].text, &environment),
                            CASES[i].result);
    environment_set(arena, &environment, "A", "again");
    assert_int_equal(environment.count, 3);
    assert_string_equal(environment_get(&environment, "A"), "again");
    assert_null(environment_get(&environment, "EMPT"));
}

struct fixture {
    struct arena *arena;
    struct pod_facts facts;
    struct node_objects objects;
};

static int build(struct fixture *f, const char *container, struct pod_strings *ret, struct err *err)
{
    f->facts = (struct pod_facts){
        .pod = read_json(f->arena,
                         "{'metadata':{'name':'p','namespace':'n','uid':'u','labels':{'app.x/y':"
                         "'v'},'annotations':{'note':'a b'}},'spec':{'nodeName':'node-0'}}"),
        .hostname = "p",
        .address = "10.244.1.2",
        .host_address = "127.0.0.1",
        .capacity = read_json(f->arena, "{'cpu':'4','memory':'1000Ki'}")};
    f->objects = (struct node_objects){
        get_object,
        read_json(f->arena, "{'configmaps':{'c':{'data':{'K':'from map','L':'l','1st':'no','a "
                            "b':'no','x-y.z':'yes'}}},"
                            " 'secrets':{'s':{'data':{'P':'aHVzaA==','BIN':'AAA='}}}}")};
    *ret = (struct pod_strings){0};
    environment_set(f->arena, ret, "PATH", "/bin");
    return environment_build(f->arena, &f->facts, &f->objects, read_json(f->arena, container), ret,
                             err);
}

static void references_are_resolved(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct fixture f = {.arena = arena};
    struct pod_strings e;
    struct err err = ERR_INIT;
    if (build(
            &f,
            "{'envFrom':[{'configMapRef':{'name':'c'},'prefix':'X_'},{'secretRef':{'name':'s'}},"
            "  {'configMapRef':{'name':'none','optional':true}}],"
            " 'env':[{'name':'A','value':'1'},{'name':'B','value':'$(A)$(LATER)'},"
            "  {'name':'LATER','value':'x'},{'name':'X_L','value':'own'},"
            "  {'name':'N','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'}}},"
            "  "
            "{'name':'V','valueFrom':{'fieldRef':{'fieldPath':'metadata.labels[\\u0027app.x/"
            "y\\u0027]'}}},"
            "  {'name':'IP','valueFrom':{'fieldRef':{'fieldPath':'status.podIP'}}},"
            "  {'name':'NODE','valueFrom':{'fieldRef':{'fieldPath':'spec.nodeName'}}},"
            "  {'name':'M','valueFrom':{'configMapKeyRef':{'name':'c','key':'K'}}},"
            "  {'name':'S','valueFrom':{'secretKeyRef':{'name':'s','key':'P'}}},"
            "  {'name':'O','valueFrom':{'secretKeyRef':{'name':'s','key':'none','optional':true}}},"
            "  {'name':'PATH','value':'/mine'}]}",
            &e, &err) < 0)
        fail_msg("%s", err.message);
    static const struct {
        const char *name, *value;
    } EXPECTED[] = {{"X_K", "from map"}, {"X_L", "own"}, {"P", "hush"},     {"A", "1"},
                    {"B", "1$(LATER)"},  {"N", "p"},     {"V", "v"},        {"IP", "10.244.1.2"},
                    {"NODE", "node-0"},  {"S", "hush"},  {"M", "from map"}, {"PATH", "/mine"}};
    for (size_t i = 0; i < ARRAY_SIZE(EXPECTED); i++)
        assert_string_equal(environment_get(&e, EXPECTED[i].name), EXPECTED[i].value);
    assert_null(environment_get(&e, "O"));
    assert_null(environment_get(&e, "BIN"));
}

static void note(void *context, const char *kind, const char *name, const char *keys)
{
    struct buf *text = context;
    buf_printf(text, "%s %s: %s;", kind, name, keys);
}

static void invalid_names_are_skipped_and_reported(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char container[] =
        "{'envFrom':[{'configMapRef':{'name':'c'}},{'prefix':'P_','configMapRef':{'name':'c'}},"
        "{'secretRef':{'name':'s'}}]}";
    struct fixture f = {.arena = arena};
    struct pod_strings e;
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1024);
    assert_int_equal(build(&f, container, &e, NULL), 0);
    assert_null(environment_get(&e, "1st"));
    assert_string_equal(environment_get(&e, "x-y.z"), "yes");
    assert_string_equal(environment_get(&e, "P_1st"), "no");
    assert_null(environment_get(&e, "P_a b"));
    environment_find_skipped(arena, f.facts.pod, &f.objects, read_json(arena, container), note,
                             &text);
    assert_string_equal(text.data, "configMap c: 1st, a b;configMap c: a b;");
}

static void resource_references_are_computed(void **state)
{
    static const struct {
        const char *reference, *value;
    } CASES[] = {
        {"{'resource':'limits.cpu'}", "2"}, /* 1500m, rounded up */
        {"{'resource':'limits.cpu','divisor':'1m'}", "1500"},
        {"{'resource':'requests.cpu','divisor':'1m'}", "250"},
        {"{'resource':'requests.memory'}", "0"},
        {"{'resource':'limits.memory','divisor':'1Ki'}", "1000"}, /* the node's amount */
        {"{'resource':'limits.memory','divisor':'1Mi'}", "1"},
        {"{'resource':'limits.memory','divisor':'0'}", "1024000"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct fixture f = {.arena = arena};
        struct pod_strings e;
        const char *container =
            arena_printf(arena,
                         "{'resources':{'limits':{'cpu':'1500m'},'requests':{'cpu':'250m'}},"
                         "'env':[{'name':'A','valueFrom':{'resourceFieldRef':%s}}]}",
                         CASES[i].reference);
        struct err err = ERR_INIT;
        if (build(&f, container, &e, &err) < 0)
            fail_msg("%s", err.message);
        assert_string_equal(environment_get(&e, "A"), CASES[i].value);
    }
}

static void missing_references_are_named(void **state)
{
    static const struct {
        const char *container, *message;
        int result;
    } CASES[] = {
        {"{'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'z','key':'k'}}}]}",
         "environment variable 'A': configmap \"z\" not found", -ERR_NOT_FOUND},
        {"{'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'c','key':'k'}}}]}",
         "environment variable 'A': couldn't find key k in ConfigMap n/c", -ERR_NOT_FOUND},
        {"{'envFrom':[{'secretRef':{'name':'z'}}]}", "secret \"z\" not found", -ERR_NOT_FOUND},
        {"{'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'spec.none'}}}]}",
         "environment variable 'A': fieldPath 'spec.none' is not supported", -ERR_UNSUPPORTED},
        {"{'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'BIN'}}}]}",
         "environment variable 'A': the value contains a NUL byte", -ERR_INVALID},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct fixture f = {.arena = arena};
        struct pod_strings e;
        struct err err = ERR_INIT;
        assert_int_equal(build(&f, CASES[i].container, &e, &err), CASES[i].result);
        assert_string_equal(err.message, CASES[i].message);
    }
}

static const struct json *next_service(void *context, const char *namespace_, size_t *position)
{
    assert_string_equal(namespace_, "n");
    return json_element(json_get(context, "services"), (*position)++);
}

static void service_variables_are_set(void **state)
{
    static const struct {
        const char *name, *value; /* NULL: not set */
    } CASES[] = {
        {"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
        {"KUBERNETES_SERVICE_PORT", "443"},
        {"KUBERNETES_SERVICE_PORT_HTTPS", "443"},
        {"KUBERNETES_PORT", "tcp://10.96.0.1:443"},
        {"KUBERNETES_PORT_443_TCP_ADDR", "10.96.0.1"},
        {"MY_DB_SERVICE_HOST", "10.96.0.7"},
        {"MY_DB_SERVICE_PORT", "80"},
        {"MY_DB_SERVICE_PORT_HTTP", "80"},
        {"MY_DB_SERVICE_PORT_ADMIN_UI", "81"},
        {"MY_DB_PORT", "tcp://10.96.0.7:80"},
        {"MY_DB_PORT_81_UDP", "udp://10.96.0.7:81"},
        {"MY_DB_PORT_81_UDP_PROTO", "udp"},
        {"MY_DB_PORT_80_TCP_PORT", "80"},
        {"HEADLESS_SERVICE_HOST", NULL},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_facts facts = {.pod = read_json(arena, "{'metadata':{'namespace':'n'}}")};
    const struct node_objects objects = {
        .context = read_json(
            arena, "{'services':["
                   "{'metadata':{'name':'headless'},'spec':{'clusterIP':'None','ports':[{'port':1}]"
                   "}},"
                   "{'metadata':{'name':'my-db'},'spec':{'clusterIP':'10.96.0.7','ports':["
                   "{'name':'http','port':80},{'name':'admin-ui','port':81,'protocol':'UDP'}]}}]}"),
        .next_service = next_service};
    struct pod_strings e = {0};
    environment_add_services(arena, &facts, &objects, &e);
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++)
        if (!str_eq(environment_get(&e, CASES[i].name), CASES[i].value))
            fail_msg("%s is '%s'", CASES[i].name, environment_get(&e, CASES[i].name));
    /* A pod without service links gets only the variables of the API. On the host network the API
     * has another address. */
    e = (struct pod_strings){0};
    facts.pod =
        read_json(arena, "{'metadata':{'namespace':'n'},'spec':{'enableServiceLinks':false}}");
    facts.api_port = 12345;
    environment_add_services(arena, &facts, &objects, &e);
    assert_null(environment_get(&e, "MY_DB_SERVICE_HOST"));
    assert_string_equal(environment_get(&e, "KUBERNETES_SERVICE_HOST"), "127.0.0.1");
    assert_string_equal(environment_get(&e, "KUBERNETES_SERVICE_PORT"), "12345");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_expanded),
        cmocka_unit_test(references_are_resolved),
        cmocka_unit_test(missing_references_are_named),
        cmocka_unit_test(resource_references_are_computed),
        cmocka_unit_test(invalid_names_are_skipped_and_reported),
        cmocka_unit_test(service_variables_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
