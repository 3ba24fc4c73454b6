/* Answers questions about one row; see kind.h. */
#include "kube/kinds/kind.h"

#include "base/str.h"
#include "kube/kinds/row.h"

const char *kube_verb_name(enum kube_verb verb)
{
    switch (verb) {
    case VERB_CREATE:
        return "create";
    case VERB_DELETE:
        return "delete";
    case VERB_DELETE_COLLECTION:
        return "deletecollection";
    case VERB_GET:
        return "get";
    case VERB_LIST:
        return "list";
    case VERB_PATCH:
        return "patch";
    case VERB_UPDATE:
        return "update";
    case VERB_WATCH:
        return "watch";
    }
    return "";
}

bool kube_kind_serves_version(const struct kube_kind *kind, const char *version)
{
    const struct kube_older_version *older = kind->older;
    for (; older && older->version; older++)
        if (str_eq(older->version, version))
            return true;
    return str_eq(kind->id.version, version);
}

const struct kube_subresource *kube_subresource(const struct kube_kind *kind, const char *name)
{
    const struct kube_subresource *sub = kind->subresources;
    for (; sub && sub->id != SUB_NONE; sub++)
        if (str_eq(sub->name, name))
            return sub;
    return NULL;
}

bool kube_kind_has_status(const struct kube_kind *kind)
{
    return kube_subresource(kind, "status") != NULL;
}

bool kube_kind_selects_field(const struct kube_kind *kind, const char *path)
{
    if (str_eq(path, "metadata.name") ||
        (kind->id.namespaced && str_eq(path, "metadata.namespace")))
        return true;
    for (size_t i = 0; kind->fields && kind->fields[i]; i++)
        if (str_eq(kind->fields[i], path))
            return true;
    return false;
}

static const struct kube_column GENERIC_COLUMNS[] = {COLUMN_NAME, COLUMN_AGE};

const struct kube_columns *kube_kind_columns(const struct kube_kind *kind)
{
    static const struct kube_columns generic = COLUMNS(GENERIC_COLUMNS);
    return kind->columns.count > 0 ? &kind->columns : &generic;
}
