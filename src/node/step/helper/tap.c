/* Copies a container's output to clients; see step/helper/tap.h. */
#include "node/step/helper/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The most bytes that are kept per client. This is enough for one read of the supervisor and, at
 * the end of the container, for the rest of its pipe. */
enum { KEPT_MAX = 1024 * 1024 };

void step_tap_init(struct step_tap *tap, int fd)
{
    *tap = (struct step_tap){.fd = fd};
    buf_init(&tap->kept, KEPT_MAX);
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_NONBLOCK);
}

void step_tap_release(struct step_tap *tap)
{
    if (tap->fd >= 0)
        close(TAKE_FD(tap->fd));
    buf_release(&tap->kept);
}

void step_tap_flush(struct step_tap *tap)
{
    while (tap->fd >= 0 && tap->kept.size) {
        ssize_t written = write(tap->fd, tap->kept.data, tap->kept.size);
        if (written > 0)
            buf_consume(&tap->kept, (size_t)written);
        else if (written < 0 && errno == EAGAIN)
            return;
        else if (written == 0 || errno != EINTR)
            step_tap_release(tap); /* the client has closed its end */
    }
}

void step_taps_write(struct step_tap *taps, const char *data, size_t size)
{
    for (struct step_tap *tap = taps; tap; tap = tap->next) {
        if (tap->fd < 0)
            continue;
        buf_append(&tap->kept, data, size);
        if (tap->kept.overflowed)
            step_tap_release(tap); /* disconnects a client that would miss output */
        step_tap_flush(tap);
    }
}

bool step_taps_are_full(const struct step_tap *taps)
{
    for (const struct step_tap *tap = taps; tap; tap = tap->next)
        if (tap->fd >= 0 && tap->kept.size)
            return true;
    return false;
}

void step_tap_add(struct step_tap **taps, struct step_tap *tap)
{
    tap->next = *taps;
    *taps = tap;
}

void step_tap_remove(struct step_tap **taps, struct step_tap *tap)
{
    while (*taps && *taps != tap)
        taps = &(*taps)->next;
    if (*taps)
        *taps = tap->next;
    tap->next = NULL;
}
