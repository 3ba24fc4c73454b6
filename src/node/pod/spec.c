/* The supervisor's orders, written and read; see pod/spec.h. */
#include "node/pod/spec.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/plan/capabilities.h"
#include "node/pod/record.h"

#include <string.h>

/* Room for `wanted` items; those there are kept. */
static void *grow(struct arena *arena, void *items, size_t count, size_t wanted, size_t *capacity,
                  size_t size)
{
    if (wanted <= *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : 8;
    void *moved = arena_zalloc(arena, larger * size);
    if (count)
        memcpy(moved, items, count * size);
    *capacity = larger;
    return moved;
}

void pod_strings_add(struct arena *arena, struct pod_strings *list, const char *text)
{
    /* One more than the new count, for the NULL behind the last. */
    list->items =
        grow(arena, list->items, list->count, list->count + 2, &list->capacity, sizeof(char *));
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

struct pod_container *pod_spec_add_container(struct arena *arena, struct pod_spec *spec,
                                             const char *name)
{
    spec->containers =
        grow(arena, spec->containers, spec->container_count, spec->container_count + 1,
             &spec->container_capacity, sizeof(*spec->containers));
    struct pod_container *container = &spec->containers[spec->container_count++];
    *container = (struct pod_container){.name = name,
                                        .user = -1,
                                        .group = -1,
                                        .restart = -1,
                                        .capabilities = pod_capabilities_default()};
    return container;
}

struct pod_mount *pod_container_add_mount(struct arena *arena, struct pod_container *container,
                                          const char *target, const char *source)
{
    container->mounts =
        grow(arena, container->mounts, container->mount_count, container->mount_count + 1,
             &container->mount_capacity, sizeof(*container->mounts));
    /* Kept in order of length, so that a mount inside another comes after it. */
    size_t position = container->mount_count++;
    while (position > 0 && strlen(container->mounts[position - 1].target) > strlen(target)) {
        container->mounts[position] = container->mounts[position - 1];
        position--;
    }
    container->mounts[position] = (struct pod_mount){.target = target, .source = source};
    return &container->mounts[position];
}

struct pod_memory *pod_spec_add_memory(struct arena *arena, struct pod_spec *spec, const char *path)
{
    spec->memories = grow(arena, spec->memories, spec->memory_count, spec->memory_count + 1,
                          &spec->memory_capacity, sizeof(*spec->memories));
    struct pod_memory *memory = &spec->memories[spec->memory_count++];
    *memory = (struct pod_memory){.path = path, .group = -1};
    return memory;
}

struct restart_rule *pod_container_add_rule(struct arena *arena, struct pod_container *container)
{
    struct restart_rules *rules = &container->rules;
    rules->items = grow(arena, rules->items, rules->count, rules->count + 1, &rules->capacity,
                        sizeof(*rules->items));
    return &rules->items[rules->count++];
}

enum restart_policy pod_container_restart(const struct pod_spec *spec,
                                          const struct pod_container *container)
{
    return container->restart < 0 ? spec->restart : (enum restart_policy)container->restart;
}

static void write_optional(struct buf *buf, const char *key, const char *value)
{
    if (value)
        record_write(buf, key, value);
}

static const struct {
    const char *key;
    size_t offset;
} LIMITS[] = {
    {"cpu-shares", offsetof(struct cgroup_limits, cpu_shares)},
    {"cpu-quota", offsetof(struct cgroup_limits, cpu_quota_us)},
    {"memory-limit", offsetof(struct cgroup_limits, memory_bytes)},
    {"pids-limit", offsetof(struct cgroup_limits, pids)},
};

static int64_t *limit_at(const struct cgroup_limits *limits, size_t i)
{
    return (int64_t *)((char *)limits + LIMITS[i].offset);
}

static void write_limits(const struct cgroup_limits *limits, struct buf *buf)
{
    for (size_t i = 0; i < ARRAY_SIZE(LIMITS); i++)
        if (*limit_at(limits, i))
            record_write_int(buf, LIMITS[i].key, *limit_at(limits, i));
}

static void write_container(const struct pod_container *container, struct buf *buf)
{
    record_write(buf, container->init ? "init" : "container", container->name);
    record_write_int(buf, "sidecar", container->sidecar);
    if (container->restart >= 0)
        record_write(buf, "container-restart",
                     restart_policy_name((enum restart_policy)container->restart));
    for (size_t i = 0; i < container->rules.count; i++) {
        _cleanup_buf_ struct buf rule;
        buf_init(&rule, POD_SPEC_MAX);
        restart_rule_write(&container->rules.items[i], &rule);
        record_write(buf, "restart-rule", rule.data);
    }
    write_optional(buf, "image", container->image);
    for (size_t i = 0; i < container->arguments.count; i++)
        record_write(buf, "arg", container->arguments.items[i]);
    for (size_t i = 0; i < container->environment.count; i++)
        record_write(buf, "env", container->environment.items[i]);
    write_optional(buf, "directory", container->directory);
    record_write_int(buf, "user", container->user);
    record_write_int(buf, "group", container->group);
    record_write_int(buf, "capabilities", (int64_t)container->capabilities);
    record_write_int(buf, "unconfined", container->unconfined);
    record_write_int(buf, "read-only-root", container->read_only);
    record_write_int(buf, "message-from-log", container->message_from_log);
    write_optional(buf, "root", container->root);
    write_optional(buf, "layer", container->layer);
    write_optional(buf, "image-id", container->image_id);
    record_write_int(buf, "stop-signal", container->stop_signal);
    record_write_int(buf, "stdin", container->has_stdin);
    record_write_int(buf, "stdin-once", container->stdin_once);
    record_write_int(buf, "terminal", container->terminal);
    write_limits(&container->limits, buf);
    for (size_t i = 0; i < container->devices.count; i++)
        record_write(buf, "device", container->devices.items[i]);
    for (size_t i = 0; i < container->mount_count; i++) {
        const struct pod_mount *mount = &container->mounts[i];
        record_write(buf, "mount", mount->target);
        write_optional(buf, "source", mount->source);
        write_optional(buf, "sub-path", mount->sub_path);
        record_write_int(buf, "read-only", mount->read_only);
        record_write_int(buf, "only-top", mount->only_top);
    }
    pod_life_write(&container->life, buf);
}

void pod_spec_write(const struct pod_spec *spec, struct buf *buf)
{
    write_optional(buf, "boot", spec->boot);
    record_write(buf, "hostname", spec->hostname);
    write_optional(buf, "network", spec->network);
    write_optional(buf, "address", spec->address);
    record_write_int(buf, "nested", spec->nested);
    record_write_int(buf, "machine-ipc", spec->machine_ipc);
    record_write_int(buf, "share-processes", spec->shares_processes);
    record_write_int(buf, "plain", spec->plain);
    record_write(buf, "restart", restart_policy_name(spec->restart));
    write_optional(buf, "identity", spec->identity);
    record_write_int(buf, "grace", spec->grace_ms);
    record_write_int(buf, "deadline", spec->deadline_ms);
    write_optional(buf, "prober", spec->prober);
    write_optional(buf, "hosts", spec->hosts);
    write_optional(buf, "resolv-conf", spec->resolv_conf);
    for (size_t i = 0; i < spec->masks.count; i++)
        record_write(buf, "mask", spec->masks.items[i]);
    for (size_t i = 0; i < spec->shares.count; i++)
        record_write(buf, "share", spec->shares.items[i]);
    write_optional(buf, "secrets", spec->secrets);
    write_limits(&spec->limits, buf);
    for (size_t i = 0; i < spec->sysctls.count; i++)
        record_write(buf, "sysctl", spec->sysctls.items[i]);
    for (size_t i = 0; i < spec->extra_group_count; i++)
        record_write_int(buf, "extra-group", spec->extra_groups[i]);
    for (size_t i = 0; i < spec->memory_count; i++) {
        record_write(buf, "volume-memory", spec->memories[i].path);
        record_write_int(buf, "volume-memory-size", spec->memories[i].size);
        record_write_int(buf, "volume-memory-group", spec->memories[i].group);
    }
    for (size_t i = 0; i < spec->container_count; i++)
        write_container(&spec->containers[i], buf);
}

struct parser {
    struct arena *arena;
    struct pod_spec *spec;
    struct pod_container *container; /* the one being read, or NULL */
    struct pod_mount *mount;
    struct pod_life_reader life;
    struct err *err;
};

static int parse_int(struct parser *p, const char *key, const char *value, int64_t min, int64_t max,
                     int64_t *ret)
{
    if (str_to_int64(value, min, max, ret, p->err) < 0)
        return err_wrap(p->err, "%s", key);
    return 0;
}

static int parse_bool(struct parser *p, const char *key, const char *value, bool *ret)
{
    int64_t number;
    int result = parse_int(p, key, value, 0, 1, &number);
    if (result == 0)
        *ret = number != 0;
    return result;
}

static int parse_container(struct parser *p, const char *name, bool init)
{
    if (p->spec->container_count == POD_CONTAINERS_MAX)
        return err_set(p->err, ERR_TOO_MANY, "more than %d containers", POD_CONTAINERS_MAX);
    if (!str_is_dns_label(name)) /* it becomes part of file names */
        return err_set(p->err, ERR_INVALID, "'%s' is no name of a container", name);
    p->container = pod_spec_add_container(p->arena, p->spec, name);
    p->container->init = init;
    p->mount = NULL;
    p->life = (struct pod_life_reader){.arena = p->arena, .life = &p->container->life};
    return 0;
}

/* Of the container being read, or of the pod; 1 if the key is no limit. */
static int parse_limit(struct parser *p, const char *key, const char *value)
{
    struct cgroup_limits *limits = p->container ? &p->container->limits : &p->spec->limits;
    for (size_t i = 0; i < ARRAY_SIZE(LIMITS); i++)
        if (str_eq(key, LIMITS[i].key))
            return parse_int(p, key, value, 0, INT64_MAX, limit_at(limits, i));
    return 1;
}

static int parse_capabilities(struct parser *p, const char *value)
{
    int64_t bits;
    int result = parse_int(p, "capabilities", value, 0, INT64_MAX, &bits);
    if (result == 0)
        p->container->capabilities = (uint64_t)bits;
    return result;
}

static int parse_own_restart(struct parser *p, const char *value)
{
    enum restart_policy policy;
    int result = restart_policy_parse(value, &policy, p->err);
    if (result == 0)
        p->container->restart = (int)policy;
    return result;
}

/* Keys of a mount and of a container; 1 if the key is none of them. */
static int parse_inner(struct parser *p, const char *key, const char *value)
{
    struct pod_container *container = p->container;
    if (!container)
        return 1;
    if (str_eq(key, "arg"))
        pod_strings_add(p->arena, &container->arguments, value);
    else if (str_eq(key, "env"))
        pod_strings_add(p->arena, &container->environment, value);
    else if (str_eq(key, "device"))
        pod_strings_add(p->arena, &container->devices, value);
    else if (str_eq(key, "directory"))
        container->directory = value;
    else if (str_eq(key, "user"))
        return parse_int(p, key, value, -1, UINT32_MAX - 1, &container->user);
    else if (str_eq(key, "group"))
        return parse_int(p, key, value, -1, UINT32_MAX - 1, &container->group);
    else if (str_eq(key, "capabilities"))
        return parse_capabilities(p, value);
    else if (str_eq(key, "unconfined"))
        return parse_bool(p, key, value, &container->unconfined);
    else if (str_eq(key, "read-only-root"))
        return parse_bool(p, key, value, &container->read_only);
    else if (str_eq(key, "image"))
        container->image = value;
    else if (str_eq(key, "sidecar"))
        return parse_bool(p, key, value, &container->sidecar);
    else if (str_eq(key, "container-restart"))
        return parse_own_restart(p, value);
    else if (str_eq(key, "restart-rule"))
        return restart_rule_parse(p->arena, value, pod_container_add_rule(p->arena, container),
                                  p->err);
    else if (str_eq(key, "message-from-log"))
        return parse_bool(p, key, value, &container->message_from_log);
    else if (str_eq(key, "root"))
        container->root = value;
    else if (str_eq(key, "layer"))
        container->layer = value;
    else if (str_eq(key, "image-id"))
        container->image_id = value;
    else if (str_eq(key, "stop-signal"))
        return parse_int(p, key, value, 0, 64, &container->stop_signal);
    else if (str_eq(key, "stdin"))
        return parse_bool(p, key, value, &container->has_stdin);
    else if (str_eq(key, "stdin-once"))
        return parse_bool(p, key, value, &container->stdin_once);
    else if (str_eq(key, "terminal"))
        return parse_bool(p, key, value, &container->terminal);
    else if (str_eq(key, "mount"))
        p->mount =
            value[0] == '/' ? pod_container_add_mount(p->arena, container, value, NULL) : NULL;
    else if (p->mount && str_eq(key, "source"))
        p->mount->source = value;
    else if (p->mount && str_eq(key, "sub-path"))
        p->mount->sub_path = value;
    else if (p->mount && str_eq(key, "read-only"))
        return parse_bool(p, key, value, &p->mount->read_only);
    else if (p->mount && str_eq(key, "only-top"))
        return parse_bool(p, key, value, &p->mount->only_top);
    else
        return pod_life_read(&p->life, key, value, p->err);
    return 0;
}

static int parse_memory(struct parser *p, const char *key, const char *value)
{
    struct pod_spec *spec = p->spec;
    if (str_eq(key, "volume-memory")) {
        pod_spec_add_memory(p->arena, spec, value);
        return 0;
    }
    struct pod_memory *memory = spec->memory_count ? &spec->memories[spec->memory_count - 1] : NULL;
    if (memory && str_eq(key, "volume-memory-size"))
        return parse_int(p, key, value, 0, INT64_MAX, &memory->size);
    if (memory && str_eq(key, "volume-memory-group"))
        return parse_int(p, key, value, -1, UINT32_MAX - 1, &memory->group);
    return err_set(p->err, ERR_INVALID, "unknown key '%s'", key);
}

static int parse_group(struct parser *p, const char *value)
{
    struct pod_spec *spec = p->spec;
    if (spec->extra_group_count == POD_GROUPS_MAX)
        return err_set(p->err, ERR_TOO_MANY, "more than %d groups", POD_GROUPS_MAX);
    return parse_int(p, "extra-group", value, 0, UINT32_MAX - 1,
                     &spec->extra_groups[spec->extra_group_count++]);
}

static int parse_record(struct parser *p, const char *key, const char *value)
{
    struct pod_spec *spec = p->spec;
    int inner = parse_inner(p, key, value);
    if (inner == 1)
        inner = parse_limit(p, key, value);
    if (inner <= 0)
        return inner;
    if (str_eq(key, "container") || str_eq(key, "init"))
        return parse_container(p, value, str_eq(key, "init"));
    if (str_has_prefix(key, "volume-memory"))
        return parse_memory(p, key, value);
    if (str_eq(key, "nested"))
        return parse_bool(p, key, value, &spec->nested);
    if (str_eq(key, "machine-ipc"))
        return parse_bool(p, key, value, &spec->machine_ipc);
    if (str_eq(key, "share-processes"))
        return parse_bool(p, key, value, &spec->shares_processes);
    if (str_eq(key, "plain"))
        return parse_bool(p, key, value, &spec->plain);
    if (str_eq(key, "extra-group"))
        return parse_group(p, value);
    if (str_eq(key, "restart"))
        return restart_policy_parse(value, &spec->restart, p->err);
    if (str_eq(key, "grace"))
        return parse_int(p, key, value, 0, INT64_MAX / 2, &spec->grace_ms);
    if (str_eq(key, "deadline"))
        return parse_int(p, key, value, 0, INT64_MAX, &spec->deadline_ms);
    if (str_eq(key, "boot"))
        spec->boot = value;
    else if (str_eq(key, "identity"))
        spec->identity = value;
    else if (str_eq(key, "prober"))
        spec->prober = value;
    else if (str_eq(key, "hostname"))
        spec->hostname = value;
    else if (str_eq(key, "network"))
        spec->network = value;
    else if (str_eq(key, "address"))
        spec->address = value;
    else if (str_eq(key, "hosts"))
        spec->hosts = value;
    else if (str_eq(key, "resolv-conf"))
        spec->resolv_conf = value;
    else if (str_eq(key, "sysctl"))
        pod_strings_add(p->arena, &spec->sysctls, value);
    else if (str_eq(key, "mask"))
        pod_strings_add(p->arena, &spec->masks, value);
    else if (str_eq(key, "share"))
        pod_strings_add(p->arena, &spec->shares, value);
    else if (str_eq(key, "secrets"))
        spec->secrets = value;
    else
        return err_set(p->err, ERR_INVALID, "unknown key '%s'", key);
    return 0;
}

static int check(const struct pod_spec *spec, struct err *err)
{
    if (str_is_empty(spec->hostname))
        return err_set(err, ERR_INVALID, "no hostname is given");
    if (spec->network && !spec->address)
        return err_set(err, ERR_INVALID, "a network is given, but no address");
    bool main = false;
    for (size_t i = 0; i < spec->container_count; i++) {
        const struct pod_container *container = &spec->containers[i];
        if (container->arguments.count == 0)
            return err_set(err, ERR_INVALID, "container '%s' has no command", container->name);
        if (container->root && !container->layer)
            return err_set(err, ERR_INVALID, "container '%s' has a root, but no layer over it",
                           container->name);
        if (main && container->init)
            return err_set(err, ERR_INVALID, "init container '%s' stands behind a main one",
                           container->name);
        for (size_t k = 0; k < container->mount_count; k++)
            if (!container->mounts[k].source)
                return err_set(err, ERR_INVALID, "mount '%s' has no source",
                               container->mounts[k].target);
        if (container->sidecar && !container->init)
            return err_set(err, ERR_INVALID, "container '%s' is no init container to be a sidecar",
                           container->name);
        main = main || !container->init;
    }
    return main ? 0 : err_set(err, ERR_INVALID, "no container is given");
}

int pod_spec_parse(struct arena *arena, char *text, size_t size, struct pod_spec *ret,
                   struct err *err)
{
    struct pod_spec spec = {.restart = RESTART_ALWAYS, .grace_ms = POD_GRACE_DEFAULT_MS};
    struct parser parser = {.arena = arena, .spec = &spec, .err = err};
    struct record_reader reader;
    record_reader_init(&reader, text, size);
    const char *key;
    char *value;
    int got;
    while ((got = record_next(&reader, &key, &value, err)) > 0) {
        int result = parse_record(&parser, key, value);
        if (result < 0)
            return err_wrap(err, "line %u", reader.line);
    }
    if (got == 0)
        got = check(&spec, err);
    if (got == 0)
        *ret = spec;
    return got;
}

int pod_spec_store(const char *directory, const struct pod_spec *spec, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    pod_spec_write(spec, &text);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "arguments and environment of the pod are larger than %d bytes",
                       POD_SPEC_MAX);
    return file_replace(path, text.data, text.size, 0600, err);
}

int pod_spec_load(struct arena *arena, const char *directory, struct pod_spec *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    size_t size = text.size;
    if (pod_spec_parse(arena, arena_strndup(arena, text.data, size), size, ret, err) < 0)
        return err_wrap(err, "'%s'", path);
    return 0;
}
