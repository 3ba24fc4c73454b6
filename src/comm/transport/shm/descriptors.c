/* Implements the passing of file descriptors; see descriptors.h. */
#include "comm/transport/shm/descriptors.h"

#include "base/moment.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int descriptors_send(int link, const int *fds, int count, struct err *err)
{
    char byte = 0, space[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))] = {0};
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = space,
                             .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    memcpy(CMSG_DATA(head), fds, (size_t)count * sizeof(int));
    if (sendmsg(link, &message, MSG_NOSIGNAL) < 0)
        return err_set_errno(err, errno, "cannot send a file descriptor");
    return 0;
}

static int descriptors_wait(int link, int64_t deadline, struct err *err)
{
    struct pollfd ready = {.fd = link, .events = POLLIN};
    for (;;) {
        int64_t left = deadline - moment_monotonic_ms();
        /* poll() also runs after the deadline, because the message may have arrived. */
        int result = poll(&ready, 1, left > 0 ? (int)left : 0);
        if (result > 0)
            return 0;
        if (result == 0)
            return err_set(err, ERR_TIMEOUT, "no file descriptor arrived in time");
        if (errno != EINTR)
            return err_set_errno(err, errno, "cannot wait for a file descriptor");
    }
}

int descriptors_receive(int link, int64_t deadline, int *ret_fds, int count, struct err *err)
{
    int result = link >= 0 ? descriptors_wait(link, deadline, err)
                           : err_set(err, ERR_UNAVAILABLE, "a member is not connected");
    if (result < 0)
        return result;
    char byte, space[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    ssize_t got = recvmsg(link, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0)
        return err_set(err, ERR_UNAVAILABLE, "the connection for file descriptors is closed");
    int fds[DESCRIPTORS_MAX], have = 0;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        have = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fds, CMSG_DATA(head), (size_t)have * sizeof(int));
    }
    if (have == count) {
        memcpy(ret_fds, fds, (size_t)count * sizeof(int));
        return 0;
    }
    for (int i = 0; i < have; i++)
        close(fds[i]);
    return err_set(err, ERR_INTERNAL, "received %d file descriptors instead of %d", have, count);
}
