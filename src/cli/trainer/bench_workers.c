/* Implements the workers of a benchmark; see bench_workers.h. */
#include "cli/trainer/bench_workers.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "comm/cluster/tf_config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Finds `count` different free ports: keeps all sockets open until all ports are found, so that no
 * port is found twice. */
static int find_ports(int *ports, int count, struct err *err)
{
    int fds[BENCH_WORKERS_MAX], found = 0, result = 0;
    for (; found < count && result == 0; found++) {
        struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof(any);
        fds[found] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fds[found] < 0 || bind(fds[found], (struct sockaddr *)&any, sizeof(any)) < 0 ||
            getsockname(fds[found], (struct sockaddr *)&any, &size) < 0)
            result = err_set_errno(err, errno, "cannot find a free port");
        ports[found] = ntohs(any.sin_port);
    }
    for (int i = 0; i < found; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return result;
}

/* Sets *ret to the description of the cluster for process `index`. */
static int describe_cluster(const int *ports, int count, int index, struct ty_tf_config **ret,
                            struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    buf_append_str(&text, "{\"cluster\":{\"worker\":[");
    for (int i = 0; i < count; i++)
        buf_printf(&text, "%s\"127.0.0.1:%d\"", i ? "," : "", ports[i]);
    buf_printf(&text, "]},\"task\":{\"type\":\"worker\",\"index\":%d}}", index);
    return tf_config_parse(text.data, text.size, ret, err);
}

int bench_workers_start(struct bench_workers *workers, int count, struct ty_tf_config **ret,
                        struct err *err)
{
    int ports[BENCH_WORKERS_MAX];
    *workers = (struct bench_workers){.count = count};
    int result = find_ports(ports, count, err);
    if (result < 0)
        return result;
    void *failures = mmap(NULL, sizeof(struct err) * BENCH_WORKERS_MAX, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (failures == MAP_FAILED)
        return err_set_errno(err, errno, "cannot get memory that the workers share");
    workers->failures = failures;
    fflush(NULL);
    for (int i = 1; i < count && workers->index == 0; i++) {
        workers->children[i] = fork();
        if (workers->children[i] < 0)
            return err_set_errno(err, errno, "cannot start worker %d", i);
        if (workers->children[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            workers->index = i;
        }
    }
    return describe_cluster(ports, count, workers->index, ret, err);
}

void bench_workers_fail(struct bench_workers *workers, const struct err *err)
{
    if (workers->failures)
        workers->failures[workers->index] = *err;
}

/* Returns whether the error is only the loss of a peer, which usually follows from the failure of
 * another process. */
static bool is_loss(int code)
{
    return code == ERR_UNAVAILABLE || code == ERR_TIMEOUT;
}

/* Returns the index of the first forked process that failed for another reason than the loss of a
 * peer, or 0 if there is none. */
static int find_cause(const struct bench_workers *workers)
{
    for (int i = 1; workers->failures && i < workers->count; i++)
        if (workers->failures[i].code != ERR_NONE && !is_loss((int)workers->failures[i].code))
            return i;
    return 0;
}

int bench_workers_end(struct bench_workers *workers, int result, struct err *err)
{
    if (workers->index > 0) {
        if (result < 0)
            bench_workers_fail(workers, err);
        _exit(result < 0);
    }
    int bad = 0;
    for (int i = 1; i < workers->count; i++) {
        int status = 0;
        if (workers->children[i] <= 0)
            continue;
        if (result < 0)
            kill(workers->children[i], SIGKILL);
        if (waitpid(workers->children[i], &status, 0) < 0 || status != 0)
            bad = bad ? bad : i;
    }
    int cause = find_cause(workers);
    const struct err none = ERR_INIT;
    const struct err *failure = workers->failures ? &workers->failures[cause ? cause : bad] : &none;
    if (cause && (result == 0 || is_loss(-result)))
        result = err_set(err, failure->code, "worker %d: %s", cause, failure->message);
    else if (bad && result == 0)
        result = err_set(err, ERR_INTERNAL, "worker %d failed%s%s", bad,
                         failure->message[0] ? ": " : "", failure->message);
    if (workers->failures)
        munmap(TAKE(workers->failures), sizeof(struct err) * BENCH_WORKERS_MAX);
    return result;
}
