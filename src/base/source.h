/* Error messages that point into a text written by a user, as compilers print them:
 *
 *     job.yaml:3:13: mapping values are not allowed in this context
 *         replicas: 2: 3
 *                    ^
 *
 * A parser makes one struct source for the text and passes it with each error. Nothing is kept. */
#ifndef TRAINYARD_BASE_SOURCE_H
#define TRAINYARD_BASE_SOURCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct json;

enum {
    SOURCE_SHOWN_MAX = 100
}; /* columns of the shown line; the rest of a longer line becomes "…" */

struct source {
    const char *name; /* "job.yaml" */
    const char *text;
    size_t size;
    /* The text holds credentials: letters and digits of values are shown as '*', because errors end
     * up in logs. */
    bool secret;
};

/* A place in the text. Both count from 1; columns count characters. */
struct source_place {
    size_t line, column;
};

/* Like err_set(), with the place and the line before the message. If the place is not in the text
 * or its line is blank, only the place is given. */
int source_err_set(struct err *err, enum err_code code, const struct source *source,
                   struct source_place place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Like err_wrap(): adds the place to an error that was made by a function that does not know the
 * text. */
int source_err_wrap(struct err *err, const struct source *source, struct source_place place);

/* The place of a value in its text.
 *
 * source_name_place() gives the place of the member's name if it stands in the line of the value.
 */
struct source_place source_value_place(const struct json *value);
struct source_place source_name_place(const struct source *source, const struct json *member);

/* Whether the line has nothing to show. */
bool source_is_blank(const struct source *source, size_t line);

#define source_err_set(...)  ERR_IS_NEGATIVE((source_err_set)(__VA_ARGS__))
#define source_err_wrap(...) ERR_IS_NEGATIVE((source_err_wrap)(__VA_ARGS__))

#endif
