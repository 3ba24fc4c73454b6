/* Tests the endpoints of a service. */
#include "engine/controllers/endpoints.h"
#include "tree.h"

static const struct json *pod(const char *name, const char *ip, bool ready, const char *phase,
                              int port)
{
    return tree(arena_printf(
        arena,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"u-%s\"},\"spec\":{"
        "\"nodeName\":\"n\",\"containers\":[{\"ports\":[{\"name\":\"web\",\"containerPort\":%d}]}]}"
        ","
        "\"status\":{\"podIP\":\"%s\",\"phase\":\"%s\",\"conditions\":[{\"type\":\"Ready\","
        "\"status\":\"%s\"}]}}",
        name, name, port, ip, phase, ready ? "True" : "False"));
}

/* Returns "ports: ready | not ready" for each subset, with names only. */
static const char *text_of_subsets(const struct json *subsets)
{
    const char *text = "";
    JSON_EACH (subset, subsets) {
        text = arena_printf(arena, "%s[", text);
        JSON_EACH (port, json_get(subset, "ports"))
            text = arena_printf(arena, "%s%lld ", text, (long long)json_get_int(port, "port", 0));
        JSON_EACH (address, json_get(subset, "addresses"))
            text = arena_printf(arena, "%s+%s", text, json_get_string(address, "ip", ""));
        JSON_EACH (address, json_get(subset, "notReadyAddresses"))
            text = arena_printf(arena, "%s-%s", text, json_get_string(address, "ip", ""));
        text = arena_printf(arena, "%s]", text);
    }
    return text;
}

static void test_ready_or_not(void **state)
{
    const struct json *pods[] = {
        pod("b", "1.2", false, "Running", 80), pod("a", "1.1", true, "Running", 80),
        pod("c", "1.3", true, "Succeeded", 80), pod("d", "", false, "Pending", 80)};
    struct json *service = tree("{\"spec\":{\"ports\":[{\"port\":8080,\"targetPort\":80}]}}");
    assert_string_equal(text_of_subsets(endpoints_subsets(arena, service, pods, 4)),
                        "[80 +1.1-1.2]");
    service = tree("{\"spec\":{\"publishNotReadyAddresses\":true,\"ports\":[{\"port\":80}]}}");
    assert_string_equal(text_of_subsets(endpoints_subsets(arena, service, pods, 4)),
                        "[80 +1.1+1.2]");
    /* A headless service needs no ports. */
    service = tree("{\"spec\":{}}");
    assert_string_equal(text_of_subsets(endpoints_subsets(arena, service, pods, 4)), "[+1.1-1.2]");
    assert_string_equal(text_of_subsets(endpoints_subsets(arena, service, pods, 0)), "");
}

static void test_named_ports(void **state)
{
    const struct json *pods[] = {pod("a", "1.1", true, "Running", 80),
                                 pod("b", "1.2", true, "Running", 81)};
    struct json *service = tree("{\"spec\":{\"ports\":[{\"port\":1,\"targetPort\":\"web\"}]}}");
    assert_string_equal(text_of_subsets(endpoints_subsets(arena, service, pods, 2)),
                        "[80 +1.1][81 +1.2]");
    service = tree("{\"spec\":{\"ports\":[{\"port\":1,\"targetPort\":\"none\"}]}}");
    assert_string_equal(text_of_subsets(endpoints_subsets(arena, service, pods, 2)), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_or_not),
        cmocka_unit_test(test_named_ports),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
