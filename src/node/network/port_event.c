/* Reports ports that cannot be bound; see network/port_event.h. */
#include "node/network/port_event.h"

#include "node/network/port_holder.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The maximum of events per container. It is low, because node_port_holder() reads all of /proc for
 * each event. */
enum { EVENTS_MAX = 10 };

#define COMPONENT "trainyard-node"

void port_event_refused(struct kube_client *client, const struct json *about,
                        const struct port_wanted *wanted, int why, const char *then)
{
    const unsigned port = wanted->port;
    char address[INET_ADDRSTRLEN], holder[128];
    inet_ntop(AF_INET, &wanted->address, address, sizeof(address));
    if (why == EADDRINUSE)
        kube_event(
            client, about, COMPONENT, "Warning", "PortTaken", "port %u of %s is taken by %s: %s",
            port, address,
            node_port_holder(wanted->type, wanted->address, wanted->port, holder, sizeof(holder))
                ? holder
                : "a program of another user",
            then);
    else if (why == EACCES)
        kube_event(client, about, COMPONENT, "Warning", "PortRefused",
                   "an ordinary user cannot listen on port %u of %s: choose a port from 1024 on, "
                   "or allow it with 'sysctl net.ipv4.ip_unprivileged_port_start=%u'",
                   port, address, port);
    else
        kube_event(client, about, COMPONENT, "Warning", "PortRefused",
                   "port %u of %s cannot be bound (%s): %s", port, address, strerror(why), then);
}

/* Binds the port as a server would. Returns the errno if that fails. Returns 0 if it works, or if
 * no socket can be created. */
static int try_port(const struct port_wanted *wanted)
{
    const int one = 1;
    const struct sockaddr_in where = {
        .sin_family = AF_INET, .sin_port = htons(wanted->port), .sin_addr = wanted->address};
    _cleanup_fd_ int fd = socket(AF_INET, wanted->type | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    /* Most TCP servers set this option, so that connections in TIME_WAIT do not count. For UDP it
     * would allow two sockets to share the port. */
    if (wanted->type == SOCK_STREAM)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    return bind(fd, (const struct sockaddr *)&where, sizeof(where)) < 0 ? errno : 0;
}

static void check_container(struct kube_client *client, const struct json *pod,
                            const struct json *container, struct in_addr address)
{
    int refused = 0;
    JSON_EACH (row, json_get(container, "ports")) {
        if (refused == EVENTS_MAX)
            break;
        const char *protocol = json_get_string(row, "protocol", "TCP");
        int64_t port = json_get_int(row, "containerPort", 0);
        const struct port_wanted wanted = {str_eq(protocol, "UDP") ? SOCK_DGRAM : SOCK_STREAM,
                                           address, (uint16_t)port};
        int why = str_eq(protocol, "SCTP") || port < 1 || port > UINT16_MAX ? 0 : try_port(&wanted);
        if (why) {
            port_event_refused(client, pod, &wanted, why, "its container cannot listen there");
            refused++;
        }
    }
}

void port_event_check_pod(struct kube_client *client, const struct json *pod, const char *address)
{
    static const char *const LISTS[] = {"initContainers", "containers"};
    struct in_addr here;
    if (inet_pton(AF_INET, address, &here) != 1)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
            check_container(client, pod, container, here);
        }
    }
}
