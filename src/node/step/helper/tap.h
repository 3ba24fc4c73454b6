/* A client that receives a copy of a container's output while it is written to the log: the write
 * end of the client's pipe. Bytes that the pipe does not take at once are kept. While any are
 * kept, no more of the container's output is read: a slow client slows the program down, as a slow
 * terminal does. */
#ifndef TRAINYARD_NODE_STEP_HELPER_TAP_H
#define TRAINYARD_NODE_STEP_HELPER_TAP_H

#include "base/buf.h"

struct step_tap {
    struct step_tap *next; /* the next client of the same output */
    int fd;                /* -1 if no client is attached */
    struct buf kept;
};

/* Takes the descriptor and makes it non-blocking. */
void step_tap_init(struct step_tap *tap, int fd);
/* Safe on zeroed memory with fd -1, and twice. */
void step_tap_release(struct step_tap *tap);

/* Writes the bytes to all clients. */
void step_taps_write(struct step_tap *taps, const char *data, size_t size);
/* Whether bytes are kept for any client. */
bool step_taps_are_full(const struct step_tap *taps);

/* Writes as much of the kept bytes as the pipe takes. */
void step_tap_flush(struct step_tap *tap);

void step_tap_add(struct step_tap **taps, struct step_tap *tap);
void step_tap_remove(struct step_tap **taps, struct step_tap *tap);

#endif
