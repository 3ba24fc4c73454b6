/* Parses and compares names of images; see image/name.h. */
#include "node/image/name.h"

#include "base/str.h"

#include <string.h>

enum { NO_MATCH, MATCH_ANY_TAG, MATCH_TAG, MATCH_DIGEST };

/* Returns true if the first part of a name looks like a host. Then it is a registry. */
static bool is_host(const char *part, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (part[i] == '.' || part[i] == ':' || (part[i] >= 'A' && part[i] <= 'Z'))
            return true;
    return size == strlen("localhost") && memcmp(part, "localhost", size) == 0;
}

/* Returns the name without the default registry and the default directory "library". */
static const char *without_default(const char *text)
{
    static const char *const HUBS[] = {"docker.io/", "index.docker.io/"};
    const char *slash = strchr(text, '/');
    if (slash && is_host(text, (size_t)(slash - text))) {
        size_t i = 0;
        while (i < 2 && !str_has_prefix(text, HUBS[i]))
            i++;
        if (i == 2)
            return text;
        text += strlen(HUBS[i]);
    }
    const char *rest = text + strlen("library/");
    return str_has_prefix(text, "library/") && !strchr(rest, '/') ? rest : text;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Returns the size of a separator between two words of a path: a dot, one or two underscores, or
 * any number of dashes. */
static size_t separator_at(const char *text, const char *end)
{
    size_t size = 0;
    if (*text == '.')
        return 1;
    if (*text == '_')
        return text + 1 < end && text[1] == '_' ? 2 : 1;
    while (text + size < end && text[size] == '-')
        size++;
    return size;
}

/* Accepts words of letters and digits with separators between them, divided by slashes. Unlike
 * container runtimes, it accepts capital letters, because tutorials write names such as YOUR_IMAGE.
 */
static bool is_path(const char *text, const char *end)
{
    for (;;) {
        const char *word = text;
        while (text < end && is_alphanumeric(*text))
            text++;
        if (text == word)
            return false;
        if (text == end)
            return true;
        text += *text == '/' ? 1 : separator_at(text, end);
        if (text < end && !is_alphanumeric(*text))
            return false;
    }
}

/* Accepts words of letters, digits and inner dashes, divided by dots. A port may follow. */
static bool is_domain(const char *text, const char *end)
{
    const char *colon = memchr(text, ':', (size_t)(end - text)), *stop = colon ? colon : end;
    for (const char *c = text; c < stop; c++) {
        bool inner = c > text && c + 1 < stop && c[-1] != '.' && c[1] != '.';
        if (!is_alphanumeric(*c) && !((*c == '-' || *c == '.') && inner))
            return false;
    }
    for (const char *c = stop + 1; colon && c < end; c++)
        if (*c < '0' || *c > '9')
            return false;
    return stop > text && (!colon || colon + 1 < end);
}

static bool is_tag(const char *text)
{
    enum { TAG_MAX = 128 };
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++)
        if (!is_alphanumeric(text[i]) && text[i] != '_' && (i == 0 || !strchr(".-", text[i])))
            return false;
    return size && size <= TAG_MAX;
}

/* Accepts the name of an algorithm, usually "sha256", a colon and at least 32 hexadecimal digits.
 */
static bool is_digest(const char *text)
{
    enum { HEX_MIN = 32 };
    const char *colon = strchr(text, ':');
    if (!colon || colon == text || strlen(colon + 1) < HEX_MIN)
        return false;
    for (const char *c = text; c < colon; c++)
        if (!is_alphanumeric(*c) && (c == text || !strchr("-_+.", *c)))
            return false;
    return strspn(colon + 1, "0123456789abcdefABCDEF") == strlen(colon + 1);
}

static bool is_repository(const char *text, size_t size)
{
    enum { REPOSITORY_MAX = 255 };
    const char *end = text + size, *slash = memchr(text, '/', size);
    if (size > REPOSITORY_MAX)
        return false;
    if (slash && is_host(text, (size_t)(slash - text)))
        return is_domain(text, slash) && is_path(slash + 1, end);
    return is_path(text, end);
}

int image_name_parse(struct arena *arena, const char *text, struct image_name *ret, struct err *err)
{
    size_t size = text ? strlen(text) : 0;
    if (!size || size > IMAGE_NAME_MAX)
        return err_set(err, ERR_INVALID, "'%.64s' is not a valid image name", text ? text : "");
    const char *at = strchr(text, '@');
    size_t end = at ? (size_t)(at - text) : size;
    const char *slash = memrchr(text, '/', end);
    const char *start =
        slash ? slash + 1 : text; /* an earlier colon belongs to the registry's port */
    const char *colon = memchr(start, ':', end - (size_t)(start - text));
    size_t whole = colon ? (size_t)(colon - text) : end;
    const struct image_name name = {
        .name = without_default(arena_strndup(arena, text, whole)),
        .tag = colon ? arena_strndup(arena, colon + 1, end - (size_t)(colon + 1 - text)) : "",
        .digest = at ? arena_strdup(arena, at + 1) : "",
    };
    if (!is_repository(text, whole) || (colon && !is_tag(name.tag)) ||
        (at && !is_digest(name.digest)))
        return err_set(err, ERR_INVALID,
                       "'%s' is not a valid image name: it must have the form "
                       "[HOST[:PORT]/]PATH[:TAG][@DIGEST]",
                       text);
    *ret = name;
    return 0;
}

const char *image_name_text(struct arena *arena, const struct image_name *name)
{
    return arena_printf(arena, "%s%s%s", name->name, name->tag[0] ? ":" : "", name->tag);
}

int image_name_match(const struct image_name *wanted, const struct image_name *have,
                     const char *have_digest)
{
    if (!str_eq(wanted->name, have->name))
        return NO_MATCH;
    if (wanted->digest[0] &&
        (str_eq(wanted->digest, have_digest) || str_eq(wanted->digest, have->digest)))
        return MATCH_DIGEST;
    const char *tag = wanted->tag[0] || wanted->digest[0] ? wanted->tag : "latest";
    if (have->tag[0] && str_eq(tag, have->tag))
        return MATCH_TAG;
    return have->tag[0] ? NO_MATCH : MATCH_ANY_TAG;
}
