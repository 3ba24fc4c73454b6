/* Chooses the form of the objects in a response from the Accept header, and makes responses in this
 * form; see call.h. `kubectl get` prints a Table. Clients that watch all resources, such as garbage
 * collectors, request only the metadata. */
#include "base/str.h"
#include "engine/api/call.h"
#include "kube/kinds/scale.h"
#include "kube/object.h"
#include "kube/table/table.h"
#include "net/accept.h"

static const char JSON_TYPE[] = "application/json";

/* Returns whether the clause requests objects as this kind of meta.k8s.io. */
static bool is_meta(const struct accept_clause *clause, const char *kind)
{
    return str_eq(clause->as, kind) && str_eq(clause->group, "meta.k8s.io") &&
           (str_eq(clause->version, "v1") || str_eq(clause->version, "v1beta1"));
}

int api_choose_form(struct api_call *call, struct err *err)
{
    const char *partial = call->route.verb & (VERB_LIST | VERB_DELETE_COLLECTION)
                              ? "PartialObjectMetadataList"
                              : "PartialObjectMetadata";
    struct accept accept;
    accept_parse(call->arena, http_header_get(call->exchange->request->headers, "Accept"), &accept);
    for (size_t i = 0; i < accept.count; i++) {
        const struct accept_clause *clause = &accept.clauses[i];
        if (!accept_clause_matches(clause, JSON_TYPE))
            continue;
        call->table = is_meta(clause, "Table");
        if (is_meta(clause, partial))
            call->partial = arena_printf(call->arena, "meta.k8s.io/%s", clause->version);
        if (call->table || call->partial || clause->as[0] == '\0')
            return 0;
    }
    return err_set(err, ERR_NOT_ACCEPTABLE, "only the following media types are accepted: %s",
                   JSON_TYPE);
}

const struct kube_columns *api_columns(const struct api_call *call)
{
    const struct kube_kind *resource = call->route.resource;
    if (call->route.sub == SUB_SCALE)
        return &KUBE_SCALE_COLUMNS;
    return kube_kind_columns(resource);
}

struct json *api_as_partial(const struct api_call *call, struct arena *arena,
                            const struct json *object)
{
    struct json *partial = json_object(arena);
    json_set_string(arena, partial, "kind", "PartialObjectMetadata");
    json_set_string(arena, partial, "apiVersion", call->partial);
    json_set(arena, partial, "metadata", json_clone(arena, json_get(object, "metadata")));
    return partial;
}

int api_formed_list_begin(struct api_call *call, const struct json *list_meta,
                          struct api_formed_list *ret, struct err *err)
{
    struct api_formed_list formed = {.call = call,
                                     .now_ms = loop_wall_ms(engine_loop(call->engine))};
    int result = kube_include_parse(api_query(call, "includeObject"), &formed.include, err);
    if (result < 0)
        return result;
    if (call->table) {
        formed.list = kube_table_new(call->arena, api_columns(call), list_meta, true);
    } else {
        formed.list = json_object(call->arena);
        json_set_string(call->arena, formed.list, "kind", "PartialObjectMetadataList");
        json_set_string(call->arena, formed.list, "apiVersion", call->partial);
        json_set(call->arena, formed.list, "metadata", json_clone(call->arena, list_meta));
        /* The items of an empty list are null, as in Kubernetes. */
        json_set(call->arena, formed.list, "items", json_null(call->arena));
    }
    *ret = formed;
    return 0;
}

void api_formed_list_add(struct api_formed_list *formed, const struct json *object)
{
    struct api_call *call = formed->call;
    if (call->table)
        kube_table_add(call->arena, formed->list, api_columns(call), object, formed->include,
                       formed->now_ms);
    else
        json_append(json_ensure_array(call->arena, formed->list, "items"),
                    api_as_partial(call, call->arena, object));
}
