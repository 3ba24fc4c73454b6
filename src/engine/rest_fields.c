/* Misspelt fields: `Warning: 299 - "unknown field …"`, which kubectl prints, or a refusal where the
 * client asks for strictness. */
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

static bool contains(const char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i], text))
            return true;
    return false;
}

int rest_check_fields(struct rest *rest, const struct json *object, const struct json *old,
                      struct err *err)
{
    const struct registry_resource *resource = rest->route.resource;
    const struct field_schema *schema = field_schema_of(resource->api_version, resource->id.kind);
    const char *mode = rest_query(rest, "fieldValidation");
    const char *complaints[FIELD_SCHEMA_REPORT_MAX], *before[FIELD_SCHEMA_REPORT_MAX];
    if (!schema || str_eq(mode, "Ignore"))
        return 0;
    size_t old_count = old ? field_schema_unknown(rest->arena, schema, old, before) : 0;
    size_t count = field_schema_unknown(rest->arena, schema, object, complaints);
    for (size_t i = 0; i < count; i++) {
        if (contains(before, old_count, complaints[i]))
            continue;
        if (str_eq(mode, "Strict"))
            return err_set(err, ERR_BAD_REQUEST, "strict decoding error: %s", complaints[i]);
        http_header_add(
            rest->arena, &rest->warnings, "Warning",
            arena_printf(rest->arena, "299 - \"%s\"", quote(rest->arena, complaints[i])));
    }
    return 0;
}
