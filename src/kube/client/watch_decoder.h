/* Decodes the stream of a watch: one JSON object per line, {type, object}. Takes pieces as they
 * arrive and gives out whole events. Does no I/O; client_watch.c feeds it. */
#ifndef TRAINYARD_KUBE_CLIENT_WATCH_DECODER_H
#define TRAINYARD_KUBE_CLIENT_WATCH_DECODER_H

#include "base/json/json.h"

/* Most bytes of one event: the largest object that a server stores, as JSON. */
enum { WATCH_LINE_MAX = 16 << 20 };

struct watch_decoder {
    struct buf line;     /* the beginning of an incomplete line */
    struct arena *arena; /* holds the event that is being given out */
};

void watch_decoder_init(struct watch_decoder *decoder);
void watch_decoder_release(struct watch_decoder *decoder);

/* Gets one event. The object is valid until the function returns. Returns false to get no further
 * events, because the receiver is gone. */
typedef bool watch_decoder_event(void *context, const char *type, struct json *object);

/* Returns 0, the error of the server's ERROR event (-ERR_EXPIRED for 410), or -ERR_INTERNAL for a
 * line that is no event. After a failure the decoder must not be used again. */
int watch_decoder_feed(struct watch_decoder *decoder, const void *data, size_t size,
                       watch_decoder_event *event, void *context, struct err *err);

/* Decodes one line into the arena. Needs no decoder, so any thread may call it. `ret->type` is NULL
 * for a blank line. Fails like watch_decoder_feed(). */
struct watch_event {
    const char *type; /* static */
    struct json *object;
};
int watch_decoder_read(struct arena *arena, const char *line, size_t size, struct watch_event *ret,
                       struct err *err);

/* The stream has ended. Returns -ERR_UNAVAILABLE if it ended within a line. */
int watch_decoder_end(const struct watch_decoder *decoder, struct err *err);

#endif
