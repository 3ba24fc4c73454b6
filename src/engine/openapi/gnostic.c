/* Encodes JSON as gnostic's protobuf messages, by the tables of gnostic_message.h; see
 * gnostic.h. */
#include "engine/openapi/gnostic.h"

#include "base/protobuf_write.h"
#include "base/str.h"
#include "engine/openapi/gnostic_message.h"

#include <string.h>

/* The size of a message is a varint of fixed width, which every decoder accepts. It is written when
 * the message ends, so no message is encoded twice. */
enum { LENGTH_WIDTH = 4 };

static size_t begin_message(struct buf *buf, uint32_t number)
{
    static const char width[LENGTH_WIDTH];
    enum { LENGTH_DELIMITED = 2 };
    uint32_t head = number << 3 | LENGTH_DELIMITED;
    if (head >= 0x80)
        buf_append_char(buf, (char)(head | 0x80));
    buf_append_char(buf, (char)(head >= 0x80 ? head >> 7 : head));
    buf_append(buf, width, sizeof(width));
    return buf->size;
}

static void end_message(struct buf *buf, size_t start)
{
    if (buf->overflowed)
        return;
    size_t size = buf->size - start;
    for (size_t i = 0; i < LENGTH_WIDTH; i++, size >>= 7)
        buf->data[start - LENGTH_WIDTH + i] =
            (char)((size & 0x7f) | (i + 1 < LENGTH_WIDTH ? 0x80 : 0));
}

/* Begins the messages that enclose a value. Returns their number. `starts` has GNOSTIC_AROUND_MAX
 * elements. */
static size_t begin_around(struct buf *buf, const uint8_t *around, size_t *starts)
{
    size_t count = 0;
    for (; count < GNOSTIC_AROUND_MAX && around[count]; count++)
        starts[count] = begin_message(buf, around[count]);
    return count;
}

static void end_around(struct buf *buf, const size_t *starts, size_t count)
{
    while (count > 0)
        end_message(buf, starts[--count]);
}

static void put_yaml(struct buf *buf, uint32_t number, const struct json *value)
{
    enum { ANY_YAML = 2 };
    size_t any = begin_message(buf, number), yaml = begin_message(buf, ANY_YAML);
    json_write(value, buf);
    end_message(buf, yaml);
    end_message(buf, any);
}

static void put_message(struct buf *buf, const struct gnostic_message *message,
                        const struct json *object);

/* Writes an object as the message of the field, or a reference ("$ref") to an object. */
static void put_object(struct buf *buf, const struct gnostic_field *field,
                       const struct json *object)
{
    static const struct gnostic_field reference_fields[] = {{"$ref", 1, GNOSTIC_TEXT}, {0}};
    static const struct gnostic_message reference = {reference_fields};
    enum { ITSELF = 1, REFERENCE = 2 };
    if (!field->refers) {
        put_message(buf, field->message, object);
        return;
    }
    bool is_reference = json_get(object, "$ref");
    size_t start = begin_message(buf, is_reference ? REFERENCE : ITSELF);
    put_message(buf, is_reference ? &reference : field->message, object);
    end_message(buf, start);
}

static void put_named(struct buf *buf, const struct gnostic_field *field, const struct json *object)
{
    JSON_EACH (value, object) {
        enum { NAME = 1, VALUE = 2 };
        size_t entry = begin_message(buf, field->entry);
        protobuf_put_string(buf, NAME, value->name);
        size_t starts[GNOSTIC_AROUND_MAX], outer = begin_message(buf, VALUE);
        size_t count = begin_around(buf, field->within, starts);
        put_object(buf, field, value);
        end_around(buf, starts, count);
        end_message(buf, outer);
        end_message(buf, entry);
    }
}

static void put_parameter(struct buf *buf, const struct gnostic_place *place,
                          const struct json *parameter)
{
    const char *in = json_get_string(parameter, "in", "");
    while (place->in && !str_eq(in, place->in))
        place++;
    if (!place->in)
        return;
    size_t starts[GNOSTIC_AROUND_MAX], count = begin_around(buf, place->around, starts);
    put_message(buf, place->message, parameter);
    end_around(buf, starts, count);
}

static void put_scalar(struct buf *buf, const struct json *value)
{
    enum { NUMBER = 1, BOOLEAN = 2, STRING = 3 };
    if (value->type == JSON_INT || value->type == JSON_REAL)
        protobuf_put_double(buf, NUMBER, json_number(value, 0));
    else if (value->type == JSON_BOOL)
        protobuf_put_int(buf, BOOLEAN, value->boolean);
    else if (value->type == JSON_STRING)
        protobuf_put_string(buf, STRING, value->text);
}

/* Writes a length-delimited value and the messages that enclose it. */
static void put_nested(struct buf *buf, const struct gnostic_field *field, const struct json *value)
{
    size_t starts[GNOSTIC_AROUND_MAX], outer = begin_message(buf, field->number);
    size_t count = begin_around(buf, field->around, starts);
    if (field->type == GNOSTIC_TEXT)
        buf_append(buf, value->text, value->size);
    else if (field->type == GNOSTIC_SCALAR)
        put_scalar(buf, value);
    else if (field->type == GNOSTIC_NAMED)
        put_named(buf, field, value);
    else if (field->type == GNOSTIC_PARAMETER)
        put_parameter(buf, field->places, value);
    else
        put_object(buf, field, value);
    end_around(buf, starts, count);
    end_message(buf, outer);
}

static void put_gnostic_value(struct buf *buf, const struct gnostic_field *field,
                              const struct json *value)
{
    /* Each element of a list becomes one occurrence of the field. */
    if (value->type == JSON_ARRAY && field->type != GNOSTIC_SCALAR) {
        JSON_EACH (element, value)
            put_gnostic_value(buf, field, element);
        return;
    }
    switch (field->type) {
    case GNOSTIC_YAML:
        put_yaml(buf, field->number, value);
        return;
    case GNOSTIC_FLAG:
        protobuf_put_int(buf, field->number, value->boolean);
        return;
    case GNOSTIC_COUNT:
        protobuf_put_int(buf, field->number, value->integer);
        return;
    case GNOSTIC_REAL:
        protobuf_put_double(buf, field->number, json_number(value, 0));
        return;
    case GNOSTIC_TEXT:
        if (!field->around[0]) {
            protobuf_put_string(buf, field->number, value->text);
            return;
        }
        break;
    default:
        break;
    }
    put_nested(buf, field, value);
}

static void put_extension(struct buf *buf, uint32_t number, const struct json *value)
{
    enum { NAME = 1, VALUE = 2 };
    size_t start = begin_message(buf, number);
    protobuf_put_string(buf, NAME, value->name);
    put_yaml(buf, VALUE, value);
    end_message(buf, start);
}

static void put_message(struct buf *buf, const struct gnostic_message *message,
                        const struct json *object)
{
    JSON_EACH (member, object) {
        const struct gnostic_field *field = message->fields;
        while (field->name && !str_eq(field->name, member->name))
            field++;
        if (field->name)
            put_gnostic_value(buf, field, member);
        else if (message->extensions && str_has_prefix(member->name, "x-"))
            put_extension(buf, message->extensions, member);
    }
}

void openapi_gnostic_write_v2(const struct json *document, struct buf *buf)
{
    put_message(buf, &OPENAPI_GNOSTIC_V2, document);
}

void openapi_gnostic_write_v3(const struct json *document, struct buf *buf)
{
    put_message(buf, &OPENAPI_GNOSTIC_V3, document);
}
