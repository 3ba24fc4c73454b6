/* Tests that netlink messages have the layout of the kernel, and never exceed their size. */
#include "node_test.h"

#include "node/network/netlink.h"

#include <linux/rtnetlink.h>

static void attributes_are_padded(void **state)
{
    struct netlink_message message;
    struct ifinfomsg info = {.ifi_index = 7};
    netlink_begin(&message, RTM_NEWLINK, NLM_F_CREATE, &info, sizeof(info));
    assert_int_equal(message.header.nlmsg_len, NLMSG_LENGTH(sizeof(info)));
    assert_int_equal(message.header.nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE);
    netlink_attr_str(&message, IFLA_IFNAME, "ty0");
    netlink_attr(&message, IFLA_ADDRESS, "\1\2\3\4\5\6", 6);
    netlink_attr_u32(&message, IFLA_MASTER, 9);

    int left = (int)(message.header.nlmsg_len - NLMSG_LENGTH(sizeof(info)));
    struct rtattr *at = IFLA_RTA((struct ifinfomsg *)NLMSG_DATA(&message.header));
    assert_true(RTA_OK(at, left));
    assert_int_equal(at->rta_type, IFLA_IFNAME);
    assert_string_equal(RTA_DATA(at), "ty0");
    at = RTA_NEXT(at, left);
    assert_true(RTA_OK(at, left));
    assert_int_equal(RTA_PAYLOAD(at), 6);
    at = RTA_NEXT(at, left);
    assert_true(RTA_OK(at, left));
    assert_int_equal(*(uint32_t *)RTA_DATA(at), 9);
    at = RTA_NEXT(at, left);
    assert_int_equal(left, 0);
}

static void nested_attributes_have_their_full_length(void **state)
{
    struct netlink_message message;
    struct ifinfomsg info = {0};
    netlink_begin(&message, RTM_NEWLINK, 0, &info, sizeof(info));
    size_t outer = netlink_nest(&message, IFLA_LINKINFO);
    netlink_attr_str(&message, IFLA_INFO_KIND, "veth");
    size_t inner = netlink_nest(&message, IFLA_INFO_DATA);
    netlink_attr_u32(&message, 1, 2);
    netlink_nest_end(&message, inner);
    netlink_nest_end(&message, outer);
    const struct rtattr *whole = (const struct rtattr *)(const void *)(message.data + outer);
    const struct rtattr *part = (const struct rtattr *)(const void *)(message.data + inner);
    assert_int_equal(outer + whole->rta_len, message.header.nlmsg_len);
    assert_int_equal(inner + part->rta_len, message.header.nlmsg_len);
    assert_int_equal(part->rta_len, RTA_LENGTH(RTA_LENGTH(4)));
}

static void overflow_is_recorded(void **state)
{
    struct netlink_message message;
    struct ifinfomsg info = {0};
    char large[400] = {0};
    netlink_begin(&message, RTM_NEWLINK, 0, &info, sizeof(info));
    netlink_attr(&message, 1, large, sizeof(large));
    assert_false(message.overflowed);
    uint32_t size = message.header.nlmsg_len;
    netlink_attr(&message, 1, large, 100);
    assert_true(message.overflowed);
    assert_int_equal(message.header.nlmsg_len, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_padded),
        cmocka_unit_test(nested_attributes_have_their_full_length),
        cmocka_unit_test(overflow_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
