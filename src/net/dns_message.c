/* One DNS query to one answer (RFC 1035, EDNS of RFC 6891); see dns_server.h. Pure: called by the
 * server for each packet, by tests and by the fuzzer. It trusts no length it reads. */
#include "net/dns_message.h"

#include "net/dns_server.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    HEADER_SIZE = 12,
    LABEL_MAX = 63,
    TYPE_A = 1,
    TYPE_CNAME = 5,
    TYPE_OPT = 41,
    TYPE_ANY = 255,
    CLASS_IN = 1,
    CLASS_ANY = 255,
    TTL_SECONDS = 5,       /* pods come and go */
    RECORD_HEAD_SIZE = 12, /* with a pointer for its name */
    RECORD_A_SIZE = RECORD_HEAD_SIZE + 4,
    RECORD_OPT_SIZE = 11,
    UDP_PLAIN_MAX = 512,
};

enum rcode {
    NOERROR = 0,
    FORMERR = 1,
    NXDOMAIN = 3,
    NOTIMP = 4,
    REFUSED = 5,
    BADVERS = 16, /* its upper bits go into the OPT record */
};

enum {
    FLAG_QR = 0x8000,
    FLAG_AA = 0x0400,
    FLAG_TC = 0x0200,
    FLAG_RD = 0x0100,
    OPCODE_MASK = 0x7800,
};

struct reader {
    const uint8_t *data;
    size_t size, at;
    bool failed; /* read past the end: everything read since is 0 */
};

struct question {
    uint16_t id, flags;
    char name[DNS_NAME_MAX + 1]; /* lower case, no final dot */
    bool is_unusual;             /* bytes in it that no name of a cluster has */
    uint16_t type, class;
    size_t end; /* behind the question, from the query's beginning */
    bool has_opt;
    uint16_t udp_size;
    uint8_t edns_version;
};

/* ---- reading --------------------------------------------------------------------------------- */

static unsigned read_bytes(struct reader *reader, size_t count)
{
    if (reader->failed || reader->size - reader->at < count) {
        reader->failed = true;
        return 0;
    }
    unsigned value = 0;
    while (count--)
        value = value << 8 | reader->data[reader->at++];
    return value;
}

static uint16_t read_u16(struct reader *reader)
{
    return (uint16_t)read_bytes(reader, 2);
}

static void skip(struct reader *reader, size_t count)
{
    if (reader->failed || reader->size - reader->at < count)
        reader->failed = true;
    else
        reader->at += count;
}

/* A question's name. Nothing stands before it, so a pointer in it points nowhere. */
static void read_question_name(struct reader *reader, struct question *question)
{
    size_t length = 0;
    for (;;) {
        unsigned size = read_bytes(reader, 1);
        if (reader->failed || size == 0)
            break;
        if (size > LABEL_MAX || length + (length > 0) + size > DNS_NAME_MAX) {
            reader->failed = true;
            break;
        }
        if (length)
            question->name[length++] = '.';
        while (size--) {
            unsigned c = read_bytes(reader, 1);
            if (c >= 'A' && c <= 'Z')
                c += 'a' - 'A';
            if (c <= ' ' || c > '~' || c == '.')
                question->is_unusual = true;
            question->name[length++] = (char)c;
        }
    }
    question->name[length] = '\0';
}

/* Past a record's name, which may be or end in a pointer. */
static void skip_name(struct reader *reader)
{
    for (;;) {
        unsigned size = read_bytes(reader, 1);
        if (reader->failed || size == 0)
            return;
        if (size >= 0xC0) {
            skip(reader, 1);
            return;
        }
        if (size > LABEL_MAX)
            reader->failed = true;
        skip(reader, size);
    }
}

static void read_records(struct reader *reader, unsigned count, struct question *question)
{
    while (count-- && !reader->failed) {
        skip_name(reader);
        uint16_t type = read_u16(reader), class = read_u16(reader);
        unsigned ttl = read_bytes(reader, 4);
        skip(reader, read_u16(reader));
        if (type != TYPE_OPT || reader->failed)
            continue;
        if (question->has_opt) /* only one may be there */
            reader->failed = true;
        question->has_opt = true;
        question->udp_size = class;
        question->edns_version = (uint8_t)(ttl >> 16);
    }
}

/* The header alone decides whether there is anything to say: false, if not. */
static bool read_query(const void *data, size_t size, struct question *question,
                       enum rcode *ret_rcode)
{
    struct reader reader = {.data = data, .size = size};
    question->id = read_u16(&reader);
    question->flags = read_u16(&reader);
    unsigned questions = read_u16(&reader), answers = read_u16(&reader),
             authorities = read_u16(&reader), additional = read_u16(&reader);
    if (reader.failed || question->flags & FLAG_QR) /* to answer answers would go on for ever */
        return false;
    question->end = HEADER_SIZE;
    *ret_rcode = FORMERR;
    if (question->flags & OPCODE_MASK) {
        *ret_rcode = NOTIMP;
        return true;
    }
    if (questions != 1)
        return true;
    read_question_name(&reader, question);
    question->type = read_u16(&reader);
    question->class = read_u16(&reader);
    if (reader.failed)
        return true;
    size_t end = reader.at;
    read_records(&reader, answers + authorities, &(struct question){0});
    read_records(&reader, additional, question);
    if (reader.failed) {
        question->has_opt = false;
        return true;
    }
    question->end = end;
    *ret_rcode = question->has_opt && question->edns_version > 0 ? BADVERS : NOERROR;
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint8_t *put_u16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
    return at + 2;
}

