/* JSON trees: constructors, queries and changes; see json.h. json_parse.c parses, json_write.c
 * writes and json_clone.c copies trees. Queries accept NULL because most fields of a Kubernetes
 * object are optional. Except in json_remove(), a change to a value that is not an object or array
 * is a programming error and aborts. */
#include "base/json/json.h"

#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json *json_make(struct arena *arena, enum json_type type)
{
    struct json *json = ARENA_NEW(arena, struct json);
    json->type = type;
    return json;
}

struct json *json_null(struct arena *arena)
{
    return json_make(arena, JSON_NULL);
}

struct json *json_bool(struct arena *arena, bool value)
{
    struct json *json = json_make(arena, JSON_BOOL);
    json->boolean = value;
    return json;
}

struct json *json_int(struct arena *arena, int64_t value)
{
    struct json *json = json_make(arena, JSON_INT);
    json->integer = value;
    return json;
}

struct json *json_real(struct arena *arena, double value)
{
    if (!isfinite(value))
        return json_null(arena);
    /* Find the lowest precision that parses to the same value. A ".0" at the end keeps the type
     * real. */
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t size = strlen(text);
    if (!strpbrk(text, ".e"))
        size += (size_t)snprintf(text + size, sizeof(text) - size, ".0");
    struct json *json = json_make(arena, JSON_REAL);
    json->text = arena_strndup(arena, text, size);
    json->size = size;
    return json;
}

struct json *json_string_n(struct arena *arena, const char *text, size_t size)
{
    struct json *json = json_make(arena, JSON_STRING);
    json->text = arena_strndup(arena, text, size);
    json->size = size;
    return json;
}

struct json *json_string(struct arena *arena, const char *text)
{
    return text ? json_string_n(arena, text, strlen(text)) : json_null(arena);
}

struct json *json_stringf(struct arena *arena, const char *format, ...)
{
    struct json *json = json_make(arena, JSON_STRING);
    va_list args;
    va_start(args, format);
    json->text = arena_vprintf(arena, format, args);
    va_end(args);
    json->size = strlen(json->text);
    return json;
}

struct json *json_array(struct arena *arena)
{
    return json_make(arena, JSON_ARRAY);
}

struct json *json_object(struct arena *arena)
{
    return json_make(arena, JSON_OBJECT);
}

/* Removes `value` from the list. `previous` is the item before it, or NULL. */
static void unlink_after(struct json *list, struct json *previous, struct json *value)
{
    if (previous)
        previous->next = value->next;
    else
        list->first = value->next;
    if (list->last == value)
        list->last = previous;
    list->count--;
    value->next = NULL;
}

static bool is_digits(const char *text)
{
    text += *text == '-';
    return text[strspn(text, "0123456789")] == '\0';
}

/* Compares numbers by value. Whole numbers beyond int64 are compared by their digits, because two
 * different numbers may convert to the same double. */
static bool equal_numbers(const struct json *a, const struct json *b)
{
    const int64_t exact_max = INT64_C(1) << 53;
    if (a->type == JSON_INT && b->type == JSON_INT)
        return a->integer == b->integer;
    if (a->type == JSON_REAL && b->type == JSON_REAL)
        return str_eq(a->text, b->text) || (strtod(a->text, NULL) == strtod(b->text, NULL) &&
                                            !(is_digits(a->text) && is_digits(b->text)));
    const struct json *whole = a->type == JSON_INT ? a : b, *real = whole == a ? b : a;
    return whole->integer <= exact_max && whole->integer >= -exact_max &&
           (double)whole->integer == strtod(real->text, NULL);
}

static bool json_is_number(const struct json *json)
{
    return json->type == JSON_INT || json->type == JSON_REAL;
}

/* Members usually have the same order in both objects, so the next member of `b` is compared first.
 * Only if it has another name, `b` is searched. */
static bool equal_objects(const struct json *a, const struct json *b)
{
    if (a->count != b->count)
        return false;
    _cleanup_json_names_ struct json_names names = {0};
    const struct json *guess = b->first;
    JSON_EACH (member, a) {
        const struct json *other = guess && str_eq(guess->name, member->name)
                                       ? guess
                                       : json_names_find(&names, b, member->name);
        if (!other || !json_equal(member, other))
            return false;
        guess = other->next;
    }
    return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (!a || !b)
        return a == b;
    if (json_is_number(a) && json_is_number(b))
        return equal_numbers(a, b);
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_STRING:
        return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
    case JSON_OBJECT:
        return equal_objects(a, b);
    case JSON_ARRAY: {
        if (a->count != b->count)
            return false;
        const struct json *other = b->first;
        JSON_EACH (item, a) {
            if (!json_equal(item, other))
                return false;
            other = other->next;
        }
        return true;
    }
    default:
        return true;
    }
}

/* Compares the first characters before strcmp(), because most names differ there. */
static bool is_named(const struct json *member, const char *name)
{
    return member->name[0] == name[0] && strcmp(member->name, name) == 0;
}

