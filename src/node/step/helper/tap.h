/* Copies a container's output to the pipe of an attached client, besides the log. Only the pod's
 * supervisor uses it, and no function blocks. Bytes that do not fit into the pipe are kept. While
 * bytes are kept, no more of the container's output is read. So a slow client slows the program
 * down, as a slow terminal does. */
#ifndef TRAINYARD_NODE_STEP_HELPER_TAP_H
#define TRAINYARD_NODE_STEP_HELPER_TAP_H

#include "base/buf.h"

struct step_tap {
    struct step_tap *next; /* the next client of the same output */
    int fd;                /* the write end of the client's pipe; -1 if no client is attached */
    struct buf kept;       /* bytes that did not fit into the pipe yet */
};

/* Takes over the descriptor and makes it non-blocking. -1 means no client. */
void step_tap_init(struct step_tap *tap, int fd);
/* Closes the descriptor and frees the kept bytes. Safe to call twice. */
void step_tap_release(struct step_tap *tap);

/* Writes the bytes to all clients of the list. Disconnects a client that has too many bytes to
 * keep. */
void step_taps_write(struct step_tap *taps, const char *data, size_t size);
/* Returns true if bytes are kept for any client of the list, because its pipe is full. */
bool step_taps_are_full(const struct step_tap *taps);

/* Writes the kept bytes until the pipe is full. Releases the tap if the client has closed its end.
 */
void step_tap_flush(struct step_tap *tap);

void step_tap_add(struct step_tap **taps, struct step_tap *tap);
void step_tap_remove(struct step_tap **taps, struct step_tap *tap);

#endif
