/* LimitRanges: their row, defaults and validation. */
#include "kube/kinds/row.h"

#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/resource_name.h"
#include "kube/kinds/rule.h"
#include "kube/quantity.h"

#include <string.h>

/* Copies the amounts that the map `from` of the item has and its map `to` lacks. */
static void copy_missing(struct arena *arena, struct json *item, const char *to, const char *from)
{
    if (json_count(json_get(item, from)) == 0)
        return;
    struct json *target = json_ensure_object(arena, item, to);
    _cleanup_json_names_ struct json_names names = {0};
    JSON_EACH (value, json_get(item, from)) {
        if (json_names_find(&names, target, value->name))
            continue;
        struct json *copy = json_clone(arena, value);
        copy->name = value->name;
        json_list_append(target, copy);
    }
}

/* For each resource of an item of type Container: a missing `default` (the default limit) becomes
 * `max`, and a missing `defaultRequest` becomes `default`, or `min` if there is no `default`. */
static void limit_range_defaults(struct arena *arena, struct json *range)
{
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        if (!str_eq(json_get_string(item, "type", ""), "Container"))
            continue;
        copy_missing(arena, item, "default", "max");
        copy_missing(arena, item, "defaultRequest", "default");
        copy_missing(arena, item, "defaultRequest", "min");
    }
}

static struct kube_quantity quantity_of(const struct json *value)
{
    struct kube_quantity quantity = {0};
    (void)kube_quantity_from_json(value, &quantity, NULL);
    return quantity;
}

/* Adds an error for each resource whose amount in the map `less` is greater than its amount in the
 * map `more`. As in Kubernetes, the error is at `field` and shows the amount in `shown`. */
static void validate_order(struct field_errors *errors, const struct json *item, const char *path,
                           const char *less, const char *less_name, const char *more,
                           const char *more_name, const char *field, const char *shown)
{
    _cleanup_json_names_ struct json_names names = {0};
    JSON_EACH (small, json_get(item, less)) {
        const struct json *large = json_names_find(&names, json_get(item, more), small->name);
        struct kube_quantity one = quantity_of(small), two = quantity_of(large);
        char one_text[KUBE_QUANTITY_TEXT_MAX], two_text[KUBE_QUANTITY_TEXT_MAX];
        if (!large || kube_quantity_compare(&one, &two) <= 0)
            continue;
        kube_quantity_format(&one, one_text);
        kube_quantity_format(&two, two_text);
        field_invalid(errors, field_path(errors, "%s.%s[%s]", path, field, small->name),
                      str_eq(shown, less) ? small : large,
                      "%s value %s is greater than %s value %s", less_name, one_text, more_name,
                      two_text);
    }
}

static void validate_range_names(struct field_errors *errors, const struct json *item,
                                 const char *path, const char *part, enum resource_use use)
{
    JSON_EACH (value, json_get(item, part))
        resource_name_validate(errors, use, value->name,
                               field_path(errors, "%s.%s[%s]", path, part, value->name));
}

static void validate_ratios(struct field_errors *errors, const struct json *item, const char *path)
{
    const struct json *mins = json_get(item, "min"), *maxes = json_get(item, "max");
    _cleanup_json_names_ struct json_names min_names = {0}, max_names = {0};
    JSON_EACH (value, json_get(item, "maxLimitRequestRatio")) {
        const char *field = field_path(errors, "%s.maxLimitRequestRatio[%s]", path, value->name);
        struct kube_quantity ratio = quantity_of(value);
        struct kube_quantity min = quantity_of(json_names_find(&min_names, mins, value->name));
        struct kube_quantity max = quantity_of(json_names_find(&max_names, maxes, value->name));
        char text[KUBE_QUANTITY_TEXT_MAX];
        kube_quantity_format(&ratio, text);
        double most = min.nano ? (double)max.nano / (double)min.nano : 0;
        if ((double)ratio.nano < 1e9)
            field_invalid(errors, field, value, "ratio %s is less than 1", text);
        if (min.nano && max.nano && (double)ratio.nano / 1e9 > most)
            field_invalid(errors, field, value, "ratio %s is greater than max/min = %f", text,
                          most);
    }
}

