/* Fields that are misspelt or have no effect: `Warning: 299 - "unknown field …"`, which kubectl
 * prints, or a refusal of the misspelt ones where the client asks for strictness. */
#include "base/str.h"
#include "engine/field_schema.h"
#include "engine/rest.h"

/* As RFC 7234 quotes it. */
static const char *quote(struct arena *arena, const char *text)
{
    _cleanup_buf_ struct buf quoted;
    buf_init(&quoted, 4096);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_append_char(&quoted, '\\');
        buf_append_char(&quoted, (unsigned char)*text < 0x20 ? ' ' : *text);
    }
    return arena_strdup(arena, quoted.data);
}

static bool contains(const struct field_complaints *complaints, const char *text)
{
    for (size_t i = 0; i < complaints->count; i++)
        if (str_eq(complaints->texts[i], text))
            return true;
    return false;
}

static void warn(struct rest *rest, const char *text)
{
    http_header_add(rest->arena, &rest->warnings, "Warning",
                    arena_printf(rest->arena, "299 - \"%s\"", quote(rest->arena, text)));
}

int rest_check_fields(struct rest *rest, const struct json *object, const struct json *old,
                      struct err *err)
{
    const struct registry_resource *resource = rest->route.resource;
    const struct field_schema *schema = field_schema_of(resource->api_version, resource->id.kind);
    const char *mode = rest_query(rest, "fieldValidation");
    struct field_report now, before = {0};
    if (!schema)
        return 0;
    if (old)
        field_schema_check(rest->arena, schema, old, &before);
    field_schema_check(rest->arena, schema, object, &now);
    for (size_t i = 0; i < now.unknown.count && !str_eq(mode, "Ignore"); i++) {
        if (contains(&before.unknown, now.unknown.texts[i]))
            continue;
        if (str_eq(mode, "Strict"))
            return err_set(err, ERR_BAD_REQUEST, "strict decoding error: %s", now.unknown.texts[i]);
        warn(rest, now.unknown.texts[i]);
    }
    for (size_t i = 0; i < now.unsupported.count; i++)
        if (!contains(&before.unsupported, now.unsupported.texts[i]))
            warn(rest, now.unsupported.texts[i]);
    return 0;
}
