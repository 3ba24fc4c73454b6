/* Tests names of services and pods, as TF_CONFIG and people write them: from objects to the table,
 * through its text, to answers. */
#include "node_test.h"

#include "dns_text.h"
#include "node/names/answer.h"
#include "node/names/names.h"

#include <stdlib.h>

static struct json *services, *endpoints;

static const struct json *next_service(void *context, size_t *position)
{
    return json_element(services, (*position)++);
}

static const struct json *get_endpoints(void *context, const char *namespace_, const char *name)
{
    JSON_EACH (item, endpoints) {
        const struct json *meta = json_get(item, "metadata");
        if (str_eq(json_get_string(meta, "namespace", ""), namespace_) &&
            str_eq(json_get_string(meta, "name", ""), name))
            return item;
    }
    return NULL;
}

static struct names_table table;

/* Loads the table as the responder does: from its text. Writing it again gives the same text. */
static void load(void)
{
    const struct service_table_source source = {.next_service = next_service,
                                                .endpoints = get_endpoints};
    struct names_table made;
    struct buf text, again;
    struct err err = ERR_INIT;
    names_table_init(&made);
    names_collect(&made, &source);
    buf_init(&text, NAMES_TABLE_MAX);
    buf_init(&again, NAMES_TABLE_MAX);
    names_table_write(&made, &text);
    names_table_release(&made);
    char *copy = mem_strdup(text.data);
    names_table_init(&table);
    assert_int_equal(names_table_parse(&table, copy, text.size, &err), 0);
    names_table_write(&table, &again);
    assert_string_equal(text.data, again.data);
    free(copy);
    buf_release(&text);
    buf_release(&again);
}

static void assert_answer(int line, const char *name, enum dns_type type, const char *expected)
{
    static struct dns_text_message message;
    static uint8_t answer[DNS_TCP_MAX];
    struct dns_query query;
    enum dns_rcode rcode;
    char alias[DNS_NAME_MAX + 1];
    size_t size = 0;
    dns_text_query(&message, name, type);
    assert_true(dns_query_read(message.bytes, message.size, &query, &rcode));
    enum names_verdict verdict =
        names_answer(&table, &query, NULL, answer, sizeof(answer), &size, alias);
    _cleanup_free_ char *text = verdict == NAMES_ANSWERED  ? dns_text_of(answer, size)
                                : verdict == NAMES_OUTSIDE ? mem_strdup("outside")
                                                           : mem_printf("ask for %s", alias);
    if (!str_eq(text, expected))
        fail_msg("line %d: '%s', not '%s'", line, text, expected);
}

#define expect_answer(name, type, expected) assert_answer(__LINE__, name, type, expected)
#define NOTHING                             "; authority cluster.local SOA for 1 s"

