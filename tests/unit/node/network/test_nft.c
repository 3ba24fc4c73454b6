/* Tests packet rules: the bytes must be those that nft(8) would send, read back attribute by
 * attribute. The integration test of egress tests whether the kernel accepts them. */
#include "node_test.h"

#include "node/network/egress.h"
#include "node/network/nft.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdlib.h>
#include <string.h>

/* Writes "1(…)" for a nested attribute, "2=hex" for any other. */
static void dump(const unsigned char *at, const unsigned char *end, struct buf *ret)
{
    while (end - at >= (ptrdiff_t)NLA_HDRLEN) {
        struct nlattr attribute;
        memcpy(&attribute, at, sizeof(attribute));
        assert_true(attribute.nla_len >= NLA_HDRLEN && attribute.nla_len <= end - at);
        const unsigned char *data = at + NLA_HDRLEN, *data_end = at + attribute.nla_len;
        buf_printf(ret, "%s%d", ret->size && ret->data[ret->size - 1] != '(' ? " " : "",
                   attribute.nla_type & NLA_TYPE_MASK);
        if (attribute.nla_type & NLA_F_NESTED) {
            buf_append_char(ret, '(');
            dump(data, data_end, ret);
            buf_append_char(ret, ')');
        } else {
            buf_append_char(ret, '=');
            bool is_text = data < data_end && data_end[-1] == 0 && *data >= 'a';
            if (is_text)
                buf_append_str(ret, (const char *)data);
            for (; !is_text && data < data_end; data++)
                buf_printf(ret, "%02x", *data);
        }
        at += NLA_ALIGN(attribute.nla_len);
    }
    assert_ptr_equal(at, end);
}

static char *text_of(const struct nft_batch *batch)
{
    struct buf text;
    buf_init(&text, 64 * 1024);
    uint32_t sequence = 0;
    for (size_t at = 0; at < batch->size;) {
        struct nlmsghdr header;
        memcpy(&header, batch->data + at, sizeof(header));
        assert_int_equal(header.nlmsg_seq, ++sequence);
        assert_true(header.nlmsg_flags & NLM_F_REQUEST);
        assert_false(header.nlmsg_flags & NLM_F_ACK);
        struct buf attributes;
        buf_init(&attributes, 64 * 1024);
        dump(batch->data + at + NLMSG_HDRLEN + 4, batch->data + at + header.nlmsg_len, &attributes);
        buf_printf(&text, "%04x %s\n", header.nlmsg_type, attributes.data);
        buf_release(&attributes);
        at += NLMSG_ALIGN(header.nlmsg_len);
    }
    return buf_take(&text);
}

static void tables_and_chains_are_encoded(void **state)
{
    struct nft_batch batch;
    nft_batch_begin(&batch);
    nft_table_replace(&batch, "ours");
    nft_chain_add(&batch, "ours", "out", "nat", NF_INET_POST_ROUTING, 100);
    nft_batch_end(&batch);
    _cleanup_free_ char *text = text_of(&batch);
    assert_string_equal(text, "0010 \n0a00 1=ours\n0a02 1=ours\n0a00 1=ours\n"
                              "0a03 1=ours 3=out 4(1=00000004 2=00000064) 7=nat\n0011 \n");
    assert_false(batch.overflowed);
}

