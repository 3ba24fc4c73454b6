/* Field ownership: sets metadata.managedFields on every create, update and patch; see write.h. The
 * owners are computed from the object that a client sent, after its defaults are set and before the
 * hooks `create` and `assign` add fields, which have no owner. */
#include "kube/patch/managed_fields.h"
#include "base/str.h"
#include "engine/api/write.h"
#include "kube/object.h"

#include <string.h>

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

int api_check_field_manager(struct api_call *call, bool applies, struct err *err)
{
    const char *name = api_query(call, "fieldManager");
    struct json *value = json_string(call->arena, name);
    if (applies && str_is_empty(name))
        field_required(&call->invalid, "fieldManager", "is required for apply patch");
    if (name && strlen(name) > MANAGED_NAME_MAX)
        field_too_long(&call->invalid, "fieldManager", MANAGED_NAME_MAX);
    if (name && !is_printable(name))
        field_invalid(&call->invalid, "fieldManager", value,
                      "should only contain printable characters");
    if (call->route.verb == VERB_PATCH && !applies && api_query(call, "force"))
        field_forbidden(&call->invalid, "force", "may not be specified for non-apply patch");
    return call->invalid.count > 0 ? api_reject_options(call, err) : 0;
}

/* Returns the field manager that the request names, or a name made from its User-Agent. */
static const char *managed_fields_manager(struct api_call *call)
{
    const char *name = api_query(call, "fieldManager");
    if (!str_is_empty(name))
        return name;
    const struct http_header *headers = call->exchange->request->headers;
    return managed_fields_name(call->arena, http_header_get(headers, "User-Agent"));
}

struct managed_write api_managed_write(struct api_call *call)
{
    const struct kube_kind *resource = call->route.resource;
    struct managed_write write = {
        .type = resource->schema,
        .custom = resource->form != SCHEMA_FORM_TYPED,
        .manager = managed_fields_manager(call),
        .api_version = api_call_version(call),
        .subresource = "",
        .now_ms = loop_wall_ms(engine_loop(call->engine)),
    };
    if (kube_kind_has_status(resource))
        write.scope = MANAGED_ALL_BUT_STATUS;
    for (const struct kube_subresource *sub = resource->subresources; sub && sub->id != SUB_NONE;
         sub++)
        if (sub->id == call->route.sub)
            write.subresource = sub->name;
    if (call->route.sub == SUB_STATUS)
        write.scope = MANAGED_STATUS;
    return write;
}

int api_track_fields(struct api_call *call, struct json *object, const struct json *old,
                     struct err *err)
{
    if (call->applied) {
        struct json *meta = json_ensure_object(call->arena, object, "metadata");
        const struct json *fields = json_at(call->applied, "metadata", "managedFields", NULL);
        json_remove(meta, "managedFields");
        if (fields)
            json_set(call->arena, meta, "managedFields", json_clone(call->arena, fields));
        return 0;
    }
    int result = api_check_field_manager(call, false, err);
    if (result < 0)
        return result;
    const struct managed_write write = api_managed_write(call);
    managed_fields_track(call->arena, &write, old, object);
    return 0;
}
