/* One connection between two tasks; see connection.h. */
#include "comm/transport/connection.h"

#include <unistd.h>

struct connection connection_take(struct connection *connection)
{
    struct connection taken = *connection;
    *connection = CONNECTION_NONE;
    return taken;
}

void connection_close(struct connection *connection)
{
    tls_stream_free(connection->tls);
    if (connection->fd >= 0)
        close(connection->fd);
    *connection = CONNECTION_NONE;
}

int connection_encryption_new(struct tls_psk **ret, struct err *err)
{
    static const struct tls_stream_io SOCKETS = {.recv = socket_recv, .send = socket_send};
    return tls_psk_new(&SOCKETS, ret, err);
}
