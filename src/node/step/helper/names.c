/* Implements the mode names. The process, called the responder, answers DNS queries in the pod
 * network, over a UDP and a TCP socket there. The process itself stays in the machine's network,
 * because it asks the machine's name servers for names outside of the cluster. The control process
 * starts it and sends SIGHUP after a change of the table. It keeps running without the control
 * process. */
#include "node/step/step.h"

#include "node/names/responder.h"
#include "node/network/namespace_socket.h"
#include "node/process/lock.h"

#include "base/cleanup.h"
#include "base/system/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DNS_PORT = 53 };

static int make_sockets(const char *holder, struct responder_options *ret, struct err *err)
{
    _cleanup_fd_ int pidfd = -1, udp = -1, tcp = -1;
    pid_t pid;
    int result = process_lock_holder(holder, &pidfd, &pid, err);
    if (result < 0)
        return err_wrap(err, STEP_NETWORK_GONE);
    if ((result = namespace_socket_gateway(pidfd, SOCK_DGRAM, DNS_PORT, &udp, err)) < 0 ||
        (result = namespace_socket_gateway(pidfd, SOCK_STREAM, DNS_PORT, &tcp, err)) < 0)
        return result;
    ret->udp_fd = TAKE_FD(udp);
    ret->tcp_fd = TAKE_FD(tcp);
    return 0;
}

/* If the table is missing or cannot be read, the responder keeps its current table. At the start
 * that is an empty table. */
static void read_table(struct responder *responder, const char *path)
{
    _cleanup_buf_ struct buf text;
    struct names_table table;
    buf_init(&text, NAMES_TABLE_MAX);
    names_table_init(&table);
    if (file_read(path, &text, NULL) == 0 &&
        names_table_parse(&table, text.data, text.size, NULL) == 0)
        responder_set(responder, &table);
    else
        names_table_release(&table);
}

int step_names(int argc, char **argv)
{
    struct err err;
    struct responder *responder;
    struct responder_options options = {0};
    sigset_t mask;
    int lock;
    if (argc != 4) {
        fputs("usage: trainyard-step names HOLDER LOCK TABLE RESOLV.CONF\n", stderr);
        return 2;
    }
    options.resolv_conf = argv[3];
    step_sighup_block(&mask);
    if (step_detach(&err) < 0 || make_sockets(argv[0], &options, &err) < 0 ||
        responder_new(&options, &responder, &err) < 0 ||
        process_lock_take(argv[1], &lock, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    prctl(PR_SET_NAME, "trainyard-names");
    read_table(responder, argv[2]);
    step_report_ready();
    for (;;) {
        responder_run(responder, -1, &mask);
        if (step_sighup_take())
            read_table(responder, argv[2]);
    }
}
