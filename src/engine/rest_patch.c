/* PATCH: the newest version, pending ones included, is patched and goes the way of an update. Since
 * no other request can come between reading and queueing, a patch never loses a race. */
#include "base/str.h"
#include "engine/rest.h"
#include "kube/object.h"
#include "kube/patch.h"

static int patch_type(struct rest *rest, enum kube_patch_type *ret, struct err *err)
{
    const char *type = http_header_get(rest->exchange->request->headers, "Content-Type");
    if (rest_is_apply(rest))
        return err_set(err, ERR_MEDIA_TYPE,
                       "%s is not applied here; apply the object itself, or patch this otherwise",
                       rest->route.sub == SUB_SCALE ? "a Scale" : "this");
    return kube_patch_type_parse(type, ret, err);
}

int rest_read_patched(struct rest *rest, const struct json *present,
                      const struct schema_object *type, struct json **ret, struct err *err)
{
    const struct http_request *request = rest->exchange->request;
    enum kube_patch_type form;
    struct json *body, *object;
    int r = patch_type(rest, &form, err);
    if (r < 0)
        return r;
    r = json_parse(rest->arena, request->body, request->body_size, NULL, &body, err);
    if (r < 0)
        return err_wrap(err, "the patch cannot be read as JSON");
    r = kube_patch_apply(rest->arena, form, present, body, type, &object, err);
    if (r < 0)
        return r;
    if (object->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "the patch does not leave an object");
    *ret = object;
    return 0;
}

static int patch(struct rest *rest, const struct json *old, struct json **ret, struct err *err)
{
    const struct registry_resource *resource = rest->route.resource;
    struct json *object;
    bool typed = resource->form == SCHEMA_FORM_TYPED;
    int r = rest_read_patched(rest, old, typed ? resource->schema : NULL, &object, err);
    if (r < 0)
        return r;
    const char *version = json_get_string(object, "apiVersion", "");
    if (!str_eq(json_get_string(object, "kind", ""), resource->id.kind) ||
        (!str_eq(version, resource->api_version) && !str_eq(version, rest_api_version(rest))))
        return err_set(err, ERR_BAD_REQUEST, "a patch may not change the object's kind or version");
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
