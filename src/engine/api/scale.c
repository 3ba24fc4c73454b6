/* GET, PUT and PATCH of NAME/scale: the number of replicas of an object as an autoscaling/v1 Scale,
 * so that `kubectl scale` and whoever else scales need not know the kind. Where the number stands
 * in an object is a row of the registry; nothing here knows a kind. */
#include "kube/kinds/scale.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/kinds/meta.h"
#include "kube/object.h"
#include "kube/patch/apply.h"
#include "kube/schema/validate.h"
#include "kube/types/types.h"

#include <inttypes.h>
#include <string.h>

/* What errors about the number are about: the Scale, not the object below it. */
static const struct kube_kind SCALE = {
    .id = {.group = "autoscaling",
           .version = "v1",
           .plural = "scales",
           .kind = "Scale",
           .namespaced = true},
    .api_version = "autoscaling/v1",
};

static const struct kube_scale_paths *scale_of(const struct rest *rest)
{
    return kube_subresource(rest->route.resource, "scale")->scale;
}

/* ---- The number in the object ---------------------------------------------------------------- */

static struct json *find_member(const struct json *object, const char *name, bool any_case)
{
    struct json *found = json_get(object, name);
    JSON_EACH (member, object) {
        if (!found && any_case && member->name && str_eq_nocase(member->name, name))
            found = member;
    }
    return found;
}

/* The value at a path like "spec.replicas"; NULL where there is none. `ret_parent` (or NULL) is the
 * object it stands in, or would. */
static struct json *find(struct rest *rest, const struct json *object, const char *path,
                         struct json **ret_parent)
{
    size_t count;
    char **names = str_split(rest->arena, path, '.', &count);
    struct json *at = (struct json *)object;
    if (ret_parent)
        *ret_parent = NULL;
    for (size_t i = 0; i < count; i++) {
        if (ret_parent)
            *ret_parent = at && at->type == JSON_OBJECT ? at : NULL;
        at = find_member(at, names[i], str_eq(names[i], scale_of(rest)->any_case));
    }
    return at;
}

/* The names of the members of the object the path's last but one name should have been in. */
static const char *alternatives(struct rest *rest, const struct json *object, const char *path)
{
    const char *last = strrchr(path, '.');
    const char *parent = last ? arena_strndup(rest->arena, path, (size_t)(last - path)) : path;
    const char *text = "";
    last = strrchr(parent, '.');
    parent = last ? arena_strndup(rest->arena, parent, (size_t)(last - parent)) : parent;
    JSON_EACH (member, find(rest, object, parent, NULL)) {
        if (member->name)
            text = arena_printf(rest->arena, "%s%s%s", text, *text ? ", " : "", member->name);
    }
    return *text ? text : "nothing";
}

/* The objects on the way to the number, where they are missing. */
static struct json *make_parent(struct rest *rest, struct json *object, const char *path)
{
    size_t count;
    char **names = str_split(rest->arena, path, '.', &count);
    for (size_t i = 0; i + 1 < count; i++)
        object = json_ensure_object(rest->arena, object, names[i]);
    return object;
}

/* Where the number stands. ERR_BAD_REQUEST for an object without that part: a TFJob of PS only. */
static int find_replicas(struct rest *rest, struct json *object, struct json **ret_parent,
                         const struct json **ret_number, struct err *err)
{
    const char *path = scale_of(rest)->spec_path;
    const struct json *number = find(rest, object, path, ret_parent);
    if (!*ret_parent && scale_of(rest)->makes_spec)
        *ret_parent = make_parent(rest, object, path);
    if (!*ret_parent)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s \"%s\" cannot be scaled: it has no %s, only %s; change the replicas in "
                       "the object itself",
                       rest->route.resource->singular, rest->route.name, path,
                       alternatives(rest, object, path));
    *ret_number = number && number->type == JSON_INT ? number : NULL;
    return 0;
}

/* ---- The Scale ------------------------------------------------------------------------------- */

/* A selector is text already, or an object as that of a Deployment. */
static const char *selector_text(struct rest *rest, const struct json *value)
{
    struct kube_selector selector;
    if (value && value->type == JSON_OBJECT &&
        kube_selector_from_json(rest->arena, value, &selector, NULL) == 0)
        return kube_selector_text(rest->arena, &selector);
    return json_text(value);
}

