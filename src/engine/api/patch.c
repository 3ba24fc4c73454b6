/* PATCH: the newest version, pending ones included, is patched and goes the way of an update. Since
 * no other request can come between reading and queueing, a patch never loses a race. */
#include "kube/patch/patch.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/object.h"
#include "kube/schema/json_complaint.h"

static int patch_type(struct rest *rest, enum kube_patch_type *ret, struct err *err)
{
    const char *type = http_header_get(rest->exchange->request->headers, "Content-Type");
    if (kube_patch_type_parse(type, ret, NULL) == 0)
        return 0;
    rest->about_nothing = true;
    return err_set(err, ERR_MEDIA_TYPE, "415: Unsupported Media Type");
}

/* What a patch must be at the least. A strategic one is complained of without saying what it is, as
 * upstream. */
static int check_form(struct rest *rest, enum kube_patch_type form, const struct json *patch,
                      struct err *err)
{
    static const char map[] = "map[string]interface {}", maps[] = "[]map[string]interface {}";
    const char *why = NULL;
    if (form != KUBE_PATCH_JSON && patch->type != JSON_OBJECT)
        why = kube_json_mismatch(rest->arena, patch, map);
    if (form == KUBE_PATCH_JSON && patch->type != JSON_ARRAY)
        why = kube_json_mismatch(rest->arena, patch, maps);
    if (form == KUBE_PATCH_JSON && !why)
        JSON_EACH (operation, patch) {
            if (operation->type != JSON_OBJECT)
                why = kube_json_mismatch(rest->arena, operation, map);
        }
    if (!why)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "%s%s",
                   form == KUBE_PATCH_STRATEGIC ? "" : "error decoding patch: ", why);
}

static int read_patch(struct rest *rest, enum kube_patch_type form, struct json **ret,
                      struct err *err)
{
    int r = rest_read_json(rest, ret, err);
    if (r == 0)
        return check_form(rest, form, *ret, err);
    return form == KUBE_PATCH_STRATEGIC ? r : err_wrap(err, "error decoding patch");
}

int rest_read_patched(struct rest *rest, const struct json *present,
                      const struct schema_object *type, struct json **ret, struct err *err)
{
    enum kube_patch_type form;
    struct json *body, *object;
    int r = patch_type(rest, &form, err);
    if (r == 0)
        r = read_patch(rest, form, &body, err);
    if (r < 0)
        return r;
    r = kube_patch_apply(rest->arena, form, present, body, type, &object, err);
    if (r < 0 && form == KUBE_PATCH_JSON && r != -ERR_TOO_LARGE) {
        /* Kubernetes does not say which operation it was, and why. */
        rest->about_nothing = true;
        return err_set(err, ERR_INVALID,
                       "the server rejected our request due to an error in our request");
    }
    if (r < 0)
        return r;
    if (object->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "the patch does not leave an object");
    rest->patched = body;
    *ret = object;
    return 0;
}

static int patch(struct rest *rest, const struct json *old, struct json **ret, struct err *err)
{
    const struct kube_kind *resource = rest->route.resource;
    struct json *object;
    bool typed = resource->form == SCHEMA_FORM_TYPED;
    int r = rest_read_patched(rest, old, typed ? resource->schema : NULL, &object, err);
    if (r < 0)
        return r;
    const char *version = arena_strdup(rest->arena, json_get_string(object, "apiVersion", ""));
    if (!str_eq(json_get_string(object, "kind", ""), resource->id.kind) ||
        (!str_eq(version, resource->api_version) && !str_eq(version, rest_api_version(rest))))
        return rest_refuse_patch(
            rest, object, rest_no_conversion(rest, json_get_string(object, "kind", ""), version),
            err);
    rest_convert_in(rest, rest->arena, object);
    r = rest_prepare_update(rest, object, old, err);
    if (r < 0)
        return r;
    *ret = object;
    return 0;
}

void rest_patch(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *old = NULL, *object = NULL;
    int64_t revision;
    enum kube_patch_type type;
    if (rest_is_apply(rest)) {
        rest_apply(rest);
        return;
    }
    /* A patch nobody reads is told so before the object is looked for, as upstream. */
    if (patch_type(rest, &type, &err) < 0 ||
        rest_load(rest, rest->route.name, &old, &revision, &err) < 0 ||
        patch(rest, old, &object, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    rest_commit(rest, object, old, revision, 200);
}