static void validate_range_type(struct field_errors *errors, const struct json *item,
                                const char *path)
{
    static const char *const types[] = {"Container", "PersistentVolumeClaim", "Pod"};
    const char *type = json_get_string(item, "type", "");
    const char *field = field_path(errors, "%s.type", path);
    size_t before = errors->count;
    meta_validate_label_name(errors, type, field);
    if (errors->count > before || strchr(type, '/'))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (str_eq(type, types[i]))
            return;
    field_invalid(errors, field, json_string(errors->arena, type),
                  "must be a standard limit type or fully qualified");
}

static void validate_item(struct field_errors *errors, const struct json *item, const char *path)
{
    static const char *const parts[] = {"max", "min", "default", "defaultRequest",
                                        "maxLimitRequestRatio"};
    const char *type = json_get_string(item, "type", "");
    bool pod = str_eq(type, "Pod");
    enum resource_use use = pod || str_eq(type, "Container") ? RESOURCE_CONTAINER : RESOURCE_ANY;
    validate_range_type(errors, item, path);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        bool of_containers = i == 2 || i == 3;
        if (pod && of_containers && json_count(json_get(item, parts[i])) > 0)
            field_forbidden(errors, field_path(errors, "%s.%s", path, parts[i]),
                            "may not be specified when `type` is 'Pod'");
        else
            validate_range_names(errors, item, path, parts[i], use);
    }
    if (str_eq(type, "PersistentVolumeClaim") && !json_at(item, "min", "storage", NULL) &&
        !json_at(item, "max", "storage", NULL))
        field_required(errors, field_path(errors, "%s.limits", path),
                       "either minimum or maximum storage value is required, but neither was "
                       "provided");
    validate_order(errors, item, path, "min", "min", "max", "max", "min", "min");
    validate_ratios(errors, item, path);
    if (pod)
        return;
    validate_order(errors, item, path, "min", "min", "defaultRequest", "default request",
                   "defaultRequest", "defaultRequest");
    validate_order(errors, item, path, "defaultRequest", "default request", "max", "max",
                   "defaultRequest", "defaultRequest");
    validate_order(errors, item, path, "defaultRequest", "default request", "default",
                   "default limit", "defaultRequest", "defaultRequest");
    validate_order(errors, item, path, "min", "min", "default", "default", "default", "min");
    validate_order(errors, item, path, "default", "default", "max", "max", "default", "max");
}

static void limit_range_validate(struct field_errors *errors, const struct json *range,
                                 const struct json *old)
{
    _cleanup_(map_release) struct map types = {0};
    size_t position = 0;
    JSON_EACH (item, json_at(range, "spec", "limits", NULL)) {
        const char *path = field_path(errors, "spec.limits[%zu]", position++);
        const char *type = json_get_string(item, "type", "");
        validate_item(errors, item, path);
        if (map_put(&types, type, item))
            field_duplicate(errors, field_path(errors, "%s.type", path), type);
    }
}

static const struct kube_column LIMIT_RANGE_COLUMNS[] = {
    COLUMN_NAME,
    {"Created At", "date", "", "When the object was created.", 0, table_created_at},
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_LIMITRANGES, KUBE_LIMITRANGE_KIND, "limitranges", "LimitRange", NAMESPACED,
    .schema = &TYPE_LIMIT_RANGE,
    .singular = "limitrange",
    .short_names = NAMES("limits"),
    .verbs = VERBS_ALL,
    .columns = COLUMNS(LIMIT_RANGE_COLUMNS),
    .hooks = {.defaults = limit_range_defaults, .validate = limit_range_validate});
