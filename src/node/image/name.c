/* Names of images; see image/name.h. */
#include "node/image/name.h"

#include "base/str.h"

#include <string.h>

enum { NO_MATCH, MATCH_ANY_TAG, MATCH_TAG, MATCH_DIGEST };

/* The first part is a registry if it looks like a host. */
static bool is_host(const char *part, size_t size)
{
    return memchr(part, '.', size) || memchr(part, ':', size) ||
           (size == strlen("localhost") && memcmp(part, "localhost", size) == 0);
}

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

int image_name_parse(struct arena *arena, const char *text, struct image_name *ret, struct err *err)
{
    static const char LETTERS[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@";
    size_t size = text ? strlen(text) : 0;
    if (!size || size > IMAGE_NAME_MAX || strspn(text, LETTERS) != size)
        return err_set(err, ERR_INVALID, "'%.64s' is no name of an image", text ? text : "");
    const char *name = without_default(text), *at = strchr(name, '@');
    size_t end = at ? (size_t)(at - name) : strlen(name);
    const char *slash = memrchr(name, '/', end);
    const char *start = slash ? slash + 1 : name; /* one before is of a registry's port */
    const char *colon = memchr(start, ':', end - (size_t)(start - name));
    *ret = (struct image_name){
        .name = arena_strndup(arena, name, colon ? (size_t)(colon - name) : end),
        .tag = colon ? arena_strndup(arena, colon + 1, end - (size_t)(colon + 1 - name)) : "",
        .digest = at ? arena_strdup(arena, at + 1) : "",
    };
    if (!ret->name[0] || (colon && !ret->tag[0]) || (at && !ret->digest[0]))
        return err_set(err, ERR_INVALID, "'%s' is no name of an image", text);
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
