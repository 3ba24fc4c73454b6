/* Decodes objects by their schema in one pass; see decode.h. The path to the current value is a
 * linked list on the stack, which is formatted only for a message. */
#include "kube/schema/decode.h"

#include "base/base64.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/quantity.h"

#include <inttypes.h>
#include <string.h>

static const char A_STRING[] = "a string";

enum { NAMES_MAX = 64, PATH_MAX_SIZE = 4096 };

struct decode {
    struct arena *arena;
    enum schema_form form;
    struct schema_report *report; /* NULL: no report is made */
    struct err *err;
};

/* One step of the path to a value: the name of a member, or the index of a list element if the name
 * is NULL. */
struct place {
    const struct place *parent;
    const char *name;
    size_t index;
};

/* ---- Messages -------------------------------------------------------------------------------- */

static void append_place(struct buf *buf, const struct place *place)
{
    if (!place)
        return;
    append_place(buf, place->parent);
    if (!place->name)
        buf_printf(buf, "[%zu]", place->index);
    else
        buf_printf(buf, "%s%.100s", buf->size ? "." : "", place->name);
}

static const char *place_text(struct decode *decode, const struct place *place)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, PATH_MAX_SIZE);
    append_place(&buf, place);
    return arena_strdup(decode->arena, buf.data);
}

static void decode_add_message(struct schema_messages *messages, const char *text)
{
    if (messages->count < SCHEMA_MESSAGES_MAX)
        messages->texts[messages->count++] = text;
}

static void report_unknown(struct decode *decode, const struct schema_object *type,
                           const struct place *place)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    struct schema_report *report = decode->report;
    if (!report || report->unknown_count == SCHEMA_MESSAGES_MAX)
        return;
    for (const struct schema_field *field = type->fields; field->name && count < NAMES_MAX; field++)
        names[count++] = field->name;
    report->unknown[report->unknown_count++] =
        (struct schema_unknown){place_text(decode, place), str_nearest(place->name, names, count)};
}

/* Returns whether the value is the zero value of its type. A real number never counts as zero. */
static bool value_is_zero(const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return !value->boolean;
    case JSON_INT:
        return value->integer == 0;
    case JSON_STRING:
        return value->size == 0;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return value->count == 0;
    case JSON_REAL:
        return false;
    }
    return false;
}

static void report_unsupported(struct decode *decode, const struct schema_field *field,
                               const struct json *value, const struct place *place)
{
    /* A client that writes the integer 0 asks for a value. A false or an empty value asks for
     * nothing. */
    bool is_requested = value->type == JSON_INT || !value_is_zero(value);
    if (decode->report && field->unsupported && is_requested)
        decode_add_message(&decode->report->unsupported,
                           arena_printf(decode->arena, "%s: not supported here: %s",
                                        place_text(decode, place), field->unsupported));
}

