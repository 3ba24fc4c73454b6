/* Parses the labelSelector and fieldSelector of a list, a watch or a deletion of a collection, and
 * compares objects with them; see call.h. */
#include "base/str.h"
#include "engine/api/call.h"
#include "kube/object.h"

/* Returns the text that a field selector compares, as in Kubernetes: a boolean is "true" or
 * "false", and the source of an event is its component. */
static const char *field_get(const struct json *object, const char *path)
{
    if (str_eq(path, "source"))
        path = "source.component";
    if (str_eq(path, "spec.unschedulable"))
        return json_get_bool(json_get(object, "spec"), "unschedulable", false) ? "true" : "false";
    return kube_field_get(object, path);
}

/* Returns -ERR_BAD_REQUEST for a field that clients cannot select. For a kind without selectable
 * fields of its own, the message lists the fields that every kind has, as in Kubernetes. */
static int refuse_field(const struct kube_kind *resource, const char *path, struct err *err)
{
    if (resource->fields || resource->definition)
        return err_set(err, ERR_BAD_REQUEST, "field label not supported: %.100s", path);
    return err_set(err, ERR_BAD_REQUEST,
                   "\"%.100s\" is not a known field selector: only \"metadata.name\", "
                   "\"metadata.namespace\"",
                   path);
}

int api_filter_parse(struct arena *arena, const struct kube_kind *resource,
                     const char *label_selector, const char *field_selector, struct api_filter *ret,
                     struct err *err)
{
    struct api_filter filter = {0};
    int result = kube_selector_parse(arena, label_selector, &filter.labels, err);
    if (result < 0)
        return result;
    result = kube_field_selector_parse(arena, field_selector, &filter.fields, err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < filter.fields.count; i++) {
        const struct kube_field_term *term = &filter.fields.terms[i];
        if (!kube_kind_selects_field(resource, term->path))
            return refuse_field(resource, term->path, err);
        if (term->equal && str_eq(term->path, "metadata.name"))
            filter.name = term->value;
    }
    filter.all = filter.labels.count == 0 && !filter.labels.nothing && filter.fields.count == 0;
    *ret = filter;
    return 0;
}

int api_filter_of(struct api_call *call, struct api_filter *ret, struct err *err)
{
    return api_filter_parse(call->arena, call->route.resource, api_query(call, "labelSelector"),
                            api_query(call, "fieldSelector"), ret, err);
}

bool api_filter_matches(const struct api_filter *filter, const struct json *object)
{
    return filter->all || (kube_selector_matches(&filter->labels, kube_meta_labels(object)) &&
                           kube_field_selector_matches(&filter->fields, object, field_get));
}