static void rules_are_encoded(void **state)
{
    struct nft_batch batch;
    struct nft_rule rule;
    struct in_addr address;
    uint32_t mask = 6; /* established and related, in host byte order */
    char hex[9];
    inet_pton(AF_INET, "10.246.1.2", &address);
    nft_batch_begin(&batch);
    nft_rule_begin(&rule, "ours", "out");
    nft_rule_from_address(&rule, address);
    nft_rule_out_link(&rule, "tyo1", false);
    nft_rule_masquerade(&rule);
    nft_rule_end(&rule, &batch);
    nft_rule_begin(&rule, "ours", "in");
    nft_rule_in_link(&rule, "tyo1");
    nft_rule_not_established(&rule);
    nft_rule_drop(&rule);
    nft_rule_end(&rule, &batch);
    for (size_t i = 0; i < 4; i++)
        snprintf(hex + 2 * i, 3, "%02x", ((unsigned char *)&mask)[i]);
    _cleanup_free_ char *text = text_of(&batch);
    _cleanup_free_ char *expected =
        mem_printf("0010 \n"
                   "0a06 1=ours 2=out 4("
                   "1(1=payload 2(1=00000001 2=00000001 3=0000000c 4=00000004)) "
                   "1(1=cmp 2(1=00000001 2=00000000 3(1=0af60102))) "
                   "1(1=meta 2(1=00000001 2=00000007)) "
                   "1(1=cmp 2(1=00000001 2=00000001 3(1=tyo1))) "
                   "1(1=masq 2()))\n"
                   "0a06 1=ours 2=in 4("
                   "1(1=meta 2(1=00000001 2=00000006)) "
                   "1(1=cmp 2(1=00000001 2=00000000 3(1=tyo1))) "
                   "1(1=ct 2(1=00000001 2=00000000)) "
                   "1(1=bitwise 2(1=00000001 2=00000001 3=00000004 4(1=%s) 5(1=00000000))) "
                   "1(1=cmp 2(1=00000001 2=00000000 3(1=00000000))) "
                   "1(1=immediate 2(1=00000000 2(2(1=00000000)))))\n",
                   hex);
    assert_string_equal(text, expected);
}

static void transparent_rules_are_encoded(void **state)
{
    struct nft_batch batch;
    struct nft_rule rule;
    struct in_addr address;
    inet_pton(AF_INET, "10.244.0.0", &address);
    nft_batch_begin(&batch);
    nft_rule_begin(&rule, "ours", "in");
    nft_rule_protocol(&rule, IPPROTO_TCP);
    nft_rule_to_transparent(&rule);
    nft_rule_set_mark(&rule, 0x03030303); /* the same in both byte orders */
    nft_rule_accept(&rule);
    nft_rule_end(&rule, &batch);
    nft_rule_begin(&rule, "ours", "in");
    nft_rule_about_transparent(&rule);
    nft_rule_end(&rule, &batch);
    nft_rule_begin(&rule, "ours", "in");
    nft_rule_to_range(&rule, address, 31);
    nft_rule_not_to_address(&rule, address);
    nft_rule_untrack(&rule);
    nft_rule_end(&rule, &batch);
    _cleanup_free_ char *text = text_of(&batch);
    assert_string_equal(text, "0010 \n"
                              "0a06 1=ours 2=in 4("
                              "1(1=meta 2(1=00000001 2=00000010)) "
                              "1(1=cmp 2(1=00000001 2=00000000 3(1=06))) "
                              "1(1=immediate 2(1=00000001 2(1=0001))) "
                              "1(1=tproxy 2(1=00000002 3=00000001)) "
                              "1(1=immediate 2(1=00000001 2(1=03030303))) "
                              "1(1=meta 2(2=00000003 3=00000001)) "
                              "1(1=immediate 2(1=00000000 2(2(1=00000001)))))\n"
                              "0a06 1=ours 2=in 4("
                              "1(1=socket 2(1=00000000 2=00000001)) "
                              "1(1=cmp 2(1=00000001 2=00000000 3(1=01))))\n"
                              "0a06 1=ours 2=in 4("
                              "1(1=payload 2(1=00000001 2=00000001 3=00000010 4=00000004)) "
                              "1(1=bitwise 2(1=00000001 2=00000001 3=00000004 4(1=fffffffe) "
                              "5(1=00000000))) "
                              "1(1=cmp 2(1=00000001 2=00000000 3(1=0af40000))) "
                              "1(1=payload 2(1=00000001 2=00000001 3=00000010 4=00000004)) "
                              "1(1=cmp 2(1=00000001 2=00000001 3(1=0af40000))) "
                              "1(1=notrack 2()))\n");
}

