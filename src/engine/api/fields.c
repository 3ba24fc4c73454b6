/* Decodes an object from a client by the schema of its kind; see call.h. A warning is a header such
 * as `Warning: 299 - "unknown field …"`, which kubectl prints. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/write.h"
#include "kube/object.h"
#include "kube/status.h"

/* Returns the text as a quoted-string for a Warning header (RFC 7234). */
static const char *fields_quote(struct arena *arena, const char *text)
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

void api_warn(struct api_call *call, const char *text)
{
    http_header_add(call->arena, &call->warnings, "Warning",
                    arena_printf(call->arena, "299 - \"%s\"", fields_quote(call->arena, text)));
}

/* Returns whether `before` lacks the text. */
static bool is_new(const struct schema_messages *before, const char *text)
{
    for (size_t i = 0; i < before->count; i++)
        if (str_eq(before->texts[i], text))
            return false;
    return true;
}

/* For a YAML body, Kubernetes reports all duplicates in one error of several lines. */
const char *api_duplicates_text(struct api_call *call)
{
    const char *separator = call->yaml ? "\n  " : ", ";
    _cleanup_buf_ struct buf all;
    buf_init(&all, SCHEMA_MESSAGES_MAX * 8192);
    if (call->yaml && call->duplicates.count > 0)
        buf_append_str(&all, "yaml: unmarshal errors:\n  ");
    for (size_t i = 0; i < call->duplicates.count; i++)
        buf_printf(&all, "%s%s", i ? separator : "", call->duplicates.texts[i]);
    return arena_strdup(call->arena, all.size ? all.data : "");
}

/* Returns Kubernetes' message with all duplicate and unknown fields. Clients may search the message
 * for Kubernetes' words. */
static const char *strict_text(struct api_call *call)
{
    static const char begin[] = "strict decoding error: ";
    _cleanup_buf_ struct buf all;
    buf_init(&all, SCHEMA_MESSAGES_MAX * 2 * 8192);
    buf_append_str(&all, begin);
    buf_append_str(&all, api_duplicates_text(call));
    for (size_t i = 0; i < call->unknown->unknown_count; i++)
        buf_printf(&all, "%sunknown field \"%s\"", i + call->duplicates.count ? ", " : "",
                   call->unknown->unknown[i].path);
    return arena_strdup(call->arena, all.data);
}

const char *api_unknown_fields_text(struct api_call *call)
{
    const struct kube_resource *id = &call->route.resource->id;
    return arena_printf(call->arena, "%s in version \"%s\" cannot be handled as a %s: %s", id->kind,
                        id->version, id->kind, strict_text(call));
}

/* kubectl does not print these causes, so its output is the same as with Kubernetes. */
struct json *api_unknown_fields_causes(struct api_call *call)
{
    struct json *causes = json_array(call->arena);
    for (size_t i = 0; i < call->unknown->unknown_count; i++) {
        const struct schema_unknown *field = &call->unknown->unknown[i];
        if (field->meant)
            kube_status_add_cause(call->arena, causes, "FieldValueNotSupported", field->path,
                                  arena_printf(call->arena, "did you mean \"%s\"?", field->meant));
    }
    return causes;
}

/* Warns about the fields without effect in `messages`, except those that `old` has. The client that
 * wrote `old` was warned about these. */
static void warn_unsupported(struct api_call *call, const struct schema_messages *messages,
                             const struct json *old)
{
    const struct kube_kind *resource = call->route.resource;
    struct schema_report before = {0};
    if (messages->count > 0 && old)
        (void)schema_decode(call->arena, resource->schema, resource->form,
                            json_clone(call->arena, old), &before, NULL);
    for (size_t i = 0; i < messages->count; i++)
        if (is_new(&before.unsupported, messages->texts[i]))
            api_warn(call, messages->texts[i]);
}

int api_decode(struct api_call *call, struct json *object, const struct json *old, struct err *err)
{
    const struct kube_kind *resource = call->route.resource;
    const char *mode = api_query(call, "fieldValidation");
    struct schema_report *report = ARENA_NEW(call->arena, struct schema_report);
    const struct json *sent = call->patched ? json_clone(call->arena, object) : NULL;
    if (resource->hooks.refuse)
        resource->hooks.refuse(&call->invalid, object);
    if (call->invalid.count > 0) {
        call->about_name = kube_meta_name(object);
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    }
    int result = schema_decode(call->arena, resource->schema, resource->form, object, report, err);
    /* The error message of a patch includes the patched object. */
    if (result < 0 && call->patched)
        return api_reject_patch(call, sent, arena_strdup(call->arena, err->message), err);
    if (result < 0)
        return err_wrap(err, "%s in version \"%s\" cannot be handled as a %s", resource->id.kind,
                        resource->id.version, resource->id.kind);
    if (str_eq(mode, "Strict") && report->unknown_count + call->duplicates.count > 0) {
        call->unknown = report;
        if (call->patched)
            return api_reject_patch(call, sent, strict_text(call), err);
        return err_set(err, ERR_BAD_REQUEST, "%s", api_unknown_fields_text(call));
    }
    for (size_t i = 0; i < call->duplicates.count && !str_eq(mode, "Ignore"); i++)
        api_warn(call, call->duplicates.texts[i]);
    for (size_t i = 0; i < report->unknown_count && !str_eq(mode, "Ignore"); i++)
        api_warn(call, arena_printf(call->arena, "unknown field \"%s\"", report->unknown[i].path));
    warn_unsupported(call, &report->unsupported, old);
    json_ensure_object(call->arena, object, "metadata");
    return 0;
}
