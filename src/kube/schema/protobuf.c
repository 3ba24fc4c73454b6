/* Decodes the protobuf wire format; see protobuf.h. */
#include "kube/schema/protobuf.h"

#include "base/base64.h"
#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/utf8.h"
#include "kube/schema/decode.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct span {
    const uint8_t *data;
    size_t size;
};

struct reader {
    struct arena *arena;
    size_t fields_left; /* the number of fields that may still be read */
    int depth;          /* the number of open messages */
    struct err *err;
};

static int protobuf_fail(struct reader *reader, const char *what)
{
    return err_set(reader->err, ERR_BAD_REQUEST, "the protobuf body cannot be read: %s", what);
}

/* ---- Wire ------------------------------------------------------------------------------------ */

static int read_varint(struct reader *reader, struct span *span, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (span->size == 0)
            return protobuf_fail(reader, "a number is cut off");
        uint8_t byte = *span->data;
        span->data++;
        span->size--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return 0;
        }
    }
    return protobuf_fail(reader, "a number is longer than 64 bits");
}

static int protobuf_take_span(struct reader *reader, struct span *span, uint64_t size,
                              struct span *ret)
{
    if (size > span->size)
        return protobuf_fail(reader, "a field is cut off");
    *ret = (struct span){span->data, (size_t)size};
    span->data += size;
    span->size -= size;
    return 0;
}

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t varint;   /* for WIRE_VARINT */
    struct span bytes; /* for the other wire types */
};

