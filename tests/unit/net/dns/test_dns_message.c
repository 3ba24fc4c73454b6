/* Tests DNS queries, answers and replies of other servers, as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dns_text.h"

#include <stdlib.h>

/* Reads from a block of the exact size, so that a sanitizer sees a read past the end. */
static bool read_query(const struct dns_text_message *message, struct dns_query *ret,
                       enum dns_rcode *ret_rcode)
{
    uint8_t *exact = mem_alloc(message->size ? message->size : 1);
    memcpy(exact, message->bytes, message->size);
    bool result = dns_query_read(exact, message->size, ret, ret_rcode);
    free(exact);
    ret->data = message->bytes;
    return result;
}

static struct dns_query query_of(struct dns_text_message *message)
{
    struct dns_query query;
    enum dns_rcode rcode;
    assert_true(read_query(message, &query, &rcode));
    assert_int_equal(rcode, DNS_NOERROR);
    return query;
}

static struct in_addr address_of(const char *text)
{
    struct in_addr address;
    assert_int_equal(inet_pton(AF_INET, text, &address), 1);
    return address;
}

#define assert_says(answer, rcode, expected)                                                       \
    do {                                                                                           \
        size_t size_ = dns_answer_end(&(answer), (rcode), true);                                   \
        char *text_ = dns_text_of((answer).data, size_);                                           \
        assert_string_equal(text_, expected);                                                      \
        free(text_);                                                                               \
    } while (0)

static struct dns_text_message message;
static uint8_t room[DNS_TCP_MAX];

static void a_query_is_read(void **state)
{
    dns_text_query(&message, "ONE.Default.svc", DNS_A);
    struct dns_query query = query_of(&message);
    assert_string_equal(query.name, "one.default.svc");
    assert_int_equal(query.id, 0x1234);
    assert_int_equal(query.type, DNS_A);
    assert_int_equal(query.end, message.size);
    assert_false(query.is_unusual || query.has_opt);
    assert_int_equal(dns_query_udp_max(&query), 512);

    dns_text_add_opt(&message, 4096, 0);
    query = query_of(&message);
    assert_true(query.has_opt);
    assert_int_equal(dns_query_udp_max(&query), 1232);
    dns_text_query(&message, "a", DNS_A);
    dns_text_add_opt(&message, 100, 0);
    query = query_of(&message);
    assert_int_equal(dns_query_udp_max(&query), 512);
    dns_text_query(&message, "one two", DNS_A);
    dns_text_add_opt(&message, 700, 0);
    query = query_of(&message);
    assert_int_equal(dns_query_udp_max(&query), 700);
    assert_true(query.is_unusual);
}

static enum dns_rcode rcode_of(const struct dns_text_message *broken, size_t *ret_end)
{
    struct dns_query query;
    enum dns_rcode rcode;
    assert_true(read_query(broken, &query, &rcode));
    *ret_end = query.end;
    return rcode;
}

static void invalid_queries_get_an_error_or_no_answer(void **state)
{
    struct dns_query query;
    enum dns_rcode rcode;
    size_t end;
    dns_text_query(&message, "one.default.svc", DNS_A);
    size_t whole = message.size;
    for (message.size = 0; message.size < whole; message.size++) {
        bool answered = read_query(&message, &query, &rcode);
        assert_int_equal(answered, message.size >= 12);
        if (answered)
            assert_true(rcode == DNS_FORMERR && query.end == 12);
    }
    message.bytes[2] |= 0x80; /* an answer is not answered */
    assert_false(read_query(&message, &query, &rcode));

    dns_text_query(&message, "one.default.svc", DNS_A);
    message.bytes[2] |= 0x28; /* an update */
    assert_int_equal(rcode_of(&message, &end), DNS_NOTIMP);
    dns_text_query(&message, "one.default.svc", DNS_A);
    message.bytes[5] = 2; /* two questions */
    assert_int_equal(rcode_of(&message, &end), DNS_FORMERR);
    dns_text_query(&message, "one.default.svc", DNS_A);
    message.bytes[12] = 0xC0; /* a name that points to itself */
    message.bytes[13] = 12;
    assert_int_equal(rcode_of(&message, &end), DNS_FORMERR);
    dns_text_query(&message, "one.default.svc", DNS_A);
    message.bytes[11] = 1; /* a record is announced that is missing */
    assert_int_equal(rcode_of(&message, &end), DNS_FORMERR);
    dns_text_query(&message, "one.default.svc", DNS_A);
    dns_text_add_opt(&message, 512, 0);
    dns_text_add_opt(&message, 512, 0);
    assert_int_equal(rcode_of(&message, &end), DNS_FORMERR);
    dns_text_query(&message, "one.default.svc", DNS_A);
    message.bytes[message.size - 1] = 3; /* of another class */
    assert_int_equal(rcode_of(&message, &end), DNS_REFUSED);
    dns_text_query(&message, "one.default.svc", DNS_A);
    dns_text_add_opt(&message, 1232, 1);
    assert_int_equal(rcode_of(&message, &end), DNS_BADVERS);
}

