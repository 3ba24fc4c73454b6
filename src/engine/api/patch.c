/* Handles PATCH: patches the newest version of an object, pending writes included, and stores the
 * result like an update. No other request can change the object between the read and the write. So
 * a patch fails because of another client's write only if the patch itself checks the old object,
 * for example by a resourceVersion or by the operation "test" of a JSON patch. */
#include "kube/patch/patch.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "kube/object.h"
#include "kube/schema/json_syntax_error.h"

/* Sets *ret to the type of the patch. Returns -ERR_MEDIA_TYPE if the Content-Type is no patch type.
 */
static int patch_type(struct api_call *call, enum kube_patch_type *ret, struct err *err)
{
    const char *type = http_header_get(call->exchange->request->headers, "Content-Type");
    if (kube_patch_type_parse(type, ret, NULL) == 0)
        return 0;
    call->about_nothing = true;
    return err_set(err, ERR_MEDIA_TYPE, "415: Unsupported Media Type");
}

/* Checks that the patch is a JSON array or object, as its type requires. The message for a
 * strategic patch has no prefix "error decoding patch", as in Kubernetes. */
static int check_form(struct api_call *call, enum kube_patch_type form, const struct json *patch,
                      struct err *err)
{
    static const char map[] = "map[string]interface {}", maps[] = "[]map[string]interface {}";
    const char *why = NULL;
    if (form != KUBE_PATCH_JSON && patch->type != JSON_OBJECT)
        why = kube_json_type_error(call->arena, patch, map);
    if (form == KUBE_PATCH_JSON && patch->type != JSON_ARRAY)
        why = kube_json_type_error(call->arena, patch, maps);
    if (form == KUBE_PATCH_JSON && !why)
        JSON_EACH (operation, patch) {
            if (operation->type != JSON_OBJECT)
                why = kube_json_type_error(call->arena, operation, map);
        }
    if (!why)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "%s%s",
                   form == KUBE_PATCH_STRATEGIC ? "" : "error decoding patch: ", why);
}

/* Reads the body as a patch of this type. */
static int read_patch(struct api_call *call, enum kube_patch_type form, struct json **ret,
                      struct err *err)
{
    int result = api_read_json(call, ret, err);
    if (result == 0)
        return check_form(call, form, *ret, err);
    return form == KUBE_PATCH_STRATEGIC ? result : err_wrap(err, "error decoding patch");
}

int api_patch_object(struct api_call *call, const struct json *present,
                     const struct schema_object *type, struct json **ret, struct err *err)
{
    enum kube_patch_type form;
    struct json *body, *object;
    int result = patch_type(call, &form, err);
    if (result == 0)
        result = read_patch(call, form, &body, err);
    if (result < 0)
        return result;
    result = kube_patch_apply(call->arena, form, present, body, type, &object, err);
    if (result < 0 && form == KUBE_PATCH_JSON && result != -ERR_TOO_LARGE) {
        /* As in Kubernetes, the message does not say which operation failed or why. */
        call->about_nothing = true;
        return err_set(err, ERR_INVALID,
                       "the server rejected our request due to an error in our request");
    }
    if (result < 0)
        return result;
    if (object->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "the result of the patch is not an object");
    call->patched = body;
    *ret = object;
    return 0;
}

/* Sets *ret to the patched object, prepared for the store. */
static int patch_apply(struct api_call *call, const struct json *old, struct json **ret,
                       struct err *err)
{
    const struct kube_kind *resource = call->route.resource;
    struct json *object;
    bool typed = resource->form == SCHEMA_FORM_TYPED;
    int result = api_patch_object(call, old, typed ? resource->schema : NULL, &object, err);
    if (result < 0)
        return result;
    const char *version = arena_strdup(call->arena, json_get_string(object, "apiVersion", ""));
    if (!str_eq(json_get_string(object, "kind", ""), resource->id.kind) ||
        (!str_eq(version, resource->api_version) && !str_eq(version, api_call_version(call))))
        return api_reject_patch(
            call, object,
            api_no_conversion_text(call, json_get_string(object, "kind", ""), version), err);
    api_convert_in(call, call->arena, object);
    result = api_prepare_update(call, object, old, err);
    if (result < 0)
        return result;
    *ret = object;
    return 0;
}

void api_handle_patch(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *old = NULL, *object = NULL;
    int64_t revision;
    enum kube_patch_type type;
    if (api_is_apply(call)) {
        api_handle_apply(call);
        return;
    }
    /* An unsupported patch type is reported before a missing object, as in Kubernetes. */
    if (patch_type(call, &type, &err) < 0 ||
        api_load(call, call->route.name, &old, &revision, &err) < 0 ||
        patch_apply(call, old, &object, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    api_commit(call, object, old, revision, 200);
}