static void queries_are_answered_from_the_table(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    services = read_json(
        arena,
        "[{'metadata':{'name':'mnist-worker-0','namespace':'default'},"
        "  'spec':{'clusterIP':'None','publishNotReadyAddresses':true,'selector':{'i':'0'}}},"
        " {'metadata':{'name':'web','namespace':'default'},'spec':{'clusterIP':'None',"
        "  'ports':[{'name':'http','port':80,'targetPort':8080}]}},"
        " {'metadata':{'name':'hand','namespace':'default'},'spec':{'clusterIP':'None'}},"
        " {'metadata':{'name':'own','namespace':'default'},'spec':{'clusterIP':'10.96.0.9',"
        "  'ports':[{'name':'grpc','port':9000},{'name':'beat','port':9001,'protocol':'UDP'},"
        "           {'port':9002}]}},"
        " {'metadata':{'name':'out','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'example.com.'}},"
        " {'metadata':{'name':'alias','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'further.default.svc.cluster.local'}},"
        " {'metadata':{'name':'further','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'own.default.svc.cluster.local.'}},"
        " {'metadata':{'name':'broken','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'a..b'}},"
        " {'metadata':{'name':'circle','namespace':'default'},'spec':{'type':'ExternalName',"
        "  'externalName':'circle.default.svc'}}]");
    endpoints = read_json(
        arena, "[{'metadata':{'name':'mnist-worker-0','namespace':'default'},"
               "  'subsets':[{'addresses':[{'ip':'10.244.1.1'}]}]},"
               " {'metadata':{'name':'web','namespace':'default'},"
               "  'subsets':[{'addresses':[{'ip':'10.244.1.2','hostname':'b'},{'ip':'10.244.1.4'}],"
               "              'notReadyAddresses':[{'ip':'10.244.1.3'}],"
               "              'ports':[{'name':'http','port':8080}]}]},"
               " {'metadata':{'name':'own','namespace':'default'},"
               "  'subsets':[{'addresses':[{'ip':'10.244.1.5','hostname':'x'}]}]}]");
    load();
    expect_answer("mnist-worker-0.default.svc.cluster.local", DNS_A,
                  "NOERROR aa: mnist-worker-0.default.svc.cluster.local A 10.244.1.1");
    expect_answer("mnist-worker-0.default.svc", DNS_A,
                  "NOERROR aa: mnist-worker-0.default.svc A 10.244.1.1");
    expect_answer("own.default.svc.cluster.local", DNS_A,
                  "NOERROR aa: own.default.svc.cluster.local A 10.96.0.9");
    expect_answer("web.default.svc", DNS_A,
                  "NOERROR aa: web.default.svc A 10.244.1.2, web.default.svc A 10.244.1.4");
    /* An existing name without records of the type gets NOERROR; a missing name gets NXDOMAIN. */
    expect_answer("own.default.svc.cluster.local", DNS_AAAA, "NOERROR aa" NOTHING);
    expect_answer("hand.default.svc.cluster.local", DNS_A, "NOERROR aa" NOTHING);
    expect_answer("default.svc.cluster.local", DNS_A, "NOERROR aa" NOTHING);
    expect_answer("cluster.local", DNS_A, "NOERROR aa" NOTHING);
    expect_answer("web.other.svc.cluster.local", DNS_A, "NXDOMAIN aa" NOTHING);
    expect_answer("web.default.svc.cluster.local.cluster.local", DNS_AAAA, "NXDOMAIN aa" NOTHING);
    expect_answer("nobody.default.svc", DNS_A, "NXDOMAIN aa; authority svc SOA for 1 s");
    /* The pods behind a service have their own names. */
    expect_answer("b.web.default.svc.cluster.local", DNS_A,
                  "NOERROR aa: b.web.default.svc.cluster.local A 10.244.1.2");
    expect_answer("10-244-1-4.web.default.svc.cluster.local", DNS_A,
                  "NOERROR aa: 10-244-1-4.web.default.svc.cluster.local A 10.244.1.4");
    expect_answer("x.own.default.svc.cluster.local", DNS_A,
                  "NOERROR aa: x.own.default.svc.cluster.local A 10.244.1.5");
    expect_answer("c.web.default.svc.cluster.local", DNS_A, "NXDOMAIN aa" NOTHING);
    expect_answer("10-244-1-9.default.pod.cluster.local", DNS_A,
                  "NOERROR aa: 10-244-1-9.default.pod.cluster.local A 10.244.1.9");
    expect_answer("ten.default.pod", DNS_A, "NXDOMAIN aa; authority pod SOA for 1 s");
    /* A named port has an SRV record, and the answer includes the address of its target. */
    expect_answer("_grpc._tcp.own.default.svc.cluster.local", DNS_SRV,
                  "NOERROR aa: _grpc._tcp.own.default.svc.cluster.local SRV 9000 "
                  "own.default.svc.cluster.local; also own.default.svc.cluster.local A 10.96.0.9");
    expect_answer(
        "_beat._udp.own.default.svc", DNS_SRV,
        "NOERROR aa: _beat._udp.own.default.svc SRV 9001 own.default.svc.cluster.local; also "
        "own.default.svc.cluster.local A 10.96.0.9");
    expect_answer(
        "_http._tcp.web.default.svc.cluster.local", DNS_SRV,
        "NOERROR aa: _http._tcp.web.default.svc.cluster.local SRV 8080 "
        "b.web.default.svc.cluster.local, _http._tcp.web.default.svc.cluster.local SRV 8080 "
        "10-244-1-4.web.default.svc.cluster.local; also b.web.default.svc.cluster.local A "
        "10.244.1.2, 10-244-1-4.web.default.svc.cluster.local A 10.244.1.4");
    expect_answer("_tcp.own.default.svc.cluster.local", DNS_SRV, "NOERROR aa" NOTHING);
    expect_answer("_grpc._udp.own.default.svc.cluster.local", DNS_SRV, "NXDOMAIN aa" NOTHING);
    /* Reverse lookups. */
    expect_answer("9.0.96.10.in-addr.arpa", DNS_PTR,
                  "NOERROR aa: 9.0.96.10.in-addr.arpa PTR own.default.svc.cluster.local");
    expect_answer("2.1.244.10.in-addr.arpa", DNS_PTR,
                  "NOERROR aa: 2.1.244.10.in-addr.arpa PTR b.web.default.svc.cluster.local");
    expect_answer("1.1.244.10.in-addr.arpa", DNS_PTR,
                  "NOERROR aa: 1.1.244.10.in-addr.arpa PTR "
                  "10-244-1-1.mnist-worker-0.default.svc.cluster.local");
    expect_answer("3.1.244.10.in-addr.arpa", DNS_PTR,
                  "NXDOMAIN aa; authority 244.10.in-addr.arpa SOA for 1 s");
    expect_answer("1.0.0.10.in-addr.arpa", DNS_PTR, "outside");
    expect_answer("kubernetes.docker.internal", DNS_A,
                  "NOERROR aa: kubernetes.docker.internal A 10.244.0.1");
    expect_answer("kubernetes.docker.internal", DNS_AAAA,
                  "NOERROR aa; authority kubernetes.docker.internal SOA for 1 s");
    expect_answer("localhost", DNS_A, "NOERROR aa: localhost A 127.0.0.1");
    /* An alias of another name, in the cluster or outside. */
    expect_answer("out.default.svc", DNS_A, "ask for example.com");
    expect_answer("out.default.svc", DNS_AAAA, "ask for example.com");
    expect_answer("out.default.svc", DNS_CNAME, "NOERROR aa: out.default.svc CNAME example.com");
    expect_answer("b.out.default.svc", DNS_A, "NXDOMAIN aa; authority svc SOA for 1 s");
    expect_answer(
        "alias.default.svc.cluster.local", DNS_A,
        "NOERROR aa: alias.default.svc.cluster.local CNAME further.default.svc.cluster.local, "
        "further.default.svc.cluster.local CNAME own.default.svc.cluster.local, "
        "own.default.svc.cluster.local A 10.96.0.9");
    expect_answer("broken.default.svc.cluster.local", DNS_A, "NOERROR aa" NOTHING);
    static const char *const others[] = {
        "",         "example.org", "web.default", "a.b.c.d.e.f.g.h.i.j", "host.docker.internal",
        "internal", "local"};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        expect_answer(others[i], DNS_A, "outside");
    names_table_release(&table);
}

