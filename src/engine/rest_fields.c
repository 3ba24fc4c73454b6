/* Reading what a client sent as an object of the kind. Fields that are misspelt or have no effect:
 * `Warning: 299 - "unknown field …"`, which kubectl prints, or a refusal of the misspelt ones where
 * the client asks for strictness. */
#include "base/str.h"
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

void rest_warn(struct rest *rest, const char *text)
{
    http_header_add(rest->arena, &rest->warnings, "Warning",
                    arena_printf(rest->arena, "299 - \"%s\"", quote(rest->arena, text)));
}

/* What of `now` was not so before. */
static bool is_new(const struct schema_complaints *before, const char *text)
{
    for (size_t i = 0; i < before->count; i++)
        if (str_eq(before->texts[i], text))
            return false;
    return true;
}

/* All of them in one sentence, as upstream. */
static int refuse(struct rest *rest, const struct schema_complaints *unknown, struct err *err)
{
    _cleanup_buf_ struct buf all;
    buf_init(&all, 4096);
    for (size_t i = 0; i < unknown->count; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", unknown->texts[i]);
    const struct kube_resource *id = &rest->route.resource->id;
    return err_set(err, ERR_BAD_REQUEST,
                   "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s",
                   id->kind, id->version, id->kind, all.data);
}

/* What `old` already had that has no effect was told to who wrote it. */
static void warn_unsupported(struct rest *rest, const struct schema_complaints *now,
                             const struct json *old)
{
    const struct registry_resource *resource = rest->route.resource;
    struct schema_report before = {0};
    if (now->count > 0 && old)
        (void)schema_decode(rest->arena, resource->schema, resource->form,
                            json_clone(rest->arena, old), &before, NULL);
    for (size_t i = 0; i < now->count; i++)
        if (is_new(&before.unsupported, now->texts[i]))
            rest_warn(rest, now->texts[i]);
}

int rest_decode(struct rest *rest, struct json *object, const struct json *old, struct err *err)
{
    const struct registry_resource *resource = rest->route.resource;
    const char *mode = rest_query(rest, "fieldValidation");
    struct schema_report report;
    int r = schema_decode(rest->arena, resource->schema, resource->form, object, &report, err);
    if (r < 0)
        return err_wrap(err, "%s in version \"%s\" cannot be handled as a %s", resource->id.kind,
                        resource->id.version, resource->id.kind);
    if (str_eq(mode, "Strict") && report.unknown.count > 0)
        return refuse(rest, &report.unknown, err);
    for (size_t i = 0; i < report.unknown.count && !str_eq(mode, "Ignore"); i++)
        rest_warn(rest, report.unknown.texts[i]);
    warn_unsupported(rest, &report.unsupported, old);
    json_ensure_object(rest->arena, object, "metadata");
    return 0;
}
