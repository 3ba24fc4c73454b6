/* Reads the WebSocket messages of Kubernetes' channel protocols ("v4.channel.k8s.io"), which exec,
 * attach and port forwarding use. The first byte of a message is the number of a channel, and the
 * rest is data of that channel. */
#ifndef TRAINYARD_ENGINE_STREAM_CHANNEL_MESSAGE_H
#define TRAINYARD_ENGINE_STREAM_CHANNEL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CHANNEL_MESSAGE_UNKNOWN = -1, /* the first byte has not arrived yet */
    /* In protocol v5: the next byte is the number of the channel that the client closes. */
    CHANNEL_MESSAGE_CLOSE = 0xFF,
};

/* Reads one piece of a message. `first` is set for the first piece. If the piece has the first byte
 * of the message, sets *channel to this byte and removes it from the data. Otherwise *channel must
 * have the value that the previous piece of the message left in it. */
static inline void channel_message_read(int *channel, bool first, const char **data, size_t *size)
{
    if (first)
        *channel = CHANNEL_MESSAGE_UNKNOWN;
    if (*channel == CHANNEL_MESSAGE_UNKNOWN && *size) {
        *channel = (unsigned char)**data;
        ++*data;
        --*size;
    }
}

#endif
