/* Decodes the stream of a watch; see watch_decoder.h. */
#include "kube/client/watch_decoder.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/status.h"

#include <string.h>

void watch_decoder_init(struct watch_decoder *decoder)
{
    buf_init(&decoder->line, WATCH_LINE_MAX);
    decoder->arena = arena_new();
}

void watch_decoder_release(struct watch_decoder *decoder)
{
    buf_release(&decoder->line);
    decoder->arena = arena_free(decoder->arena);
}

static bool line_is_blank(const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r", line[i]))
            return false;
    return true;
}

int watch_decoder_read(struct arena *arena, const char *line, size_t size, struct watch_change *ret,
                       struct err *err)
{
    static const char *const TYPES[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
    *ret = (struct watch_change){0};
    if (line_is_blank(line, size))
        return 0;
    struct json *json = NULL;
    if (json_parse(arena, line, size, NULL, &json, err) < 0) {
        if (err)
            err->code = ERR_INTERNAL;
        err_wrap(err, "watch: a line is not JSON");
        return -(int)ERR_INTERNAL;
    }
    const char *type = json_get_string(json, "type", "");
    struct json *object = json_get(json, "object");
    if (!object || object->type != JSON_OBJECT)
        return err_set(err, ERR_INTERNAL, "watch: the event '%.32s' has no object", type);
    if (str_eq(type, "ERROR")) {
        int result = kube_status_to_err(object, err);
        return result < 0
                   ? result
                   : err_set(err, ERR_INTERNAL, "watch: an ERROR event has the status Success");
    }
    for (size_t i = 0; i < ARRAY_SIZE(TYPES); i++) {
        if (str_eq(type, TYPES[i])) {
            *ret = (struct watch_change){TYPES[i], object};
            return 0;
        }
    }
    return err_set(err, ERR_INTERNAL, "watch: unknown event type '%.32s'", type);
}

/* Decodes one line and calls `event`. Sets *ret_stop if the callback returned false. */
static int decode_line(struct watch_decoder *decoder, const char *line, size_t size,
                       watch_decoder_event *event, void *context, bool *ret_stop, struct err *err)
{
    struct watch_change read;
    arena_reset(decoder->arena);
    int result = watch_decoder_read(decoder->arena, line, size, &read, err);
    if (result == 0 && read.object)
        *ret_stop = !event(context, read.type, read.object);
    return result;
}

static int too_long(struct err *err)
{
    return err_set(err, ERR_TOO_LARGE, "watch: an event is longer than %d bytes",
                   (int)WATCH_LINE_MAX);
}

int watch_decoder_feed(struct watch_decoder *decoder, const void *data, size_t size,
                       watch_decoder_event *event, void *context, struct err *err)
{
    const char *at = data, *end = at + size;
    for (const char *newline; at < end && (newline = memchr(at, '\n', (size_t)(end - at)));
         at = newline + 1) {
        /* A line that arrived in one piece is decoded without a copy. */
        const char *line = at;
        size_t length = (size_t)(newline - at);
        bool stop = false;
        if (decoder->line.size) {
            buf_append(&decoder->line, at, length);
            line = decoder->line.data;
            length = decoder->line.size;
        }
        if (decoder->line.overflowed || length > WATCH_LINE_MAX)
            return too_long(err);
        int result = decode_line(decoder, line, length, event, context, &stop, err);
        if (stop || result < 0)
            return result;
        buf_clear(&decoder->line);
    }
    buf_append(&decoder->line, at, (size_t)(end - at));
    return decoder->line.overflowed ? too_long(err) : 0;
}

int watch_decoder_end(const struct watch_decoder *decoder, struct err *err)
{
    if (line_is_blank(decoder->line.data, decoder->line.size))
        return 0;
    return err_set(err, ERR_UNAVAILABLE, "watch: the stream ended in the middle of an event");
}
