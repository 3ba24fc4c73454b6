/* What a list, a watch or a deletion of many selects: labels and fields together. */
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/object.h"

/* Fields as upstream words them: booleans are "true" and "false", an event's source is its
 * component. */
static const char *field_get(const struct json *object, const char *path)
{
    if (str_eq(path, "source"))
        path = "source.component";
    if (str_eq(path, "spec.unschedulable"))
        return json_get_bool(json_get(object, "spec"), "unschedulable", false) ? "true" : "false";
    return kube_field_get(object, path);
}

/* A kind without fields of its own says which there are, as upstream. */
static int refuse_field(const struct kube_kind *resource, const char *path, struct err *err)
{
    if (resource->fields || resource->definition)
        return err_set(err, ERR_BAD_REQUEST, "field label not supported: %.100s", path);
    return err_set(err, ERR_BAD_REQUEST,
                   "\"%.100s\" is not a known field selector: only \"metadata.name\", "
                   "\"metadata.namespace\"",
                   path);
}

int rest_filter_parse(struct arena *arena, const struct kube_kind *resource,
                      const char *label_selector, const char *field_selector,
                      struct rest_filter *ret, struct err *err)
{
    struct rest_filter filter = {0};
    int r = kube_selector_parse(arena, label_selector, &filter.labels, err);
    if (r < 0)
        return r;
    r = kube_field_selector_parse(arena, field_selector, &filter.fields, err);
    if (r < 0)
        return r;
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

int rest_filter_of(struct rest *rest, struct rest_filter *ret, struct err *err)
{
    return rest_filter_parse(rest->arena, rest->route.resource, rest_query(rest, "labelSelector"),
                             rest_query(rest, "fieldSelector"), ret, err);
}

bool rest_filter_matches(const struct rest_filter *filter, const struct json *object)
{
    return filter->all || (kube_selector_matches(&filter->labels, kube_meta_labels(object)) &&
                           kube_field_selector_matches(&filter->fields, object, field_get));
}