static uint8_t *put_u32(uint8_t *at, unsigned value)
{
    return put_u16(put_u16(at, value >> 16), value & 0xFFFF);
}

/* Up to what the record says; `owner` is where its name stands in the message. */
static uint8_t *put_head(uint8_t *at, size_t owner, unsigned type, size_t size)
{
    at = put_u16(at, 0xC000 | (unsigned)owner);
    at = put_u16(at, type);
    at = put_u16(at, CLASS_IN);
    at = put_u32(at, TTL_SECONDS);
    return put_u16(at, (unsigned)size);
}

static uint8_t *put_address(uint8_t *at, size_t owner, struct in_addr address)
{
    at = put_head(at, owner, TYPE_A, sizeof(address.s_addr));
    memcpy(at, &address.s_addr, sizeof(address.s_addr));
    return at + sizeof(address.s_addr);
}

/* A name without a final dot has a byte more before its first label, and one behind its last. */
static size_t alias_size(const char *alias)
{
    return alias[0] ? RECORD_HEAD_SIZE + strlen(alias) + 2 : 0;
}

static uint8_t *put_alias(uint8_t *at, const char *alias)
{
    at = put_head(at, HEADER_SIZE, TYPE_CNAME, strlen(alias) + 2); /* of the question's name */
    while (*alias) {
        size_t size = strcspn(alias, ".");
        *at++ = (uint8_t)size;
        memcpy(at, alias, size);
        at += size;
        alias += size + (alias[size] == '.');
    }
    *at++ = 0;
    return at;
}

static uint8_t *put_opt(uint8_t *at, enum rcode rcode)
{
    *at++ = 0; /* the root's name */
    at = put_u16(at, TYPE_OPT);
    at = put_u16(at, DNS_UDP_MAX);
    at = put_u32(at, (unsigned)(rcode >> 4) << 24);
    return put_u16(at, 0);
}

/* What a lookup may give away as another name: labels that can be written down. */
static bool is_name(const char *text)
{
    if (!text[0] || strlen(text) > DNS_NAME_MAX)
        return false;
    for (;;) {
        size_t size = strcspn(text, ".");
        if (size == 0 || size > LABEL_MAX)
            return false;
        if (!text[size])
            return true;
        text += size + 1;
    }
}

/* What the name stands for, and the code that goes with it; returns the number of addresses. */
static int find(const struct question *question, dns_lookup *lookup, void *context,
                struct dns_found *ret, enum rcode *ret_rcode)
{
    if (question->class != CLASS_IN && question->class != CLASS_ANY) {
        *ret_rcode = REFUSED;
        return 0;
    }
    int count = -1;
    if (question->name[0] && !question->is_unusual)
        count = lookup(context, question->name, ret);
    if (count < 0 || !is_name(ret->alias))
        ret->alias[0] = '\0';
    *ret_rcode = count < 0 ? NXDOMAIN : NOERROR;
    if (count < 0 || (question->type != TYPE_A && question->type != TYPE_ANY))
        return 0; /* the name may be there without having what was asked for */
    return count > DNS_ADDRESSES_MAX ? DNS_ADDRESSES_MAX : count;
}

size_t dns_answer(const void *query, size_t query_size, void *answer, size_t answer_max,
                  dns_lookup *lookup, void *context)
{
    struct question question = {0};
    struct dns_found found = {0};
    enum rcode rcode;
    int count = 0;
    if (!read_query(query, query_size, &question, &rcode))
        return 0;
    if (rcode == NOERROR)
        count = find(&question, lookup, context, &found, &rcode);

    size_t opt_size = question.has_opt ? RECORD_OPT_SIZE : 0;
    if (answer_max < question.end + opt_size)
        return 0;
    size_t room = answer_max - question.end - opt_size;
    bool has_alias = found.alias[0] != '\0', is_cut = alias_size(found.alias) > room;
    if (is_cut) {
        has_alias = false;
        count = 0;
    } else {
        room = (room - alias_size(found.alias)) / RECORD_A_SIZE;
        is_cut = (size_t)count > room;
        if (is_cut)
            count = (int)room;
    }

    bool has_question = question.end > HEADER_SIZE;
    unsigned flags = FLAG_QR | (question.flags & (OPCODE_MASK | FLAG_RD)) | (rcode & 15) |
                     (is_cut ? FLAG_TC : 0) | (rcode == NOERROR || rcode == NXDOMAIN ? FLAG_AA : 0);
    uint8_t *at = answer;
    at = put_u16(at, question.id);
    at = put_u16(at, flags);
    at = put_u16(at, has_question);
    at = put_u16(at, (unsigned)count + has_alias);
    at = put_u16(at, 0);
    at = put_u16(at, question.has_opt);
    memcpy(at, (const uint8_t *)query + HEADER_SIZE, question.end - HEADER_SIZE);
    at += question.end - HEADER_SIZE;
    if (has_alias)
        at = put_alias(at, found.alias);
    size_t owner = has_alias ? question.end + RECORD_HEAD_SIZE : HEADER_SIZE;
    for (int i = 0; i < count; i++)
        at = put_address(at, owner, found.addresses[i]);
    if (question.has_opt)
        at = put_opt(at, rcode);
    return (size_t)(at - (uint8_t *)answer);
}

size_t dns_udp_answer_max(const void *query, size_t query_size)
{
    struct question question = {0};
    enum rcode rcode;
    if (!read_query(query, query_size, &question, &rcode) || question.udp_size < UDP_PLAIN_MAX)
        return UDP_PLAIN_MAX;
    return question.udp_size < DNS_UDP_MAX ? question.udp_size : DNS_UDP_MAX;
}
