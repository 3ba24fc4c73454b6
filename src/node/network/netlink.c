/* Sends rtnetlink requests for the pod network; see network/netlink.h. */
#include "node/network/netlink.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void netlink_append_bytes(struct netlink_message *message, const void *data, size_t size)
{
    size_t used = message->header.nlmsg_len, padded = NLMSG_ALIGN(size);
    if (message->overflowed || padded > NETLINK_MESSAGE_MAX - used) {
        message->overflowed = true;
        return;
    }
    if (size)
        memcpy(message->data + used, data, size);
    memset(message->data + used + size, 0, padded - size);
    message->header.nlmsg_len = (uint32_t)(used + padded);
}

void netlink_begin(struct netlink_message *message, uint16_t type, uint16_t flags,
                   const void *fixed, size_t size)
{
    message->overflowed = false;
    message->header = (struct nlmsghdr){
        .nlmsg_len = NLMSG_HDRLEN,
        .nlmsg_type = type,
        .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
        .nlmsg_seq = 1, /* one request at a time per socket */
    };
    netlink_append_bytes(message, fixed, size);
}

void netlink_attr(struct netlink_message *message, uint16_t type, const void *data, size_t size)
{
    /* The length excludes the padding. An attribute that does not fit is not added. */
    struct rtattr head = {.rta_type = type, .rta_len = (unsigned short)RTA_LENGTH(size)};
    if (RTA_SPACE(size) > NETLINK_MESSAGE_MAX - message->header.nlmsg_len) {
        message->overflowed = true;
        return;
    }
    netlink_append_bytes(message, &head, sizeof(head));
    netlink_append_bytes(message, data, size);
}

void netlink_attr_str(struct netlink_message *message, uint16_t type, const char *text)
{
    netlink_attr(message, type, text, strlen(text) + 1);
}

void netlink_attr_u32(struct netlink_message *message, uint16_t type, uint32_t value)
{
    netlink_attr(message, type, &value, sizeof(value));
}

size_t netlink_nest(struct netlink_message *message, uint16_t type)
{
    size_t nest = message->header.nlmsg_len;
    netlink_attr(message, type, NULL, 0);
    return nest;
}

void netlink_nest_end(struct netlink_message *message, size_t nest)
{
    if (message->overflowed)
        return;
    struct rtattr *head = (struct rtattr *)(void *)(message->data + nest);
    head->rta_len = (unsigned short)(message->header.nlmsg_len - nest);
}

int netlink_open(int *ret_fd, struct err *err)
{
    _cleanup_fd_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct sockaddr_nl self = {.nl_family = AF_NETLINK};
    if (fd < 0 || bind(fd, (struct sockaddr *)&self, sizeof(self)) < 0)
        return err_set_errno(err, errno, "cannot open an rtnetlink socket");
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* Sends a message and waits for the kernel's answer. Returns 0 or a negative errno. */
static int netlink_exchange(int fd, const struct netlink_message *message)
{
    if (message->overflowed)
        return -EMSGSIZE;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (sendto(fd, message->data, message->header.nlmsg_len, 0, (struct sockaddr *)&kernel,
               sizeof(kernel)) < 0)
        return -errno;
    union {
        struct nlmsghdr header;
        unsigned char data[4096];
    } answer;
    ssize_t got;
    do {
        got = recv(fd, &answer, sizeof(answer), 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if (!NLMSG_OK(&answer.header, (size_t)got) || answer.header.nlmsg_type != NLMSG_ERROR ||
        answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr)))
        return -EPROTO;
    const struct nlmsgerr *verdict = NLMSG_DATA(&answer.header);
    return verdict->error;
}

/* Sends the message. The errno `success_errno` counts as success, because it means that the wanted
 * state exists already; 0 means that no errno does. An error message has the form "cannot WHAT
 * 'NAME'". */
static int netlink_finish_message(int fd, const struct netlink_message *message, int success_errno,
                                  struct err *err, const char *what, const char *name)
{
    int result = netlink_exchange(fd, message);
    if (result >= 0 || -result == success_errno)
        return 0;
    return err_set_errno(err, -result, "cannot %s '%s'", what, name);
}

struct answer {
    union {
        struct nlmsghdr header;
        unsigned char data[16384];
    };
};

/* Sends a request and receives the first message of the answer. Returns false and sets errno on
 * failure. */
static bool ask_kernel(int fd, struct netlink_message *request, struct answer *ret)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    request->header.nlmsg_flags = NLM_F_REQUEST;
    ssize_t got = sendto(fd, request->data, request->header.nlmsg_len, 0,
                         (struct sockaddr *)&kernel, sizeof(kernel));
    if (got >= 0)
        got = recv(fd, ret, sizeof(*ret), 0);
    if (got >= 0 && !NLMSG_OK(&ret->header, (size_t)got)) {
        errno = EPROTO;
        return false;
    }
    return got >= 0;
}

