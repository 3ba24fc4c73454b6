/* Builds and sends messages for nf_tables; see network/nft.h. Numbers in attributes are in network
 * byte order. Values that an expression loads into a register of nf_tables, or compares with a
 * register, have the byte order of the packet field or of the kernel's variable. */
#include "node/network/nft.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { SOURCE_OFFSET = 12, DESTINATION_OFFSET = 16 }; /* of the addresses in an IPv4 header */

/* ---- messages -------------------------------------------------------------------------------- */

static void nft_begin_message(struct netlink_message *message, uint16_t type, uint16_t flags)
{
    const struct nfgenmsg fixed = {.nfgen_family = NFPROTO_IPV4, .version = NFNETLINK_V0};
    netlink_begin(message, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, &fixed,
                  sizeof(fixed));
}

/* Appends a message to the batch. */
static void nft_add_message(struct nft_batch *batch, const struct netlink_message *message)
{
    size_t size = message->header.nlmsg_len;
    if (message->overflowed || size > NFT_BATCH_MAX - batch->size) {
        batch->overflowed = true;
        return;
    }
    struct nlmsghdr header = message->header;
    header.nlmsg_flags &= (uint16_t)~NLM_F_ACK; /* the kernel reports errors without this flag */
    header.nlmsg_seq = ++batch->sequence;
    memcpy(batch->data + batch->size, message->data, size);
    memcpy(batch->data + batch->size, &header, sizeof(header));
    batch->size += size;
}

/* Appends the message that begins or ends a batch. */
static void nft_add_batch_marker(struct nft_batch *batch, uint16_t type)
{
    const struct nfgenmsg fixed = {.version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
    struct netlink_message message;
    netlink_begin(&message, type, 0, &fixed, sizeof(fixed));
    nft_add_message(batch, &message);
}

static void attr_be32(struct netlink_message *message, uint16_t type, uint32_t value)
{
    netlink_attr_u32(message, type, htonl(value));
}

static size_t nft_begin_nest(struct netlink_message *message, uint16_t type)
{
    return netlink_nest(message, type | NLA_F_NESTED);
}

int nft_open(int *ret_fd, struct err *err)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open a netfilter socket");
    *ret_fd = fd;
    return 0;
}

void nft_batch_begin(struct nft_batch *batch)
{
    batch->size = 0;
    batch->sequence = 0;
    batch->overflowed = false;
    nft_add_batch_marker(batch, NFNL_MSG_BATCH_BEGIN);
}

void nft_batch_end(struct nft_batch *batch)
{
    nft_add_batch_marker(batch, NFNL_MSG_BATCH_END);
}

static void add_table(struct nft_batch *batch, uint16_t type, uint16_t flags, const char *table)
{
    struct netlink_message message;
    nft_begin_message(&message, type, flags);
    netlink_attr_str(&message, NFTA_TABLE_NAME, table);
    nft_add_message(batch, &message);
}

void nft_table_remove(struct nft_batch *batch, const char *table)
{
    /* The kernel refuses to delete a table that does not exist, so the table is created first. */
    add_table(batch, NFT_MSG_NEWTABLE, NLM_F_CREATE, table);
    add_table(batch, NFT_MSG_DELTABLE, 0, table);
}

void nft_table_replace(struct nft_batch *batch, const char *table)
{
    nft_table_remove(batch, table);
    add_table(batch, NFT_MSG_NEWTABLE, NLM_F_CREATE, table);
}

