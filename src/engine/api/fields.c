/* Reading what a client sent as an object of the kind. Fields that are misspelt or have no effect:
 * `Warning: 299 - "unknown field …"`, which kubectl prints, or a refusal of the misspelt ones where
 * the client asks for strictness. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/object.h"
#include "kube/status.h"

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

/* For the reader of YAML they are one error of many lines. */
const char *rest_repeats_text(struct rest *rest)
{
    const char *separator = rest->yaml ? "\n  " : ", ";
    _cleanup_buf_ struct buf all;
    buf_init(&all, SCHEMA_COMPLAINTS_MAX * 8192);
    if (rest->yaml && rest->repeats.count > 0)
        buf_append_str(&all, "yaml: unmarshal errors:\n  ");
    for (size_t i = 0; i < rest->repeats.count; i++)
        buf_printf(&all, "%s%s", i ? separator : "", rest->repeats.texts[i]);
    return arena_strdup(rest->arena, all.size ? all.data : "");
}

/* All of them in one sentence, in the words of upstream, which clients may look for. */
static const char *strict_text(struct rest *rest)
{
    static const char begin[] = "strict decoding error: ";
    _cleanup_buf_ struct buf all;
    buf_init(&all, SCHEMA_COMPLAINTS_MAX * 2 * 8192);
    buf_append_str(&all, begin);
    buf_append_str(&all, rest_repeats_text(rest));
    for (size_t i = 0; i < rest->unknown->unknown_count; i++)
        buf_printf(&all, "%sunknown field \"%s\"", i + rest->repeats.count ? ", " : "",
                   rest->unknown->unknown[i].path);
    return arena_strdup(rest->arena, all.data);
}

/* A long one does not fit an err; respond.c writes it in full. */
const char *rest_unknown_text(struct rest *rest)
{
    const struct kube_resource *id = &rest->route.resource->id;
    return arena_printf(rest->arena, "%s in version \"%s\" cannot be handled as a %s: %s", id->kind,
                        id->version, id->kind, strict_text(rest));
}

/* A guess at what was meant: kubectl does not print these, so that what it prints is upstream's. */
struct json *rest_unknown_causes(struct rest *rest)
{
    struct json *causes = json_array(rest->arena);
    for (size_t i = 0; i < rest->unknown->unknown_count; i++) {
        const struct schema_unknown *field = &rest->unknown->unknown[i];
        if (field->meant)
            kube_status_add_cause(rest->arena, causes, "FieldValueNotSupported", field->path,
                                  arena_printf(rest->arena, "did you mean \"%s\"?", field->meant));
    }
    return causes;
}

/* What `old` already had that has no effect was told to who wrote it. */
static void warn_unsupported(struct rest *rest, const struct schema_complaints *now,
                             const struct json *old)
{
    const struct kube_kind *resource = rest->route.resource;
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
    const struct kube_kind *resource = rest->route.resource;
    const char *mode = rest_query(rest, "fieldValidation");
    struct schema_report *report = ARENA_NEW(rest->arena, struct schema_report);
    const struct json *sent = rest->patched ? json_clone(rest->arena, object) : NULL;
    if (resource->hooks.refuse)
        resource->hooks.refuse(&rest->invalid, object);
    if (rest->invalid.count > 0) {
        rest->about_name = kube_meta_name(object);
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    }
    int r = schema_decode(rest->arena, resource->schema, resource->form, object, report, err);
    /* A patch is refused with what it would have made. */
    if (r < 0 && rest->patched)
        return rest_refuse_patch(rest, sent, arena_strdup(rest->arena, err->message), err);
    if (r < 0)
        return err_wrap(err, "%s in version \"%s\" cannot be handled as a %s", resource->id.kind,
                        resource->id.version, resource->id.kind);
    if (str_eq(mode, "Strict") && report->unknown_count + rest->repeats.count > 0) {
        rest->unknown = report;
        if (rest->patched)
            return rest_refuse_patch(rest, sent, strict_text(rest), err);
        return err_set(err, ERR_BAD_REQUEST, "%s", rest_unknown_text(rest));
    }
    for (size_t i = 0; i < rest->repeats.count && !str_eq(mode, "Ignore"); i++)
        rest_warn(rest, rest->repeats.texts[i]);
    for (size_t i = 0; i < report->unknown_count && !str_eq(mode, "Ignore"); i++)
        rest_warn(rest, arena_printf(rest->arena, "unknown field \"%s\"", report->unknown[i].path));
    warn_unsupported(rest, &report->unsupported, old);
    json_ensure_object(rest->arena, object, "metadata");
    return 0;
}
