/* PATCH with application/apply-patch+yaml: server-side apply. What came of it goes the way of an
 * update, or of a create where there was nothing. */
#include "kube/patch/apply.h"
#include "base/str.h"
#include "engine/api/call.h"
#include "kube/object.h"
#include "kube/status.h"

#include <string.h>
#include <strings.h>

bool rest_is_apply(const struct rest *rest)
{
    static const char apply_type[] = "application/apply-patch+yaml";
    const char *type = http_header_get(rest->exchange->request->headers, "Content-Type");
    size_t size = type ? strcspn(type, "; \t") : 0;
    return size == sizeof(apply_type) - 1 && strncasecmp(type, apply_type, size) == 0;
}

/* ---- What is applied ------------------------------------------------------------------------- */

/* Unlike in any other body, kind and version must be said. */
static int check_kind(struct rest *rest, const struct json *config, struct err *err)
{
    const char *kind = json_get_string(config, "kind", "");
    const char *version = json_get_string(config, "apiVersion", "");
    if (!str_eq(kind, rest->route.resource->id.kind) || !str_eq(version, rest_api_version(rest)))
        return err_set(err, ERR_BAD_REQUEST, "invalid object type: %s%.100s, Kind=%.100s",
                       strchr(version, '/') ? "" : "/", version, kind);
    return 0;
}

static int read_config(struct rest *rest, struct json **ret, struct err *err)
{
    struct json *config;
    int r = rest_parse_yaml(rest, &config, err);
    if (r == 0)
        r = check_kind(rest, config, err);
    if (r < 0)
        return r;
    const struct json *fields = json_at(config, "metadata", "managedFields", NULL);
    if (fields && fields->type != JSON_NULL)
        return err_set(err, ERR_BAD_REQUEST, "metadata.managedFields must be nil");
    rest_convert_in(rest, rest->arena, config);
    *ret = config;
    return 0;
}

/* ---- Applying -------------------------------------------------------------------------------- */

/* The old version, or NULL where there is none and the object itself is applied. */
static int load(struct rest *rest, struct json **ret, int64_t *ret_revision, struct err *err)
{
    struct err missing = ERR_INIT;
    int r = rest_load(rest, rest->route.name, ret, ret_revision, &missing);
    if (r == -ERR_NOT_FOUND && rest->route.sub == SUB_NONE) {
        *ret = NULL;
        *ret_revision = 0;
        return 0;
    }
    return r < 0 ? err_set(err, missing.code, "%s", missing.message) : 0;
}

/* Who is strict is told of repeated names after conflicts, as upstream; else it is a warning. */
static int check_repeats(struct rest *rest, struct err *err)
{
    if (rest->repeats.count == 0 || !str_eq(rest_query(rest, "fieldValidation"), "Strict"))
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "error strict decoding YAML: error converting YAML to JSON: %s",
                   rest_repeats_text(rest));
}

static int prepare(struct rest *rest, struct json *object, const struct json *old, struct err *err)
{
    rest->applied = json_clone(rest->arena, object);
    if (old)
        return rest_prepare_update(rest, object, old, err);
    /* A version of what is not there is no hindrance, as upstream. */
    json_remove(json_ensure_object(rest->arena, object, "metadata"), "resourceVersion");
    if (kube_meta_name(object)[0] == '\0')
        kube_meta_set_name(rest->arena, object, rest->route.name);
    if (!str_eq(kube_meta_name(object), rest->route.name))
        return err_set(err, ERR_BAD_REQUEST,
                       "the name of the object (%.253s) does not match the name on the URL (%s)",
                       kube_meta_name(object), rest->route.name);
    return rest_prepare_create(rest, object, err);
}

void rest_respond_conflicts(struct rest *rest, const struct err *err,
                            const struct apply_conflicts *conflicts)
{
    const struct kube_status_details details = {.causes = conflicts->causes};
    struct json *status = kube_status_from_err(rest->arena, err, &details);
    json_set_string(rest->arena, status, "message", conflicts->message);
    rest_respond_json(rest, err_info(err->code)->http_status, status);
}

void rest_apply(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *old = NULL, *config, *object;
    struct apply_conflicts conflicts = {0};
    int64_t revision = 0;
    if (rest_check_manager(rest, true, &err) < 0 || load(rest, &old, &revision, &err) < 0 ||
        read_config(rest, &config, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    const struct managed_write write = rest_managed_write(rest);
    bool force = http_query_flag(rest->exchange->request->query, "force");
    int r = apply_config(rest->arena, &write, old, config, force, &object, &conflicts, &err);
    if (r == -ERR_CONFLICT)
        rest_respond_conflicts(rest, &err, &conflicts);
    else if (r < 0 || check_repeats(rest, &err) < 0 || prepare(rest, object, old, &err) < 0)
        rest_respond_error(rest, &err);
    else
        rest_commit(rest, object, old, revision, old ? 200 : 201);
}
