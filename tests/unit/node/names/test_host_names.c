/* Tests the lines of /etc/hosts that name services for pods on the host network. */
#include "node_test.h"

#include "node/names/host_names.h"

enum { OBJECTS_MAX = 16 };

static size_t list(const struct json *array, const struct json **ret)
{
    size_t count = 0;
    JSON_EACH (object, array)
        ret[count++] = object;
    return count;
}

static char *lines(struct arena *arena, const char *namespace_, const char *services_text,
                   const char *pods_text)
{
    const struct json *services[OBJECTS_MAX], *pods[OBJECTS_MAX];
    const char *addresses[OBJECTS_MAX];
    size_t count = list(read_json(arena, services_text), services);
    struct host_names_pods on_machine = {.pods = pods, .addresses = addresses};
    on_machine.count = list(read_json(arena, pods_text), pods);
    for (size_t i = 0; i < on_machine.count; i++)
        addresses[i] = arena_printf(arena, "127.0.0.%zu", i + 1);
    return host_names_lines(arena, namespace_, services, count, &on_machine);
}

#define WORKER(index)                                                                              \
    "{'metadata':{'name':'mnist-worker-" index "','namespace':'default'},'spec':"                  \
    "{'clusterIP':'None','publishNotReadyAddresses':true,'selector':{'i':'" index "'}}}"
#define POD(index) "{'metadata':{'name':'p','namespace':'default','labels':{'i':'" index "'}}}"

static void services_with_ready_pods_have_lines(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    /* The lines are sorted, for any order of the objects. */
    assert_string_equal(
        lines(arena, "default", "[" WORKER("1") "," WORKER("0") "]", "[" POD("0") "," POD("1") "]"),
        "127.0.0.1\tmnist-worker-0.default.svc.cluster.local mnist-worker-0.default.svc "
        "mnist-worker-0.default mnist-worker-0\n"
        "127.0.0.2\tmnist-worker-1.default.svc.cluster.local mnist-worker-1.default.svc "
        "mnist-worker-1.default mnist-worker-1\n");
    /* From another namespace the name must include the namespace. */
    assert_string_equal(
        lines(arena, "other", "[" WORKER("0") "]", "[" POD("0") "]"),
        "127.0.0.1\tmnist-worker-0.default.svc.cluster.local mnist-worker-0.default.svc "
        "mnist-worker-0.default\n");
}

static void unreachable_services_have_no_lines(void **state)
{
    static const struct {
        const char *why, *service, *pod;
    } CASES[] = {
        {"no pod is behind it", WORKER("0"), POD("1")},
        {"a cluster address is not reached from the machine",
         "{'metadata':{'name':'a','namespace':'default'},'spec':{'clusterIP':'10.96.0.9',"
         "'selector':{'i':'0'}}}",
         POD("0")},
        {"no selector",
         "{'metadata':{'name':'a','namespace':'default'},'spec':{'clusterIP':'None'}}", POD("0")},
        {"a pod that is not ready",
         "{'metadata':{'name':'a','namespace':'default'},'spec':{'clusterIP':'None','selector':"
         "{'i':'0'}}}",
         POD("0")},
        {"a pod of another namespace", WORKER("0"),
         "{'metadata':{'name':'p','namespace':'other','labels':{'i':'0'}}}"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        char *text = lines(arena, "default", arena_printf(arena, "[%s]", CASES[i].service),
                           arena_printf(arena, "[%s]", CASES[i].pod));
        if (text[0])
            fail_msg("%s: %s", CASES[i].why, text);
    }
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {cmocka_unit_test(services_with_ready_pods_have_lines),
                                              cmocka_unit_test(unreachable_services_have_no_lines)};
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