/* One replica is what all that can be scaled have where they say nothing. */
static int make_scale(struct rest *rest, struct json *object, struct json **ret, struct err *err)
{
    static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion",
                                       "creationTimestamp"};
    const struct kube_scale_paths *scale = scale_of(rest);
    struct arena *arena = rest->arena;
    struct json *parent;
    const struct json *number;
    int r = find_replicas(rest, object, &parent, &number, err);
    if (r < 0)
        return r;
    struct json *made = json_object(arena);
    json_set_string(arena, made, "kind", KUBE_SCALES.kind);
    json_set_string(arena, made, "apiVersion", SCALE.api_version);
    struct json *meta = json_ensure_object(arena, made, "metadata");
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
        const struct json *value = json_get(json_get(object, "metadata"), kept[i]);
        if (value)
            json_set(arena, meta, kept[i], json_clone(arena, value));
    }
    struct json *spec = json_ensure_object(arena, made, "spec");
    int64_t replicas = number ? number->integer : scale->makes_spec ? 0 : 1;
    if (replicas != 0) /* which clients written in Go read as left out */
        json_set_int(arena, spec, "replicas", replicas);
    struct json *status = json_ensure_object(arena, made, "status");
    const struct json *active = find(rest, object, scale->status_path, NULL);
    json_set_int(arena, status, "replicas",
                 active && active->type == JSON_INT ? active->integer : 0);
    const char *selector = scale->selector_path
                               ? selector_text(rest, find(rest, object, scale->selector_path, NULL))
                               : NULL;
    if (!str_is_empty(selector))
        json_set_string(arena, status, "selector", selector);
    *ret = made;
    return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int check_kind(const struct json *scale, bool applies, struct err *err)
{
    if (applies && (!json_get(scale, "kind") || !json_get(scale, "apiVersion")))
        return err_set(err, ERR_BAD_REQUEST,
                       "what is applied must have an apiVersion and a kind: \"%s\" and \"%s\"",
                       SCALE.api_version, KUBE_SCALES.kind);
    const char *kind = json_get_string(scale, "kind", KUBE_SCALES.kind);
    const char *version = json_get_string(scale, "apiVersion", SCALE.api_version);
    if (!str_eq(kind, KUBE_SCALES.kind) || !str_eq(version, SCALE.api_version))
        return err_set(
            err, ERR_BAD_REQUEST,
            "%.100s in version \"%.100s\" cannot be handled as a Scale of version \"%s\"", kind,
            version, SCALE.api_version);
    return 0;
}

/* What the client wants the Scale to be: its body, or the present one with its patch. Of an apply
 * it is what is applied, and an apply says what it is of. */
static int read_wanted(struct rest *rest, const struct json *present, bool applies,
                       struct json **ret, struct err *err)
{
    int r;
    if (applies) {
        r = rest_parse_yaml(rest, ret, err);
    } else if (rest->route.verb == VERB_PATCH) {
        r = rest_read_patched(rest, present, &TYPE_SCALE, ret, err);
    } else {
        *ret = NULL;
        r = rest_read_any(rest, "Scale", ret, err);
        if (r == 0 && !*ret)
            r = err_set(err, ERR_BAD_REQUEST, "the request has no body; it must be a Scale");
    }
    if (r < 0)
        return r;
    r = check_kind(*ret, applies, err);
    if (r < 0)
        return r;
    r = schema_decode(rest->arena, &TYPE_SCALE, SCHEMA_FORM_TYPED, *ret, NULL, err);
    if (r < 0)
        return err_wrap(err, "Scale in version \"v1\" cannot be handled as a Scale");
    return r < 0 ? r : rest_check_identity(rest, *ret, present, err);
}

/* Clients written in Go leave out a number that is 0. */
static int read_number(struct rest *rest, const struct json *scale, int64_t *ret, struct err *err)
{
    const struct json *number = json_at(scale, "spec", "replicas", NULL);
    if (number && number->integer < 0)
        field_invalid(&rest->invalid, "spec.replicas", number,
                      "must be greater than or equal to 0");
    if (rest->invalid.count > 0) {
        rest->about_resource = &SCALE;
        return err_set(err, ERR_INVALID, "Scale is invalid");
    }
    *ret = number ? number->integer : 0;
    return 0;
}

/* The path to the number, as this object writes it. */
static char **names_in(struct rest *rest, const struct json *object, size_t *ret_count)
{
    const struct kube_scale_paths *scale = scale_of(rest);
    char **names = str_split(rest->arena, scale->spec_path, '.', ret_count);
    for (size_t i = 0; i < *ret_count && object; i++) {
        object = find_member(object, names[i], str_eq(names[i], scale->any_case));
        if (object)
            names[i] = arena_strdup(rest->arena, object->name);
    }
    return names;
}

/* Who scales owns the number, and nothing else. */
static void track(struct rest *rest, struct json *object)
{
    const struct managed_write write = rest_managed_write(rest);
    size_t count;
    char **names = names_in(rest, object, &count);
    managed_fields_move(rest->arena, &write, object, (const char *const *)names);
}

