/* Queries and answers as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/dns_message.h"
#include "net/dns_server.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum { A = 1, AAAA = 28, MX = 15, ANY = 255, IN = 1, CHAOS = 3 };

static int lookup(void *context, const char *name, struct dns_found *ret)
{
    int *calls = context;
    if (calls)
        ++*calls;
    if (strcmp(name, "one.default.svc") == 0) {
        inet_pton(AF_INET, "10.1.2.3", &ret->addresses[0]);
        return 1;
    }
    if (strcmp(name, "many") == 0) {
        for (int i = 0; i < DNS_ADDRESSES_MAX; i++)
            ret->addresses[i].s_addr = htonl(0x0A000000 + (uint32_t)i);
        return DNS_ADDRESSES_MAX;
    }
    if (strcmp(name, "alias") == 0) {
        strcpy(ret->alias, "one.default.svc");
        inet_pton(AF_INET, "10.1.2.3", &ret->addresses[0]);
        return 1;
    }
    if (strcmp(name, "broken") == 0)
        strcpy(ret->alias, "a..b");
    return strcmp(name, "empty") == 0 || ret->alias[0] ? 0 : -1;
}

struct message {
    uint8_t bytes[2000];
    size_t size;
};

static void put(struct message *message, const void *data, size_t size)
{
    memcpy(message->bytes + message->size, data, size);
    message->size += size;
}

static void put_u16(struct message *message, unsigned value)
{
    put(message, (uint8_t[]){(uint8_t)(value >> 8), (uint8_t)value}, 2);
}

static unsigned get_u16(const struct message *message, size_t at)
{
    assert_true(at + 2 <= message->size);
    return (unsigned)message->bytes[at] << 8 | message->bytes[at + 1];
}

static struct message query_of(const char *name, unsigned type, unsigned class)
{
    struct message query = {0};
    const unsigned header[] = {0x1234, 0x0100, 1, 0, 0, 0};
    for (size_t i = 0; i < ARRAY_SIZE(header); i++)
        put_u16(&query, header[i]);
    while (*name) {
        size_t size = strcspn(name, ".");
        put(&query, &(uint8_t){(uint8_t)size}, 1);
        put(&query, name, size);
        name += size + (name[size] == '.');
    }
    put(&query, "", 1);
    put_u16(&query, type);
    put_u16(&query, class);
    return query;
}

static void add_opt(struct message *query, unsigned udp_size, unsigned version)
{
    query->bytes[11]++;
    put(query, "", 1);
    put_u16(query, 41);
    put_u16(query, udp_size);
    put_u16(query, version);
    put_u16(query, 0);
    put_u16(query, 0);
}

static struct message ask(const struct message *query, size_t max)
{
    struct message answer = {0};
    uint8_t *exact = mem_alloc(query->size ? query->size : 1); /* for the sanitizers */
    memcpy(exact, query->bytes, query->size);
    answer.size = dns_answer(exact, query->size, answer.bytes, max, lookup, NULL);
    free(exact);
    return answer;
}

static void a_name_has_its_address(void **state)
{
    struct message query = query_of("ONE.Default.svc", A, IN);
    struct message answer = ask(&query, 512);
    assert_int_equal(answer.size, query.size + 16);
    assert_int_equal(get_u16(&answer, 0), 0x1234);
    assert_int_equal(get_u16(&answer, 2), 0x8500); /* an answer, with authority, RD as it came */
    assert_int_equal(get_u16(&answer, 4), 1);
    assert_int_equal(get_u16(&answer, 6), 1);
    assert_memory_equal(answer.bytes + 12, query.bytes + 12, query.size - 12); /* case kept */
    static const uint8_t record[] = {0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 10, 1, 2, 3};
    assert_memory_equal(answer.bytes + query.size, record, sizeof(record));
}

static void a_name_may_stand_for_another(void **state)
{
    static const uint8_t records[] = {0xC0, 12,  0,   5,   0, 1,    0,   0,   0,   5,   0,   17,
                                      3,    'o', 'n', 'e', 7, 'd',  'e', 'f', 'a', 'u', 'l', 't',
                                      3,    's', 'v', 'c', 0, 0xC0, 35,  0,   1,   0,   1,   0,
                                      0,    0,   5,   0,   4, 10,   1,   2,   3};
    struct message query = query_of("alias", A, IN);
    struct message answer = ask(&query, 512);
    assert_int_equal(query.size, 23); /* where the records begin, which the pointer counts from */
    assert_int_equal(get_u16(&answer, 6), 2);
    assert_int_equal(answer.size, query.size + sizeof(records));
    assert_memory_equal(answer.bytes + query.size, records, sizeof(records));

    query = query_of("alias", AAAA, IN);
    answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 6), 1);
    assert_int_equal(answer.size, query.size + 29);

    query = query_of("alias", A, IN);
    answer = ask(&query, query.size + 29); /* room for the name alone, and not even for that */
    assert_int_equal(get_u16(&answer, 2), 0x8700);
    assert_int_equal(get_u16(&answer, 6), 1);
    answer = ask(&query, query.size + 28);
    assert_int_equal(get_u16(&answer, 2), 0x8700);
    assert_int_equal(get_u16(&answer, 6), 0);

    query = query_of("broken", A, IN);
    assert_int_equal(ask(&query, 512).size, query.size);
}

