/* Parses the replies of other servers; see message.h. */
#include "net/dns/message.h"

#include "net/dns/wire.h"

#include <ctype.h>
#include <string.h>

enum { TYPE_AND_CLASS_SIZE = 4 };

/* Compares two questions. The case of letters in the name is ignored, because a server may change
 * it. */
static bool is_same_question(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t name_size = size - TYPE_AND_CLASS_SIZE;
    for (size_t i = 0; i < name_size; i++)
        if (tolower(a[i]) != tolower(b[i]))
            return false;
    return memcmp(a + name_size, b + name_size, TYPE_AND_CLASS_SIZE) == 0;
}

bool dns_reply_read(const void *data, size_t size, const void *query, size_t query_size,
                    struct dns_reply *ret)
{
    struct dns_reader question = {.data = query, .size = query_size};
    dns_skip(&question, DNS_HEADER_SIZE);
    dns_skip_name(&question);
    dns_skip(&question, TYPE_AND_CLASS_SIZE);
    struct dns_reader reader = {.data = data, .size = size};
    dns_skip(&reader, sizeof(uint16_t)); /* the id; memcmp() compares it below */
    uint16_t flags = dns_read_u16(&reader);
    unsigned questions = dns_read_u16(&reader), answers = dns_read_u16(&reader);
    dns_skip(&reader, 4);
    if (question.failed || reader.failed || question.at > size ||
        memcmp(data, query, sizeof(uint16_t)) != 0 || !(flags & DNS_FLAG_QR) ||
        flags & DNS_OPCODE_MASK || questions != 1 ||
        !is_same_question(reader.data + DNS_HEADER_SIZE, question.data + DNS_HEADER_SIZE,
                          question.at - DNS_HEADER_SIZE))
        return false;
    *ret = (struct dns_reply){.data = data,
                              .size = size,
                              .rcode = flags & DNS_RCODE_MASK,
                              .is_cut = flags & DNS_FLAG_TC,
                              .left = answers,
                              .at = question.at};
    return true;
}

bool dns_reply_next(struct dns_reply *reply, struct dns_record *ret)
{
    struct dns_reader reader = {.data = reply->data, .size = reply->size, .at = reply->at};
    if (reply->left == 0)
        return false;
    dns_skip_name(&reader);
    ret->type = dns_read_u16(&reader);
    ret->class = dns_read_u16(&reader);
    ret->ttl = dns_read(&reader, 4);
    ret->size = dns_read_u16(&reader);
    ret->data = reader.data + reader.at;
    dns_skip(&reader, ret->size);
    reply->at = reader.at;
    reply->left = reader.failed ? 0 : reply->left - 1;
    return !reader.failed;
}

bool dns_reply_address(struct dns_reply *reply, struct in_addr *ret)
{
    struct dns_record record;
    while (reply->rcode == DNS_NOERROR && dns_reply_next(reply, &record))
        if (record.type == DNS_A && record.class == DNS_CLASS_IN && record.size == sizeof(*ret)) {
            memcpy(ret, record.data, sizeof(*ret));
            return true;
        }
    return false;
}