/* As any other change of the object is. */
static int check_object(struct rest *rest, struct json *object, const struct json *old,
                        struct err *err)
{
    const struct kube_kind *resource = rest->route.resource;
    const struct registry_hooks *hooks = rest_hooks(rest);
    meta_prepare_update(rest->arena, resource, object, old);
    if (resource->hooks.validate)
        resource->hooks.validate(&rest->invalid, object, old);
    if (resource->whole)
        schema_validate_value(&rest->invalid, resource->whole, "", object);
    if (rest->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", resource->id.kind);
    return hooks->admit ? hooks->admit(rest, object, old, err) : 0;
}

static int set_number(struct rest *rest, struct json *object, int64_t replicas, struct err *err)
{
    struct json *parent;
    const struct json *number;
    int r = find_replicas(rest, object, &parent, &number, err);
    if (r < 0)
        return r;
    const char *path = scale_of(rest)->spec_path;
    const char *name = strrchr(path, '.');
    bool changes = !number || number->integer != replicas;
    json_set_int(rest->arena, parent, name ? name + 1 : path, replicas);
    if (changes)
        track(rest, object);
    return 0;
}

/* What is applied to a Scale is applied to the object: its number, and nothing else. */
static int apply_number(struct rest *rest, const struct json *old, int64_t replicas,
                        struct json **ret, struct apply_conflicts *ret_conflicts, struct err *err)
{
    struct arena *arena = rest->arena;
    struct json *config = json_object(arena), *at = config;
    size_t count;
    char **names = names_in(rest, old, &count);
    for (size_t i = 0; i + 1 < count; i++)
        at = json_ensure_object(arena, at, names[i]);
    json_set_int(arena, at, names[count - 1], replicas);
    const struct managed_write write = rest_managed_write(rest);
    bool force = http_query_flag(rest->exchange->request->query, "force");
    return apply_config(arena, &write, old, config, force, ret, ret_conflicts, err);
}

/* The object as it is to be, in *ret. */
static int rescale(struct rest *rest, const struct json *old, const struct json *present,
                   struct json **ret, struct apply_conflicts *ret_conflicts, struct err *err)
{
    bool applies = rest->route.verb == VERB_PATCH && rest_is_apply(rest);
    struct json *wanted;
    int64_t replicas = 0;
    int r = rest_check_manager(rest, applies, err);
    if (r == 0)
        r = read_wanted(rest, present, applies, &wanted, err);
    if (r == 0)
        r = read_number(rest, wanted, &replicas, err);
    if (r < 0)
        return r;
    *ret = json_clone(rest->arena, old);
    r = applies ? apply_number(rest, old, replicas, ret, ret_conflicts, err)
                : set_number(rest, *ret, replicas, err);
    return r < 0 ? r : check_object(rest, *ret, old, err);
}

/* Who only looks sees what is on disk; who writes starts from what is about to be. */
static int load(struct rest *rest, struct json **ret, int64_t *ret_revision, struct err *err)
{
    if (rest->route.verb != VERB_GET)
        return rest_load(rest, rest->route.name, ret, ret_revision, err);
    const char *key =
        registry_key(rest->arena, rest->route.resource, rest->route.namespace_, rest->route.name);
    struct store_object *stored = store_get(engine_store(rest->engine), key);
    if (!stored)
        return rest_not_found(rest, rest->route.name, err);
    int r = stored_read(rest->arena, stored, ret, err);
    *ret_revision = stored->revision;
    store_object_unref(stored);
    return r;
}

/* Store the object and answer with its Scale as it will then be. */
static void commit(struct rest *rest, struct json *object, int64_t revision)
{
    struct store *store = engine_store(rest->engine);
    struct err err = ERR_INIT;
    struct json *answer;
    if (!rest->dry_run)
        json_set(rest->arena, json_get(object, "metadata"), "resourceVersion",
                 json_stringf(rest->arena, "%" PRId64, store_next_revision(store)));
    if (make_scale(rest, object, &answer, &err) < 0)
        rest_respond_error(rest, &err);
    else
        rest_commit_answer(rest, object, revision, 200, answer);
}

void rest_scale(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *old = NULL, *present = NULL;
    int64_t revision = 0;
    if (load(rest, &old, &revision, &err) < 0 ||
        make_scale(rest, json_clone(rest->arena, old), &present, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    if (rest->route.verb == VERB_GET) {
        rest_respond_json(rest, 200, present);
        return;
    }
    struct json *object;
    struct apply_conflicts conflicts = {0};
    int r = rescale(rest, old, present, &object, &conflicts, &err);
    if (conflicts.causes)
        rest_respond_conflicts(rest, &err, &conflicts);
    else if (r < 0)
        rest_respond_error(rest, &err);
    else if (json_equal(object, old) && revision <= store_revision(engine_store(rest->engine)))
        rest_respond_json(rest, 200, present); /* a write that changes nothing is none */
    else
        commit(rest, object, revision);
}
