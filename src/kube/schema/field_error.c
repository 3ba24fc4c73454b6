/* Collects and formats field errors; see field_error.h. */
#include "kube/schema/field_error.h"

#include "base/buf.h"
#include "base/str.h"
#include "kube/status.h"

enum { TEXT_MAX = 64 * 1024 };

void field_errors_init(struct field_errors *errors, struct arena *arena)
{
    *errors = (struct field_errors){.arena = arena};
}

/* Functions that format a value check this first, because the value may be large and have many
 * errors. */
static bool is_full(const struct field_errors *errors)
{
    return errors->count == FIELD_ERRORS_MAX;
}

static void field_error_add(struct field_errors *errors, const char *field, const char *reason,
                            const char *message)
{
    if (is_full(errors))
        return;
    for (const struct field_error *known = errors->first; known; known = known->next)
        if (str_eq(known->field, field) && str_eq(known->message, message))
            return; /* two rules may report the same error */
    struct field_error *error = ARENA_NEW(errors->arena, struct field_error);
    error->field = arena_strdup(errors->arena, field);
    error->reason = reason;
    error->message = message;
    if (errors->last)
        errors->last->next = error;
    else
        errors->first = error;
    errors->last = error;
    errors->count++;
}

void field_required(struct field_errors *errors, const char *field, const char *detail)
{
    field_error_add(errors, field, "FieldValueRequired",
                    detail ? arena_printf(errors->arena, "Required value: %s", detail)
                           : "Required value");
}

void field_invalid(struct field_errors *errors, const char *field, const struct json *value,
                   const char *format, ...)
{
    if (is_full(errors))
        return;
    va_list args;
    va_start(args, format);
    const char *detail = arena_vprintf(errors->arena, format, args);
    va_end(args);
    const char *shown = value ? json_to_string(errors->arena, value) : "null";
    field_error_add(errors, field, "FieldValueInvalid",
                    arena_printf(errors->arena, "Invalid value: %.1000s: %s", shown, detail));
}

void field_duplicate(struct field_errors *errors, const char *field, const char *value)
{
    field_error_add(errors, field, "FieldValueDuplicate",
                    arena_printf(errors->arena, "Duplicate value: \"%s\"", value));
}

void field_forbidden(struct field_errors *errors, const char *field, const char *detail)
{
    field_error_add(errors, field, "FieldValueForbidden",
                    arena_printf(errors->arena, "Forbidden: %s", detail));
}

void field_too_long(struct field_errors *errors, const char *field, size_t max)
{
    field_error_add(errors, field, "FieldValueTooLong",
                    arena_printf(errors->arena, "Too long: may not be more than %zu bytes", max));
}

void field_too_many(struct field_errors *errors, const char *field, size_t count, size_t max)
{
    field_error_add(
        errors, field, "FieldValueTooMany",
        arena_printf(errors->arena, "Too many: %zu: must have at most %zu items", count, max));
}

void field_not_found(struct field_errors *errors, const char *field, const char *value)
{
    field_error_add(errors, field, "FieldValueNotFound",
                    arena_printf(errors->arena, "Not found: \"%s\"", value));
}

static void add_unsupported(struct field_errors *errors, const char *field, const char *shown,
                            const char *const *supported)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    buf_printf(&text, "Unsupported value: %s: supported values: ", shown);
    for (size_t i = 0; supported[i]; i++)
        buf_printf(&text, "%s\"%s\"", i ? ", " : "", supported[i]);
    field_error_add(errors, field, "FieldValueNotSupported",
                    arena_strdup(errors->arena, text.data));
}

void field_unsupported(struct field_errors *errors, const char *field, const char *value,
                       const char *const *supported)
{
    add_unsupported(errors, field, arena_printf(errors->arena, "\"%s\"", value), supported);
}

void field_unsupported_value(struct field_errors *errors, const char *field,
                             const struct json *value, const char *const *supported)
{
    if (is_full(errors))
        return;
    add_unsupported(errors, field,
                    arena_printf(errors->arena, "%.1000s", json_to_string(errors->arena, value)),
                    supported);
}

void field_duplicate_value(struct field_errors *errors, const char *field, const struct json *value)
{
    if (is_full(errors))
        return;
    field_error_add(errors, field, "FieldValueDuplicate",
                    arena_printf(errors->arena, "Duplicate value: %.1000s",
                                 json_to_string(errors->arena, value)));
}

void field_errors_take(struct field_errors *errors, const struct field_errors *from,
                       const char *prefix)
{
    for (const struct field_error *error = from->first; error; error = error->next)
        field_error_add(errors, arena_printf(errors->arena, "%s%s", prefix, error->field),
                        error->reason, error->message);
}

const char *field_path(struct field_errors *errors, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *path = arena_vprintf(errors->arena, format, args);
    va_end(args);
    return path;
}

char *field_errors_text(const struct field_errors *errors)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (errors->count > 1)
        buf_append_char(&text, '[');
    for (const struct field_error *error = errors->first; error; error = error->next)
        buf_printf(&text, "%s%s: %s", error == errors->first ? "" : ", ", error->field,
                   error->message);
    if (errors->count > 1)
        buf_append_char(&text, ']');
    return arena_strdup(errors->arena, text.data);
}

struct json *field_errors_causes(const struct field_errors *errors)
{
    struct json *causes = json_array(errors->arena);
    for (const struct field_error *error = errors->first; error; error = error->next)
        kube_status_add_cause(errors->arena, causes, error->reason, error->field, error->message);
    return causes;
}
