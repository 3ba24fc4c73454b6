/* Generates values for a template; see template.h. The expression consists of literal text and
 * classes with a count: "[A-Z0-9]{8}". A class contains characters, ranges, and the sets of
 * OpenShift: \w (letters, digits, '_'), \d (digits), \a (letters, digits) and \A (the other
 * printable characters). A set may also stand outside of a class. */
#include "kube/template.h"

#include "base/buf.h"
#include "base/rand.h"
#include "base/str.h"

#include <string.h>

struct alphabet {
    char letters[128];
    size_t count;
};

static void add_letter(struct alphabet *alphabet, char letter)
{
    if (!memchr(alphabet->letters, letter, alphabet->count))
        alphabet->letters[alphabet->count++] = letter;
}

static void add_range(struct alphabet *alphabet, char first, char last)
{
    for (char letter = first; letter <= last; letter++)
        add_letter(alphabet, letter);
}

static bool add_named(struct alphabet *alphabet, char name)
{
    switch (name) {
    case 'w':
        add_range(alphabet, 'a', 'z');
        add_range(alphabet, 'A', 'Z');
        add_range(alphabet, '0', '9');
        add_letter(alphabet, '_');
        return true;
    case 'd':
        add_range(alphabet, '0', '9');
        return true;
    case 'a':
        add_range(alphabet, 'a', 'z');
        add_range(alphabet, 'A', 'Z');
        add_range(alphabet, '0', '9');
        return true;
    case 'A':
        add_range(alphabet, '!', '/');
        add_range(alphabet, ':', '@');
        add_range(alphabet, '[', '`');
        add_range(alphabet, '{', '~');
        return true;
    default:
        return false;
    }
}

/* Parses a class; `at` is after the '['. Returns the position after the ']', or NULL if the class
 * is invalid. */
static const char *read_class(const char *at, struct alphabet *alphabet)
{
    while (*at && *at != ']') {
        if (*at < ' ' || *at > '~')
            return NULL;
        if (*at == '\\') {
            if (!add_named(alphabet, at[1]))
                return NULL;
            at += 2;
        } else if (at[1] == '-' && at[2] > ' ' && at[2] <= '~' && at[2] != ']') {
            if (at[2] < at[0])
                return NULL;
            add_range(alphabet, at[0], at[2]);
            at += 3;
        } else {
            add_letter(alphabet, *at++);
        }
    }
    return *at == ']' && alphabet->count > 0 ? at + 1 : NULL;
}

/* Parses a count such as "{8}"; a missing count means 1. Returns the position after the count, or
 * NULL if the count is invalid. */
static const char *read_count(const char *at, size_t *ret)
{
    *ret = 1;
    if (*at != '{')
        return at;
    size_t count = 0;
    for (at++; *at >= '0' && *at <= '9' && count <= KUBE_TEMPLATE_GENERATED_MAX; at++)
        count = count * 10 + (size_t)(*at - '0');
    if (*at != '}' || count < 1 || count > KUBE_TEMPLATE_GENERATED_MAX)
        return NULL;
    *ret = count;
    return at + 1;
}

/* Returns a letter with equal probability, from the kernel's random numbers, because the value may
 * be a password. */
static char pick_letter(const struct alphabet *alphabet)
{
    size_t limit = 256 - 256 % alphabet->count;
    unsigned char byte;
    do
        rand_secure(&byte, 1);
    while (byte >= limit);
    return alphabet->letters[byte % alphabet->count];
}

int kube_template_generate(struct arena *arena, const char *from, const char **ret, struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, KUBE_TEMPLATE_GENERATED_MAX);
    for (const char *at = from; *at;) {
        struct alphabet alphabet = {0};
        size_t count = 1;
        bool literal = *at != '[' && *at != '\\';
        if (*at == '[')
            at = read_class(at + 1, &alphabet);
        else if (*at == '\\')
            at = add_named(&alphabet, at[1]) ? at + 2 : NULL;
        else
            add_letter(&alphabet, *at++);
        if (at && !literal)
            at = read_count(at, &count);
        if (!at || alphabet.count == 0)
            return err_set(err, ERR_INVALID,
                           "'%.100s' is not a valid expression: write text and classes such as "
                           "[a-z0-9]{8}, with counts from 1 to %d",
                           from, KUBE_TEMPLATE_GENERATED_MAX);
        while (count-- > 0)
            buf_append_char(&text, pick_letter(&alphabet));
    }
    if (text.overflowed || text.size == 0)
        return err_set(err, ERR_INVALID, "'%.100s' generates %s", from,
                       text.overflowed ? "too many characters" : "nothing");
    *ret = arena_strndup(arena, text.data, text.size);
    return 0;
}
