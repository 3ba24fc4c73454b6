/* trainyard probe-tls HOST: an internal command that runs the TLS exchange of an HTTPS probe. The
 * supervisor of a pod is a static program without TLS. For a probe with scheme HTTPS, the
 * supervisor starts this program with pipes as descriptors 0 and 1 and the connection as descriptor
 * 3. This costs one process per probe (12 ms in a measurement), but keeps OpenSSL out of the
 * supervisor, which runs once per pod. */
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
    /* The supervisor reports this message as the probe's failure. It has the wording of Go's HTTP
     * client. No HTTP response begins like this. */
    printf("%s", err.message);
    return 1;
}
