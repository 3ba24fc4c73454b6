/* trainyard probe-tls HOST: not for people. The supervisor of a pod is a static program that speaks
 * no TLS; for a probe with scheme HTTPS it starts this one between its pipes, 0 and 1, and the
 * connection, 3. That costs a process a try (measured: 12 ms), and keeps OpenSSL out of a program
 * of which every pod has one. */
#include "cli/trainyard/commands.h"

#include "tls/tls.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { CONNECTION_FD = 3 };

int probe_tls(const char *host)
{
    struct err err = ERR_INIT;
    signal(SIGPIPE, SIG_IGN);
    if (tls_client_exchange(CONNECTION_FD, host, STDIN_FILENO, STDOUT_FILENO, &err) == 0)
        return 0;
    /* As Go's client has it, whose words probes repeat; no answer begins so. */
    printf("%s", err.message);
    return 1;
}
