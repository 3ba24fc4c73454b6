/* The stream of a watch: one JSON object a line, {type, object}. Pieces come in as they arrive,
 * whole events go out. Knows nothing of connections; the client feeds it. */
#ifndef TRAINYARD_KUBE_WATCH_DECODER_H
#define TRAINYARD_KUBE_WATCH_DECODER_H

#include "base/json/json.h"

/* Bytes of one event: an object of the largest size a server stores, written out. */
enum { WATCH_LINE_MAX = 16 << 20 };

struct watch_decoder {
    struct buf line;     /* what has come of a line not yet whole */
    struct arena *arena; /* of the event being given out */
};

void watch_decoder_init(struct watch_decoder *decoder);
void watch_decoder_release(struct watch_decoder *decoder);

/* False: give no more, the receiver is gone. The object lives until the function returns. */
typedef bool watch_decoder_event(void *context, const char *type, struct json *object);

/* Fails with what the server's ERROR event stands for (ERR_EXPIRED for one of 410), and with
 * ERR_INTERNAL for a line that is no event. After a failure the stream is of no more use. */
int watch_decoder_feed(struct watch_decoder *decoder, const void *data, size_t size,
                       watch_decoder_event *event, void *context, struct err *err);

/* The event of one line, in the arena. Needs no decoder, so another thread may do it. NULL in `ret`
 * for a blank line. Fails as watch_decoder_feed(). */
struct watch_event {
    const char *type; /* static */
    struct json *object;
};
int watch_decoder_read(struct arena *arena, const char *line, size_t size, struct watch_event *ret,
                       struct err *err);

/* The stream ended: ERR_UNAVAILABLE if it did so within a line. */
int watch_decoder_end(const struct watch_decoder *decoder, struct err *err);

#endif
