/* Errors that point into a text somebody wrote, as good compilers give them:
 *
 *     job.yaml:3:13: mapping values are not allowed in this context
 *         replicas: 2: 3
 *                    ^
 *
 * Whoever reads the text makes one struct source of it and refuses with it; nothing is kept. */
#ifndef TRAINYARD_BASE_SOURCE_H
#define TRAINYARD_BASE_SOURCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct json;

enum { SOURCE_SHOWN_MAX = 100 }; /* columns of a line; the rest of a longer one is "…" */

struct source {
    const char *name; /* "job.yaml" */
    const char *text;
    size_t size;
    /* It holds credentials: the letters and digits of values are shown as '*'. Errors end up in
     * logs. */
    bool secret;
};

/* A place in the text, both from 1; columns count characters. */
struct source_place {
    size_t line, column;
};

/* Like err_set(). A place that is not in the text, or whose line is blank, is told and not shown.
 */
int source_err_set(struct err *err, enum err_code code, const struct source *source,
                   struct source_place place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Like err_wrap(): what was refused without a place, by who does not know the text. */
int source_err_wrap(struct err *err, const struct source *source, struct source_place place);

/* Where a value stands in its text, and the name of a member where it is in the same line. */
struct source_place source_value_place(const struct json *value);
struct source_place source_name_place(const struct source *source, const struct json *member);

/* Whether there is something to show. */
bool source_is_blank(const struct source *source, size_t line);

#define source_err_set(...)  ERR_IS_NEGATIVE((source_err_set)(__VA_ARGS__))
#define source_err_wrap(...) ERR_IS_NEGATIVE((source_err_wrap)(__VA_ARGS__))

#endif
