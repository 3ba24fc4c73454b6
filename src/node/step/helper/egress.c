/* Implements the mode way-out: provides egress for an ordinary user by running pasta or slirp4netns
 * ("the program") for the pod network. This process lives as long as the program and holds the lock
 * by which a later control process finds it. The program runs in a PID namespace whose first
 * process belongs to trainyard-step. So the kernel kills the program with this process, even if the
 * program has become a daemon. */
#include "node/step/step.h"

#include "node/network/egress.h"
#include "node/network/namespace_socket.h"
#include "node/network/netlink.h"
#include "node/process/lock.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 20, READY_MS = 10 * 1000, LOG_MAX = 64 * 1024 };

static const char CIDR[] = "--cidr=" EGRESS_RANGE "/24";

/* The machine and the pods have separate port spaces: no port is forwarded in either direction,
 * and no address maps to the machine's loopback. */
static const char *const PASTA[] = {
    "--foreground", "--quiet",      "--config-net", "--no-map-gw", "--ipv4-only",  "--no-dhcp",
    "--no-dhcpv6",  "--no-ndp",     "--no-ra",      "--tcp-ports", "none",         "--udp-ports",
    "none",         "--tcp-ns",     "none",         "--udp-ns",    "none",         "--address",
    EGRESS_ADDRESS, "--netmask",    "30",           "--gateway",   EGRESS_GATEWAY, "--ns-ifname",
    EGRESS_LINK,    "--netns-only", "--netns",      NULL,
};
static const char *const SLIRP[] = {
    "--configure",       "--mtu=65520", "--disable-host-loopback", "--disable-dns", CIDR,
    "--netns-type=path", NULL,
};

/* Bind-mounts the network namespace on a file, in a mount namespace of this process. The program
 * cannot open the namespace at /proc/PID/ns of the holder, because it first drops the right to
 * inspect the holder. */
static int egress_helper_mount_network(const char *holder, const char *mount_point,
                                       int *ret_netlink_fd, struct err *err)
{
    _cleanup_fd_ int pidfd = -1;
    char path[64];
    pid_t pid;
    int result = process_lock_holder(holder, &pidfd, &pid, err);
    if (result < 0)
        return err_wrap(err, STEP_NETWORK_GONE);
    result = namespace_socket(pidfd, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, ret_netlink_fd, err);
    if (result < 0)
        return result;
    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    _cleanup_fd_ int file = open(mount_point, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return err_set_errno(err, errno, "cannot make '%s'", mount_point);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
        mount(path, mount_point, NULL, MS_BIND, NULL) < 0)
        return err_set_errno(err, errno, "cannot mount the pod network for the egress program");
    return 0;
}

/* Redirects stdout and stderr to a log file, because neither the program nor its parent may keep
 * the pipe to the starting process open. */
static void egress_helper_redirect_output(const char *mount_point)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s.log", mount_point) >= sizeof(path))
        return;
    int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (log < 0)
        log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
}

static void run_program(const char *program, const char *mount_point)
{
    signal(SIGPIPE, SIG_DFL); /* the default, which pasta requires */
    const char *arguments[64] = {program};
    const char *name = strrchr(program, '/');
    bool is_pasta = str_eq(name ? name + 1 : program, "pasta");
    size_t count = 1;
    for (const char *const *each = is_pasta ? PASTA : SLIRP; *each; each++)
        arguments[count++] = *each;
    arguments[count++] = mount_point;
    if (!is_pasta)
        arguments[count++] = EGRESS_LINK;
    execv(program, (char *const *)arguments);
    fprintf(stderr, "cannot run '%s': %s\n", program, strerror(errno));
    _exit(127);
}

/* Runs as the first process of the PID namespace. When it ends, the kernel kills all processes of
 * the namespace. */
static void run_first(const char *program, const char *mount_point)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    egress_helper_redirect_output(mount_point);
    pid_t child = fork();
    if (child == 0)
        run_program(program, mount_point);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    _exit(1);
}

/* Waits until the program has created its link in the pod network. Returns false if the program
 * ends first, or if READY_MS have passed. */
static bool wait_for_link(int netlink_fd, pid_t first)
{
    for (int waited = 0; waited < READY_MS; waited += POLL_MS) {
        if (netlink_link_exists(netlink_fd, EGRESS_LINK))
            return true;
        if (waitpid(first, NULL, WNOHANG) != 0)
            return false;
        (void)poll(NULL, 0, POLL_MS);
    }
    return false;
}

/* Prints the last line of the program's output, which usually says why it failed. */
static void egress_helper_complain(const char *program, const char *mount_point)
{
    char path[PATH_MAX];
    _cleanup_buf_ struct buf text;
    buf_init(&text, LOG_MAX);
    if ((size_t)snprintf(path, sizeof(path), "%s.log", mount_point) < sizeof(path))
        (void)file_read(path, &text, NULL);
    while (text.size > 0 && text.data[text.size - 1] == '\n')
        text.data[--text.size] = '\0';
    const char *line = strrchr(text.data, '\n');
    fprintf(stderr, "'%s' did not set up egress: %s\n", program, line ? line + 1 : text.data);
}

int step_egress(int argc, char **argv)
{
    struct err err;
    int lock, inside = -1;
    if (argc != 4) {
        fputs("usage: trainyard-step way-out HOLDER LOCK MOUNT-POINT PROGRAM\n", stderr);
        return 2;
    }
    if (step_detach(&err) < 0 || process_lock_take(argv[1], &lock, &err) < 0 ||
        egress_helper_mount_network(argv[0], argv[2], &inside, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    prctl(PR_SET_NAME, "trainyard-out");
    pid_t first = unshare(CLONE_NEWPID) < 0 ? -1 : fork();
    if (first == 0)
        run_first(argv[3], argv[2]);
    if (first < 0 || !wait_for_link(inside, first)) {
        egress_helper_complain(argv[3], argv[2]);
        return 1;
    }
    step_report_ready();
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR)
        ;
    return 1;
}
