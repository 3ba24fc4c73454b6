/* Tests tables made from services, endpoints and pods, and their text. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/process/helper.h"
#include "node/service/service_table.h"

#include <stdlib.h>

static struct json *services, *endpoints, *pods;

static const struct json *next_service(void *context, size_t *position)
{
    return json_element(services, (*position)++);
}

static const struct json *next_pod(void *context, size_t *position)
{
    return json_element(pods, (*position)++);
}

static const struct json *find_endpoints(void *context, const char *namespace_, const char *name)
{
    JSON_EACH (object, endpoints) {
        const struct json *meta = json_get(object, "metadata");
        if (str_eq(json_get_string(meta, "namespace", ""), namespace_) &&
            str_eq(json_get_string(meta, "name", ""), name))
            return object;
    }
    return NULL;
}

static const struct service_table_source SOURCE = {next_service, next_pod, find_endpoints, NULL};

static char *text_of(struct arena *arena, const struct proxy_table *table)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, PROXY_TABLE_MAX);
    proxy_table_write(table, &text);
    return arena_strdup(arena, text.data);
}

static void load_objects(struct arena *arena)
{
    services = read_json(
        arena, "[{'metadata':{'name':'web','namespace':'default'},'spec':{'type':'NodePort',"
               "   'clusterIP':'10.96.0.7','ports':[{'name':'http','port':80,'nodePort':30080,"
               "   'protocol':'TCP'},{'name':'dns','port':53,'nodePort':30053,'protocol':'UDP'}]}},"
               " {'metadata':{'name':'headless','namespace':'default'},'spec':{'clusterIP':'None',"
               "   'ports':[{'port':2222}]}},"
               " {'metadata':{'name':'nobody','namespace':'other'},'spec':{'clusterIP':'10.96.0.3',"
               "'sessionAffinity':'ClientIP','type':'LoadBalancer',"
               "   'ports':[{'port':1,'nodePort':30001}]}},"
               " {'metadata':{'name':'odd','namespace':'other'},'spec':{'clusterIP':'10.96.0.4',"
               "   'ports':[{'port':70000},{'port':'x'},null,7]}},"
               " {'spec':7}, {}]");
    endpoints = read_json(
        arena,
        "[{'metadata':{'name':'web','namespace':'default'},'subsets':["
        "   {'addresses':[{'ip':'10.244.2.1'},{'ip':'10.244.1.9'},{'ip':'127.0.0.2'},{'ip':'x'}],"
        "    'notReadyAddresses':[{'ip':'10.244.1.5'}],"
        "    'ports':[{'name':'http','port':8080,'protocol':'TCP'},"
        "             {'name':'dns','port':5353,'protocol':'UDP'}]},"
        "   {'addresses':[{'ip':'10.244.3.1'}],'ports':[{'name':'http','port':9090}]}]}]");
    pods = read_json(
        arena,
        "[{'metadata':{'name':'a','namespace':'default'},'spec':{'nodeName':'two','containers':["
        "   {'ports':[{'containerPort':3000,'hostPort':3000},{'containerPort':7},"
        "             {'containerPort':8,'hostPort':9,'protocol':'UDP'}]}]},"
        "  'status':{'phase':'Running','podIP':'10.244.2.1'}},"
        " {'metadata':{'name':'b','namespace':'default'},'spec':{'nodeName':'one','containers':["
        "   {'ports':[{'containerPort':3001,'hostPort':3000}]}]},"
        "  'status':{'phase':'Running','podIP':'10.244.1.9'}},"
        " {'metadata':{'name':'c','namespace':'default'},'spec':{'nodeName':'one','containers':["
        "   {'ports':[{'containerPort':1,'hostPort':1}]}]},'status':{'phase':'Pending'}},"
        " {'metadata':{'name':'d','namespace':'default'},'spec':{'nodeName':'one',"
        "   'hostNetwork':true,'containers':[{'ports':[{'containerPort':1,'hostPort':1}]}]},"
        "  'status':{'phase':'Running','podIP':'127.0.0.1'}},"
        " {'metadata':{'name':'e','namespace':'default'},'spec':{'nodeName':'three','containers':["
        "   {'ports':[{'containerPort':1,'hostPort':1}]}]},"
        "  'status':{'phase':'Running','podIP':'10.244.3.1'}}]");
}

static void inside_table_has_cluster_addresses(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct proxy_table table;
    load_objects(arena);
    service_table_inside(arena, &SOURCE, &table);
    assert_string_equal(text_of(arena, &table), "listen 10.96.0.3:1\n"
                                                "sticky yes\n"
                                                "listen 10.96.0.7:53\n"
                                                "udp yes\n"
                                                "to 10.244.1.9:5353\n"
                                                "to 10.244.2.1:5353\n"
                                                "listen 10.96.0.7:80\n"
                                                "to 10.244.1.9:8080\n"
                                                "to 10.244.2.1:8080\n"
                                                "to 10.244.3.1:9090\n");
}

static void outside_table_has_machine_ports(void **state)
{
    static const char *const nodes[] = {"one", "two", NULL};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct proxy_table table;
    load_objects(arena);
    service_table_outside(arena, &SOURCE, nodes, &table);
    assert_string_equal(text_of(arena, &table), "listen 127.0.0.1:3000\n"
                                                "to 10.244.1.9:3001\n"
                                                "listen 127.0.0.1:30001\n"
                                                "sticky yes\n"
                                                "listen 127.0.0.1:30053\n"
                                                "udp yes\n"
                                                "to 10.244.1.9:5353\n"
                                                "to 10.244.2.1:5353\n"
                                                "to 127.0.0.2:5353\n"
                                                "listen 127.0.0.1:30080\n"
                                                "to 10.244.1.9:8080\n"
                                                "to 10.244.2.1:8080\n"
                                                "to 10.244.3.1:9090\n"
                                                "to 127.0.0.2:8080\n"
                                                "listen 127.0.0.2:9\n"
                                                "udp yes\n"
                                                "to 10.244.2.1:8\n"
                                                "listen 127.0.0.2:3000\n"
                                                "to 10.244.2.1:3000\n"
                                                "listen 127.0.0.2:30001\n"
                                                "sticky yes\n"
                                                "listen 127.0.0.2:30053\n"
                                                "udp yes\n"
                                                "to 10.244.1.9:5353\n"
                                                "to 10.244.2.1:5353\n"
                                                "to 127.0.0.2:5353\n"
                                                "listen 127.0.0.2:30080\n"
                                                "to 10.244.1.9:8080\n"
                                                "to 10.244.2.1:8080\n"
                                                "to 10.244.3.1:9090\n"
                                                "to 127.0.0.2:8080\n");
    assert_string_equal(table.routes[0].owner, "Pod/default/b");
    assert_string_equal(table.routes[1].owner, "Service/other/nobody");
    assert_string_equal(table.routes[2].owner, "Service/default/web");
}

static void table_text_round_trip(void **state)
{
    static const struct {
        const char *text, *complaint; /* NULL: the text reads back the same */
    } CASES[] = {
        {"", NULL},
        {"listen 10.96.0.1:443\nto 10.244.0.1:6443\nto 1.2.3.4:1\nlisten 10.96.0.2:65535\n", NULL},
        {"listen 10.96.0.1:443\nsticky yes\nto 10.244.0.1:6443\n", NULL},
        {"listen 10.96.0.1:53\nudp yes\nto 10.244.0.1:53\n", NULL},
        {"listen 10.96.0.1:443\nsticky no\n", "line 2: 'sticky' must be 'yes'"},
        {"sticky yes\n", "line 1: 'sticky' is not expected here"},
        {"to 10.244.0.1:1\n", "line 1: 'to' is not expected here"},
        {"listen 10.96.0.1\n", "line 1: '10.96.0.1' is not ADDRESS:PORT"},
        {"listen 10.96.0.1:0\n", "line 1: '10.96.0.1:0' is not ADDRESS:PORT"},
        {"listen 10.96.0.1:65536\n", "line 1: '10.96.0.1:65536' is not ADDRESS:PORT"},
        {"listen 10.96.0.999:1\n", "line 1: '10.96.0.999' is not an IPv4 address"},
        {"listen 10.96.0.1:1\nfrom 1.2.3.4:1\n", "line 2: 'from' is not expected here"},
        {"listen 10.96.0.1:1", "line 1 is cut short"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct proxy_table table;
        struct err err = ERR_INIT;
        char *copy = arena_strdup(arena, CASES[i].text);
        int result = proxy_table_parse(arena, copy, strlen(copy), &table, &err);
        if (CASES[i].complaint)
            assert_string_equal(err.message, CASES[i].complaint);
        else
            assert_string_equal(result == 0 ? text_of(arena, &table) : err.message, CASES[i].text);
    }
}

