/* The options of a request, which Kubernetes has as query parameters and checks as if they were an
 * object. One that is unknown is ignored; one with a value that nobody can mean is refused. */
#include "base/str.h"
#include "engine/api/rest.h"

int rest_refuse_options(struct rest *rest, struct err *err)
{
#define OPTIONS(plural_, kind_)                                                                    \
    {                                                                                              \
        .id = {.group = "meta.k8s.io", .plural = (plural_), .kind = (kind_) }                      \
    }
    static const struct kube_kind create = OPTIONS("createoptions", "CreateOptions"),
                                  update = OPTIONS("updateoptions", "UpdateOptions"),
                                  patch = OPTIONS("patchoptions", "PatchOptions"),
                                  list = OPTIONS("listoptions", "ListOptions"),
                                  delete_ = OPTIONS("deleteoptions", "DeleteOptions");
#undef OPTIONS
    switch (rest->route.verb) {
    case VERB_CREATE:
        rest->about_resource = &create;
        break;
    case VERB_UPDATE:
        rest->about_resource = &update;
        break;
    case VERB_PATCH:
        rest->about_resource = &patch;
        break;
    case VERB_LIST:
    case VERB_WATCH:
        rest->about_resource = &list;
        break;
    default:
        rest->about_resource = &delete_;
        break;
    }
    rest->about_name = "";
    return err_set(err, ERR_INVALID, "%s is invalid", rest->about_resource->id.kind);
}

static void read_dry_run(struct rest *rest)
{
    static const char *const supported[] = {"All", NULL};
    const char *dry_run = rest_query(rest, "dryRun");
    rest->dry_run = dry_run != NULL;
    if (!dry_run || str_eq(dry_run, "All"))
        return;
    struct json *values = json_array(rest->arena);
    json_append(values, json_string(rest->arena, dry_run));
    field_unsupported_value(&rest->invalid, "dryRun", values, supported);
}

static void check_validation(struct rest *rest)
{
    static const char *const supported[] = {"", "Ignore", "Strict", "Warn", NULL};
    const char *mode = rest_query(rest, "fieldValidation");
    for (size_t i = 0; supported[i] && mode; i++)
        if (str_eq(mode, supported[i]))
            return;
    if (mode)
        field_unsupported(&rest->invalid, "fieldValidation", mode, supported);
}

/* Which state a list is of. */
static void check_list(struct rest *rest, const char *match)
{
    static const char *const supported[] = {"Exact", "NotOlderThan", "", NULL};
    static const char field[] = "resourceVersionMatch";
    const char *version = rest_query(rest, "resourceVersion");
    bool exact = str_eq(match, "Exact");
    if (rest_query(rest, "sendInitialEvents"))
        field_forbidden(&rest->invalid, "sendInitialEvents",
                        "sendInitialEvents is forbidden for list");
    if (str_is_empty(match))
        return;
    if (str_is_empty(version))
        field_forbidden(&rest->invalid, field,
                        "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (!str_is_empty(rest_query(rest, "continue")))
        field_forbidden(&rest->invalid, field,
                        "resourceVersionMatch is forbidden when continue is provided");
    if (!exact && !str_eq(match, "NotOlderThan"))
        field_unsupported(&rest->invalid, field, match, supported);
    if (exact && str_eq(version, "0"))
        field_forbidden(&rest->invalid, field,
                        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

/* With which state a watch begins. */
static void check_watch(struct rest *rest, const char *match)
{
    static const char *const supported[] = {"NotOlderThan", NULL};
    static const char field[] = "resourceVersionMatch";
    bool begins = rest_query(rest, "sendInitialEvents") != NULL;
    bool fits = str_eq(match, supported[0]);
    if (begins && !fits)
        field_forbidden(&rest->invalid, field,
                        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (str_is_empty(match))
        return;
    if (!begins)
        field_forbidden(&rest->invalid, field,
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                        "provided");
    if (!fits)
        field_unsupported(&rest->invalid, field, match, supported);
}

int rest_read_options(struct rest *rest, struct err *err)
{
    switch (rest->route.verb) {
    case VERB_GET:
        break;
    case VERB_LIST:
        check_list(rest, rest_query(rest, "resourceVersionMatch"));
        break;
    case VERB_WATCH:
        check_watch(rest, rest_query(rest, "resourceVersionMatch"));
        break;
    case VERB_CREATE:
    case VERB_UPDATE:
    case VERB_PATCH:
        read_dry_run(rest);
        check_validation(rest);
        break;
    default:
        read_dry_run(rest);
        break;
    }
    return rest->invalid.count > 0 ? rest_refuse_options(rest, err) : 0;
}
