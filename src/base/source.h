/* Error messages that point into a text written by a user, as compilers print them:
 *
 *     job.yaml:3:13: mapping values are not allowed in this context
 *         replicas: 2: 3
 *                    ^
 *
 * A parser creates one struct source for the text and passes it with each error. These functions
 * keep no pointer to it. */
#ifndef TRAINYARD_BASE_SOURCE_H
#define TRAINYARD_BASE_SOURCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct json;

/* Maximum number of terminal columns that are shown of a line. The parts of a longer line that are
 * not shown become "…". */
enum { SOURCE_SHOWN_MAX = 100 };

struct source {
    const char *name; /* "job.yaml" */
    const char *text;
    size_t size;
    /* The text contains credentials. Then letters, digits and bytes outside ASCII are shown as '*'
     * from the first ':' of a line on, or in the whole line if it has no ':', because error
     * messages are written to logs. */
    bool secret;
};

/* A place in the text. Lines and columns count from 1. A column is one character. */
struct source_place {
    size_t line, column;
};

/* Like err_set(), but puts the place before the message, and the line of the text after the
 * message. The line is omitted if it is blank, does not exist or does not fit, or if the column is
 * 0. */
int source_err_set(struct err *err, enum err_code code, const struct source *source,
                   struct source_place place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds the place and the line, like source_err_set(), to an error from a function that does not
 * know the text. Returns -code, like err_wrap(). */
int source_err_wrap(struct err *err, const struct source *source, struct source_place place);

/* Returns the place of a value in its text. */
struct source_place source_value_place(const struct json *value);
/* Returns the place of the member's name if the name is in the same line as the value, else the
 * place of the value. */
struct source_place source_name_place(const struct source *source, const struct json *member);

/* Returns whether the line does not exist or contains only spaces and tabs. */
bool source_is_blank(const struct source *source, size_t line);

#define source_err_set(...)  ERR_IS_NEGATIVE((source_err_set)(__VA_ARGS__))
#define source_err_wrap(...) ERR_IS_NEGATIVE((source_err_wrap)(__VA_ARGS__))

#endif