static void names_have_a_length_limit(void **state)
{
    char name[300] = "";
    size_t end;
    for (int i = 0; i < 63; i++)
        strcat(name, i ? ".abc" : "abc");
    strcat(name, ".a"); /* 253 */
    dns_text_query(&message, name, DNS_A);
    assert_string_equal(query_of(&message).name, name);
    assert_true(dns_is_name(name));
    strcat(name, "b");
    dns_text_query(&message, name, DNS_A);
    assert_int_equal(rcode_of(&message, &end), DNS_FORMERR);
    static const char *const none[] = {"", ".", "a..b", "a.", ".a"};
    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        assert_false(dns_is_name(none[i]));
    assert_false(dns_is_name(name));
    memset(name, 'a', 64);
    name[64] = '\0';
    assert_false(dns_is_name(name));
    name[63] = '\0';
    assert_true(dns_is_name(name));
}

static void an_answer_contains_its_records(void **state)
{
    struct dns_answer answer;
    dns_text_query(&message, "One.default.svc", DNS_ANY);
    struct dns_query query = query_of(&message);
    dns_answer_begin(&answer, &query, room, 512);
    dns_answer_address(&answer, DNS_ANSWERS, query.name, address_of("10.1.2.3"));
    assert_int_equal(dns_answer_end(&answer, DNS_NOERROR, true), message.size + 16);
    assert_int_equal(dns_text_u16(room), 0x1234);
    assert_int_equal(dns_text_u16(room + 2), 0x8580); /* AA, RD copied from the query, RA */
    assert_memory_equal(room + 12, message.bytes + 12, message.size - 12); /* case kept */
    static const uint8_t record[] = {0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 10, 1, 2, 3};
    assert_memory_equal(room + message.size, record, sizeof(record));

    dns_answer_begin(&answer, &query, room, 512);
    dns_answer_name(&answer, query.name, DNS_CNAME, "two.svc");
    dns_answer_service(&answer, "two.svc", 80, "three.svc");
    dns_answer_data(&answer, "two.svc", DNS_AAAA, 7, &in6addr_loopback, 16);
    dns_answer_address(&answer, DNS_ADDITIONAL, "three.svc", address_of("10.1.2.4"));
    assert_says(answer, DNS_NOERROR,
                "NOERROR aa: One.default.svc CNAME two.svc, two.svc SRV 80 three.svc, two.svc AAAA "
                "::1; also three.svc A 10.1.2.4");

    dns_answer_begin(&answer, &query, room, 512);
    dns_answer_soa(&answer, "svc");
    assert_says(answer, DNS_NXDOMAIN, "NXDOMAIN aa; authority svc SOA for 1 s");
}

