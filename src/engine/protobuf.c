/* The reader of the wire format; see protobuf.h. */
#include "engine/protobuf.h"

#include "base/base64.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct span {
    const uint8_t *data;
    size_t size;
};

struct reader {
    struct arena *arena;
    size_t fields_left; /* over all messages of a body */
    int depth;
    struct err *err;
};

static int bad(struct reader *reader, const char *what)
{
    return err_set(reader->err, ERR_BAD_REQUEST, "the protobuf body cannot be read: %s", what);
}

/* ---- Wire ------------------------------------------------------------------------------------ */

static int read_varint(struct reader *reader, struct span *span, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (span->size == 0)
            return bad(reader, "a number is cut off");
        uint8_t byte = *span->data;
        span->data++;
        span->size--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return 0;
        }
    }
    return bad(reader, "a number is longer than 64 bits");
}

static int take(struct reader *reader, struct span *span, uint64_t size, struct span *ret)
{
    if (size > span->size)
        return bad(reader, "a field is cut off");
    *ret = (struct span){span->data, (size_t)size};
    span->data += size;
    span->size -= size;
    return 0;
}

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t varint;
    struct span bytes;
};

static int read_field(struct reader *reader, struct span *span, struct wire_field *ret)
{
    uint64_t tag, size;
    if (reader->fields_left-- == 0)
        return bad(reader, "it has too many fields");
    int r = read_varint(reader, span, &tag);
    if (r < 0)
        return r;
    *ret = (struct wire_field){.number = (uint32_t)(tag >> 3), .type = (enum wire_type)(tag & 7)};
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return bad(reader, "a field has no valid number");
    switch (ret->type) {
    case WIRE_VARINT:
        return read_varint(reader, span, &ret->varint);
    case WIRE_FIXED64:
        return take(reader, span, 8, &ret->bytes);
    case WIRE_FIXED32:
        return take(reader, span, 4, &ret->bytes);
    case WIRE_BYTES:
        r = read_varint(reader, span, &size);
        return r < 0 ? r : take(reader, span, size, &ret->bytes);
    }
    return bad(reader, "a field has an unknown wire type");
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int make_string(struct reader *reader, struct span bytes, struct json **ret)
{
    /* As in JSON: a string is text, and every string of a tree is a C string. */
    if (!utf8_is_valid((const char *)bytes.data, bytes.size) ||
        memchr(bytes.data, '\0', bytes.size))
        return bad(reader, "a string is not UTF-8, or holds the NUL character");
    *ret = json_string_n(reader->arena, (const char *)bytes.data, bytes.size);
    return 0;
}

static int make_text(struct reader *reader, bool base64, struct span bytes, struct json **ret)
{
    if (!base64)
        return make_string(reader, bytes, ret);
    *ret = json_string(reader->arena, base64_encode(reader->arena, bytes.data, bytes.size));
    return 0;
}

/* One entry of a map: a message with the key as 1 and the value as 2. */
static int add_entry(struct reader *reader, struct json *map, bool base64, struct span span)
{
    struct json *key = NULL, *value = json_string(reader->arena, "");
    while (span.size > 0) {
        struct wire_field field = {0};
        int r = read_field(reader, &span, &field);
        if (r == 0 && field.type == WIRE_BYTES && field.number == 1)
            r = make_string(reader, field.bytes, &key);
        else if (r == 0 && field.type == WIRE_BYTES && field.number == 2)
            r = make_text(reader, base64, field.bytes, &value);
        if (r < 0)
            return r;
    }
    if (!key)
        return bad(reader, "a map has an entry without a key");
    json_set(reader->arena, map, key->text, value);
    return 0;
}

/* type 0: intVal (2), type 1: strVal (3). */
static int make_int_or_string(struct reader *reader, struct span span, struct json **ret)
{
    uint64_t type = 0, number = 0;
    struct span text = {(const uint8_t *)"", 0};
    while (span.size > 0) {
        struct wire_field field = {0};
        int r = read_field(reader, &span, &field);
        if (r < 0)
            return r;
        if (field.number == 1 && field.type == WIRE_VARINT)
            type = field.varint;
        else if (field.number == 2 && field.type == WIRE_VARINT)
            number = field.varint;
        else if (field.number == 3 && field.type == WIRE_BYTES)
            text = field.bytes;
    }
    if (type != 0)
        return make_string(reader, text, ret);
    *ret = json_int(reader->arena, (int64_t)number);
    return 0;
}

/* Seconds (1) and nanoseconds (2) since 1970, from the year 1 to 9999 as JSON can say it. An empty
 * message is Go's time that was never set. */
static int make_time(struct reader *reader, bool micro, struct span span, struct json **ret)
{
    static const int64_t first = -62135596800, last = 253402300799;
    int64_t seconds = 0, nanos = 0;
    char text[MOMENT_TEXT_MAX];
    if (span.size == 0)
        return 0;
    while (span.size > 0) {
        struct wire_field field = {0};
        int r = read_field(reader, &span, &field);
        if (r < 0)
            return r;
        if (field.number == 1 && field.type == WIRE_VARINT)
            seconds = (int64_t)field.varint;
        else if (field.number == 2 && field.type == WIRE_VARINT)
            nanos = (int64_t)field.varint;
    }
    if (seconds < first || seconds > last || nanos < 0 || nanos > 999999999)
        return bad(reader, "a time is out of range");
    if (micro)
        moment_format_micro(seconds * 1000000 + nanos / 1000, text);
    else
        moment_format(seconds * 1000, text);
    *ret = json_string(reader->arena, text);
    return 0;
}

static int read_message(struct reader *reader, const struct protobuf_field *fields,
                        struct span span, struct json **ret);

/* The value of one field; NULL where it says nothing. */
static int make_value(struct reader *reader, const struct protobuf_field *known,
                      const struct wire_field *field, struct json **ret)
{
    *ret = NULL;
    bool scalar = known->type == PROTOBUF_INT || known->type == PROTOBUF_BOOL;
    if (field->type != (scalar ? WIRE_VARINT : WIRE_BYTES))
        return bad(reader, arena_printf(reader->arena, "'%s' has the wrong type", known->name));
    bool empty = scalar ? field->varint == 0 : field->bytes.size == 0;
    switch (known->type) {
    case PROTOBUF_STRING:
    case PROTOBUF_BYTES:
        if (empty && !known->repeated && !known->keep_zero)
            return 0;
        return make_text(reader, known->type == PROTOBUF_BYTES, field->bytes, ret);
    case PROTOBUF_INT:
        if (!empty || known->keep_zero)
            *ret = json_int(reader->arena, (int64_t)field->varint);
        return 0;
    case PROTOBUF_BOOL:
        if (!empty || known->keep_zero)
            *ret = json_bool(reader->arena, field->varint != 0);
        return 0;
    case PROTOBUF_INT_OR_STRING:
        return make_int_or_string(reader, field->bytes, ret);
    case PROTOBUF_TIME:
    case PROTOBUF_MICRO_TIME:
        return make_time(reader, known->type == PROTOBUF_MICRO_TIME, field->bytes, ret);
    case PROTOBUF_MESSAGE:
        return read_message(reader, known->message, field->bytes, ret);
    case PROTOBUF_STRING_MAP:
    case PROTOBUF_BYTES_MAP:
        break; /* added entry by entry */
    }
    return 0;
}

static int add_field(struct reader *reader, const struct protobuf_field *known,
                     const struct wire_field *field, struct json *object)
{
    bool is_map = known->type == PROTOBUF_STRING_MAP || known->type == PROTOBUF_BYTES_MAP;
    if (is_map) {
        if (field->type != WIRE_BYTES)
            return bad(reader, "a map is none");
        return add_entry(reader, json_ensure_object(reader->arena, object, known->name),
                         known->type == PROTOBUF_BYTES_MAP, field->bytes);
    }
    struct json *value;
    int r = make_value(reader, known, field, &value);
    if (r < 0 || !value)
        return r;
    if (known->repeated)
        json_append(json_ensure_array(reader->arena, object, known->name), value);
    else
        json_set(reader->arena, object, known->name, value);
    return 0;
}

static int read_message(struct reader *reader, const struct protobuf_field *fields,
                        struct span span, struct json **ret)
{
    struct json *object = json_object(reader->arena);
    if (++reader->depth > PROTOBUF_DEPTH_MAX)
        return bad(reader, "it is nested too deeply");
    while (span.size > 0) {
        struct wire_field field = {0};
        int r = read_field(reader, &span, &field);
        const struct protobuf_field *known = fields;
        while (r == 0 && known->number != 0 && known->number != field.number)
            known++;
        if (r == 0 && known->number != 0)
            r = add_field(reader, known, &field, object);
        if (r < 0)
            return r;
    }
    reader->depth--;
    *ret = object;
    return 0;
}

/* ---- Entry ----------------------------------------------------------------------------------- */

int protobuf_parse(struct arena *arena, const struct protobuf_field *fields, const void *data,
                   size_t size, struct json **ret, struct err *err)
{
    struct reader reader = {.arena = arena, .fields_left = PROTOBUF_FIELDS_MAX, .err = err};
    return read_message(&reader, fields, (struct span){data, size}, ret);
}

static const struct protobuf_field TYPE_META[] = {
    {1, "apiVersion", PROTOBUF_STRING},
    {2, "kind", PROTOBUF_STRING},
    {0},
};

int protobuf_parse_body(struct arena *arena, const void *data, size_t size, struct json **ret,
                        struct err *err)
{
    static const char magic[] = {'k', '8', 's', '\0'};
    struct reader reader = {.arena = arena, .fields_left = PROTOBUF_FIELDS_MAX, .err = err};
    struct span span = {data, size}, raw = {(const uint8_t *)"", 0};
    struct json *meta = NULL, *object;
    if (size < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0)
        return bad(&reader, "it does not begin as Kubernetes' do");
    span.data += sizeof(magic);
    span.size -= sizeof(magic);
    while (span.size > 0) {
        struct wire_field field = {0};
        int r = read_field(&reader, &span, &field);
        if (r == 0 && field.number == 1 && field.type == WIRE_BYTES)
            r = read_message(&reader, TYPE_META, field.bytes, &meta);
        else if (r == 0 && field.number == 2 && field.type == WIRE_BYTES)
            raw = field.bytes;
        if (r < 0)
            return r;
    }
    const char *version = json_get_string(meta, "apiVersion", "");
    const char *kind = json_get_string(meta, "kind", "");
    const struct protobuf_field *fields = protobuf_fields_of(version, kind);
    if (!fields)
        return err_set(err, ERR_MEDIA_TYPE,
                       "%.100s of version \"%.100s\" is not read from protobuf; send it as "
                       "application/json",
                       kind, version);
    int r = read_message(&reader, fields, raw, &object);
    if (r < 0)
        return r;
    json_set_string(arena, object, "apiVersion", version);
    json_set_string(arena, object, "kind", kind);
    *ret = object;
    return 0;
}
