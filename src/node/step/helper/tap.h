/* Somebody who listens to a container's output while it goes into its log: the write end of a pipe
 * that is his. What the pipe does not take at once is kept, and while anything is kept no more of
 * the container's output is read: a slow listener slows the program, as the terminal of one that is
 * run by hand does. */
#ifndef TRAINYARD_NODE_STEP_TAP_H
#define TRAINYARD_NODE_STEP_TAP_H

#include "base/buf.h"

struct step_tap {
    struct step_tap *next; /* of the same output */
    int fd;                /* -1: nobody listens (any more) */
    struct buf kept;
};

/* Takes the descriptor; from now on it does not block. */
void step_tap_init(struct step_tap *tap, int fd);
/* Also on zeroed memory with fd -1, and twice. */
void step_tap_release(struct step_tap *tap);

/* All of them hear it. */
void step_taps_write(struct step_tap *taps, const char *data, size_t size);
/* Whether one of them has not heard all yet. */
bool step_taps_are_full(const struct step_tap *taps);

/* Give what is kept, as far as it is taken. */
void step_tap_flush(struct step_tap *tap);

void step_tap_add(struct step_tap **taps, struct step_tap *tap);
void step_tap_remove(struct step_tap **taps, struct step_tap *tap);

#endif
