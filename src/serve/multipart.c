/* Implements the parser of forms with files; see multipart.h. */
#include "serve/multipart.h"

#include "base/str.h"

#include <string.h>
#include <strings.h>

enum { BOUNDARY_MAX = 70 }; /* limit of characters, from RFC 2046 */

static int refuse_multipart(struct err *err, const char *what)
{
    return err_set(err, ERR_BAD_REQUEST, "the form cannot be read: %s", what);
}

/* Returns the value of `key=value` or `key="value"` among the parameters after the first ';' of a
 * header, or NULL if `key` is missing. */
static const char *header_parameter(struct arena *arena, const char *header, const char *key)
{
    size_t key_size = strlen(key);
    for (const char *at = strchr(header, ';'); at; at = strchr(at, ';')) {
        at += 1 + strspn(at + 1, " \t");
        if (strncasecmp(at, key, key_size) != 0 || at[key_size] != '=')
            continue;
        const char *value = at + key_size + 1;
        if (*value != '"')
            return arena_strndup(arena, value, strcspn(value, "; \t"));
        char *text = arena_strdup(arena, value + 1), *target = text;
        for (const char *from = value + 1; *from && *from != '"'; from++) {
            if (*from == '\\' && from[1])
                from++;
            *target++ = *from;
        }
        *target = '\0';
        return text;
    }
    return NULL;
}

/* Reads the header lines "Name: value" up to the empty line into the part. Returns the position
 * after the empty line, or NULL if there is none within MULTIPART_HEADER_MAX bytes. */
static const char *parse_headers(struct arena *arena, const char *at, const char *end,
                                 struct multipart_part *part)
{
    const char *limit = end - at > MULTIPART_HEADER_MAX ? at + MULTIPART_HEADER_MAX : end;
    while (at < limit) {
        const char *line_end = memmem(at, (size_t)(limit - at), "\r\n", 2);
        if (!line_end)
            return NULL;
        if (line_end == at)
            return at + 2;
        char *line = arena_strndup(arena, at, (size_t)(line_end - at));
        if (strncasecmp(line, "content-disposition:", 20) == 0) {
            const char *name = header_parameter(arena, line, "name");
            const char *filename = header_parameter(arena, line, "filename");
            part->name = name ? name : "";
            part->filename = filename ? filename : "";
        } else if (strncasecmp(line, "content-type:", 13) == 0) {
            part->content_type = line + 13 + strspn(line + 13, " \t");
        }
        at = line_end + 2;
    }
    return NULL;
}

int multipart_parse(struct arena *arena, const char *content_type, const char *body, size_t size,
                    struct multipart_part **ret_parts, size_t *ret_count, struct err *err)
{
    if (!content_type || strncasecmp(content_type, "multipart/form-data", 19) != 0)
        return err_set(err, ERR_MEDIA_TYPE, "send the picture as a form (multipart/form-data)");
    const char *boundary = header_parameter(arena, content_type, "boundary");
    if (str_is_empty(boundary) || strlen(boundary) > BOUNDARY_MAX)
        return refuse_multipart(err, "its boundary is missing or too long");
    const char *delimiter = arena_printf(arena, "\r\n--%s", boundary);
    size_t delimiter_size = strlen(delimiter);
    const char *end = body + size;

    /* The first boundary may be at the start of the body, without a line break before it. */
    const char *at;
    if (size >= delimiter_size - 2 && memcmp(body, delimiter + 2, delimiter_size - 2) == 0)
        at = body + delimiter_size - 2;
    else if ((at = memmem(body, size, delimiter, delimiter_size)))
        at += delimiter_size;
    else
        return refuse_multipart(err, "it does not contain its boundary");

    struct multipart_part *parts = ARENA_ARRAY(arena, struct multipart_part, MULTIPART_PARTS_MAX);
    size_t count = 0;
    while (end - at >= 2 && memcmp(at, "--", 2) != 0) {
        if (memcmp(at, "\r\n", 2) != 0)
            return refuse_multipart(err, "a boundary is not followed by a line break");
        if (count == MULTIPART_PARTS_MAX)
            return refuse_multipart(err, "it has too many parts");
        struct multipart_part *part = &parts[count++];
        *part = (struct multipart_part){.name = "", .filename = "", .content_type = ""};
        part->data = parse_headers(arena, at + 2, end, part);
        if (!part->data)
            return refuse_multipart(err, "the headers of a part have no end");
        /* The line break before the boundary may be the empty line that ends the headers of an
         * empty part. */
        const char *next =
            memmem(part->data - 2, (size_t)(end - part->data) + 2, delimiter, delimiter_size);
        if (!next)
            return refuse_multipart(err, "its last boundary is missing");
        part->size = next < part->data ? 0 : (size_t)(next - part->data);
        at = next + delimiter_size;
    }
    if (end - at < 2)
        return refuse_multipart(err, "it ends in the middle");
    *ret_parts = parts;
    *ret_count = count;
    return 0;
}
