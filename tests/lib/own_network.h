/* For tests that need a closed port to stay closed: own_network_enter() moves the test into its own
 * network namespace with only a loopback interface, where no other program takes a port. If the
 * machine forbids that, the test goes on in the machine's network. Must be called before any
 * descriptor is opened and any thread is started. */
#ifndef TRAINYARD_TESTS_LIB_OWN_NETWORK_H
#define TRAINYARD_TESTS_LIB_OWN_NETWORK_H

#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool own_network_try(void)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWNET | (geteuid() ? CLONE_NEWUSER : 0)) < 0)
        return false;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_up = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;
    if (fd >= 0)
        close(fd);
    return is_up;
}

/* A child process tries it first, because a namespace whose loopback cannot be brought up is
 * useless. */
static bool own_network_enter(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(own_network_try() ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 && own_network_try();
}

#endif
