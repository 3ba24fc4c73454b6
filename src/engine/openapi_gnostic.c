/* JSON into gnostic's messages; see openapi_gnostic.h.
 *
 * A table says for each member of an object which field of which message it becomes. Where JSON has
 * one value gnostic often has messages around it (an "items" may be one schema or many, a parameter
 * one of several kinds): the numbers of those are `around`. What begins with "x-" is one of a list
 * of extensions, each a name and its value as YAML, of which JSON is a part. */
#include "engine/openapi_gnostic.h"

#include "base/protobuf_write.h"
#include "base/str.h"

#include <string.h>

enum gnostic_type {
    TEXT, /* also each of a list */
    FLAG,
    COUNT,
    REAL,
    YAML,   /* any value */
    OBJECT, /* a message */
    NAMED,  /* an object of any names: messages with the name as 1 and the value as 2 */
    PARAMETERS,
};

enum { AROUND_MAX = 4, MESSAGE_MAX = 1 << 28 };

struct gnostic_field {
    const char *name;
    uint8_t number;
    enum gnostic_type type;
    const struct gnostic_message *message;
    uint8_t around[AROUND_MAX]; /* from the outside, ends with 0 */
    uint8_t entry;              /* of NAMED: the number of each entry */
    uint8_t within[AROUND_MAX]; /* of NAMED: around each value */
};

struct gnostic_message {
    const struct gnostic_field *fields; /* ends with name NULL */
    uint8_t extensions;                 /* the number of their list */
};

/* ---- The messages ---------------------------------------------------------------------------- */

static const struct gnostic_message SCHEMA;

static const struct gnostic_field SCHEMA_FIELDS[] = {
    {"$ref", 1, TEXT},
    {"format", 2, TEXT},
    {"title", 3, TEXT},
    {"description", 4, TEXT},
    {"multipleOf", 6, REAL},
    {"maximum", 7, REAL},
    {"exclusiveMaximum", 8, FLAG},
    {"minimum", 9, REAL},
    {"exclusiveMinimum", 10, FLAG},
    {"maxLength", 11, COUNT},
    {"minLength", 12, COUNT},
    {"pattern", 13, TEXT},
    {"maxItems", 14, COUNT},
    {"minItems", 15, COUNT},
    {"uniqueItems", 16, FLAG},
    {"maxProperties", 17, COUNT},
    {"minProperties", 18, COUNT},
    {"required", 19, TEXT},
    {"enum", 20, YAML},
    {"additionalProperties", 21, OBJECT, &SCHEMA, .around = {1}},
    {"type", 22, TEXT, .around = {1}},
    {"items", 23, OBJECT, &SCHEMA, .around = {1}},
    {"allOf", 24, OBJECT, &SCHEMA},
    {"properties", 25, NAMED, &SCHEMA, .entry = 1},
    {0},
};
static const struct gnostic_message SCHEMA = {SCHEMA_FIELDS, .extensions = 31};

static const struct gnostic_field BODY_FIELDS[] = {
    {"description", 1, TEXT},
    {"name", 2, TEXT},
    {"in", 3, TEXT},
    {"required", 4, FLAG},
    {"schema", 5, OBJECT, &SCHEMA},
    {0},
};
static const struct gnostic_message BODY_PARAMETER = {BODY_FIELDS, .extensions = 6};

static const struct gnostic_field QUERY_FIELDS[] = {
    {"required", 1, FLAG}, {"in", 2, TEXT},     {"description", 3, TEXT},  {"name", 4, TEXT},
    {"type", 6, TEXT},     {"format", 7, TEXT}, {"uniqueItems", 20, FLAG}, {0},
};
static const struct gnostic_message QUERY_PARAMETER = {QUERY_FIELDS, .extensions = 23};

static const struct gnostic_field PATH_FIELDS[] = {
    {"required", 1, FLAG}, {"in", 2, TEXT},     {"description", 3, TEXT},  {"name", 4, TEXT},
    {"type", 5, TEXT},     {"format", 6, TEXT}, {"uniqueItems", 19, FLAG}, {0},
};
static const struct gnostic_message PATH_PARAMETER = {PATH_FIELDS, .extensions = 22};

static const struct gnostic_field RESPONSE_FIELDS[] = {
    {"description", 1, TEXT},
    {"schema", 2, OBJECT, &SCHEMA, .around = {1}},
    {0},
};
static const struct gnostic_message RESPONSE = {RESPONSE_FIELDS, .extensions = 5};

static const struct gnostic_field OPERATION_FIELDS[] = {
    {"tags", 1, TEXT},
    {"summary", 2, TEXT},
    {"description", 3, TEXT},
    {"operationId", 5, TEXT},
    {"produces", 6, TEXT},
    {"consumes", 7, TEXT},
    {"parameters", 8, PARAMETERS},
    {"responses", 9, NAMED, &RESPONSE, .entry = 1, .within = {1}},
    {0},
};
static const struct gnostic_message OPERATION = {OPERATION_FIELDS, .extensions = 13};

static const struct gnostic_field PATH_ITEM_FIELDS[] = {
    {"get", 2, OBJECT, &OPERATION},
    {"put", 3, OBJECT, &OPERATION},
    {"post", 4, OBJECT, &OPERATION},
    {"delete", 5, OBJECT, &OPERATION},
    {"patch", 8, OBJECT, &OPERATION},
    {"parameters", 9, PARAMETERS},
    {0},
};
static const struct gnostic_message PATH_ITEM = {PATH_ITEM_FIELDS, .extensions = 10};

