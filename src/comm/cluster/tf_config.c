/* Parses TF_CONFIG as TFJob, Volcano and hand-written scripts set it; see tf_config.h. The text is
 * not trusted: it is parsed with limits and checked completely before any connection is made. The
 * sparse form is that of a TFJob with dynamic workers: it lists only some of the tasks. */
#include "comm/cluster/tf_config.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "comm/cluster/cluster.h"

#include <stdio.h>
#include <string.h>

static int tf_config_add_address(struct cluster_builder *builder, enum ty_role role, int index,
                                 const struct json *value, struct err *err)
{
    const char *address = json_text(value);
    if (!address || strlen(address) != value->size)
        return err_set(err, ERR_INVALID, "%s %d is %s, not a string of the form host:port",
                       ty_role_name(role), index,
                       address ? "a string with a NUL in it" : json_type_name(value->type));
    return cluster_builder_add(builder, role, index, address, err);
}

/* Adds the tasks of one role: an address, a list of addresses, or the sparse form {"3": address}.
 * Sets *ret_sparse to true for the sparse form, and does not change it otherwise. */
static int tf_config_add_role(struct cluster_builder *builder, const struct json *member,
                              bool *ret_sparse, struct err *err)
{
    enum ty_role role;
    int result = cluster_role_parse(member->name, &role, err);
    if (result < 0)
        return result;
    if (cluster_builder_count(builder, role))
        return err_set(err, ERR_INVALID, "the role %s is listed twice (a master is a chief)",
                       ty_role_name(role));
    int index = 0;
    switch (member->type) {
    case JSON_NULL:
        return 0;
    case JSON_STRING:
        return tf_config_add_address(builder, role, 0, member, err);
    case JSON_ARRAY:
        JSON_EACH (value, member) {
            if ((result = tf_config_add_address(builder, role, index++, value, err)) < 0)
                return result;
        }
        return 0;
    case JSON_OBJECT:
        *ret_sparse = true;
        JSON_EACH (value, member) {
            int64_t key;
            if (str_to_int64(value->name, 0, TY_TASKS_MAX - 1, &key, NULL) < 0)
                return err_set(err, ERR_INVALID,
                               "'%s' is not a task index of role %s: an index is between 0 and %d",
                               value->name, ty_role_name(role), TY_TASKS_MAX - 1);
            if ((result = tf_config_add_address(builder, role, (int)key, value, err)) < 0)
                return result;
        }
        return 0;
    default:
        return err_set(err, ERR_INVALID, "the role %s is %s, not a list of host:port",
                       ty_role_name(role), json_type_name(member->type));
    }
}

/* Finds a JSON member by name, in upper or lower case. Returns NULL if there is none. */
static const struct json *tf_config_get(const struct json *object, const char *name)
{
    JSON_EACH (member, object) {
        if (str_eq_nocase(member->name, name))
            return member;
    }
    return NULL;
}

/* Called if the text has neither "cluster" nor "sparseCluster": the process then trains alone.
 * Rejects a misspelt "cluster", because then each process of the job would train alone. */
static int tf_config_check_alone(const struct json *root, struct err *err)
{
    static const char *const NAMES[] = {"cluster"};
    JSON_EACH (member, root) {
        if (str_nearest(member->name, NAMES, ARRAY_SIZE(NAMES)))
            return err_set(err, ERR_INVALID, "unknown field '%s': did you mean 'cluster'?",
                           member->name);
    }
    return 0;
}

/* Sets *ret_index to -1 if the task has no index. */
static int tf_config_parse_task(const struct json *task, enum ty_role *ret_role, int *ret_index,
                                struct err *err)
{
    if (!task || task->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID,
                       "it has a cluster but no task: add \"task\": {\"type\": …, \"index\": …}");
    const char *type = json_text(tf_config_get(task, "type"));
    if (!type)
        return err_set(err, ERR_INVALID, "the task has no type: add a type such as \"worker\"");
    int result = cluster_role_parse(type, ret_role, err);
    if (result < 0)
        return result;
    const struct json *index = tf_config_get(task, "index");
    if (!index) {
        *ret_index = -1;
        return 0;
    }
    int64_t value = 0;
    if (index->type == JSON_INT)
        value = index->integer;
    else if (index->type == JSON_REAL)
        return err_set(err, ERR_INVALID,
                       "the task's index is %g, but it must be an integer, 0 or greater",
                       json_number(index, 0));
    else if (str_to_int64(json_text(index), 0, TY_TASKS_MAX - 1, &value, NULL) < 0)
        return err_set(err, ERR_INVALID,
                       "the task's index is %s, but it must be an integer between 0 and %d",
                       json_type_name(index->type), TY_TASKS_MAX - 1);
    if (value < 0 || value >= TY_TASKS_MAX)
        return err_set(err, ERR_INVALID,
                       "task index %lld is out of range: it must be between 0 and %d",
                       (long long)value, TY_TASKS_MAX - 1);
    *ret_index = (int)value;
    return 0;
}