static int read_field(struct reader *reader, struct span *span, struct wire_field *ret)
{
    uint64_t tag, size;
    if (reader->fields_left-- == 0)
        return protobuf_fail(reader, "it has too many fields");
    int result = read_varint(reader, span, &tag);
    if (result < 0)
        return result;
    *ret = (struct wire_field){.number = (uint32_t)(tag >> 3), .type = (enum wire_type)(tag & 7)};
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return protobuf_fail(reader, "a field has an invalid number");
    switch (ret->type) {
    case WIRE_VARINT:
        return read_varint(reader, span, &ret->varint);
    case WIRE_FIXED64:
        return protobuf_take_span(reader, span, 8, &ret->bytes);
    case WIRE_FIXED32:
        return protobuf_take_span(reader, span, 4, &ret->bytes);
    case WIRE_BYTES:
        result = read_varint(reader, span, &size);
        return result < 0 ? result : protobuf_take_span(reader, span, size, &ret->bytes);
    }
    return protobuf_fail(reader, "a field has an unknown wire type");
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int make_string(struct reader *reader, struct span bytes, struct json **ret)
{
    /* As in JSON, a string must be UTF-8 without a NUL. */
    if (!utf8_is_valid((const char *)bytes.data, bytes.size) ||
        memchr(bytes.data, '\0', bytes.size))
        return protobuf_fail(reader, "a string is not UTF-8, or holds the NUL character");
    *ret = json_string_n(reader->arena, (const char *)bytes.data, bytes.size);
    return 0;
}

/* Decodes an IntOrString message. Field 1 is the type: 0 for the integer in field 2, 1 for the
 * string in field 3. */
static int make_int_or_string(struct reader *reader, struct span span, struct json **ret)
{
    uint64_t type = 0, number = 0;
    struct span text = {(const uint8_t *)"", 0};
    while (span.size > 0) {
        struct wire_field field = {0};
        int result = read_field(reader, &span, &field);
        if (result < 0)
            return result;
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

/* Decodes a time: seconds since 1970 (field 1) and nanoseconds (field 2). The years must be from 1
 * to 9999, which JSON can express. An empty message is Go's zero time, and *ret stays NULL. */
static int make_time(struct reader *reader, bool micro, struct span span, struct json **ret)
{
    static const int64_t first = -62135596800, last = 253402300799;
    int64_t seconds = 0, nanos = 0;
    char text[MOMENT_TEXT_MAX];
    if (span.size == 0)
        return 0;
    while (span.size > 0) {
        struct wire_field field = {0};
        int result = read_field(reader, &span, &field);
        if (result < 0)
            return result;
        if (field.number == 1 && field.type == WIRE_VARINT)
            seconds = (int64_t)field.varint;
        else if (field.number == 2 && field.type == WIRE_VARINT)
            nanos = (int64_t)field.varint;
    }
    if (seconds < first || seconds > last || nanos < 0 || nanos > 999999999)
        return protobuf_fail(reader, "a time is out of range");
    if (micro)
        moment_format_micro(seconds * 1000000 + nanos / 1000, text);
    else
        moment_format(seconds * 1000, text);
    *ret = json_string(reader->arena, text);
    return 0;
}

/* Decodes a message with one field of bytes: the form of quantities and of raw JSON. */
static int protobuf_unwrap(struct reader *reader, struct span span, struct span *ret)
{
    *ret = (struct span){(const uint8_t *)"", 0};
    while (span.size > 0) {
        struct wire_field field = {0};
        int result = read_field(reader, &span, &field);
        if (result < 0)
            return result;
        if (field.number == 1 && field.type == WIRE_BYTES)
            *ret = field.bytes;
    }
    return 0;
}

static int make_anything(struct reader *reader, struct span span, struct json **ret)
{
    struct span raw;
    int result = protobuf_unwrap(reader, span, &raw);
    if (result < 0 || raw.size == 0)
        return result;
    if (json_parse(reader->arena, (const char *)raw.data, raw.size, NULL, ret, NULL) < 0)
        return protobuf_fail(reader, "a field that must contain JSON does not");
    return 0;
}

static int make_quantity(struct reader *reader, struct span span, struct json **ret)
{
    struct span text;
    int result = protobuf_unwrap(reader, span, &text);
    return result < 0 || text.size == 0 ? result : make_string(reader, text, ret);
}

static int make_number(struct reader *reader, struct span bytes, struct json **ret)
{
    double value;
    memcpy(&value, bytes.data, sizeof(value)); /* little-endian, like this machine */
    *ret = json_real(reader->arena, value);
    return 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int protobuf_read_message(struct reader *reader, const struct schema_object *type,
                                 uint32_t outer, struct span span, struct json *object);

static void drop_duplicate_keys(struct json *map);

static int make_message(struct reader *reader, const struct schema_object *type, struct span span,
                        struct json **ret)
{
    *ret = json_object(reader->arena);
    int result = protobuf_read_message(reader, type, 0, span, *ret);
    if (result < 0)
        return result;
    JSON_EACH (member, *ret)
        if (schema_field(type, member->name)->value.type == SCHEMA_MAP)
            drop_duplicate_keys(member);
    return 0;
}

/* Decodes a list of strings that is the value of a map: a message with the elements as field 1. */
static int make_list(struct reader *reader, struct span span, struct json **ret)
{
    *ret = json_array(reader->arena);
    while (span.size > 0) {
        struct wire_field field = {0};
        struct json *element = NULL;
        int result = read_field(reader, &span, &field);
        if (result == 0 && field.number == 1 && field.type == WIRE_BYTES)
            result = make_string(reader, field.bytes, &element);
        if (result < 0)
            return result;
        if (element)
            json_append(*ret, element);
    }
    return 0;
}

static enum wire_type wire_type_of(enum schema_type type)
{
    switch (type) {
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return WIRE_VARINT;
    case SCHEMA_NUMBER:
        return WIRE_FIXED64;
    default:
        return WIRE_BYTES;
    }
}

/* Decodes one value. *ret stays NULL for an empty time, quantity or raw JSON value. */
static int make_value(struct reader *reader, const struct schema *schema,
                      const struct wire_field *field, struct json **ret)
{
    if (field->type != wire_type_of(schema->type))
        return protobuf_fail(reader, "a field has the wrong type");
    switch (schema->type) {
    case SCHEMA_STRING:
        return make_string(reader, field->bytes, ret);
    case SCHEMA_BYTES:
        *ret = json_string(reader->arena,
                           base64_encode(reader->arena, field->bytes.data, field->bytes.size));
        return 0;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        *ret = json_int(reader->arena, (int64_t)field->varint);
        return 0;
    case SCHEMA_BOOL:
        *ret = json_bool(reader->arena, field->varint != 0);
        return 0;
    case SCHEMA_NUMBER:
        return make_number(reader, field->bytes, ret);
    case SCHEMA_QUANTITY:
        return make_quantity(reader, field->bytes, ret);
    case SCHEMA_INT_OR_STRING:
        return make_int_or_string(reader, field->bytes, ret);
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return make_time(reader, schema->type == SCHEMA_MICRO_TIME, field->bytes, ret);
    case SCHEMA_ANY:
        return make_anything(reader, field->bytes, ret);
    case SCHEMA_OBJECT:
        return make_message(reader, schema->object, field->bytes, ret);
    case SCHEMA_LIST:
        return make_list(reader, field->bytes, ret);
    case SCHEMA_MAP:
        break; /* add_field() handles maps; no map has a map as its value */
    }
    return 0;
}

/* Decodes one entry of a map: a message with the key as field 1 and the value as field 2. */
static int add_entry(struct reader *reader, struct json *map, const struct schema *items,
                     struct span span)
{
    struct json *key = NULL, *value = NULL;
    while (span.size > 0) {
        struct wire_field field = {0};
        int result = read_field(reader, &span, &field);
        if (result == 0 && field.number == 1 && field.type == WIRE_BYTES)
            result = make_string(reader, field.bytes, &key);
        else if (result == 0 && field.number == 2)
            result = make_value(reader, items, &field, &value);
        if (result < 0)
            return result;
    }
    if (!key)
        return protobuf_fail(reader, "a map has an entry without a key");
    if (!value)
        value = json_string(reader->arena, "");
    value->name = key->text;
    json_list_append(map, value);
    return 0;
}

/* If several entries have the same key, keeps only the last, at the place of the first. */
static void drop_duplicate_keys(struct json *map)
{
    _cleanup_json_names_ struct json_names names = {0};
    struct json *entry = map->first;
    map->first = map->last = NULL;
    map->count = 0;
    for (struct json *next; entry; entry = next) {
        next = entry->next;
        if (json_names_add(&names, map, entry, strlen(entry->name))) {
            json_list_append(map, entry);
            continue;
        }
        struct json *first = json_names_find(&names, map, entry->name), *next_entry = first->next;
        *first = *entry;
        first->next = next_entry;
    }
}

static int add_field(struct reader *reader, const struct schema_field *known,
                     const struct wire_field *field, struct json *object)
{
    const struct schema *schema = &known->value;
    struct json *value = NULL;
    if (schema->type == SCHEMA_MAP) {
        if (field->type != WIRE_BYTES)
            return protobuf_fail(reader, "the value of a map field is not a map");
        return add_entry(reader, json_ensure_object(reader->arena, object, known->name),
                         schema->items, field->bytes);
    }
    bool list = schema->type == SCHEMA_LIST;
    int result = make_value(reader, list ? schema->items : schema, field, &value);
    if (result < 0 || !value)
        return result;
    if (list)
        json_append(json_ensure_array(reader->arena, object, known->name), value);
    else
        json_set(reader->arena, object, known->name, value);
    return 0;
}

static const struct schema_field *find_number(const struct schema_object *type, uint32_t number)
{
    for (const struct schema_field *field = type->fields; field->name; field++)
        if (field->number == number)
            return field;
    return NULL;
}

/* Returns whether field `outer` is an inner message that contains fields of the object itself. */
static bool is_inner_message(const struct schema_object *type, uint32_t outer)
{
    for (const struct schema_field *field = type->fields; field->name; field++)
        if (field->number >> 16 == outer)
            return true;
    return false;
}

/* Decodes a message into `object`. In protobuf, an inner message may contain some fields of the
 * object itself. `outer` is the field number of that inner message while it is decoded, otherwise
 * 0. */
static int protobuf_read_message(struct reader *reader, const struct schema_object *type,
                                 uint32_t outer, struct span span, struct json *object)
{
    if (++reader->depth > SCHEMA_PROTOBUF_DEPTH_MAX)
        return protobuf_fail(reader, "it is nested too deeply");
    while (span.size > 0) {
        struct wire_field field = {0};
        int result = read_field(reader, &span, &field);
        if (result < 0)
            return result;
        if (field.number > UINT16_MAX)
            continue;
        const struct schema_field *known = find_number(type, SCHEMA_INSIDE(outer, field.number));
        if (known)
            result = add_field(reader, known, &field, object);
        else if (outer == 0 && field.type == WIRE_BYTES && is_inner_message(type, field.number))
            result = protobuf_read_message(reader, type, field.number, field.bytes, object);
        if (result < 0)
            return result;
    }
    reader->depth--;
    return 0;
}

/* ---- Public functions ------------------------------------------------------------------------ */

int schema_protobuf_read(struct arena *arena, const struct schema_object *type, const void *data,
                         size_t size, struct json **ret, struct err *err)
{
    struct reader reader = {.arena = arena, .fields_left = SCHEMA_PROTOBUF_FIELDS_MAX, .err = err};
    struct json *object;
    int result = make_message(&reader, type, (struct span){data, size}, &object);
    if (result == 0)
        result = schema_decode(arena, type, SCHEMA_FORM_TYPED, object, NULL, err);
    if (result == 0)
        *ret = object;
    return result;
}

static const struct schema_field TYPE_META_FIELDS[] = {
    {.name = "apiVersion", .number = 1, .value.type = SCHEMA_STRING},
    {.name = "kind", .number = 2, .value.type = SCHEMA_STRING},
    {0},
};
static const struct schema_object TYPE_META = {.fields = TYPE_META_FIELDS};

/* Returns whether the type can be read from protobuf. Kinds that Kubernetes does not define have no
 * field numbers. */
static bool has_numbers(const struct schema_object *type)
{
    for (const struct schema_field *field = type->fields; field->name; field++)
        if (field->number != 0)
            return true;
    return false;
}

/* Reads the envelope. *ret_meta gets apiVersion and kind, and *ret_raw the bytes of the object.
 * Both stay unchanged if the envelope lacks them. */
static int open_envelope(struct reader *reader, struct span span, struct json **ret_meta,
                         struct span *ret_raw)
{
    static const char magic[] = {'k', '8', 's', '\0'};
    if (span.size < sizeof(magic) || memcmp(span.data, magic, sizeof(magic)) != 0)
        return protobuf_fail(reader, "it does not begin with 'k8s', the prefix of Kubernetes");
    span.data += sizeof(magic);
    span.size -= sizeof(magic);
    while (span.size > 0) {
        struct wire_field field = {0};
        int result = read_field(reader, &span, &field);
        if (result == 0 && field.number == 1 && field.type == WIRE_BYTES)
            result = make_message(reader, &TYPE_META, field.bytes, ret_meta);
        else if (result == 0 && field.number == 2 && field.type == WIRE_BYTES)
            *ret_raw = field.bytes;
        if (result < 0)
            return result;
    }
    return 0;
}

int schema_protobuf_read_body(struct arena *arena, schema_find_type *find, const void *context,
                              const void *data, size_t size, struct json **ret, struct err *err)
{
    struct reader reader = {.arena = arena, .fields_left = SCHEMA_PROTOBUF_FIELDS_MAX, .err = err};
    struct span raw = {(const uint8_t *)"", 0};
    struct json *meta = NULL, *object = NULL;
    int result = open_envelope(&reader, (struct span){data, size}, &meta, &raw);
    if (result < 0)
        return result;
    const char *version = json_get_string(meta, "apiVersion", "");
    const char *kind = json_get_string(meta, "kind", "");
    const struct schema_object *type = find(context, version, kind);
    if (!type || !has_numbers(type))
        return err_set(err, ERR_MEDIA_TYPE,
                       "%.100s of version \"%.100s\" cannot be read from protobuf; send it as "
                       "application/json",
                       *kind ? kind : "an object without a kind", version);
    result = schema_protobuf_read(arena, type, raw.data, raw.size, &object, err);
    if (result < 0)
        return result;
    json_set_string(arena, object, "apiVersion", version);
    json_set_string(arena, object, "kind", kind);
    *ret = object;
    return 0;
}
