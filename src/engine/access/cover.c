/* Checks that a user already has the rules that it wants to grant; see access.h. This file splits a
 * rule to grant into single permissions, each with one verb and one resource or path. For each
 * permission, a single rule of the user must allow it completely. So only a rule with "*" allows a
 * permission with "*". */
#include "engine/access/access.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"

#include <string.h>

enum {
    /* The limit of the product of the lengths of a rule's lists. A rule above the limit counts as
     * missing, because checking all its permissions would block the loop for too long. */
    PERMISSIONS_MAX = 10 * 1000,
    TEXT_MAX = 64 * 1024,
};

/* The rules that the user has. */
struct held_rules {
    VEC(const struct json *) rules;
};

static bool cover_add_rule(void *context, const struct access_grant *grant)
{
    struct held_rules *held = context;
    if (grant->rule)
        vec_push(&held->rules, grant->rule);
    return false;
}

/* Returns whether the rule allows the verb on the resource, which may be "pods/log". If `name` is
 * NULL, the rule must not be limited to names. */
static bool covers_resource(const struct json *rule, const char *verb, const char *group,
                            const char *resource, const char *name)
{
    const struct json *names = json_get(rule, "resourceNames");
    const char *slash = strchr(resource, '/');
    char parent[256];
    if (!access_list_has(json_get(rule, "verbs"), verb) ||
        !access_list_has(json_get(rule, "apiGroups"), group))
        return false;
    if (slash && (size_t)(slash - resource) < sizeof(parent)) {
        memcpy(parent, resource, (size_t)(slash - resource));
        parent[slash - resource] = '\0';
    }
    bool matches = slash && (size_t)(slash - resource) < sizeof(parent)
                       ? access_resource_matches(json_get(rule, "resources"), parent, slash + 1)
                       : access_resource_matches(json_get(rule, "resources"), resource, "");
    if (!matches || json_count(names) == 0)
        return matches;
    JSON_EACH (item, names) {
        if (name && str_eq(json_text(item), name))
            return true;
    }
    return false;
}

static bool holds_resource(const struct held_rules *held, const char *verb, const char *group,
                           const char *resource, const char *name)
{
    for (size_t i = 0; i < held->rules.count; i++)
        if (covers_resource(held->rules.items[i], verb, group, resource, name))
            return true;
    return false;
}

static bool holds_path(const struct held_rules *held, const char *verb, const char *path)
{
    for (size_t i = 0; i < held->rules.count; i++)
        if (access_list_has(json_get(held->rules.items[i], "verbs"), verb) &&
            access_path_matches(json_get(held->rules.items[i], "nonResourceURLs"), path))
            return true;
    return false;
}

static const char *cover_text_of(const struct json *item)
{
    return json_text(item) ? json_text(item) : "";
}

static bool holds_names(const struct held_rules *held, const struct json *rule, const char *verb,
                        const char *group, const char *resource)
{
    const struct json *names = json_get(rule, "resourceNames");
    if (json_count(names) == 0)
        return holds_resource(held, verb, group, resource, NULL);
    JSON_EACH (name, names) {
        if (!holds_resource(held, verb, group, resource, cover_text_of(name)))
            return false;
    }
    return true;
}

static bool is_too_large(const struct json *rule)
{
    static const char *const lists[] = {"verbs", "apiGroups", "resources", "resourceNames",
                                        "nonResourceURLs"};
    size_t product = 1;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        size_t count = json_count(json_get(rule, lists[i]));
        product *= count ? count : 1;
        if (product > PERMISSIONS_MAX)
            return true;
    }
    return false;
}

static bool cover_has_rule(const struct held_rules *held, const struct json *rule)
{
    if (is_too_large(rule))
        return false;
    JSON_EACH (verb, json_get(rule, "verbs")) {
        JSON_EACH (path, json_get(rule, "nonResourceURLs")) {
            if (!holds_path(held, cover_text_of(verb), cover_text_of(path)))
                return false;
        }
        JSON_EACH (group, json_get(rule, "apiGroups")) {
            JSON_EACH (resource, json_get(rule, "resources")) {
                if (!holds_names(held, rule, cover_text_of(verb), cover_text_of(group),
                                 cover_text_of(resource)))
                    return false;
            }
        }
    }
    return true;
}

char *access_list_text(struct arena *arena, const char *const *list)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    for (; list && *list; list++)
        buf_printf(&text, "%s\"%s\"", text.size ? " " : "", *list);
    return arena_printf(arena, "[%s]", text.data);
}

/* Writes the rule as {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}. */
static void write_rule(struct buf *text, const struct json *rule)
{
    static const struct {
        const char *member, *title;
    } parts[] = {{"apiGroups", "APIGroups"},
                 {"resources", "Resources"},
                 {"nonResourceURLs", "NonResourceURLs"},
                 {"resourceNames", "ResourceNames"},
                 {"verbs", "Verbs"}};
    const char *comma = "";
    buf_append_str(text, "{");
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        const struct json *list = json_get(rule, parts[i].member);
        if (json_count(list) == 0)
            continue;
        buf_printf(text, "%s%s:[", comma, parts[i].title);
        comma = ", ";
        JSON_EACH (item, list) {
            buf_printf(text, "%s\"%s\"", item == json_first(list) ? "" : " ", cover_text_of(item));
        }
        buf_append_str(text, "]");
    }
    buf_append_str(text, "}");
}

char *access_missing_rules(struct arena *arena, const struct access_policy *policy,
                           const struct identity *identity, const char *namespace_,
                           const struct json *rules)
{
    struct held_rules held = {0};
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (identity_is_master(identity))
        return NULL;
    access_each_rule(arena, policy, identity, namespace_, cover_add_rule, &held);
    JSON_EACH (rule, rules) {
        if (cover_has_rule(&held, rule))
            continue;
        if (text.size)
            buf_append_char(&text, '\n');
        write_rule(&text, rule);
    }
    vec_release(&held.rules);
    return text.size || text.overflowed ? arena_strdup(arena, text.data) : NULL;
}
