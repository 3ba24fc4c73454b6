/* Creates sockets in another network namespace; see network/namespace_socket.h. */
#include "node/network/namespace_socket.h"

#include "base/cleanup.h"
#include "node/network/pod_network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

enum { BACKLOG = 1024 };

struct socket_request {
    int network_fd;
    int domain, type, protocol;
    int fd;    /* the result, or -1 */
    int error; /* errno if `fd` is -1 */
};

/* Runs in its own thread. */
static void *namespace_socket_make_socket(void *context)
{
    struct socket_request *request = context;
    if (setns(request->network_fd, CLONE_NEWNET) == 0)
        request->fd = socket(request->domain, request->type | SOCK_CLOEXEC | SOCK_NONBLOCK,
                             request->protocol);
    request->error = errno;
    return NULL;
}

/* Each thread has its own network namespace, but all threads share descriptors. So a new thread
 * enters the namespace and creates the socket. The thread ends at once, because a permanent thread
 * would have to be shut down. */
int namespace_socket(int network_fd, int domain, int type, int protocol, int *ret_fd,
                     struct err *err)
{
    struct socket_request request = {network_fd, domain, type, protocol, -1, 0};
    pthread_t thread;
    int result = pthread_create(&thread, NULL, namespace_socket_make_socket, &request);
    if (result != 0)
        return err_set_errno(err, result, "cannot start a thread");
    pthread_join(thread, NULL);
    if (request.fd < 0)
        return err_set_errno(err, request.error, "cannot make a socket in the pod network");
    *ret_fd = request.fd;
    return 0;
}

int namespace_socket_gateway(int network_fd, int type, int port, int *ret_fd, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    int result = namespace_socket(network_fd, AF_INET, type, 0, &fd, err);
    if (result < 0)
        return result;
    const int on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &address.sin_addr);
    if (type == SOCK_STREAM)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
        return err_set_errno(
            err, errno,
            "cannot listen on " POD_NETWORK_GATEWAY
            ":%d of the pod network (is another trainyard using this state directory?)",
            port);
    *ret_fd = TAKE_FD(fd);
    return 0;
}