static const struct gnostic_field INFO_FIELDS[] = {
    {"title", 1, TEXT}, {"version", 2, TEXT}, {"description", 3, TEXT}, {0}};
static const struct gnostic_message INFO = {INFO_FIELDS, .extensions = 7};

static const struct gnostic_field DOCUMENT_FIELDS[] = {
    {"swagger", 1, TEXT},
    {"info", 2, OBJECT, &INFO},
    {"paths", 8, NAMED, &PATH_ITEM, .entry = 2},
    {"definitions", 9, NAMED, &SCHEMA, .entry = 1},
    {0},
};
static const struct gnostic_message DOCUMENT = {DOCUMENT_FIELDS, .extensions = 16};

/* ---- Writing --------------------------------------------------------------------------------- */

/* A message whose size is not known yet: the varint of its size has a fixed width, which every
 * reader takes, and is filled in at the end. So nothing is written twice. */
enum { LENGTH_WIDTH = 4 };

static size_t begin(struct buf *buf, uint32_t number)
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

static void end(struct buf *buf, size_t start)
{
    if (buf->overflowed)
        return;
    size_t size = buf->size - start;
    for (size_t i = 0; i < LENGTH_WIDTH; i++, size >>= 7)
        buf->data[start - LENGTH_WIDTH + i] =
            (char)((size & 0x7f) | (i + 1 < LENGTH_WIDTH ? 0x80 : 0));
}

/* The messages around a value: `starts` has room for AROUND_MAX. */
static size_t begin_around(struct buf *buf, const uint8_t *around, size_t *starts)
{
    size_t count = 0;
    for (; count < AROUND_MAX && around[count]; count++)
        starts[count] = begin(buf, around[count]);
    return count;
}

static void end_around(struct buf *buf, const size_t *starts, size_t count)
{
    while (count > 0)
        end(buf, starts[--count]);
}

static void put_yaml(struct buf *buf, uint32_t number, const struct json *value)
{
    enum { ANY_YAML = 2 };
    size_t any = begin(buf, number), yaml = begin(buf, ANY_YAML);
    json_write(value, buf);
    end(buf, yaml);
    end(buf, any);
}

static void put_message(struct buf *buf, const struct gnostic_message *message,
                        const struct json *object);

static void put_named(struct buf *buf, const struct gnostic_field *field, const struct json *object)
{
    JSON_EACH (value, object) {
        enum { NAME = 1, VALUE = 2 };
        size_t entry = begin(buf, field->entry);
        protobuf_put_string(buf, NAME, value->name);
        size_t starts[AROUND_MAX], outer = begin(buf, VALUE);
        size_t count = begin_around(buf, field->within, starts);
        put_message(buf, field->message, value);
        end_around(buf, starts, count);
        end(buf, outer);
        end(buf, entry);
    }
}

static void put_parameter(struct buf *buf, const struct json *parameter)
{
    static const struct {
        const char *in;
        const struct gnostic_message *message;
        uint8_t around[AROUND_MAX];
    } places[] = {
        {"body", &BODY_PARAMETER, {1, 1}},
        {"query", &QUERY_PARAMETER, {1, 2, 3}},
        {"path", &PATH_PARAMETER, {1, 2, 4}},
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (!str_eq(json_get_string(parameter, "in", ""), places[i].in))
            continue;
        size_t starts[AROUND_MAX], count = begin_around(buf, places[i].around, starts);
        put_message(buf, places[i].message, parameter);
        end_around(buf, starts, count);
    }
}

static void put_value(struct buf *buf, const struct gnostic_field *field, const struct json *value)
{
    /* Of a list each element is the field once more. */
    if (value->type == JSON_ARRAY) {
        JSON_EACH (element, value)
            put_value(buf, field, element);
        return;
    }
    switch (field->type) {
    case YAML:
        put_yaml(buf, field->number, value);
        return;
    case FLAG:
        protobuf_put_int(buf, field->number, value->boolean);
        return;
    case COUNT:
        protobuf_put_int(buf, field->number, value->integer);
        return;
    case REAL:
        protobuf_put_double(buf, field->number, json_number(value, 0));
        return;
    case TEXT:
    case OBJECT:
    case NAMED:
    case PARAMETERS:
        break;
    }
    if (field->type == TEXT && !field->around[0]) {
        protobuf_put_string(buf, field->number, value->text);
        return;
    }
    size_t starts[AROUND_MAX], outer = begin(buf, field->number);
    size_t count = begin_around(buf, field->around, starts);
    if (field->type == TEXT)
        buf_append(buf, value->text, value->size);
    else if (field->type == OBJECT)
        put_message(buf, field->message, value);
    else if (field->type == NAMED)
        put_named(buf, field, value);
    else
        put_parameter(buf, value);
    end_around(buf, starts, count);
    end(buf, outer);
}

static void put_extension(struct buf *buf, uint32_t number, const struct json *value)
{
    enum { NAME = 1, VALUE = 2 };
    size_t start = begin(buf, number);
    protobuf_put_string(buf, NAME, value->name);
    put_yaml(buf, VALUE, value);
    end(buf, start);
}

static void put_message(struct buf *buf, const struct gnostic_message *message,
                        const struct json *object)
{
    JSON_EACH (member, object) {
        const struct gnostic_field *field = message->fields;
        while (field->name && !str_eq(field->name, member->name))
            field++;
        if (field->name)
            put_value(buf, field, member);
        else if (str_has_prefix(member->name, "x-"))
            put_extension(buf, message->extensions, member);
    }
}

void openapi_gnostic_write(const struct json *document, struct buf *buf)
{
    put_message(buf, &DOCUMENT, document);
}
