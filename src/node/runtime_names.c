/* The names of the cluster, answered at the gateway of the pod network. */
#include "node/runtime_internal.h"

#include "node/names.h"
#include "node/pod_network.h"
#include "node/space.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>

enum { DNS_PORT = 53 };

static const struct json *get_service(void *context, const char *namespace_, const char *name)
{
    struct node_runtime *runtime = context;
    struct kube_object *service = kube_informer_get(runtime->services, namespace_, name);
    return service ? service->json : NULL;
}

static const struct json *next_pod(void *context, const char *namespace_, size_t *position)
{
    struct node_runtime *runtime = context;
    struct kube_object *pod = kube_informer_next(runtime->pods, namespace_, position);
    return pod ? pod->json : NULL;
}

static int lookup_name(void *context, const char *name, struct dns_found *ret)
{
    const struct names_source source = {get_service, next_pod, context};
    return names_lookup(&source, name, ret);
}

static int bind_dns(struct node_space *space, int *ret_fd, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    int result = node_space_socket(space, AF_INET, SOCK_DGRAM, 0, &fd, err);
    if (result < 0)
        return result;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(DNS_PORT)};
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &address.sin_addr);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return err_set_errno(err, errno,
                             "cannot serve names on " POD_NETWORK_GATEWAY
                             ": is another trainyard using this state");
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int runtime_serve_names(struct node_runtime *runtime, struct node_space *space, struct err *err)
{
    _cleanup_fd_ int udp = -1, tcp = -1;
    int result;
    if ((result = bind_dns(space, &udp, err)) < 0 ||
        (result = node_space_listen(space, DNS_PORT, &tcp, err)) < 0 ||
        (result =
             dns_server_new(runtime->loop, udp, tcp, lookup_name, runtime, &runtime->dns, err)) < 0)
        return result;
    udp = tcp = -1; /* the server's now */
    return 0;
}
