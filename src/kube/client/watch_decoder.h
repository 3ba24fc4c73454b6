/* Decodes the stream of a watch: one JSON object per line, {type, object}. Accepts the data in
 * pieces of any size and calls back with complete events. Does no I/O; client_watch.c passes the
 * data to it. */
#ifndef TRAINYARD_KUBE_CLIENT_WATCH_DECODER_H
#define TRAINYARD_KUBE_CLIENT_WATCH_DECODER_H

#include "base/json/json.h"

/* Limit for one event, in bytes. It is larger than the JSON of any object that a server stores. */
enum { WATCH_LINE_MAX = 16 << 20 };

struct watch_decoder {
    struct buf line;     /* the beginning of an incomplete line */
    struct arena *arena; /* contains the event that the callback gets */
};

void watch_decoder_init(struct watch_decoder *decoder);
void watch_decoder_release(struct watch_decoder *decoder);

/* Called for each event. The object is valid until the callback returns. The callback returns false
 * to stop decoding, for example because the watch was stopped. */
typedef bool watch_decoder_event(void *context, const char *type, struct json *object);

/* Decodes the data and calls `event` for each complete line that is not blank. Returns 0, the error
 * of the server's ERROR event (-ERR_EXPIRED for 410), -ERR_TOO_LARGE, or -ERR_INTERNAL for a line
 * that is no event. After a failure, and after the callback returned false, the decoder must not be
 * used again. */
int watch_decoder_feed(struct watch_decoder *decoder, const void *data, size_t size,
                       watch_decoder_event *event, void *context, struct err *err);

struct watch_change {
    const char *type;    /* "ADDED", "MODIFIED", "DELETED" or "BOOKMARK"; NULL for a blank line */
    struct json *object; /* NULL for a blank line */
};
/* Decodes one line. The object of *ret is in the arena. Needs no decoder, so any thread may call
 * it. Returns the codes of watch_decoder_feed(), except -ERR_TOO_LARGE. */
int watch_decoder_read(struct arena *arena, const char *line, size_t size, struct watch_change *ret,
                       struct err *err);

/* Must be called at the end of the stream. Returns 0, or -ERR_UNAVAILABLE if the last line is
 * incomplete. */
int watch_decoder_end(const struct watch_decoder *decoder, struct err *err);

#endif
