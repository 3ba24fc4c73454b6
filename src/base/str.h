/* Tests and conversions of strings. */
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

/* True for NULL and "". Inline, so that compilers see that a string which is not empty is not NULL.
 */
static inline bool str_is_empty(const char *text)
{
    return !text || *text == '\0';
}

/* Parse the whole string as a number. An empty string, a remainder or a value out of range is
 * -ERR_BAD_REQUEST. */
int str_to_int64(const char *text, int64_t min, int64_t max, int64_t *ret, struct err *err);
int str_to_double(const char *text, double *ret, struct err *err);

/* Splits the text at each separator. The pieces and the NULL-terminated array are in the arena.
 * Empty pieces are kept. */
char **str_split(struct arena *arena, const char *text, char separator, size_t *ret_count);

/* The candidate nearest to `word`, with an edit distance of at most 2, or NULL. For "did you mean
 * …". */
const char *str_nearest(const char *word, const char *const *candidates, size_t count);

/* Names as Kubernetes checks them: an RFC 1123 label, an RFC 1123 subdomain, an RFC 1035 label. A
 * label has at most 63 characters. A subdomain has at most 253 in total; its parts have no limit of
 * their own. */
bool str_is_dns_label(const char *text);
bool str_is_dns_subdomain(const char *text);
bool str_is_dns1035_label(const char *text);

/* The text as one word of a shell command: unchanged if every shell reads it as one word, else in
 * single quotes. */
const char *str_shell_word(struct arena *arena, const char *text);

/* Copies into an array of `size` bytes, which is always NUL-terminated. Returns false if the text
 * was cut. */
bool str_copy(char *target, size_t size, const char *text);

#endif
