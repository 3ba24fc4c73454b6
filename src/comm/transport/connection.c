/* Implements connections between two tasks; see connection.h. */
#include "comm/transport/connection.h"

#include <stdlib.h>
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

void connection_set_release(struct connection_set *set)
{
    for (int i = 0; set->control && i < set->size; i++)
        connection_close(&set->control[i]);
    for (int i = 0; set->pairs && i < set->size; i++)
        connection_close(&set->pairs[i]);
    for (int i = 0; set->left && i < set->channels; i++) {
        connection_close(&set->left[i]);
        connection_close(&set->right[i]);
    }
    free(set->control);
    free(set->pairs);
    free(set->left);
    free(set->right);
    *set = (struct connection_set){0};
}

int connection_encryption_new(struct tls_stream_context **ret, struct err *err)
{
    static const struct tls_stream_io SOCKETS = {.recv = socket_recv, .send = socket_send};
    return tls_stream_context_new(&SOCKETS, ret, err);
}
