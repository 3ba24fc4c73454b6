/* Tests and converts strings; see str.h. */
#include "base/str.h"

#include "base/arena.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Compares the first characters before strcmp(), because most texts differ there. */
bool str_eq(const char *a, const char *b)
{
    return a == b || (a && b && *a == *b && strcmp(a, b) == 0);
}

bool str_eq_nocase(const char *a, const char *b)
{
    return a == b || (a && b && strcasecmp(a, b) == 0);
}

bool str_has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_has_suffix(const char *text, const char *suffix)
{
    size_t size = strlen(text), wanted = strlen(suffix);
    return size >= wanted && memcmp(text + size - wanted, suffix, wanted) == 0;
}

int str_to_int64(const char *text, int64_t min, int64_t max, int64_t *ret, struct err *err)
{
    char *end = NULL;
    errno = 0;
    long long value = text ? strtoll(text, &end, 10) : 0;
    if (str_is_empty(text) || isspace((unsigned char)*text) || *end != '\0')
        return err_set(err, ERR_BAD_REQUEST, "'%s' is not a whole number", text ? text : "");
    if (errno == ERANGE || value < min || value > max)
        return err_set(err, ERR_BAD_REQUEST, "'%s' is not between %lld and %lld", text,
                       (long long)min, (long long)max);
    *ret = value;
    return 0;
}

int str_to_double(const char *text, double *ret, struct err *err)
{
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0;
    if (str_is_empty(text) || isspace((unsigned char)*text) || *end != '\0' || !isfinite(value))
        return err_set(err, ERR_BAD_REQUEST, "'%s' is not a number", text ? text : "");
    *ret = value;
    return 0;
}

char **str_split(struct arena *arena, const char *text, char separator, size_t *ret_count)
{
    size_t count = 1;
    for (const char *c = text; *c; c++)
        count += *c == separator;
    char **pieces = ARENA_ARRAY(arena, char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *end = strchrnul(text, separator);
        pieces[i] = arena_strndup(arena, text, (size_t)(end - text));
        text = end + 1;
    }
    if (ret_count)
        *ret_count = count;
    return pieces;
}

enum { NEAREST_WORD_MAX = 64, NEAREST_DISTANCE_MAX = 2 };

static int edit_distance(const char *a, const char *b)
{
    size_t size_a = strlen(a), size_b = strlen(b);
    if (size_a > NEAREST_WORD_MAX || size_b > NEAREST_WORD_MAX)
        return NEAREST_DISTANCE_MAX + 1;
    int row[NEAREST_WORD_MAX + 1];
    for (size_t j = 0; j <= size_b; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= size_a; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= size_b; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < best ? change : best;
        }
    }
    return row[size_b];
}

const char *str_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    int distance = NEAREST_DISTANCE_MAX + 1;
    for (size_t i = 0; i < count; i++) {
        int d = edit_distance(word, candidates[i]);
        if (d < distance && (size_t)d < strlen(candidates[i])) {
            distance = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

static bool is_label(const char *text, size_t size)
{
    if (size == 0 || text[0] == '-' || text[size - 1] == '-')
        return false;
    for (size_t i = 0; i < size; i++)
        if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) && text[i] != '-')
            return false;
    return true;
}

bool str_is_dns_label(const char *text)
{
    return text && strlen(text) <= LABEL_MAX && is_label(text, strlen(text));
}

bool str_is_dns1035_label(const char *text)
{
    return str_is_dns_label(text) && islower((unsigned char)text[0]);
}

bool str_is_dns_subdomain(const char *text)
{
    if (!text || strlen(text) > SUBDOMAIN_MAX)
        return false;
    for (const char *end; (end = strchrnul(text, '.')); text = end + 1) {
        if (!is_label(text, (size_t)(end - text)))
            return false;
        if (*end == '\0')
            return true;
    }
    return false;
}

bool str_copy(char *target, size_t size, const char *text)
{
    size_t length = strlen(text);
    bool fits = length < size;
    if (!fits)
        length = size - 1;
    memcpy(target, text, length);
    target[length] = '\0';
    return fits;
}

const char *str_shell_word(struct arena *arena, const char *text)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    size_t size = strlen(text), at = 0;
    if (size > 0 && strspn(text, PLAIN) == size)
        return text;
    enum { QUOTE_SIZE = 4 }; /* a single quote becomes '\'' */
    char *word = arena_alloc(arena, size * QUOTE_SIZE + 3);
    word[at++] = '\'';
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            memcpy(word + at, "'\\''", QUOTE_SIZE);
            at += QUOTE_SIZE;
        } else {
            word[at++] = *c;
        }
    }
    word[at++] = '\'';
    word[at] = '\0';
    return word;
}
