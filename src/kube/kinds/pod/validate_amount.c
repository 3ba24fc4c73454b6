/* Validates resource requests and limits; see validate.h. */
#include "kube/kinds/pod/validate.h"

#include "base/json/json_names.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/quantity.h"

#include <string.h>

#define HUGE_PREFIX  "hugepages-"
#define QUOTA_PREFIX "requests."

enum { PREFIX_MAX = 253 }; /* maximum length of the prefix of a qualified name */

static bool is_huge(const char *name)
{
    return str_has_prefix(name, HUGE_PREFIX);
}

/* Returns whether the resource is defined by Kubernetes itself, and is not an extended resource. */
static bool is_native(const char *name)
{
    return !strchr(name, '/') || strstr(name, "kubernetes.io/");
}

/* Returns whether the name is a valid extended resource. It must also be valid with the prefix
 * "requests.", which quotas use. */
static bool is_extended(const char *name)
{
    const char *slash = strchr(name, '/');
    return !str_has_prefix(name, QUOTA_PREFIX) && meta_is_qualified_name(name) &&
           (size_t)(slash - name) + strlen(QUOTA_PREFIX) <= PREFIX_MAX;
}

static bool amount_is_among(const char *word, const char *const *words)
{
    while (*words && !str_eq(word, *words))
        words++;
    return *words;
}

static void validate_resource_name(struct field_errors *errors, const char *name, const char *field)
{
    static const char *const of_containers[] = {"cpu", "memory", "ephemeral-storage", NULL};
    /* Known names that only claims and quotas may use. */
    static const char *const of_others[] = {"storage",
                                            "requests.cpu",
                                            "requests.memory",
                                            "requests.storage",
                                            "requests.ephemeral-storage",
                                            "limits.cpu",
                                            "limits.memory",
                                            "limits.ephemeral-storage",
                                            "pods",
                                            "resourcequotas",
                                            "services",
                                            "replicationcontrollers",
                                            "secrets",
                                            "configmaps",
                                            "persistentvolumeclaims",
                                            NULL};
    const struct json *value = json_string(errors->arena, name);
    meta_validate_label_name(errors, name, field);
    if (strchr(name, '/')) {
        if (!is_native(name) && !is_extended(name))
            field_invalid(errors, field, value, "doesn't follow extended resource name standard");
        return;
    }
    if (is_huge(name) || amount_is_among(name, of_containers))
        return;
    if (meta_is_qualified_name(name) && !amount_is_among(name, of_others))
        field_invalid(errors, field, value, "must be a standard resource type or fully qualified");
    field_invalid(errors, field, value, "must be a standard resource for containers");
}

/* An amount of huge pages must be a multiple of the page size. */
static void validate_pages(struct field_errors *errors, const struct json *amount,
                           const struct kube_quantity *quantity, const char *field)
{
    struct kube_quantity page;
    char text[KUBE_QUANTITY_TEXT_MAX];
    if (kube_quantity_parse(amount->name + strlen(HUGE_PREFIX), &page, NULL) == 0 &&
        page.nano > 0 && quantity->nano % page.nano == 0)
        return;
    kube_quantity_format(quantity, text);
    field_invalid(errors, field, json_string(errors->arena, text),
                  "%s is not positive integer multiple of %s", text, amount->name);
}

static bool read_amount(const struct json *amount, struct kube_quantity *ret)
{
    return amount && kube_quantity_from_json(amount, ret, NULL) == 0;
}

static void validate_amount(struct field_errors *errors, const struct json *amount,
                            const char *field)
{
    struct kube_quantity quantity;
    struct err err = ERR_INIT;
    validate_resource_name(errors, amount->name, field);
    if (kube_quantity_from_json(amount, &quantity, &err) < 0)
        field_invalid(errors, field, amount, "%s", err.message);
    else if (quantity.nano < 0)
        field_invalid(errors, field, amount, "must be greater than or equal to 0");
    else if (!is_native(amount->name) && quantity.nano % (1000 * 1000 * 1000) != 0)
        field_invalid(errors, field, amount, "must be an integer");
    else if (is_huge(amount->name))
        validate_pages(errors, amount, &quantity, field);
}

/* A request must not exceed the limit. For extended resources and huge pages, the request must
 * equal the limit. */
static void validate_request(struct field_errors *errors, const struct json *request,
                             const struct json *limit, const char *field)
{
    struct kube_quantity requested, allowed;
    char text[KUBE_QUANTITY_TEXT_MAX];
    bool divisible = is_native(request->name) && !is_huge(request->name);
    const char *path = field_path(errors, "%s.requests", field);
    if (!limit) {
        if (!divisible)
            field_required(errors, field_path(errors, "%s.limits", field),
                           "Limit must be set for non overcommitable resources");
        return;
    }
    if (!read_amount(request, &requested) || !read_amount(limit, &allowed))
        return;
    int order = kube_quantity_compare(&requested, &allowed);
    kube_quantity_format(&allowed, text);
    if (!divisible && order != 0)
        field_invalid(errors, path, request, "must be equal to %s limit of %s", request->name,
                      text);
    else if (divisible && order > 0)
        field_invalid(errors, path, request, "must be less than or equal to %s limit of %s",
                      request->name, text);
}

void kube_pod_validate_amounts(struct field_errors *errors, const struct json *container,
                               const char *field)
{
    static const char *const kinds[] = {"limits", "requests"};
    const struct json *resources = json_get(container, "resources");
    const struct json *limits = json_get(resources, "limits");
    const char *path = field_path(errors, "%s.resources", field);
    bool has_huge = false, has_basic = false;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        JSON_EACH (amount, json_get(resources, kinds[i])) {
            validate_amount(errors, amount,
                            field_path(errors, "%s.%s[%s]", path, kinds[i], amount->name));
            has_huge |= is_huge(amount->name);
            has_basic |= str_eq(amount->name, "cpu") || str_eq(amount->name, "memory");
        }
    }
    _cleanup_json_names_ struct json_names names = {0};
    JSON_EACH (request, json_get(resources, "requests"))
        validate_request(errors, request, json_names_find(&names, limits, request->name), path);
    if (has_huge && !has_basic)
        field_forbidden(errors, path, "HugePages require cpu or memory");
}
