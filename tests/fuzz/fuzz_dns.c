/* Fuzzes the DNS server and client with any packet. An answer must stay within its limit, belong to
 * the query, and be a message that itself gets no answer. Any reply of another server must be read
 * without harm. */
#include "base/mem.h"
#include "net/dns/message.h"
#include "node/names/answer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct names_table *table)
{
    names_table_init(table);
    struct names_entry *entry = names_table_add(table, "a.b.svc.cluster.local");
    for (unsigned i = 0; i < 100; i++)
        names_entry_add_address(table, entry, (struct in_addr){i});
    names_entry_add_port(table, names_table_add(table, "_p._tcp.a.b.svc.cluster.local"), 1,
                         "a.b.svc.cluster.local");
    names_entry_add_pointer(table, names_table_add(table, "1.0.96.10.in-addr.arpa"),
                            "a.b.svc.cluster.local");
    names_table_add(table, "out.b.svc.cluster.local")->alias = "example.com";
    names_table_add(table, "c.b.svc.cluster.local")->alias = "c.b.svc.cluster.local";
}

static void check_answer(const struct dns_query *query, const uint8_t *answer, size_t size,
                         size_t max)
{
    struct dns_query again;
    enum dns_rcode rcode;
    if (size > max)
        mem_panic("an answer of %zu bytes for %zu", size, max);
    if (size && (size < 12 || memcmp(answer, query->data, 2) != 0 || !(answer[2] & 0x80)))
        mem_panic("an answer that belongs to another query");
    if (size && dns_query_read(answer, size, &again, &rcode))
        mem_panic("an answer is taken for a query");
}

static void check(const struct names_table *table, const struct dns_query *query,
                  enum dns_rcode rcode, size_t max)
{
    uint8_t *answer = mem_alloc(max + 1);
    char alias[DNS_NAME_MAX + 1];
    size_t size = 0;
    if (rcode != DNS_NOERROR) {
        struct dns_answer refusal;
        dns_answer_begin(&refusal, query, answer, max);
        size = dns_answer_end(&refusal, rcode, false);
    } else if (names_answer(table, query, NULL, answer, max, &size, alias) != NAMES_ANSWERED) {
        size = 0;
    }
    check_answer(query, answer, size, max);
    free(answer);
}

/* Reads the packet as another server's reply. The packet is also used as the query, since no other
 * query fits a random reply better. */
static void check_reply(const uint8_t *data, size_t size)
{
    struct dns_reply reply;
    struct dns_record record;
    if (!dns_reply_read(data, size, data, size, &reply))
        return;
    while (dns_reply_next(&reply, &record))
        if (record.data < data || record.data + record.size > data + size)
            mem_panic("a record beyond its message");
    struct in_addr address;
    if (dns_reply_read(data, size, data, size, &reply) && dns_reply_address(&reply, &address) &&
        (reply.rcode != DNS_NOERROR || !memmem(data, size, &address, sizeof(address))))
        mem_panic("an address that is not in the reply");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dns_query query;
    enum dns_rcode rcode;
    uint8_t asked[DNS_QUERY_MAX];
    check_reply(data, size);
    if (!dns_query_read(data, size, &query, &rcode))
        return 0;
    size_t max = dns_query_udp_max(&query);
    if (max < 512 || max > DNS_UDP_MAX)
        mem_panic("%zu bytes allowed over UDP", max);
    struct names_table table;
    fill(&table);
    check(&table, &query, rcode, max);
    check(&table, &query, rcode, DNS_TCP_MAX);
    check(&table, &query, rcode, data[0]);
    names_table_release(&table);
    if (rcode == DNS_NOERROR && dns_query_pass_on(&query, NULL, 1, asked) > sizeof(asked))
        mem_panic("a question too long to ask");
    return 0;
}
