/* Small questions about strings, asked in one way everywhere. */
#ifndef TRAINYARD_BASE_STR_H
#define TRAINYARD_BASE_STR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* NULL equals only NULL. */
bool str_eq(const char *a, const char *b);
bool str_eq_nocase(const char *a, const char *b);
bool str_has_prefix(const char *text, const char *prefix);
bool str_has_suffix(const char *text, const char *suffix);

/* NULL or "". Inline, so that it is seen that what is not empty is not NULL. */
static inline bool str_is_empty(const char *text)
{
    return !text || *text == '\0';
}

/* Whole-string numbers; anything left over, out of range or empty is ERR_BAD_REQUEST. */
int str_to_int64(const char *text, int64_t min, int64_t max, int64_t *ret, struct err *err);
int str_to_double(const char *text, double *ret, struct err *err);

/* Pieces between separators, in the arena, NULL-terminated; empty pieces are kept. */
char **str_split(struct arena *arena, const char *text, char separator, size_t *ret_count);

/* The candidate nearest to `word` (edit distance at most 2), or NULL: for "did you mean". */
const char *str_nearest(const char *word, const char *const *candidates, size_t count);

/* DNS labels as Kubernetes wants them (RFC 1123 label and subdomain, RFC 1035 label). A label has
 * at most 63 letters; of a subdomain only the whole is limited, to 253. */
bool str_is_dns_label(const char *text);
bool str_is_dns_subdomain(const char *text);
bool str_is_dns1035_label(const char *text);

/* The text as one word of a shell: as it is if every shell reads it so, else in single quotes. */
const char *str_shell_word(struct arena *arena, const char *text);

/* Copy into a fixed array, always terminated; false if it was cut. */
bool str_copy(char *target, size_t size, const char *text);

#endif
