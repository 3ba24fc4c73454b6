/* Tests resolving hosts: a numeric address is resolved at once, a name later, and a caller may free
 * the lookup before its end. */
#include "comm/transport/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool readable(const struct resolve *resolve, int timeout_ms)
{
    struct pollfd wait = {.fd = resolve_fd(resolve), .events = POLLIN};
    return poll(&wait, 1, timeout_ms) == 1;
}

static void an_address_resolves_at_once(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "::1"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct resolve *resolve = resolve_new(hosts[i], 2222);
        const char *reason = NULL;
        assert_true(resolve_done(resolve));
        assert_true(readable(resolve, 0));
        const struct addrinfo *found = resolve_addresses(resolve, &reason);
        assert_non_null(found);
        in_port_t port =
            found->ai_family == AF_INET6
                ? ((const struct sockaddr_in6 *)(const void *)found->ai_addr)->sin6_port
                : ((const struct sockaddr_in *)(const void *)found->ai_addr)->sin_port;
        assert_int_equal(ntohs(port), 2222);
        assert_null(found->ai_next);
        resolve_free(resolve);
    }
}

static void a_name_resolves_later(void **state)
{
    struct addrinfo *known = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &known) != 0) {
        print_message(
            "skipped: this machine does not resolve 'localhost' (/etc/hosts is missing)\n");
        skip();
    }
    freeaddrinfo(known);
    struct resolve *resolve = resolve_new("localhost", 2222), *left = resolve_new("localhost", 1);
    const char *reason = NULL;
    resolve_free(left);
    assert_true(readable(resolve, -1));
    assert_true(resolve_done(resolve));
    assert_non_null(resolve_addresses(resolve, &reason));
    assert_false(resolve_is_unknown(resolve));
    resolve_free(resolve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_resolves_at_once),
        cmocka_unit_test(a_name_resolves_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