static void what_is_not_there_is_told_apart(void **state)
{
    static const struct {
        const char *name;
        unsigned type, class, flags;
    } rows[] = {
        {"one.default.svc", AAAA, IN, 0x8500},
        {"one.default.svc", MX, IN, 0x8500},
        {"empty", A, IN, 0x8500},
        {"nobody", A, IN, 0x8503},
        {"nobody", AAAA, IN, 0x8503},
        {"", A, IN, 0x8503},
        {"one.default.svc", A, CHAOS, 0x8105},
        {"one default.svc", A, IN, 0x8503},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct message query = query_of(rows[i].name, rows[i].type, rows[i].class);
        struct message answer = ask(&query, 512);
        assert_int_equal(get_u16(&answer, 2), rows[i].flags);
        assert_int_equal(get_u16(&answer, 6), 0);
        assert_int_equal(answer.size, query.size);
    }
    struct message query = query_of("one.default.svc", ANY, 255);
    struct message answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 6), 1);
}

static void an_answer_too_long_is_cut_and_says_so(void **state)
{
    struct message query = query_of("many", A, IN);
    assert_int_equal(dns_udp_answer_max(query.bytes, query.size), 512);
    struct message answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 2), 0x8700);
    assert_int_equal(get_u16(&answer, 6), (512 - query.size) / 16);
    assert_true(answer.size <= 512);

    add_opt(&query, 4096, 0);
    assert_int_equal(dns_udp_answer_max(query.bytes, query.size), 1232);
    answer = ask(&query, 1232);
    assert_int_equal(get_u16(&answer, 2), 0x8500);
    assert_int_equal(get_u16(&answer, 6), DNS_ADDRESSES_MAX);
    assert_int_equal(get_u16(&answer, 10), 1);
    static const uint8_t opt[] = {0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(answer.bytes + answer.size - sizeof(opt), opt, sizeof(opt));

    query = query_of("many", A, IN);
    add_opt(&query, 100, 0);
    assert_int_equal(dns_udp_answer_max(query.bytes, query.size), 512);
    query = query_of("many", A, IN);
    add_opt(&query, 700, 0);
    assert_int_equal(dns_udp_answer_max(query.bytes, query.size), 700);
    assert_int_equal(ask(&query, 20).size, 0); /* no room for anything */
}

static void an_unknown_edns_is_answered_with_ours(void **state)
{
    struct message query = query_of("one.default.svc", A, IN);
    add_opt(&query, 1232, 1);
    struct message answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 2), 0x8100);
    assert_int_equal(get_u16(&answer, 6), 0);
    assert_int_equal(answer.bytes[answer.size - 6], 1); /* the upper bits of BADVERS */
}

static void what_is_no_query_gets_little_or_nothing(void **state)
{
    struct message query = query_of("one.default.svc", A, IN), answer;
    for (size_t size = 0; size < query.size; size++) {
        struct message cut = query;
        cut.size = size;
        answer = ask(&cut, 512);
        assert_int_equal(answer.size, size < 12 ? 0 : 12);
        if (size >= 12)
            assert_int_equal(get_u16(&answer, 2), 0x8101);
    }
    query.bytes[2] |= 0x80; /* an answer is not answered */
    assert_int_equal(ask(&query, 512).size, 0);

    query = query_of("one.default.svc", A, IN);
    query.bytes[2] |= 0x28; /* an update */
    answer = ask(&query, 512);
    assert_int_equal(answer.size, 12);
    assert_int_equal(get_u16(&answer, 2), 0xA904);

    query = query_of("one.default.svc", A, IN);
    query.bytes[5] = 2; /* two questions */
    answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 2), 0x8101);

    query = query_of("one.default.svc", A, IN);
    query.bytes[12] = 0xC0; /* a name that points to itself */
    query.bytes[13] = 12;
    answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 2), 0x8101);

    query = query_of("one.default.svc", A, IN);
    query.bytes[11] = 1; /* a record is promised that is not there */
    answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 2), 0x8101);

    query = query_of("one.default.svc", A, IN);
    add_opt(&query, 512, 0);
    add_opt(&query, 512, 0);
    answer = ask(&query, 512);
    assert_int_equal(get_u16(&answer, 2), 0x8101);
}

static void names_have_a_longest_length(void **state)
{
    char name[300] = "";
    for (int i = 0; i < 63; i++)
        strcat(name, i ? ".abc" : "abc");
    strcat(name, ".a"); /* 253 */
    int calls = 0;
    struct message query = query_of(name, A, IN), answer = {0};
    answer.size = dns_answer(query.bytes, query.size, answer.bytes, 512, lookup, &calls);
    assert_int_equal(get_u16(&answer, 2), 0x8503);
    assert_int_equal(calls, 1);
    strcat(name, "b");
    query = query_of(name, A, IN);
    answer.size = dns_answer(query.bytes, query.size, answer.bytes, 512, lookup, &calls);
    assert_int_equal(get_u16(&answer, 2), 0x8101);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_its_address),
        cmocka_unit_test(a_name_may_stand_for_another),
        cmocka_unit_test(what_is_not_there_is_told_apart),
        cmocka_unit_test(an_answer_too_long_is_cut_and_says_so),
        cmocka_unit_test(an_unknown_edns_is_answered_with_ours),
        cmocka_unit_test(what_is_no_query_gets_little_or_nothing),
        cmocka_unit_test(names_have_a_longest_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
