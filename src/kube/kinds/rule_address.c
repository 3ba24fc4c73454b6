/* Validates IP addresses and address ranges; see rule.h. */
#include "kube/kinds/rule.h"

#include "base/mem.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

bool rule_address(struct field_errors *errors, const struct json *address, const char *field)
{
    const char *text = json_text(address) ? json_text(address) : "";
    if (is_address(text))
        return true;
    field_invalid(errors, field, json_string(errors->arena, text),
                  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    return false;
}

/* Returns true if the text is an IPv4 address or an IPv4-mapped IPv6 address, which sets *ret4.
 * Otherwise sets *ret6 if the text is an IPv6 address. */
static bool read_address(const char *text, struct in6_addr *ret6, uint32_t *ret4)
{
    struct in_addr four;
    *ret4 = 0;
    if (inet_pton(AF_INET, text, &four) == 1) {
        *ret4 = ntohl(four.s_addr);
        return true;
    }
    if (inet_pton(AF_INET6, text, ret6) != 1 || !IN6_IS_ADDR_V4MAPPED(ret6))
        return false;
    for (int i = 12; i < 16; i++)
        *ret4 = *ret4 << 8 | ret6->s6_addr[i];
    return true;
}

void rule_address_outside(struct field_errors *errors, const struct json *address,
                          const char *field)
{
    const char *text = json_text(address) ? json_text(address) : "", *complaint = NULL;
    struct in6_addr six = IN6ADDR_ANY_INIT;
    uint32_t four;
    bool is_four = read_address(text, &six, &four);
    if (is_four ? four == 0 : IN6_IS_ADDR_UNSPECIFIED(&six))
        complaint = arena_printf(errors->arena, "may not be unspecified (%s)", text);
    else if (is_four ? four >> 24 == 127 : IN6_IS_ADDR_LOOPBACK(&six))
        complaint = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
    else if (is_four ? four >> 16 == (169 << 8 | 254) : IN6_IS_ADDR_LINKLOCAL(&six))
        complaint = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
    else if (is_four ? four >> 8 == 224 << 16 : IN6_IS_ADDR_MC_LINKLOCAL(&six))
        complaint = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
    if (complaint)
        field_invalid(errors, field, address, "%s", complaint);
}

void rule_address_range(struct field_errors *errors, const struct json *range, const char *field)
{
    const char *text = json_text(range) ? json_text(range) : "";
    const char *slash = strchr(text, '/');
    const char *address = slash ? arena_strndup(errors->arena, text, (size_t)(slash - text)) : text;
    int64_t bits;
    if (!slash || !is_address(address) ||
        str_to_int64(slash + 1, 0, strchr(address, ':') ? 128 : 32, &bits, NULL) < 0)
        field_invalid(errors, field, json_string(errors->arena, text),
                      "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}
