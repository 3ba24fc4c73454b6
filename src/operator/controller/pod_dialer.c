/* Implements the dialer that connects to pods by their address; see dialer.h. */
#include "operator/controller/dialer.h"

#include "net/stream/socket_dial.h"

enum { TIMEOUT_MS = 3 * 1000 };

static void *open_port(void *context, const struct json *pod, int port, training_dial_done *done,
                       void *done_context)
{
    const char *address = json_get_string(json_get(pod, "status"), "podIP", "");

    return socket_dial_start(context, address, port, TIMEOUT_MS, done, done_context);
}

static void pod_dialer_cancel(void *dialing)
{
    socket_dial_cancel(dialing);
}

struct training_dialer training_pod_dialer(struct loop *loop)
{
    return (struct training_dialer){
        .open = open_port, .cancel = pod_dialer_cancel, .context = loop};
}
