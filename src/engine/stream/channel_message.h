/* The WebSocket messages of Kubernetes' channel protocols ("v4.channel.k8s.io"): the number of a
 * channel in the first byte, then the bytes of that channel. */
#ifndef TRAINYARD_ENGINE_STREAM_CHANNEL_MESSAGE_H
#define TRAINYARD_ENGINE_STREAM_CHANNEL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CHANNEL_MESSAGE_UNKNOWN = -1, /* the first byte has not arrived yet */
    /* v5: the channel whose number follows is closed. */
    CHANNEL_MESSAGE_CLOSE = 0xFF,
};

/* Takes the number of the channel off a piece of a message. `*channel` is kept between the pieces
 * of one message. */
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