static void batch_size_is_limited(void **state)
{
    struct nft_batch batch;
    struct err err = ERR_INIT;
    nft_batch_begin(&batch);
    for (int i = 0; i < 1000; i++)
        nft_table_remove(&batch, "ours");
    assert_true(batch.overflowed && batch.size <= NFT_BATCH_MAX);
    assert_int_equal(nft_batch_send(-1, &batch, &err), -ERR_INTERNAL);
}

/* The kernel's description of a chain, truncated at every byte. */
static void dropping_forward_chain_is_found(void **state)
{
    struct netlink_message message;
    const struct nfgenmsg fixed = {.nfgen_family = NFPROTO_IPV4};
    char found[2 * NFT_NAME_MAX] = "";
    netlink_begin(&message, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN, 0, &fixed, sizeof(fixed));
    netlink_attr_str(&message, NFTA_CHAIN_TABLE, "filter");
    netlink_attr_str(&message, NFTA_CHAIN_NAME, "FORWARD");
    size_t hook = netlink_nest(&message, NFTA_CHAIN_HOOK | NLA_F_NESTED);
    netlink_attr_u32(&message, NFTA_HOOK_HOOKNUM, htonl(NF_INET_FORWARD));
    netlink_nest_end(&message, hook);
    size_t policy = message.header.nlmsg_len;
    netlink_attr_u32(&message, NFTA_CHAIN_POLICY, htonl(NF_DROP));
    assert_true(nft_chain_drops_forward(&message.header, found));
    assert_string_equal(found, "filter FORWARD");
    uint32_t whole = message.header.nlmsg_len;
    for (uint32_t size = NLMSG_HDRLEN; size < whole; size++) {
        struct nlmsghdr *exact = mem_alloc(whole);
        message.header.nlmsg_len = size;
        memcpy(exact, message.data, size);
        assert_false(nft_chain_drops_forward(exact, found));
        free(exact);
    }
    message.header.nlmsg_len = whole;
    message.data[policy + NLA_HDRLEN + 3] = NF_ACCEPT;
    assert_false(nft_chain_drops_forward(&message.header, found));
}

#define HEAD "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"

static const char *choose(const char *routes, uint32_t seed)
{
    static char text[INET_ADDRSTRLEN];
    struct in_addr address;
    if (!egress_choose(routes, seed, &address))
        return "none";
    return inet_ntop(AF_INET, &address, text, sizeof(text));
}

/* The lines of /proc/net/route on a little-endian machine. */
static void unused_egress_network_is_chosen(void **state)
{
    if (htonl(1) == 1)
        skip();
    assert_string_equal(choose(HEAD, 0), "10.246.0.8");
    assert_string_equal(choose(HEAD "eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\n", 0),
                        "10.246.0.8"); /* the default route is ignored */
    assert_string_equal(choose(HEAD "tyo1 0800F60A 00000000 0001 0 0 0 FCFFFFFF 0 0 0\n", 0),
                        "10.246.0.12");
    assert_string_equal(choose(HEAD "host 0900F60A 00000000 0005 0 0 0 FFFFFFFF 0 0 0\n", 0),
                        "10.246.0.12");
    assert_string_equal(choose(HEAD "lan 0000F60A 00000000 0001 0 0 0 0000FFFF 0 0 0\n", 7),
                        "none");
    assert_string_equal(choose(HEAD "lan 0000000A 00000000 0001 0 0 0 000000FF 0 0 0\n", 7),
                        "none");
    assert_string_equal(choose("nonsense\n\n\nx\n", 16381), "10.246.255.252");
    /* Wraps around, past the addresses of our own programs. */
    assert_string_equal(choose(HEAD, 16382), "10.246.0.4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_and_chains_are_encoded),
        cmocka_unit_test(rules_are_encoded),
        cmocka_unit_test(transparent_rules_are_encoded),
        cmocka_unit_test(batch_size_is_limited),
        cmocka_unit_test(dropping_forward_chain_is_found),
        cmocka_unit_test(unused_egress_network_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
