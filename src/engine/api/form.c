/* In which form objects are answered: what Accept asks for beyond the media type. A Table is what
 * `kubectl get` prints; metadata alone is what watches over everything need (garbage collectors,
 * controllers by label). */
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/kinds/scale.h"
#include "kube/object.h"
#include "kube/table/table.h"
#include "net/accept.h"

static const char JSON_TYPE[] = "application/json";

static bool is_meta(const struct accept_clause *clause, const char *kind)
{
    return str_eq(clause->as, kind) && str_eq(clause->group, "meta.k8s.io") &&
           (str_eq(clause->version, "v1") || str_eq(clause->version, "v1beta1"));
}

int rest_choose_form(struct rest *rest, struct err *err)
{
    const char *partial = rest->route.verb & (VERB_LIST | VERB_DELETE_COLLECTION)
                              ? "PartialObjectMetadataList"
                              : "PartialObjectMetadata";
    struct accept accept;
    accept_parse(rest->arena, http_header_get(rest->exchange->request->headers, "Accept"), &accept);
    for (size_t i = 0; i < accept.count; i++) {
        const struct accept_clause *clause = &accept.clauses[i];
        if (!accept_clause_takes(clause, JSON_TYPE))
            continue;
        rest->table = is_meta(clause, "Table");
        if (is_meta(clause, partial))
            rest->partial = arena_printf(rest->arena, "meta.k8s.io/%s", clause->version);
        if (rest->table || rest->partial || clause->as[0] == '\0')
            return 0;
    }
    return err_set(err, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: %s",
                   JSON_TYPE);
}

const struct kube_columns *rest_columns(const struct rest *rest)
{
    const struct kube_kind *resource = rest->route.resource;
    if (rest->route.sub == SUB_SCALE)
        return &KUBE_SCALE_COLUMNS;
    return kube_kind_columns(resource);
}

struct json *rest_as_partial(const struct rest *rest, struct arena *arena,
                             const struct json *object)
{
    struct json *partial = json_object(arena);
    json_set_string(arena, partial, "kind", "PartialObjectMetadata");
    json_set_string(arena, partial, "apiVersion", rest->partial);
    json_set(arena, partial, "metadata", json_clone(arena, json_get(object, "metadata")));
    return partial;
}

int rest_formed_begin(struct rest *rest, const struct json *list_meta, struct rest_formed *ret,
                      struct err *err)
{
    struct rest_formed formed = {.rest = rest, .now_ms = loop_wall_ms(engine_loop(rest->engine))};
    int r = kube_include_parse(rest_query(rest, "includeObject"), &formed.include, err);
    if (r < 0)
        return r;
    if (rest->table) {
        formed.list = kube_table_new(rest->arena, rest_columns(rest), list_meta, true);
    } else {
        formed.list = json_object(rest->arena);
        json_set_string(rest->arena, formed.list, "kind", "PartialObjectMetadataList");
        json_set_string(rest->arena, formed.list, "apiVersion", rest->partial);
        json_set(rest->arena, formed.list, "metadata", json_clone(rest->arena, list_meta));
        /* An empty one is null, as upstream. */
        json_set(rest->arena, formed.list, "items", json_null(rest->arena));
    }
    *ret = formed;
    return 0;
}

void rest_formed_add(struct rest_formed *formed, const struct json *object)
{
    struct rest *rest = formed->rest;
    if (rest->table)
        kube_table_add(rest->arena, formed->list, rest_columns(rest), object, formed->include,
                       formed->now_ms);
    else
        json_append(json_ensure_array(rest->arena, formed->list, "items"),
                    rest_as_partial(rest, rest->arena, object));
}
