/* Tests and converts strings: comparison, numbers, names, words of a shell. */
#ifndef TRAINYARD_BASE_STR_H
#define TRAINYARD_BASE_STR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* str_eq() and str_eq_nocase() accept NULL, which is equal only to NULL. The other two functions do
 * not accept NULL. */
bool str_eq(const char *a, const char *b);
bool str_eq_nocase(const char *a, const char *b);
bool str_has_prefix(const char *text, const char *prefix);
bool str_has_suffix(const char *text, const char *suffix);

/* Returns true for NULL and "". Inline, so that compilers can derive that a non-empty string is not
 * NULL. */
static inline bool str_is_empty(const char *text)
{
    return !text || *text == '\0';
}

/* str_to_int64() and str_to_double() parse the whole string as a number. They return 0, or
 * -ERR_BAD_REQUEST if the string is NULL, empty or no number, or if the number is out of range. */
int str_to_int64(const char *text, int64_t min, int64_t max, int64_t *ret, struct err *err);
int str_to_double(const char *text, double *ret, struct err *err);

/* Splits the text at each separator. The pieces and the NULL-terminated array are in the arena.
 * Empty pieces are included. `ret_count` may be NULL. */
char **str_split(struct arena *arena, const char *text, char separator, size_t *ret_count);

/* Returns the candidate with the smallest edit distance to `word`. Considers only
 * candidates of at most 64 bytes whose distance is at most 2 and less than their own length. Used
 * for "did you mean …". Returns NULL if no candidate is left, or if `word` has more than 64
 * bytes. */
const char *str_nearest(const char *word, const char *const *candidates, size_t count);

/* These functions return whether a text is a name as Kubernetes defines it: an RFC 1123 label, an
 * RFC 1123 subdomain, an RFC 1035 label. They return false for NULL. A label has at most 63
 * characters. A subdomain has at most 253 characters; its parts have no separate limit. */
bool str_is_dns_label(const char *text);
bool str_is_dns_subdomain(const char *text);
bool str_is_dns1035_label(const char *text);

/* Returns the text as one word of a POSIX shell command: the text itself if it is not empty and
 * surely needs no quotes, else the text in single quotes. */
const char *str_shell_word(struct arena *arena, const char *text);

/* Copies the text into an array of `size` bytes, at least 1. The result is always NUL-terminated.
 * Returns false if the text was truncated. */
bool str_copy(char *target, size_t size, const char *text);

#endif