static void an_answer_that_is_too_long_is_truncated_and_flagged(void **state)
{
    struct dns_answer answer;
    dns_text_query(&message, "many", DNS_A);
    dns_text_add_opt(&message, 600, 0);
    struct dns_query query = query_of(&message);
    size_t fixed = query.end + 11; /* with the OPT record */
    dns_answer_begin(&answer, &query, room, fixed + 2 * 16 + 15);
    for (int i = 0; i < 3; i++)
        dns_answer_address(&answer, DNS_ANSWERS, "many", address_of("10.0.0.1"));
    assert_says(answer, DNS_NOERROR,
                "NOERROR aa tc: many A 10.0.0.1, many A 10.0.0.1; also . TYPE41");
    static const uint8_t opt[] = {0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(room + answer.size - sizeof(opt), opt, sizeof(opt));
    /* Additional records that do not fit are left out without the truncation flag. */
    dns_answer_begin(&answer, &query, room, fixed + 16);
    dns_answer_address(&answer, DNS_ANSWERS, "many", address_of("10.0.0.1"));
    dns_answer_address(&answer, DNS_ADDITIONAL, "many", address_of("10.0.0.2"));
    assert_says(answer, DNS_NOERROR, "NOERROR aa: many A 10.0.0.1; also . TYPE41");
    dns_answer_begin(&answer, &query, room, fixed - 1);
    dns_answer_address(&answer, DNS_ANSWERS, "many", address_of("10.0.0.1"));
    /* There is no room for any record. */
    assert_int_equal(dns_answer_end(&answer, DNS_NOERROR, true), 0);
}

static void an_unknown_edns_version_is_answered_with_badvers(void **state)
{
    struct dns_query query;
    enum dns_rcode rcode;
    struct dns_answer answer;
    dns_text_query(&message, "one", DNS_A);
    dns_text_add_opt(&message, 1232, 1);
    assert_true(read_query(&message, &query, &rcode));
    dns_answer_begin(&answer, &query, room, 512);
    size_t size = dns_answer_end(&answer, rcode, false);
    assert_int_equal(dns_text_u16(room + 2), 0x8180);
    assert_int_equal(room[size - 6], 1); /* the upper bits of the code BADVERS */
}

static void replies_of_other_servers_must_match_the_query(void **state)
{
    uint8_t asked[DNS_QUERY_MAX];
    struct dns_reply reply;
    struct dns_record record;
    struct dns_answer answer;
    dns_text_query(&message, "Example.COM", DNS_A);
    dns_text_add_opt(&message, 4096, 0);
    message.bytes[message.size - 4] = 0x80; /* the DO bit */
    struct dns_query query = query_of(&message);
    size_t size = dns_query_pass_on(&query, NULL, 0xBEEF, asked);
    assert_int_equal(dns_text_u16(asked), 0xBEEF);
    assert_int_equal(size, message.size);
    assert_memory_equal(asked + 12, message.bytes + 12, query.end - 12);
    assert_int_equal(asked[size - 4], 0x80);

    /* The answer is made by a server, and with the letter case of the query. */
    struct dns_query theirs;
    enum dns_rcode rcode;
    assert_true(dns_query_read(asked, size, &theirs, &rcode));
    dns_answer_begin(&answer, &theirs, room, 512);
    dns_answer_name(&answer, theirs.name, DNS_CNAME, "www.example.com");
    dns_answer_address(&answer, DNS_ANSWERS, "www.example.com", address_of("192.0.2.1"));
    size_t reply_size = dns_answer_end(&answer, DNS_NOERROR, false);
    room[13] ^= 0x20;
    assert_true(dns_reply_read(room, reply_size, asked, size, &reply));
    assert_int_equal(reply.rcode, DNS_NOERROR);
    assert_true(dns_reply_next(&reply, &record));
    assert_int_equal(record.type, DNS_CNAME);
    assert_true(dns_reply_next(&reply, &record));
    assert_int_equal(record.type, DNS_A);
    assert_memory_equal(record.data, "\300\0\2\1", 4);
    assert_false(dns_reply_next(&reply, &record));
    for (size_t cut = 0; cut < reply_size; cut++) {
        uint8_t *exact = memcpy(mem_alloc(cut ? cut : 1), room, cut);
        bool read = dns_reply_read(exact, cut, asked, size, &reply);
        assert_true(!read || cut >= query.end);
        while (read && dns_reply_next(&reply, &record))
            ;
        free(exact);
    }
    /* A reply with another id or another name, and a message that is no reply. */
    static const size_t places[] = {0, 13, 2};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        room[places[i]] ^= 0x81;
        assert_false(dns_reply_read(room, reply_size, asked, size, &reply));
        room[places[i]] ^= 0x81;
    }
    room[query.end - 3] ^= 0x20;
    assert_false(dns_reply_read(room, reply_size, asked, size, &reply));
    room[query.end - 3] ^= 0x20;

    size = dns_query_pass_on(&query, "other.org", 1, asked);
    assert_true(dns_query_read(asked, size, &theirs, &rcode));
    assert_string_equal(theirs.name, "other.org");
    assert_int_equal(theirs.type, DNS_A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_read),
        cmocka_unit_test(invalid_queries_get_an_error_or_no_answer),
        cmocka_unit_test(names_have_a_length_limit),
        cmocka_unit_test(an_answer_contains_its_records),
        cmocka_unit_test(an_answer_that_is_too_long_is_truncated_and_flagged),
        cmocka_unit_test(an_unknown_edns_version_is_answered_with_badvers),
        cmocka_unit_test(replies_of_other_servers_must_match_the_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