/* Makes a table whose text has `size` bytes. */
static void make_table(struct arena *arena, size_t size, struct proxy_table *table)
{
    static const char head[] = "listen 10.96.0.1:443\n", line[] = "to 10.244.0.1:100\n";
    struct proxy_place listen, to;
    assert_int_equal(proxy_place_parse("10.96.0.1:443", &listen, NULL), 0);
    assert_int_equal(proxy_place_parse("10.244.0.1:100", &to, NULL), 0);
    *table = (struct proxy_table){0};
    struct proxy_route *route = proxy_table_add(arena, table, listen);
    size_t lines = (size - strlen(head)) / strlen(line);
    size_t longer = (size - strlen(head)) % strlen(line); /* bytes for one more digit of a port */
    for (size_t i = 0; i < lines; i++) {
        to.port = i < longer ? 1000 : 100;
        proxy_route_add_backend(arena, route, to);
    }
}

/* The largest table is written and read. A larger one is rejected, and the table before it
 * stays. */
static void table_text_is_limited(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char directory[] = "/tmp/test_service_table.XXXXXX";
    assert_non_null(mkdtemp(directory));
    const char *run = arena_printf(arena, "%s/run", directory);
    const char *path = arena_printf(arena, "%s/services", run);
    assert_int_equal(file_make_dirs(run, 0755, NULL), 0);
    for (size_t over = 0; over < 2; over++) {
        _cleanup_buf_ struct buf text, back;
        struct proxy_table table, read;
        struct err err = ERR_INIT;
        buf_init(&text, PROXY_TABLE_MAX);
        buf_init(&back, PROXY_TABLE_MAX);
        make_table(arena, PROXY_TABLE_MAX + over, &table);
        proxy_table_write(&table, &text);
        assert_int_equal(helper_process_set_table(&HELPER_PROXY, directory, &text, &err),
                         over ? -ERR_TOO_LARGE : 0);
        if (over)
            assert_string_equal(
                err.message, "the table for the proxy of services is larger than 16777216 bytes");
        assert_int_equal(file_read(path, &back, NULL), 0);
        assert_int_equal(back.size, PROXY_TABLE_MAX);
        assert_int_equal(proxy_table_parse(arena, back.data, back.size, &read, &err), 0);
        if (!over)
            assert_int_equal(read.routes[0].count, table.routes[0].count);
    }
    file_remove_tree(directory, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inside_table_has_cluster_addresses),
                                       cmocka_unit_test(outside_table_has_machine_ports),
                                       cmocka_unit_test(table_text_round_trip),
                                       cmocka_unit_test(table_text_is_limited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