struct json *json_get(const struct json *object, const char *name)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    JSON_EACH (member, object)
        if (is_named(member, name))
            return member;
    return NULL;
}

struct json *json_at(const struct json *object, ...)
{
    va_list names;
    va_start(names, object);
    const struct json *at = object;
    for (const char *name; at && (name = va_arg(names, const char *));)
        at = json_get(at, name);
    va_end(names);
    return (struct json *)at;
}

const char *json_get_string(const struct json *object, const char *name, const char *fallback)
{
    const struct json *value = json_get(object, name);
    return value && value->type == JSON_STRING ? value->text : fallback;
}

int64_t json_get_int(const struct json *object, const char *name, int64_t fallback)
{
    const struct json *value = json_get(object, name);
    return value && value->type == JSON_INT ? value->integer : fallback;
}

bool json_get_bool(const struct json *object, const char *name, bool fallback)
{
    const struct json *value = json_get(object, name);
    return value && value->type == JSON_BOOL ? value->boolean : fallback;
}

const char *json_text(const struct json *string)
{
    return string && string->type == JSON_STRING ? string->text : NULL;
}

double json_number(const struct json *number, double fallback)
{
    if (!number || !json_is_number(number))
        return fallback;
    return number->type == JSON_INT ? (double)number->integer : strtod(number->text, NULL);
}

size_t json_count(const struct json *list)
{
    return list && (list->type == JSON_ARRAY || list->type == JSON_OBJECT) ? list->count : 0;
}

struct json *json_element(const struct json *array, size_t position)
{
    if (!array || array->type != JSON_ARRAY)
        return NULL;
    struct json *item = array->first;
    while (item && position--)
        item = item->next;
    return item;
}

const char *json_type_name(enum json_type type)
{
    static const char *const NAMES[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean",  [JSON_INT] = "an integer",
        [JSON_REAL] = "a number",   [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object"};
    return (unsigned)type < ARRAY_SIZE(NAMES) ? NAMES[type] : "nothing known";
}

static void json_require(const struct json *json, enum json_type type)
{
    if (json->type != type)
        mem_panic("json: %s is changed as if it were %s", json_type_name(json->type),
                  json_type_name(type));
}

void json_append(struct json *array, struct json *value)
{
    json_require(array, JSON_ARRAY);
    value->name = NULL;
    json_list_append(array, value);
}

/* Returns the member of this name and sets *ret to the member before it, or to NULL if it is the
 * first. Returns NULL if there is no such member; then *ret has no meaning. */
static struct json *find_with_previous(struct json *object, const char *name, struct json **ret)
{
    *ret = NULL;
    JSON_EACH (member, object) {
        if (is_named(member, name))
            return member;
        *ret = member;
    }
    return NULL;
}

struct json *json_set(struct arena *arena, struct json *object, const char *name,
                      struct json *value)
{
    json_require(object, JSON_OBJECT);
    struct json *previous, *old = find_with_previous(object, name, &previous);
    if (!value) {
        if (old)
            unlink_after(object, previous, old);
    } else if (!old) {
        value->name = arena_strdup(arena, name);
        json_list_append(object, value);
    } else if (old != value) {
        value->name = old->name;
        value->next = old->next;
        if (previous)
            previous->next = value;
        else
            object->first = value;
        if (object->last == old)
            object->last = value;
        old->next = NULL;
    }
    return value;
}

void json_set_string(struct arena *arena, struct json *object, const char *name, const char *text)
{
    json_set(arena, object, name, json_string(arena, text));
}

void json_set_int(struct arena *arena, struct json *object, const char *name, int64_t value)
{
    json_set(arena, object, name, json_int(arena, value));
}

void json_set_bool(struct arena *arena, struct json *object, const char *name, bool value)
{
    json_set(arena, object, name, json_bool(arena, value));
}

bool json_remove(struct json *object, const char *name)
{
    if (!object || object->type != JSON_OBJECT)
        return false;
    struct json *previous, *member = find_with_previous(object, name, &previous);
    if (member)
        unlink_after(object, previous, member);
    return member != NULL;
}

void json_remove_element(struct json *array, struct json *element)
{
    json_require(array, JSON_ARRAY);
    struct json *previous = NULL;
    JSON_EACH (item, array) {
        if (item == element) {
            unlink_after(array, previous, item);
            return;
        }
        previous = item;
    }
}

static struct json *json_ensure(struct arena *arena, struct json *object, const char *name,
                                enum json_type type)
{
    struct json *member = json_get(object, name);
    return member && member->type == type ? member
                                          : json_set(arena, object, name, json_make(arena, type));
}

struct json *json_ensure_object(struct arena *arena, struct json *object, const char *name)
{
    return json_ensure(arena, object, name, JSON_OBJECT);
}

struct json *json_ensure_array(struct arena *arena, struct json *object, const char *name)
{
    return json_ensure(arena, object, name, JSON_ARRAY);
}
