/* Who writes, and what becomes his by that: metadata.managedFields on every create, update and
 * patch. What a client sent is looked at once it is complete with defaults, and before the server
 * adds what is its own: that is nobody's. */
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/object.h"
#include "kube/patch/managed_fields.h"

#include <string.h>

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

int rest_check_manager(struct rest *rest, bool applies, struct err *err)
{
    const char *name = rest_query(rest, "fieldManager");
    struct json *value = json_string(rest->arena, name);
    if (applies && str_is_empty(name))
        field_required(&rest->invalid, "fieldManager", "is required for apply patch");
    if (name && strlen(name) > MANAGED_NAME_MAX)
        field_too_long(&rest->invalid, "fieldManager", MANAGED_NAME_MAX);
    if (name && !is_printable(name))
        field_invalid(&rest->invalid, "fieldManager", value,
                      "should only contain printable characters");
    if (rest->route.verb == VERB_PATCH && !applies && rest_query(rest, "force"))
        field_forbidden(&rest->invalid, "force", "may not be specified for non-apply patch");
    return rest->invalid.count > 0 ? rest_refuse_options(rest, err) : 0;
}

static const char *manager(struct rest *rest)
{
    const char *name = rest_query(rest, "fieldManager");
    if (!str_is_empty(name))
        return name;
    const struct http_header *headers = rest->exchange->request->headers;
    return managed_fields_name(rest->arena, http_header_get(headers, "User-Agent"));
}

struct managed_write rest_managed_write(struct rest *rest)
{
    const struct kube_kind *resource = rest->route.resource;
    struct managed_write write = {
        .type = resource->schema,
        .custom = resource->form != SCHEMA_FORM_TYPED,
        .manager = manager(rest),
        .api_version = rest_api_version(rest),
        .subresource = "",
        .now_ms = loop_wall_ms(engine_loop(rest->engine)),
    };
    if (kube_kind_has_status(resource))
        write.scope = MANAGED_ALL_BUT_STATUS;
    for (const struct kube_subresource *sub = resource->subresources; sub && sub->id != SUB_NONE;
         sub++)
        if (sub->id == rest->route.sub)
            write.subresource = sub->name;
    if (rest->route.sub == SUB_STATUS)
        write.scope = MANAGED_STATUS;
    return write;
}

int rest_track_fields(struct rest *rest, struct json *object, const struct json *old,
                      struct err *err)
{
    if (rest->applied) {
        struct json *meta = json_ensure_object(rest->arena, object, "metadata");
        const struct json *fields = json_at(rest->applied, "metadata", "managedFields", NULL);
        json_remove(meta, "managedFields");
        if (fields)
            json_set(rest->arena, meta, "managedFields", json_clone(rest->arena, fields));
        return 0;
    }
    int r = rest_check_manager(rest, false, err);
    if (r < 0)
        return r;
    const struct managed_write write = rest_managed_write(rest);
    managed_fields_track(rest->arena, &write, old, object);
    return 0;
}
