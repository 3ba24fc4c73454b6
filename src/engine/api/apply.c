/* Handles PATCH with application/apply-patch+yaml: server-side apply. Stores the result like an
 * update, or like a create if the object does not exist; see write.h. */
#include "kube/patch/apply.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "kube/object.h"
#include "kube/status.h"

#include <string.h>
#include <strings.h>

bool api_is_apply(const struct api_call *call)
{
    static const char apply_type[] = "application/apply-patch+yaml";
    const char *type = http_header_get(call->exchange->request->headers, "Content-Type");
    size_t size = type ? strcspn(type, "; \t") : 0;
    return size == sizeof(apply_type) - 1 && strncasecmp(type, apply_type, size) == 0;
}

/* ---- The applied object ---------------------------------------------------------------------- */

/* Checks kind and apiVersion. Unlike other bodies, the body of an apply must have both. */
static int apply_check_kind(struct api_call *call, const struct json *config, struct err *err)
{
    const char *kind = json_get_string(config, "kind", "");
    const char *version = json_get_string(config, "apiVersion", "");
    if (!str_eq(kind, call->route.resource->id.kind) || !str_eq(version, api_call_version(call)))
        return err_set(err, ERR_BAD_REQUEST, "invalid object type: %s%.100s, Kind=%.100s",
                       strchr(version, '/') ? "" : "/", version, kind);
    return 0;
}

/* Reads the body: the configuration, an object with only the fields that the client wants to set.
 */
static int read_config(struct api_call *call, struct json **ret, struct err *err)
{
    struct json *config;
    int result = api_parse_yaml(call, &config, err);
    if (result == 0)
        result = apply_check_kind(call, config, err);
    if (result < 0)
        return result;
    const struct json *fields = json_at(config, "metadata", "managedFields", NULL);
    if (fields && fields->type != JSON_NULL)
        return err_set(err, ERR_BAD_REQUEST, "metadata.managedFields must be nil");
    api_convert_in(call, call->arena, config);
    *ret = config;
    return 0;
}

/* ---- Applying -------------------------------------------------------------------------------- */

/* Loads the stored object. If no such object exists, sets *ret to NULL, or returns -ERR_NOT_FOUND
 * if the request is for a subresource. */
static int apply_load(struct api_call *call, struct json **ret, int64_t *ret_revision,
                      struct err *err)
{
    struct err missing = ERR_INIT;
    int result = api_load(call, call->route.name, ret, ret_revision, &missing);
    if (result == -ERR_NOT_FOUND && call->route.sub == SUB_NONE) {
        *ret = NULL;
        *ret_revision = 0;
        return 0;
    }
    return result < 0 ? err_set(err, missing.code, "%s", missing.message) : 0;
}

/* Returns -ERR_BAD_REQUEST if the body has duplicate fields and the request has
 * fieldValidation=Strict. As in Kubernetes, an apply with conflicts and duplicate fields fails
 * because of the conflicts, so this function runs after apply_config(). */
static int check_duplicates(struct api_call *call, struct err *err)
{
    if (call->duplicates.count == 0 || !str_eq(api_query(call, "fieldValidation"), "Strict"))
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "error strict decoding YAML: error converting YAML to JSON: %s",
                   api_duplicates_text(call));
}

/* Prepares `object`, the result of the apply, for the store. */
static int apply_prepare(struct api_call *call, struct json *object, const struct json *old,
                         struct err *err)
{
    call->applied = json_clone(call->arena, object);
    if (old)
        return api_prepare_update(call, object, old, err);
    /* A resourceVersion is ignored if the object does not exist, as in Kubernetes. */
    json_remove(json_ensure_object(call->arena, object, "metadata"), "resourceVersion");
    if (kube_meta_name(object)[0] == '\0')
        kube_meta_set_name(call->arena, object, call->route.name);
    if (!str_eq(kube_meta_name(object), call->route.name))
        return err_set(err, ERR_BAD_REQUEST,
                       "the name of the object (%.253s) does not match the name on the URL (%s)",
                       kube_meta_name(object), call->route.name);
    return api_prepare_create(call, object, err);
}

void api_respond_conflicts(struct api_call *call, const struct err *err,
                           const struct apply_conflicts *conflicts)
{
    const struct kube_status_details details = {.causes = conflicts->causes};
    struct json *status = kube_status_from_err(call->arena, err, &details);
    json_set_string(call->arena, status, "message", conflicts->message);
    api_respond_json(call, err_info(err->code)->http_status, status);
}

void api_handle_apply(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *old = NULL, *config, *object;
    struct apply_conflicts conflicts = {0};
    int64_t revision = 0;
    if (api_check_field_manager(call, true, &err) < 0 ||
        apply_load(call, &old, &revision, &err) < 0 || read_config(call, &config, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    const struct managed_write write = api_managed_write(call);
    bool force = http_query_flag(call->exchange->request->query, "force");
    int result = apply_config(call->arena, &write, old, config, force, &object, &conflicts, &err);
    if (result == -ERR_CONFLICT)
        api_respond_conflicts(call, &err, &conflicts);
    else if (result < 0 || check_duplicates(call, &err) < 0 ||
             apply_prepare(call, object, old, &err) < 0)
        api_respond_error(call, &err);
    else
        api_commit(call, object, old, revision, old ? 200 : 201);
}
