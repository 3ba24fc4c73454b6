/* Checks that a user already has the rules that it wants to grant; see access.h. A rule to grant is
 * split into single permissions. For each permission, one rule of the user must cover it
 * completely: only "*" covers "*". */
#include "engine/access/access.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"

#include <string.h>

enum {
    /* The most permissions of one rule: verbs x groups x resources x names, or verbs x paths. A
     * rule with more counts as missing. */
    PERMISSIONS_MAX = 10 * 1000,
    TEXT_MAX = 64 * 1024,
};

struct holder {
    VEC(const struct json *) rules;
};

static bool cover_add_rule(void *context, const struct access_grant *grant)
{
    struct holder *holder = context;
    if (grant->rule)
        vec_push(&holder->rules, grant->rule);
    return false;
}

static bool covers_resource(const struct json *rule, const char *verb, const char *group,
                            const char *resource, const char *name)
{
    const struct json *names = json_get(rule, "resourceNames");
    const char *slash = strchr(resource, '/');
    char plain[256];
    if (!access_list_has(json_get(rule, "verbs"), verb) ||
        !access_list_has(json_get(rule, "apiGroups"), group))
        return false;
    if (slash && (size_t)(slash - resource) < sizeof(plain)) {
        memcpy(plain, resource, (size_t)(slash - resource));
        plain[slash - resource] = '\0';
    }
    bool matches = slash && (size_t)(slash - resource) < sizeof(plain)
                       ? access_resource_matches(json_get(rule, "resources"), plain, slash + 1)
                       : access_resource_matches(json_get(rule, "resources"), resource, "");
    if (!matches || json_count(names) == 0)
        return matches;
    JSON_EACH (item, names) {
        if (name && str_eq(json_text(item), name))
            return true;
    }
    return false;
}

static bool holds_resource(const struct holder *holder, const char *verb, const char *group,
                           const char *resource, const char *name)
{
    for (size_t i = 0; i < holder->rules.count; i++)
        if (covers_resource(holder->rules.items[i], verb, group, resource, name))
            return true;
    return false;
}

static bool holds_path(const struct holder *holder, const char *verb, const char *path)
{
    for (size_t i = 0; i < holder->rules.count; i++)
        if (access_list_has(json_get(holder->rules.items[i], "verbs"), verb) &&
            access_path_matches(json_get(holder->rules.items[i], "nonResourceURLs"), path))
            return true;
    return false;
}

static const char *cover_text_of(const struct json *item)
{
    return json_text(item) ? json_text(item) : "";
}

static bool holds_names(const struct holder *holder, const struct json *rule, const char *verb,
                        const char *group, const char *resource)
{
    const struct json *names = json_get(rule, "resourceNames");
    if (json_count(names) == 0)
        return holds_resource(holder, verb, group, resource, NULL);
    JSON_EACH (name, names) {
        if (!holds_resource(holder, verb, group, resource, cover_text_of(name)))
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

static bool cover_has_rule(const struct holder *holder, const struct json *rule)
{
    if (is_too_large(rule))
        return false;
    JSON_EACH (verb, json_get(rule, "verbs")) {
        JSON_EACH (path, json_get(rule, "nonResourceURLs")) {
            if (!holds_path(holder, cover_text_of(verb), cover_text_of(path)))
                return false;
        }
        JSON_EACH (group, json_get(rule, "apiGroups")) {
            JSON_EACH (resource, json_get(rule, "resources")) {
                if (!holds_names(holder, rule, cover_text_of(verb), cover_text_of(group),
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
    struct holder holder = {0};
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (identity_is_master(identity))
        return NULL;
    access_each_rule(arena, policy, identity, namespace_, cover_add_rule, &holder);
    JSON_EACH (rule, rules) {
        if (cover_has_rule(&holder, rule))
            continue;
        if (text.size)
            buf_append_char(&text, '\n');
        write_rule(&text, rule);
    }
    vec_release(&holder.rules);
    return text.size || text.overflowed ? arena_strdup(arena, text.data) : NULL;
}