/* Returns the index of a link in the socket's namespace. That namespace may differ from the
 * caller's, so if_nametoindex() cannot be used. */
static int link_index(int fd, const char *name, int *ret, struct err *err)
{
    struct netlink_message message;
    struct ifinfomsg info = {.ifi_family = AF_UNSPEC};
    struct answer answer;
    netlink_begin(&message, RTM_GETLINK, 0, &info, sizeof(info));
    netlink_attr_str(&message, IFLA_IFNAME, name);
    if (!ask_kernel(fd, &message, &answer))
        return err_set_errno(err, errno, "cannot find link '%s'", name);
    if (answer.header.nlmsg_type != RTM_NEWLINK)
        return err_set(err, ERR_NOT_FOUND, "there is no link '%s'", name);
    const struct ifinfomsg *found = NLMSG_DATA(&answer.header);
    *ret = found->ifi_index;
    return 0;
}

int netlink_link_up(int fd, const char *name, struct err *err)
{
    struct netlink_message message;
    struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    netlink_begin(&message, RTM_NEWLINK, 0, &info, sizeof(info));
    netlink_attr_str(&message, IFLA_IFNAME, name);
    return netlink_finish_message(fd, &message, 0, err, "bring up link", name);
}

int netlink_link_delete(int fd, const char *name, struct err *err)
{
    struct netlink_message message;
    struct ifinfomsg info = {.ifi_family = AF_UNSPEC};
    netlink_begin(&message, RTM_DELLINK, 0, &info, sizeof(info));
    netlink_attr_str(&message, IFLA_IFNAME, name);
    return netlink_finish_message(fd, &message, ENODEV, err, "delete link", name);
}

int netlink_bridge_add(int fd, const char *name, const unsigned char mac[6], struct err *err)
{
    struct netlink_message message;
    struct ifinfomsg info = {.ifi_family = AF_UNSPEC};
    netlink_begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
    netlink_attr_str(&message, IFLA_IFNAME, name);
    netlink_attr(&message, IFLA_ADDRESS, mac, 6);
    size_t link = netlink_nest(&message, IFLA_LINKINFO);
    netlink_attr_str(&message, IFLA_INFO_KIND, "bridge");
    netlink_nest_end(&message, link);
    return netlink_finish_message(fd, &message, 0, err, "make bridge", name);
}

int netlink_veth_add(int fd, const char *name, const char *bridge, const char *peer, int peer_netns,
                     const unsigned char peer_mac[6], struct err *err)
{
    int master = 0;
    int result = bridge ? link_index(fd, bridge, &master, err) : 0;
    if (result < 0)
        return result;
    struct netlink_message message;
    struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct ifinfomsg peer_info = {.ifi_family = AF_UNSPEC};
    netlink_begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
    netlink_attr_str(&message, IFLA_IFNAME, name);
    if (bridge)
        netlink_attr_u32(&message, IFLA_MASTER, (uint32_t)master);
    size_t link = netlink_nest(&message, IFLA_LINKINFO);
    netlink_attr_str(&message, IFLA_INFO_KIND, "veth");
    size_t data = netlink_nest(&message, IFLA_INFO_DATA);
    size_t end = netlink_nest(&message, VETH_INFO_PEER);
    netlink_append_bytes(&message, &peer_info, sizeof(peer_info));
    netlink_attr_str(&message, IFLA_IFNAME, peer);
    if (peer_mac)
        netlink_attr(&message, IFLA_ADDRESS, peer_mac, 6);
    netlink_attr_u32(&message, IFLA_NET_NS_FD, (uint32_t)peer_netns);
    netlink_nest_end(&message, end);
    netlink_nest_end(&message, data);
    netlink_nest_end(&message, link);
    return netlink_finish_message(fd, &message, 0, err, "make link", name);
}