void nft_chain_add(struct nft_batch *batch, const char *table, const char *chain, const char *type,
                   uint32_t hook, int32_t priority)
{
    struct netlink_message message;
    nft_begin_message(&message, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    netlink_attr_str(&message, NFTA_CHAIN_TABLE, table);
    netlink_attr_str(&message, NFTA_CHAIN_NAME, chain);
    size_t at = nft_begin_nest(&message, NFTA_CHAIN_HOOK);
    attr_be32(&message, NFTA_HOOK_HOOKNUM, hook);
    attr_be32(&message, NFTA_HOOK_PRIORITY, (uint32_t)priority);
    netlink_nest_end(&message, at);
    netlink_attr_str(&message, NFTA_CHAIN_TYPE, type);
    nft_add_message(batch, &message);
}

/* ---- rules ----------------------------------------------------------------------------------- */

void nft_rule_begin(struct nft_rule *rule, const char *table, const char *chain)
{
    nft_begin_message(&rule->message, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    netlink_attr_str(&rule->message, NFTA_RULE_TABLE, table);
    netlink_attr_str(&rule->message, NFTA_RULE_CHAIN, chain);
    rule->expressions = nft_begin_nest(&rule->message, NFTA_RULE_EXPRESSIONS);
}

void nft_rule_end(struct nft_rule *rule, struct nft_batch *batch)
{
    netlink_nest_end(&rule->message, rule->expressions);
    nft_add_message(batch, &rule->message);
}

/* The nested attributes of a condition or action that is being built. */
struct expression {
    size_t element, data;
};

static struct expression expression_begin(struct nft_rule *rule, const char *name)
{
    struct expression expression;
    expression.element = nft_begin_nest(&rule->message, NFTA_LIST_ELEM);
    netlink_attr_str(&rule->message, NFTA_EXPR_NAME, name);
    expression.data = nft_begin_nest(&rule->message, NFTA_EXPR_DATA);
    return expression;
}

static void expression_end(struct nft_rule *rule, struct expression expression)
{
    netlink_nest_end(&rule->message, expression.data);
    netlink_nest_end(&rule->message, expression.element);
}

static void nft_add_value(struct nft_rule *rule, uint16_t type, const void *data, size_t size)
{
    size_t at = nft_begin_nest(&rule->message, type);
    netlink_attr(&rule->message, NFTA_DATA_VALUE, data, size);
    netlink_nest_end(&rule->message, at);
}

static void nft_compare_register(struct nft_rule *rule, enum nft_cmp_ops operation,
                                 const void *data, size_t size)
{
    struct expression at = expression_begin(rule, "cmp");
    attr_be32(&rule->message, NFTA_CMP_SREG, NFT_REG_1);
    attr_be32(&rule->message, NFTA_CMP_OP, operation);
    nft_add_value(rule, NFTA_CMP_DATA, data, size);
    expression_end(rule, at);
}

static void mask_value(struct nft_rule *rule, uint32_t bits)
{
    const uint32_t zero = 0;
    struct expression at = expression_begin(rule, "bitwise");
    attr_be32(&rule->message, NFTA_BITWISE_SREG, NFT_REG_1);
    attr_be32(&rule->message, NFTA_BITWISE_DREG, NFT_REG_1);
    attr_be32(&rule->message, NFTA_BITWISE_LEN, sizeof(bits));
    nft_add_value(rule, NFTA_BITWISE_MASK, &bits, sizeof(bits));
    nft_add_value(rule, NFTA_BITWISE_XOR, &zero, sizeof(zero));
    expression_end(rule, at);
}

static void load_address(struct nft_rule *rule, uint32_t offset)
{
    struct expression at = expression_begin(rule, "payload");
    attr_be32(&rule->message, NFTA_PAYLOAD_DREG, NFT_REG_1);
    attr_be32(&rule->message, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
    attr_be32(&rule->message, NFTA_PAYLOAD_OFFSET, offset);
    attr_be32(&rule->message, NFTA_PAYLOAD_LEN, sizeof(struct in_addr));
    expression_end(rule, at);
}

void nft_rule_from_address(struct nft_rule *rule, struct in_addr address)
{
    load_address(rule, SOURCE_OFFSET);
    nft_compare_register(rule, NFT_CMP_EQ, &address.s_addr, sizeof(address.s_addr));
}

void nft_rule_not_to_address(struct nft_rule *rule, struct in_addr address)
{
    load_address(rule, DESTINATION_OFFSET);
    nft_compare_register(rule, NFT_CMP_NEQ, &address.s_addr, sizeof(address.s_addr));
}

void nft_rule_to_range(struct nft_rule *rule, struct in_addr range, int prefix)
{
    load_address(rule, DESTINATION_OFFSET);
    mask_value(rule, htonl(UINT32_MAX << (32 - prefix)));
    nft_compare_register(rule, NFT_CMP_EQ, &range.s_addr, sizeof(range.s_addr));
}

static void load_meta(struct nft_rule *rule, enum nft_meta_keys key)
{
    struct expression at = expression_begin(rule, "meta");
    attr_be32(&rule->message, NFTA_META_DREG, NFT_REG_1);
    attr_be32(&rule->message, NFTA_META_KEY, key);
    expression_end(rule, at);
}

void nft_rule_protocol(struct nft_rule *rule, uint8_t protocol)
{
    load_meta(rule, NFT_META_L4PROTO);
    nft_compare_register(rule, NFT_CMP_EQ, &protocol, sizeof(protocol));
}

static void nft_compare_link(struct nft_rule *rule, enum nft_meta_keys key,
                             enum nft_cmp_ops operation, const char *name)
{
    char padded[IFNAMSIZ] = "";
    memcpy(padded, name, strnlen(name, sizeof(padded) - 1));
    load_meta(rule, key);
    nft_compare_register(rule, operation, padded, sizeof(padded));
}

void nft_rule_in_link(struct nft_rule *rule, const char *name)
{
    nft_compare_link(rule, NFT_META_IIFNAME, NFT_CMP_EQ, name);
}

void nft_rule_out_link(struct nft_rule *rule, const char *name, bool is_this)
{
    nft_compare_link(rule, NFT_META_OIFNAME, is_this ? NFT_CMP_EQ : NFT_CMP_NEQ, name);
}

void nft_rule_not_established(struct nft_rule *rule)
{
    const uint32_t zero = 0;
    const uint32_t established =
        NF_CT_STATE_BIT(IP_CT_ESTABLISHED) | NF_CT_STATE_BIT(IP_CT_RELATED);
    struct expression at = expression_begin(rule, "ct");
    attr_be32(&rule->message, NFTA_CT_DREG, NFT_REG_1);
    attr_be32(&rule->message, NFTA_CT_KEY, NFT_CT_STATE);
    expression_end(rule, at);
    mask_value(rule, established);
    nft_compare_register(rule, NFT_CMP_EQ, &zero, sizeof(zero));
}

static void load_value(struct nft_rule *rule, const void *data, size_t size)
{
    struct expression at = expression_begin(rule, "immediate");
    attr_be32(&rule->message, NFTA_IMMEDIATE_DREG, NFT_REG_1);
    nft_add_value(rule, NFTA_IMMEDIATE_DATA, data, size);
    expression_end(rule, at);
}

void nft_rule_to_transparent(struct nft_rule *rule)
{
    /* tproxy requires a port. A listener on that port would get packets that match no connected
     * socket. No socket listens on port 1, so such packets do not match the rule. */
    const uint16_t port = htons(1);
    load_value(rule, &port, sizeof(port));
    struct expression at = expression_begin(rule, "tproxy");
    attr_be32(&rule->message, NFTA_TPROXY_FAMILY, NFPROTO_IPV4);
    attr_be32(&rule->message, NFTA_TPROXY_REG_PORT, NFT_REG_1);
    expression_end(rule, at);
}

void nft_rule_about_transparent(struct nft_rule *rule)
{
    const uint8_t yes = 1;
    struct expression at = expression_begin(rule, "socket");
    attr_be32(&rule->message, NFTA_SOCKET_KEY, NFT_SOCKET_TRANSPARENT);
    attr_be32(&rule->message, NFTA_SOCKET_DREG, NFT_REG_1);
    expression_end(rule, at);
    nft_compare_register(rule, NFT_CMP_EQ, &yes, sizeof(yes));
}

void nft_rule_set_mark(struct nft_rule *rule, uint32_t mark)
{
    load_value(rule, &mark, sizeof(mark));
    struct expression at = expression_begin(rule, "meta");
    attr_be32(&rule->message, NFTA_META_KEY, NFT_META_MARK);
    attr_be32(&rule->message, NFTA_META_SREG, NFT_REG_1);
    expression_end(rule, at);
}

void nft_rule_untrack(struct nft_rule *rule)
{
    expression_end(rule, expression_begin(rule, "notrack"));
}

void nft_rule_masquerade(struct nft_rule *rule)
{
    expression_end(rule, expression_begin(rule, "masq"));
}

static void give_verdict(struct nft_rule *rule, uint32_t code)
{
    struct expression at = expression_begin(rule, "immediate");
    attr_be32(&rule->message, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    size_t data = nft_begin_nest(&rule->message, NFTA_IMMEDIATE_DATA);
    size_t verdict = nft_begin_nest(&rule->message, NFTA_DATA_VERDICT);
    attr_be32(&rule->message, NFTA_VERDICT_CODE, code);
    netlink_nest_end(&rule->message, verdict);
    netlink_nest_end(&rule->message, data);
    expression_end(rule, at);
}

void nft_rule_accept(struct nft_rule *rule)
{
    give_verdict(rule, NF_ACCEPT);
}

void nft_rule_drop(struct nft_rule *rule)
{
    give_verdict(rule, NF_DROP);
}

/* ---- answers of the kernel ------------------------------------------------------------------- */

static int nft_refusal(int errnum, struct err *err)
{
    if (errnum == EOPNOTSUPP || errnum == EINVAL || errnum == ENOENT || errnum == EPROTONOSUPPORT)
        return err_set(err, ERR_UNSUPPORTED,
                       "the kernel lacks nf_tables or a part of it (%s): use a kernel with the "
                       "modules nf_tables, nft_masq and nft_ct",
                       strerror(errnum));
    return err_set_errno(err, errnum, "cannot write packet filter rules");
}

int nft_batch_send(int fd, const struct nft_batch *batch, struct err *err)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (batch->overflowed)
        return err_set(err, ERR_INTERNAL, "the packet filter rules are too long");
    if (sendto(fd, batch->data, batch->size, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        return nft_refusal(errno, err);
    /* The kernel applies the batch before sendto() returns. So all its errors can be read now. */
    for (;;) {
        union {
            struct nlmsghdr header;
            unsigned char data[8192];
        } answer;
        ssize_t got = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
        if (got < 0)
            return errno == EAGAIN ? 0 : nft_refusal(errno, err);
        const struct nlmsgerr *verdict = NLMSG_DATA(&answer.header);
        if (NLMSG_OK(&answer.header, (size_t)got) && answer.header.nlmsg_type == NLMSG_ERROR &&
            answer.header.nlmsg_len >= NLMSG_LENGTH(sizeof(*verdict)) && verdict->error)
            return nft_refusal(-verdict->error, err);
    }
}

/* Returns the attribute at `*at` and moves `*at` to the next one. Returns NULL at the end, and if
 * the attribute is cut off. */
static const struct nlattr *next_attribute(const unsigned char **at, const unsigned char *end)
{
    const struct nlattr *attribute = (const void *)*at;
    if (end - *at < (ptrdiff_t)NLA_HDRLEN || attribute->nla_len < NLA_HDRLEN ||
        attribute->nla_len > end - *at)
        return NULL;
    ptrdiff_t padded = NLA_ALIGN(attribute->nla_len);
    *at += padded < end - *at ? padded : end - *at;
    return attribute;
}

static uint32_t read_be32(const struct nlattr *attribute, uint32_t fallback)
{
    uint32_t number;
    if (attribute->nla_len < NLA_HDRLEN + sizeof(number))
        return fallback;
    memcpy(&number, (const char *)attribute + NLA_HDRLEN, sizeof(number));
    return ntohl(number);
}

/* Returns the hook in the nested attribute of a chain, or UINT32_MAX. */
static uint32_t read_hook(const struct nlattr *hook)
{
    const unsigned char *at = (const unsigned char *)hook + NLA_HDRLEN,
                        *end = (const unsigned char *)hook + hook->nla_len;
    for (const struct nlattr *each; (each = next_attribute(&at, end));)
        if ((each->nla_type & NLA_TYPE_MASK) == NFTA_HOOK_HOOKNUM)
            return read_be32(each, UINT32_MAX);
    return UINT32_MAX;
}

bool nft_chain_drops_forward(const struct nlmsghdr *message, char ret[2 * NFT_NAME_MAX])
{
    const struct nfgenmsg *fixed = NLMSG_DATA(message);
    const char *table = "", *chain = "";
    size_t table_size = 0, chain_size = 0;
    uint32_t hook = UINT32_MAX, policy = UINT32_MAX;
    if (message->nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN) ||
        message->nlmsg_len < NLMSG_LENGTH(sizeof(*fixed)) ||
        (fixed->nfgen_family != NFPROTO_IPV4 && fixed->nfgen_family != NFPROTO_INET))
        return false;
    const unsigned char *at = (const unsigned char *)fixed + NLMSG_ALIGN(sizeof(*fixed)),
                        *end = (const unsigned char *)message + message->nlmsg_len;
    for (const struct nlattr *each; (each = next_attribute(&at, end));) {
        const char *text = (const char *)each + NLA_HDRLEN;
        size_t size = each->nla_len - NLA_HDRLEN;
        switch (each->nla_type & NLA_TYPE_MASK) {
        case NFTA_CHAIN_TABLE:
            table = text;
            table_size = size;
            break;
        case NFTA_CHAIN_NAME:
            chain = text;
            chain_size = size;
            break;
        case NFTA_CHAIN_HOOK:
            hook = read_hook(each);
            break;
        case NFTA_CHAIN_POLICY:
            policy = read_be32(each, UINT32_MAX);
            break;
        default:
            break;
        }
    }
    if (hook != NF_INET_FORWARD || policy != NF_DROP)
        return false;
    snprintf(ret, (size_t)2 * NFT_NAME_MAX, "%.*s %.*s", (int)strnlen(table, table_size), table,
             (int)strnlen(chain, chain_size), chain);
    return true;
}

bool nft_find_forward_drop(int fd, char ret[2 * NFT_NAME_MAX])
{
    const struct nfgenmsg fixed = {.nfgen_family = NFPROTO_UNSPEC, .version = NFNETLINK_V0};
    struct netlink_message message;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    netlink_begin(&message, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN, 0, &fixed, sizeof(fixed));
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (sendto(fd, message.data, message.header.nlmsg_len, 0, (struct sockaddr *)&kernel,
               sizeof(kernel)) < 0)
        return false;
    bool found = false;
    for (;;) {
        union {
            struct nlmsghdr header;
            unsigned char data[32768];
        } answer;
        ssize_t got = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
        if (got <= 0)
            return found;
        size_t left = (size_t)got;
        for (struct nlmsghdr *each = &answer.header; NLMSG_OK(each, left);
             each = NLMSG_NEXT(each, left)) {
            if (each->nlmsg_type == NLMSG_DONE || each->nlmsg_type == NLMSG_ERROR)
                return found;
            found = found || nft_chain_drops_forward(each, ret);
        }
    }
}
