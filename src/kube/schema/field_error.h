/* The validation errors of an object, with Kubernetes' messages. kubectl prints them after 'Pod "x"
 * is invalid:', and the Status lists them as causes. Validation continues after an error, so that
 * one request shows all errors. */
#ifndef TRAINYARD_KUBE_SCHEMA_FIELD_ERROR_H
#define TRAINYARD_KUBE_SCHEMA_FIELD_ERROR_H

#include "base/arena.h"
#include "base/json/json.h"

struct field_error {
    const char *field;   /* "spec.containers[0].name" */
    const char *reason;  /* the reason of a Status cause: "FieldValueRequired" */
    const char *message; /* "Required value", "Invalid value: \"A\": must be …" */
    struct field_error *next;
};

struct field_errors {
    struct arena *arena;
    struct field_error *first, *last;
    size_t count;
};

enum { FIELD_ERRORS_MAX = 100 }; /* further errors are dropped */

void field_errors_init(struct field_errors *errors, struct arena *arena);

/* Each function adds one error, unless the list already has it or is full. They copy `field`. */

/* `detail` may be NULL. */
void field_required(struct field_errors *errors, const char *field, const char *detail);
/* The message shows the start of `value` as JSON. NULL is shown as null. */
void field_invalid(struct field_errors *errors, const char *field, const struct json *value,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
void field_duplicate(struct field_errors *errors, const char *field, const char *value);
void field_forbidden(struct field_errors *errors, const char *field, const char *detail);
/* For a string that is longer than `max` bytes. */
void field_too_long(struct field_errors *errors, const char *field, size_t max);
/* For a list that has `count` elements, more than `max`. */
void field_too_many(struct field_errors *errors, const char *field, size_t count, size_t max);
void field_not_found(struct field_errors *errors, const char *field, const char *value);
/* For a value that is not in `supported`, a NULL-terminated list. */
void field_unsupported(struct field_errors *errors, const char *field, const char *value,
                       const char *const *supported);
/* Like field_unsupported() and field_duplicate(), but for values of any type. */
void field_unsupported_value(struct field_errors *errors, const char *field,
                             const struct json *value, const char *const *supported);
void field_duplicate_value(struct field_errors *errors, const char *field,
                           const struct json *value);

/* Adds all errors of `from`, which are the errors of a part of the object. Puts `prefix` in front
 * of each field. Does not copy the messages. */
void field_errors_take(struct field_errors *errors, const struct field_errors *from,
                       const char *prefix);

/* Formats a field path such as "spec.ports[2].name" in errors->arena. */
const char *field_path(struct field_errors *errors, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns "a: Required value" or "[a: Required value, b: …]", in errors->arena. */
char *field_errors_text(const struct field_errors *errors);
/* Returns the causes of a Status as a JSON array, in errors->arena. */
struct json *field_errors_causes(const struct field_errors *errors);

#endif