int netlink_address_add(int fd, const char *name, struct in_addr address, int prefix,
                        struct err *err)
{
    int index;
    int result = link_index(fd, name, &index, err);
    if (result < 0)
        return result;
    struct netlink_message message;
    struct ifaddrmsg info = {.ifa_family = AF_INET,
                             .ifa_prefixlen = (unsigned char)prefix,
                             .ifa_index = (unsigned)index};
    netlink_begin(&message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
    netlink_attr(&message, IFA_LOCAL, &address, sizeof(address));
    netlink_attr(&message, IFA_ADDRESS, &address, sizeof(address));
    return netlink_finish_message(fd, &message, 0, err, "give an address to link", name);
}

int netlink_local_route_add(int fd, const char *name, struct in_addr range, int prefix, int table,
                            struct err *err)
{
    int index;
    int result = link_index(fd, name, &index, err);
    if (result < 0)
        return result;
    struct netlink_message message;
    struct rtmsg info = {.rtm_family = AF_INET,
                         .rtm_dst_len = (unsigned char)prefix,
                         .rtm_table = (unsigned char)table,
                         .rtm_protocol = RTPROT_STATIC,
                         .rtm_scope = RT_SCOPE_HOST,
                         .rtm_type = RTN_LOCAL};
    netlink_begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
    netlink_attr(&message, RTA_DST, &range, sizeof(range));
    netlink_attr_u32(&message, RTA_OIF, (uint32_t)index);
    return netlink_finish_message(fd, &message, EEXIST, err, "make addresses local on link", name);
}

int netlink_default_route_add(int fd, const char *name, struct in_addr gateway, struct err *err)
{
    int index;
    int result = link_index(fd, name, &index, err);
    if (result < 0)
        return result;
    struct netlink_message message;
    struct rtmsg info = {.rtm_family = AF_INET,
                         .rtm_table = RT_TABLE_MAIN,
                         .rtm_protocol = RTPROT_STATIC,
                         .rtm_scope = RT_SCOPE_UNIVERSE,
                         .rtm_type = RTN_UNICAST,
                         .rtm_flags = RTNH_F_ONLINK};
    netlink_begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
    netlink_attr(&message, RTA_GATEWAY, &gateway, sizeof(gateway));
    netlink_attr_u32(&message, RTA_OIF, (uint32_t)index);
    return netlink_finish_message(fd, &message, 0, err, "add a default route to link", name);
}

int netlink_mark_rule_add(int fd, uint32_t mark, int table, struct err *err)
{
    struct netlink_message message;
    struct fib_rule_hdr info = {
        .family = AF_INET, .table = (unsigned char)table, .action = FR_ACT_TO_TBL};
    netlink_begin(&message, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
    netlink_attr_u32(&message, FRA_FWMARK, mark);
    char text[16];
    snprintf(text, sizeof(text), "%d", table);
    return netlink_finish_message(fd, &message, 0, err, "add a rule for routing table", text);
}

int netlink_mark_is_local(int fd, uint32_t mark, struct in_addr address, bool *ret, struct err *err)
{
    struct netlink_message message;
    struct rtmsg info = {.rtm_family = AF_INET, .rtm_dst_len = 32};
    struct answer answer;
    netlink_begin(&message, RTM_GETROUTE, 0, &info, sizeof(info));
    netlink_attr(&message, RTA_DST, &address, sizeof(address));
    netlink_attr_u32(&message, RTA_MARK, mark);
    if (!ask_kernel(fd, &message, &answer))
        return err_set_errno(err, errno, "cannot look up a route");
    /* If the kernel answers with an error, there is no route to the address. */
    const struct rtmsg *found = NLMSG_DATA(&answer.header);
    *ret = answer.header.nlmsg_type == RTM_NEWROUTE && found->rtm_type == RTN_LOCAL;
    return 0;
}

int netlink_prohibit_add(int fd, struct in_addr address, struct err *err)
{
    struct netlink_message message;
    struct rtmsg info = {.rtm_family = AF_INET,
                         .rtm_dst_len = 32,
                         .rtm_table = RT_TABLE_MAIN,
                         .rtm_protocol = RTPROT_STATIC,
                         .rtm_scope = RT_SCOPE_UNIVERSE,
                         .rtm_type = RTN_PROHIBIT};
    netlink_begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
    netlink_attr(&message, RTA_DST, &address, sizeof(address));
    char text[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &address, text, sizeof(text));
    return netlink_finish_message(fd, &message, EEXIST, err, "keep pods from the machine's address",
                                  text);
}

bool netlink_link_exists(int fd, const char *name)
{
    int index;
    return link_index(fd, name, &index, NULL) == 0;
}
