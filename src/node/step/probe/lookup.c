/* Looks up host names for probes and hooks; see step/probe/lookup.h. */
#include "node/step/probe/lookup.h"

#include "node/names/resolvers.h"
#include "node/step/probe/check.h"

#include "base/cleanup.h"
#include "base/moment.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/system/file.h"
#include "net/dns/message.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    NDOTS = 5,         /* as in the resolv.conf of pods */
    SERVER_S = 2,      /* time before the next server is asked; "options timeout:N" changes it */
    SERVER_MAX_S = 30, /* the C library's maximum for that option */
};

/* Sends one question to one server and waits for the answer. */
static bool lookup_ask_server(const struct resolver *server, const uint8_t *question, size_t size,
                              int64_t server_ms, int64_t deadline_ms, struct in_addr *ret)
{
    _cleanup_fd_ int fd =
        socket(server->any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, &server->any, server->size) < 0 ||
        send(fd, question, size, 0) != (ssize_t)size)
        return false;
    int64_t server_deadline_ms = moment_monotonic_ms() + server_ms;
    while (step_wait(fd, POLLIN,
                     deadline_ms < server_deadline_ms ? deadline_ms : server_deadline_ms)) {
        uint8_t data[DNS_UDP_MAX];
        struct dns_reply reply;
        ssize_t got = recv(fd, data, sizeof(data), 0);
        if (got < 0)
            return false; /* no server listens there */
        if (dns_reply_read(data, (size_t)got, question, size, &reply))
            return dns_reply_address(&reply, ret);
    }
    return false;
}

static bool ask_all(const char *resolv_conf, const char *name, int64_t deadline_ms,
                    struct in_addr *ret)
{
    struct resolver servers[RESOLVERS_MAX];
    uint8_t question[DNS_QUERY_MAX];
    uint16_t id;
    const struct dns_query query = {.type = DNS_A, .class = 1};
    size_t count = resolvers_parse(resolv_conf, servers);
    int seconds = resolvers_option(resolv_conf, "timeout", SERVER_S, SERVER_MAX_S);
    int64_t server_ms = 1000L * (seconds > 0 ? seconds : 1);
    if (!dns_is_name(name))
        return false;
    rand_secure(&id, sizeof(id));
    size_t size = dns_query_pass_on(&query, name, id, question);
    for (size_t i = 0; i < count; i++)
        if (lookup_ask_server(&servers[i], question, size, server_ms, deadline_ms, ret))
            return true;
    return false;
}

static size_t count_dots(const char *name)
{
    size_t dots = 0;
    for (const char *at = name; (at = strchr(at, '.')); at++)
        dots++;
    return dots;
}

bool step_lookup(const char *resolv_conf, const char *name, int64_t deadline_ms,
                 struct in_addr *ret)
{
    _cleanup_buf_ struct buf machine;
    buf_init(&machine, RESOLVERS_FILE_MAX);
    if (!resolv_conf && file_read("/etc/resolv.conf", &machine, NULL) < 0)
        return false;
    resolv_conf = resolv_conf ? resolv_conf : machine.data ? machine.data : "";
    size_t size, length = strlen(name);
    bool is_absolute = length && name[length - 1] == '.';
    char plain[DNS_NAME_MAX + 1];
    if (!length || length > DNS_NAME_MAX)
        return false;
    str_copy(plain, sizeof(plain), name);
    if (is_absolute)
        plain[length - 1] = '\0';
    bool first = is_absolute || count_dots(plain) >= NDOTS;
    if (first && ask_all(resolv_conf, plain, deadline_ms, ret))
        return true;
    const char *search = resolvers_search(resolv_conf, &size), *end = search + size;
    while (!is_absolute && search < end) {
        size_t word = strcspn(search, " \t\n");
        word = word < (size_t)(end - search) ? word : (size_t)(end - search);
        char full[2 * DNS_NAME_MAX];
        snprintf(full, sizeof(full), "%s.%.*s", plain, (int)word, search);
        if (word && strlen(full) <= DNS_NAME_MAX && ask_all(resolv_conf, full, deadline_ms, ret))
            return true;
        search += word + 1;
    }
    return !first && ask_all(resolv_conf, plain, deadline_ms, ret);
}