static void addresses_are_rotated_between_queries(void **state)
{
    static struct dns_text_message message;
    uint8_t answer[512];
    char alias[DNS_NAME_MAX + 1];
    size_t size, first[3] = {0};
    names_table_init(&table);
    struct names_entry *entry = names_table_add(&table, "a.default.svc.cluster.local");
    for (unsigned i = 1; i <= 3; i++)
        names_entry_add_address(&table, entry, (struct in_addr){htonl(i)});
    names_entry_add_address(&table, entry, (struct in_addr){htonl(3)}); /* a duplicate */
    for (unsigned id = 0; id < 9; id++) {
        struct dns_query query;
        enum dns_rcode rcode;
        dns_text_query(&message, "a.default.svc", DNS_A);
        message.bytes[1] = (uint8_t)id;
        assert_true(dns_query_read(message.bytes, message.size, &query, &rcode));
        names_answer(&table, &query, NULL, answer, sizeof(answer), &size, alias);
        assert_int_equal(size, query.end + 3 * 16);
        first[answer[query.end + 15] - 1]++;
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(first[i], 3);
    names_table_release(&table);
}

static void malformed_tables_are_rejected(void **state)
{
    static const char *const texts[] = {
        "address 1.2.3.4\n",    "name a\naddress x\n",  "name a..b\n",
        "name a\nport 1\n",     "name a\nport 0 b\n",   "name a\nport 1 b..c\n",
        "name a\nalias b..c\n", "name a\nsurprise b\n", "name a\npointer ..\n"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        char *copy = mem_strdup(texts[i]);
        struct err err = ERR_INIT;
        names_table_init(&table);
        if (names_table_parse(&table, copy, strlen(copy), &err) == 0)
            fail_msg("'%s' was taken", texts[i]);
        names_table_release(&table);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(queries_are_answered_from_the_table),
                                       cmocka_unit_test(addresses_are_rotated_between_queries),
                                       cmocka_unit_test(malformed_tables_are_rejected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
