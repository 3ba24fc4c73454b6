/* Implements the builder of cluster descriptions and the functions on descriptions; see cluster.h
 * and <trainyard/tf_config.h>. */
#include "comm/cluster/cluster.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "comm/cluster/tf_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ROLE_NAMES[TY_ROLES] = {"chief", "worker", "ps", "evaluator"};

const char *ty_role_name(enum ty_role role)
{
    return (unsigned)role < TY_ROLES ? ROLE_NAMES[role] : "unknown role";
}

int cluster_role_parse(const char *text, enum ty_role *ret, struct err *err)
{
    if (str_eq_nocase(text, "master")) {
        *ret = TY_ROLE_CHIEF;
        return 0;
    }
    for (int role = 0; role < TY_ROLES; role++)
        if (str_eq_nocase(text, ROLE_NAMES[role])) {
            *ret = (enum ty_role)role;
            return 0;
        }
    const char *near = str_nearest(text, ROLE_NAMES, TY_ROLES);
    return err_set(err, ERR_INVALID,
                   "unknown role '%s': a task is chief (or master), worker, ps or evaluator%s%s%s",
                   text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

void cluster_builder_release(struct cluster_builder *builder)
{
    free(builder->tasks);
    *builder = (struct cluster_builder){0};
}

size_t cluster_builder_count(const struct cluster_builder *builder, enum ty_role role)
{
    size_t count = 0;
    for (size_t i = 0; i < builder->count; i++)
        count += builder->tasks[i].role == role;
    return count;
}

/* Parses "host:port" into the task. Checks the syntax of the host name, but does not resolve it. */
static int cluster_parse_address(const char *address, struct ty_task *task, struct err *err)
{
    const char *colon = strrchr(address, ':'), *host = address;
    size_t size = colon ? (size_t)(colon - address) : 0;
    bool bracketed = size > 2 && address[0] == '[' && address[size - 1] == ']';
    if (colon && bracketed) {
        host++;
        size -= 2;
    }
    if (!colon || colon[1] == '\0' || (!bracketed && address[0] == '['))
        return err_set(err, ERR_INVALID, "'%s' has no port: write host:port", address);
    if (size == 0)
        return err_set(err, ERR_INVALID, "'%s' has no host: write host:port", address);
    if (!bracketed && memchr(host, ':', size))
        return err_set(err, ERR_INVALID,
                       "'%s' has more than one colon: write host:port, or [address]:port for IPv6",
                       address);
    if (size >= sizeof(task->host))
        return err_set(err, ERR_INVALID, "the host in '%.40s…' is longer than %zu bytes", address,
                       sizeof(task->host) - 1);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f || host[i] == '/' || host[i] == '[' ||
            host[i] == ']')
            return err_set(err, ERR_INVALID,
                           "'%s' is not host:port: a host cannot contain spaces, '/', '[' or ']'",
                           address);
    int64_t port;
    if (str_to_int64(colon + 1, 1, 65535, &port, NULL) < 0)
        return err_set(err, ERR_INVALID,
                       "'%s' has no valid port: a port is a number between 1 and 65535", address);
    memcpy(task->host, host, size);
    task->host[size] = '\0';
    task->port = (int)port;
    return 0;
}

int cluster_builder_add(struct cluster_builder *builder, enum ty_role role, int index,
                        const char *address, struct err *err)
{
    if (builder->count == TY_TASKS_MAX)
        return err_set(err, ERR_TOO_MANY, "the cluster has too many tasks: the limit is %d",
                       TY_TASKS_MAX);
    struct ty_task task = {.role = role, .index = index};
    int result = address ? cluster_parse_address(address, &task, err) : 0;
    if (result < 0) {
        char name[TF_CONFIG_TASK_TEXT_MAX];
        tf_config_task_name(&task, name);
        return err ? err_wrap(err, "%s", name) : result;
    }
    if (builder->count == builder->capacity) {
        builder->capacity = builder->capacity ? builder->capacity * 2 : 16;
        builder->tasks = mem_realloc(builder->tasks, builder->capacity * sizeof(*builder->tasks));
    }
    builder->tasks[builder->count++] = task;
    return 0;
}

int cluster_builder_add_list(struct cluster_builder *builder, enum ty_role role, const char *list,
                             struct err *err)
{
    if (str_is_empty(list))
        return 0;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    size_t count;
    char **addresses = str_split(arena, list, ',', &count);
    for (size_t i = 0; i < count; i++) {
        int result = cluster_builder_add(builder, role, (int)i, addresses[i], err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int cluster_compare_tasks(const void *a, const void *b)
{
    const struct ty_task *left = a, *right = b;
    if (left->role != right->role)
        return left->role < right->role ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

/* Compares two pointers to tasks for qsort(), which then puts equal addresses side by side. */
static int cluster_compare_addresses(const void *a, const void *b)
{
    const struct ty_task *left = *(struct ty_task *const *)a, *right = *(struct ty_task *const *)b;
    if (left->port != right->port)
        return left->port < right->port ? -1 : 1;
    int order = strcasecmp(left->host, right->host);
    return order ? order : cluster_compare_tasks(left, right);
}

static int cluster_check_addresses(const struct cluster_builder *builder, struct err *err)
{
    _cleanup_free_ const struct ty_task **sorted = mem_calloc(builder->count, sizeof(*sorted));
    for (size_t i = 0; i < builder->count; i++)
        sorted[i] = &builder->tasks[i];
    qsort(sorted, builder->count, sizeof(*sorted), cluster_compare_addresses);
    for (size_t i = 1; i < builder->count; i++) {
        const struct ty_task *a = sorted[i - 1], *b = sorted[i];
        if (!a->port || a->port != b->port || strcasecmp(a->host, b->host) != 0)
            continue;
        char first[TF_CONFIG_TASK_TEXT_MAX], second[TF_CONFIG_TASK_TEXT_MAX];
        tf_config_task_name(a, first);
        tf_config_task_describe(b, second);
        return err_set(err, ERR_INVALID, "%s and %s have the same address: give each task its own",
                       first, second);
    }
    return 0;
}

int cluster_builder_finish(struct cluster_builder *builder, enum ty_role role, int index,
                           struct ty_tf_config **ret, struct err *err)
{
    if (cluster_builder_count(builder, TY_ROLE_CHIEF) > 1)
        return err_set(err, ERR_INVALID, "the cluster has %zu chiefs, but the limit is 1",
                       cluster_builder_count(builder, TY_ROLE_CHIEF));
    int result = cluster_check_addresses(builder, err);
    if (result < 0)
        return result;
    if (builder->count)
        qsort(builder->tasks, builder->count, sizeof(*builder->tasks), cluster_compare_tasks);
    for (size_t i = 0; i < builder->count; i++) {
        if (builder->tasks[i].role != role || builder->tasks[i].index != index)
            continue;
        struct ty_tf_config *config = mem_zalloc(sizeof(*config));
        *config =
            (struct ty_tf_config){.tasks = builder->tasks, .count = builder->count, .self = i};
        *builder = (struct cluster_builder){0};
        *ret = config;
        return 0;
    }
    size_t count = cluster_builder_count(builder, role);
    if (count == 0)
        return err_set(err, ERR_INVALID, "this task is %s %d, but the cluster has no %s",
                       ty_role_name(role), index, ty_role_name(role));
    if (index >= 0 && (size_t)index < count) /* the list has a gap */
        return err_set(err, ERR_INVALID, "this task is %s %d, which the cluster does not list",
                       ty_role_name(role), index);
    return err_set(err, ERR_INVALID,
                   "task index %d is out of range: the cluster has %zu %s%s, counted from 0", index,
                   count, ty_role_name(role), count == 1 || role == TY_ROLE_PS ? "" : "s");
}

struct ty_tf_config *cluster_alone(void)
{
    struct cluster_builder builder = {0};
    struct ty_tf_config *config = NULL;
    cluster_builder_add(&builder, TY_ROLE_CHIEF, 0, NULL, NULL);
    if (cluster_builder_finish(&builder, TY_ROLE_CHIEF, 0, &config, NULL) < 0)
        mem_panic("cluster: a cluster of one task is invalid");
    return config;
}

void ty_tf_config_free(struct ty_tf_config *config)
{
    if (!config)
        return;
    free(config->tasks);
    free(config);
}

size_t ty_tf_config_count(const struct ty_tf_config *config, enum ty_role role)
{
    size_t count = 0;
    for (size_t i = 0; i < config->count; i++)
        count += config->tasks[i].role == role;
    return count;
}

bool ty_tf_config_is_chief(const struct ty_tf_config *config)
{
    const struct ty_task *self = &config->tasks[config->self];
    if (self->role == TY_ROLE_CHIEF)
        return true;
    return self->role == TY_ROLE_WORKER && self->index == 0 &&
           ty_tf_config_count(config, TY_ROLE_CHIEF) == 0;
}
