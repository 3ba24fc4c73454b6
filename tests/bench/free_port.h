/* Draws a port at which the processes of one bench meet. Another process could take the port before
 * the bench listens on it, which is unlikely on a machine that measures. Included by the benches
 * whose processes form a group. */
#ifndef TRAINYARD_TESTS_BENCH_FREE_PORT_H
#define TRAINYARD_TESTS_BENCH_FREE_PORT_H

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns a free port. If there is none, prints the name of the bench and exits. */
static inline int free_port(const char *bench)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t size = sizeof(any);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0 ||
        getsockname(fd, (struct sockaddr *)&any, &size) < 0) {
        perror(bench);
        exit(1);
    }
    close(fd);
    return ntohs(any.sin_port);
}

#endif
