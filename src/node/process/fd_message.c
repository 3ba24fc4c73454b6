/* Sends and receives messages with descriptors; see process/fd_message.h. */
#include "node/process/fd_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union fd_control {
    char room[CMSG_SPACE(FD_MESSAGE_FDS_MAX * sizeof(int))];
    struct cmsghdr align;
};

int fd_message_send(int socket_fd, const void *data, size_t size, const int *fds, size_t fd_count,
                    struct err *err)
{
    struct iovec part = {.iov_base = (void *)data, .iov_len = size};
    union fd_control control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd_count > FD_MESSAGE_FDS_MAX)
        return err_set(err, ERR_TOO_MANY, "too many descriptors for one message");
    if (fd_count) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, fd_count * sizeof(int));
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? err_set_errno(err, errno, "cannot send a message") : 0;
}

static void take_descriptors(struct msghdr *message, int ret_fds[FD_MESSAGE_FDS_MAX])
{
    for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++)
        ret_fds[i] = -1;
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(ret_fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
}

ssize_t fd_message_receive(int socket_fd, void *data, size_t size, int ret_fds[FD_MESSAGE_FDS_MAX])
{
    struct iovec part = {.iov_base = data, .iov_len = size};
    union fd_control control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof(control.room)};
    ssize_t got;
    do {
        got = recvmsg(socket_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++)
            ret_fds[i] = -1;
        return errno == EAGAIN ? FD_MESSAGE_NONE : FD_MESSAGE_ENDED;
    }
    take_descriptors(&message, ret_fds);
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return got;
    for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++) {
        if (ret_fds[i] >= 0)
            close(ret_fds[i]);
        ret_fds[i] = -1;
    }
    return FD_MESSAGE_TOO_LARGE;
}
