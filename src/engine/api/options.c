/* Checks the options of a request; see write.h. Options are query parameters that Kubernetes
 * validates like the fields of an object. Unknown options are ignored. */
#include "base/str.h"
#include "engine/api/write.h"

int api_reject_options(struct api_call *call, struct err *err)
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
    switch (call->route.verb) {
    case VERB_CREATE:
        call->about_resource = &create;
        break;
    case VERB_UPDATE:
        call->about_resource = &update;
        break;
    case VERB_PATCH:
        call->about_resource = &patch;
        break;
    case VERB_LIST:
    case VERB_WATCH:
        call->about_resource = &list;
        break;
    default:
        call->about_resource = &delete_;
        break;
    }
    call->about_name = "";
    return err_set(err, ERR_INVALID, "%s is invalid", call->about_resource->id.kind);
}

/* Sets call->dry_run and checks dryRun. */
static void read_dry_run(struct api_call *call)
{
    static const char *const supported[] = {"All", NULL};
    const char *dry_run = api_query(call, "dryRun");
    call->dry_run = dry_run != NULL;
    if (!dry_run || str_eq(dry_run, "All"))
        return;
    struct json *values = json_array(call->arena);
    json_append(values, json_string(call->arena, dry_run));
    field_unsupported_value(&call->invalid, "dryRun", values, supported);
}

/* Checks fieldValidation. */
static void check_validation(struct api_call *call)
{
    static const char *const supported[] = {"", "Ignore", "Strict", "Warn", NULL};
    const char *mode = api_query(call, "fieldValidation");
    for (size_t i = 0; supported[i] && mode; i++)
        if (str_eq(mode, supported[i]))
            return;
    if (mode)
        field_unsupported(&call->invalid, "fieldValidation", mode, supported);
}

/* Checks resourceVersionMatch and sendInitialEvents of a list. */
static void options_check_list(struct api_call *call, const char *match)
{
    static const char *const supported[] = {"Exact", "NotOlderThan", "", NULL};
    static const char field[] = "resourceVersionMatch";
    const char *version = api_query(call, "resourceVersion");
    bool exact = str_eq(match, "Exact");
    if (api_query(call, "sendInitialEvents"))
        field_forbidden(&call->invalid, "sendInitialEvents",
                        "sendInitialEvents is forbidden for list");
    if (str_is_empty(match))
        return;
    if (str_is_empty(version))
        field_forbidden(&call->invalid, field,
                        "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (!str_is_empty(api_query(call, "continue")))
        field_forbidden(&call->invalid, field,
                        "resourceVersionMatch is forbidden when continue is provided");
    if (!exact && !str_eq(match, "NotOlderThan"))
        field_unsupported(&call->invalid, field, match, supported);
    if (exact && str_eq(version, "0"))
        field_forbidden(&call->invalid, field,
                        "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

/* Checks resourceVersionMatch and sendInitialEvents of a watch. */
static void options_check_watch(struct api_call *call, const char *match)
{
    static const char *const supported[] = {"NotOlderThan", NULL};
    static const char field[] = "resourceVersionMatch";
    bool sends_initial = api_query(call, "sendInitialEvents") != NULL;
    bool is_supported = str_eq(match, supported[0]);
    if (sends_initial && !is_supported)
        field_forbidden(&call->invalid, field,
                        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (str_is_empty(match))
        return;
    if (!sends_initial)
        field_forbidden(&call->invalid, field,
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                        "provided");
    if (!is_supported)
        field_unsupported(&call->invalid, field, match, supported);
}

int api_read_options(struct api_call *call, struct err *err)
{
    switch (call->route.verb) {
    case VERB_GET:
        break;
    case VERB_LIST:
        options_check_list(call, api_query(call, "resourceVersionMatch"));
        break;
    case VERB_WATCH:
        options_check_watch(call, api_query(call, "resourceVersionMatch"));
        break;
    case VERB_CREATE:
    case VERB_UPDATE:
    case VERB_PATCH:
        read_dry_run(call);
        check_validation(call);
        break;
    default:
        read_dry_run(call);
        break;
    }
    return call->invalid.count > 0 ? api_reject_options(call, err) : 0;
}
