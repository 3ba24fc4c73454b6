/* Whatever packet comes, the answer keeps its limit, belongs to the query, and is itself a message
 * that gets no answer. */
#include "base/mem.h"
#include "net/dns_message.h"
#include "net/dns_server.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int lookup(void *context, const char *name, struct dns_found *ret)
{
    size_t size = strlen(name);
    if (size == 0 || size > 253)
        mem_panic("a name of %zu bytes was asked for", size);
    for (const char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~' || (*c >= 'A' && *c <= 'Z'))
            mem_panic("'%s' was asked for", name);
    if (size % 3 == 0) /* what comes is as good as any, and often no name */
        memcpy(ret->alias, name, size);
    int count = (int)(size % (DNS_ADDRESSES_MAX + 2)) - 1;
    for (int i = 0; i < count; i++)
        ret->addresses[i].s_addr = (in_addr_t)i;
    return count;
}

static void check(const uint8_t *query, size_t size, size_t max)
{
    uint8_t *answer = mem_alloc(max);
    size_t answer_size = dns_answer(query, size, answer, max, lookup, NULL);
    if (answer_size > max)
        mem_panic("an answer of %zu bytes for %zu", answer_size, max);
    if (answer_size && (answer_size < 12 || memcmp(answer, query, 2) != 0 || !(answer[2] & 0x80)))
        mem_panic("an answer that belongs to another query");
    uint8_t again[DNS_UDP_MAX];
    if (answer_size && dns_answer(answer, answer_size, again, sizeof(again), lookup, NULL))
        mem_panic("an answer was answered");
    free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t max = dns_udp_answer_max(data, size);
    if (max < 512 || max > DNS_UDP_MAX)
        mem_panic("%zu bytes allowed over UDP", max);
    check(data, size, max);
    check(data, size, DNS_TCP_MAX);
    check(data, size, size ? data[0] : 1);
    return 0;
}