static int wrong_type(struct decode *decode, const struct place *place, const struct json *value,
                      const char *wanted)
{
    const char *hint = str_eq(wanted, A_STRING) && value->type != JSON_OBJECT &&
                               value->type != JSON_ARRAY && value->type != JSON_NULL
                           ? "; quote it"
                           : "";
    if (value->type == JSON_INT)
        return err_set(decode->err, ERR_BAD_REQUEST, "%s must be %s, not the number %" PRId64 "%s",
                       place_text(decode, place), wanted, value->integer, hint);
    if (value->type == JSON_STRING)
        return err_set(decode->err, ERR_BAD_REQUEST, "%s must be %s, not the string \"%.100s\"",
                       place_text(decode, place), wanted, value->text);
    return err_set(decode->err, ERR_BAD_REQUEST, "%s must be %s, not %s%s",
                   place_text(decode, place), wanted, json_type_name(value->type), hint);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Changes `value` to the string `text` in place. */
static void set_text(struct decode *decode, struct json *value, const char *text)
{
    if (value->type == JSON_STRING && str_eq(value->text, text))
        return;
    value->type = JSON_STRING;
    value->text = arena_strdup(decode->arena, text);
    value->size = strlen(text);
}

static int read_integer(struct decode *decode, const struct place *place, const struct json *value,
                        int64_t lowest, int64_t highest)
{
    if (value->type != JSON_INT)
        return wrong_type(decode, place, value, "an integer");
    if (value->integer < lowest || value->integer > highest)
        return err_set(decode->err, ERR_BAD_REQUEST,
                       "%s must be between %" PRId64 " and %" PRId64 ", not %" PRId64,
                       place_text(decode, place), lowest, highest, value->integer);
    return 0;
}

static int bad_value(struct decode *decode, const struct place *place, const struct err *why)
{
    return err_set(decode->err, ERR_BAD_REQUEST, "%s: %s", place_text(decode, place), why->message);
}

static int read_quantity(struct decode *decode, const struct place *place, struct json *value)
{
    struct kube_quantity quantity;
    struct err why = ERR_INIT;
    char text[KUBE_QUANTITY_TEXT_MAX];
    if (value->type != JSON_STRING && value->type != JSON_INT && value->type != JSON_REAL)
        return wrong_type(decode, place, value, "a quantity like \"500m\" or \"1Gi\"");
    if (kube_quantity_from_json(value, &quantity, &why) < 0)
        return bad_value(decode, place, &why);
    kube_quantity_format(&quantity, text);
    set_text(decode, value, text);
    return 0;
}

static int read_time(struct decode *decode, const struct place *place, struct json *value,
                     bool micro)
{
    int64_t wall_ms;
    struct err why = ERR_INIT;
    char text[MOMENT_TEXT_MAX];
    if (value->type != JSON_STRING)
        return wrong_type(decode, place, value, "a time like \"2026-01-31T12:00:00Z\"");
    if (moment_parse(value->text, &wall_ms, &why) < 0)
        return bad_value(decode, place, &why);
    if (!micro) { /* a micro time keeps its text, because wall_ms has only milliseconds */
        moment_format(wall_ms, text);
        set_text(decode, value, text);
    }
    return 0;
}

static int read_bytes(struct decode *decode, const struct place *place, const struct json *value)
{
    char *bytes;
    size_t size;
    if (value->type != JSON_STRING)
        return wrong_type(decode, place, value, "a string in base64");
    if (base64_decode(decode->arena, value->text, &bytes, &size, NULL) < 0)
        return err_set(decode->err, ERR_BAD_REQUEST, "%s is not valid base64",
                       place_text(decode, place));
    return 0;
}

static int read_scalar(struct decode *decode, enum schema_type type, struct json *value,
                       const struct place *place)
{
    switch (type) {
    case SCHEMA_STRING:
        return value->type == JSON_STRING ? 0 : wrong_type(decode, place, value, A_STRING);
    case SCHEMA_BOOL:
        return value->type == JSON_BOOL ? 0 : wrong_type(decode, place, value, "true or false");
    case SCHEMA_INT32:
        return read_integer(decode, place, value, INT32_MIN, INT32_MAX);
    case SCHEMA_INT64:
        return read_integer(decode, place, value, INT64_MIN, INT64_MAX);
    case SCHEMA_NUMBER:
        return value->type == JSON_INT || value->type == JSON_REAL
                   ? 0
                   : wrong_type(decode, place, value, "a number");
    case SCHEMA_INT_OR_STRING:
        return value->type == JSON_INT || value->type == JSON_STRING
                   ? 0
                   : wrong_type(decode, place, value, "an integer or a string");
    case SCHEMA_BYTES:
        return read_bytes(decode, place, value);
    case SCHEMA_QUANTITY:
        return read_quantity(decode, place, value);
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return read_time(decode, place, value, type == SCHEMA_MICRO_TIME);
    case SCHEMA_ANY:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_LIST:
        break;
    }
    return 0;
}

static int read_object(struct decode *decode, const struct schema_object *type, struct json *object,
                       const struct place *place);

static int decode_value(struct decode *decode, const struct schema *schema, struct json *value,
                        const struct place *place);

static int read_list(struct decode *decode, const struct schema *schema, struct json *list,
                     const struct place *place)
{
    struct place here = {.parent = place};
    JSON_EACH (element, list) {
        int result = decode_value(decode, schema->items, element, &here);
        if (result < 0)
            return result;
        here.index++;
    }
    return 0;
}

static int read_map(struct decode *decode, const struct schema *schema, struct json *map,
                    const struct place *place)
{
    struct place here = {.parent = place};
    JSON_EACH (member, map) {
        here.name = member->name;
        int result = decode_value(decode, schema->items, member, &here);
        if (result < 0)
            return result;
    }
    return 0;
}

static int decode_value(struct decode *decode, const struct schema *schema, struct json *value,
                        const struct place *place)
{
    bool typed = decode->form == SCHEMA_FORM_TYPED;
    switch (schema->type) {
    case SCHEMA_ANY:
        return 0;
    case SCHEMA_OBJECT:
        if (value->type == JSON_OBJECT)
            return read_object(decode, schema->object, value, place);
        return typed ? wrong_type(decode, place, value, "an object") : 0;
    case SCHEMA_MAP:
        if (value->type == JSON_OBJECT)
            return read_map(decode, schema, value, place);
        return typed ? wrong_type(decode, place, value, "an object") : 0;
    case SCHEMA_LIST:
        if (value->type == JSON_ARRAY)
            return read_list(decode, schema, value, place);
        return typed ? wrong_type(decode, place, value, "a list") : 0;
    default:
        return typed ? read_scalar(decode, schema->type, value, place) : 0;
    }
}

/* ---- Members --------------------------------------------------------------------------------- */

/* Returns whether the field is kept in the result. */
static bool is_kept(const struct decode *decode, const struct schema_field *field,
                    const struct json *value)
{
    if (value->type == JSON_NULL)
        return field->value.nullable || field->value.type == SCHEMA_ANY;
    return decode->form != SCHEMA_FORM_TYPED || field->presence != PRESENCE_IF_ANY ||
           field->value.type == SCHEMA_ANY || !value_is_zero(value);
}

static int read_member(struct decode *decode, const struct schema_object *type, struct json *member,
                       const struct place *parent, bool *ret_keep)
{
    const struct place here = {.parent = parent, .name = member->name};
    const struct schema_field *field = schema_field(type, member->name);
    if (!field) {
        if (!type->preserve)
            report_unknown(decode, type, &here);
        *ret_keep = type->preserve;
        return 0;
    }
    report_unsupported(decode, field, member, &here);
    *ret_keep = is_kept(decode, field, member);
    if (member->type == JSON_NULL)
        return 0;
    /* The metadata is always decoded as SCHEMA_FORM_TYPED, because the server uses it. */
    struct decode member_decode = *decode;
    if (!parent && str_eq(member->name, "metadata"))
        member_decode.form = SCHEMA_FORM_TYPED;
    int result = decode_value(&member_decode, &field->value, member, &here);
    if (result < 0)
        return result;
    *ret_keep = is_kept(decode, field, member); /* decoding may have emptied the member */
    return 0;
}

static struct json *make_zero_value(struct arena *arena, const struct schema_field *field);

static void add_missing_fields(struct arena *arena, const struct schema_object *type,
                               struct json *object)
{
    for (const struct schema_field *field = type->fields; field->name; field++)
        if (field->presence == PRESENCE_ALWAYS && !json_get(object, field->name))
            json_set(arena, object, field->name, make_zero_value(arena, field));
}

static struct json *make_zero_value(struct arena *arena, const struct schema_field *field)
{
    struct json *object;
    switch (field->value.type) {
    case SCHEMA_STRING:
        return json_string(arena, "");
    case SCHEMA_BOOL:
        return json_bool(arena, false);
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
        return json_int(arena, 0);
    case SCHEMA_OBJECT:
        object = json_object(arena);
        add_missing_fields(arena, field->value.object, object);
        return object;
    default:
        return json_null(arena);
    }
}

static int read_object(struct decode *decode, const struct schema_object *type, struct json *object,
                       const struct place *place)
{
    struct json **link = &object->first, *last = NULL;
    while (*link) {
        bool keep;
        int result = read_member(decode, type, *link, place, &keep);
        if (result < 0)
            return result;
        if (keep) {
            last = *link;
            link = &last->next;
        } else {
            *link = (*link)->next;
            object->count--;
        }
    }
    object->last = last;
    if (decode->form == SCHEMA_FORM_TYPED)
        add_missing_fields(decode->arena, type, object);
    return 0;
}

int schema_decode(struct arena *arena, const struct schema_object *type, enum schema_form form,
                  struct json *object, struct schema_report *ret_report, struct err *err)
{
    if (ret_report)
        *ret_report = (struct schema_report){0};
    struct decode decode = {.arena = arena, .form = form, .report = ret_report, .err = err};
    return read_object(&decode, type, object, NULL);
}