/* Sets a missing index (-1) to 0. A task without an index must be the only task of its role. */
static int tf_config_default_index(const struct cluster_builder *builder, enum ty_role role,
                                   int *index, struct err *err)
{
    size_t count = cluster_builder_count(builder, role);
    if (*index < 0 && count > 1)
        return err_set(err, ERR_INVALID,
                       "the task has no index, but the cluster has %zu tasks of role %s: give each "
                       "task its own index",
                       count, ty_role_name(role));
    *index = *index < 0 ? 0 : *index;
    return 0;
}

/* Adds the task of this process if the cluster may omit it: an evaluator, or any task in the sparse
 * form. In the sparse form a ps is listed, but as the only ps and with index 0; its index is
 * corrected. */
static int tf_config_add_unlisted_self(struct cluster_builder *builder, enum ty_role role,
                                       int index, bool sparse, struct err *err)
{
    for (size_t i = 0; i < builder->count; i++)
        if (builder->tasks[i].role == role && builder->tasks[i].index == index)
            return 0;
    size_t count = cluster_builder_count(builder, role);
    if (sparse && role == TY_ROLE_PS && count == 1) {
        for (size_t i = 0; i < builder->count; i++)
            if (builder->tasks[i].role == role)
                builder->tasks[i].index = index;
        return 0;
    }
    if (count == 0 && (sparse || role == TY_ROLE_EVALUATOR))
        return cluster_builder_add(builder, role, index, NULL, err);
    return 0;
}

static int tf_config_parse_tree(const struct json *root, struct ty_tf_config **ret, struct err *err)
{
    if (root->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "it is %s, not an object", json_type_name(root->type));
    const struct json *cluster = tf_config_get(root, "cluster");
    bool sparse = false;
    int result;
    if (!cluster) {
        cluster = tf_config_get(root, "sparseCluster");
        sparse = cluster != NULL;
    }
    if (!cluster && (result = tf_config_check_alone(root, err)) < 0)
        return result;
    if (!cluster || cluster->type == JSON_NULL ||
        (cluster->type == JSON_OBJECT && !json_count(cluster))) {
        *ret = cluster_alone();
        return 0;
    }
    if (cluster->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "its cluster is %s, not an object of roles",
                       json_type_name(cluster->type));
    _cleanup_builder_ struct cluster_builder builder = {0};
    JSON_EACH (member, cluster) {
        if ((result = tf_config_add_role(&builder, member, &sparse, err)) < 0)
            return result;
    }
    enum ty_role role = TY_ROLE_WORKER;
    int index = 0;
    if ((result = tf_config_parse_task(tf_config_get(root, "task"), &role, &index, err)) < 0 ||
        (result = tf_config_default_index(&builder, role, &index, err)) < 0 ||
        (result = tf_config_add_unlisted_self(&builder, role, index, sparse, err)) < 0 ||
        (result = cluster_builder_finish(&builder, role, index, ret, err)) < 0)
        return result;
    (*ret)->sparse = sparse;
    return 0;
}

int tf_config_parse(const char *text, size_t size, struct ty_tf_config **ret, struct err *err)
{
    if (size > TY_CONFIG_MAX)
        return err_set(err, ERR_TOO_LARGE, "TF_CONFIG is longer than %d bytes", TY_CONFIG_MAX);
    if (size == 0) {
        *ret = cluster_alone();
        return 0;
    }
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json_limits limits = {.depth = 8, .nodes = 4 * TY_TASKS_MAX};
    struct json *root;
    int result = json_parse(arena, text, size, &limits, &root, err);
    if (result == 0)
        result = tf_config_parse_tree(root, ret, err);
    return result < 0 && err ? err_wrap(err, "TF_CONFIG") : result;
}

size_t tf_config_workers(const struct ty_tf_config *config)
{
    return ty_tf_config_count(config, TY_ROLE_CHIEF) + ty_tf_config_count(config, TY_ROLE_WORKER);
}

void tf_config_task_name(const struct ty_task *task, char text[TF_CONFIG_TASK_TEXT_MAX])
{
    if (task->role == TY_ROLE_CHIEF)
        snprintf(text, TF_CONFIG_TASK_TEXT_MAX, "chief");
    else
        snprintf(text, TF_CONFIG_TASK_TEXT_MAX, "%s %d", ty_role_name(task->role), task->index);
}

void tf_config_task_describe(const struct ty_task *task, char text[TF_CONFIG_TASK_TEXT_MAX])
{
    tf_config_task_name(task, text);
    if (!task->port)
        return;
    size_t used = strlen(text);
    bool ipv6 = strchr(task->host, ':') != NULL;
    snprintf(text + used, TF_CONFIG_TASK_TEXT_MAX - used, " (%s%s%s:%d)", ipv6 ? "[" : "",
             task->host, ipv6 ? "]" : "", task->port);
}
