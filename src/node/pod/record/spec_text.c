/* Reads and writes the text form of a pod's spec; see pod/record/spec.h. Nearly every field is one
 * row of a table. The keys KEY_… begin the part of a container, a mount or a volume in memory. */
#include "node/pod/record/spec.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/pod/record/record.h"
#include "node/pod/record/record_rows.h"

#define ID_MAX (UINT32_MAX - 1) /* the largest user or group ID */

/* ---- The tables ---- */

#define LIMIT_ROW(owner, member, name)                                                             \
    {                                                                                              \
        .key = (name), .type = RECORD_INT64, .offset = offsetof(owner, limits.member),             \
        .max = INT64_MAX, .skips_empty = true                                                      \
    }
#define LIMIT_ROWS(owner)                                                                          \
    LIMIT_ROW(owner, cpu_shares, "cpu-shares"), LIMIT_ROW(owner, cpu_quota_us, "cpu-quota"),       \
        LIMIT_ROW(owner, memory_bytes, "memory-limit"), LIMIT_ROW(owner, pids, "pids-limit")

static int spec_read_group(struct arena *arena, void *object, const char *value, struct err *err)
{
    struct pod_spec *spec = object;
    if (spec->extra_group_count == POD_GROUPS_MAX)
        return err_set(err, ERR_TOO_MANY, "more than %d groups", POD_GROUPS_MAX);
    if (str_to_int64(value, 0, ID_MAX, &spec->extra_groups[spec->extra_group_count], err) < 0)
        return err_wrap(err, "extra-group");
    spec->extra_group_count++;
    return 0;
}

static void spec_write_groups(const void *object, const char *key, struct buf *buf)
{
    const struct pod_spec *spec = object;
    for (size_t i = 0; i < spec->extra_group_count; i++)
        record_write_int(buf, key, spec->extra_groups[i]);
}

static const struct record_row POD_ROWS[] = {
    RECORD_ROW_TEXT(struct pod_spec, boot, "boot"),
    RECORD_ROW_TEXT(struct pod_spec, hostname, "hostname"),
    RECORD_ROW_TEXT(struct pod_spec, network, "network"),
    RECORD_ROW_TEXT(struct pod_spec, address, "address"),
    RECORD_ROW_BOOL(struct pod_spec, nested, "nested"),
    RECORD_ROW_BOOL(struct pod_spec, machine_ipc, "machine-ipc"),
    RECORD_ROW_BOOL(struct pod_spec, shares_processes, "share-processes"),
    RECORD_ROW_BOOL(struct pod_spec, plain, "plain"),
    RECORD_ROW_WORD(struct pod_spec, restart, "restart", restart_policy_names, RESTART_POLICIES),
    RECORD_ROW_TEXT(struct pod_spec, identity, "identity"),
    RECORD_ROW_INT64(struct pod_spec, grace_ms, "grace", 0, INT64_MAX / 2),
    RECORD_ROW_INT64(struct pod_spec, deadline_ms, "deadline", 0, INT64_MAX),
    RECORD_ROW_TEXT(struct pod_spec, prober, "prober"),
    RECORD_ROW_TEXT(struct pod_spec, hosts, "hosts"),
    RECORD_ROW_TEXT(struct pod_spec, resolv_conf, "resolv-conf"),
    RECORD_ROW_STRINGS(struct pod_spec, masks, "mask"),
    RECORD_ROW_STRINGS(struct pod_spec, shares, "share"),
    RECORD_ROW_TEXT(struct pod_spec, secrets, "secrets"),
    LIMIT_ROWS(struct pod_spec),
    RECORD_ROW_STRINGS(struct pod_spec, sysctls, "sysctl"),
    {.key = "extra-group",
     .type = RECORD_CUSTOM,
     .read = spec_read_group,
     .write = spec_write_groups},
};
static const struct record_table POD_TABLE = RECORD_TABLE(POD_ROWS);

static const struct record_row MEMORY_ROWS[] = {
    RECORD_ROW_INT64(struct pod_memory, size, "volume-memory-size", 0, INT64_MAX),
    RECORD_ROW_INT64(struct pod_memory, group, "volume-memory-group", -1, ID_MAX),
};
static const struct record_table MEMORY_TABLE = RECORD_TABLE(MEMORY_ROWS);

static int spec_read_rule(struct arena *arena, void *object, const char *value, struct err *err)
{
    return restart_rule_parse(arena, value, pod_container_add_rule(arena, object), err);
}

static void spec_write_rules(const void *object, const char *key, struct buf *buf)
{
    const struct restart_rules *rules = &((const struct pod_container *)object)->rules;
    for (size_t i = 0; i < rules->count; i++) {
        _cleanup_buf_ struct buf rule;
        buf_init(&rule, POD_SPEC_MAX);
        restart_rule_write(&rules->items[i], &rule);
        record_write(buf, key, rule.data);
    }
}

static const struct record_row CONTAINER_ROWS[] = {
    RECORD_ROW_BOOL(struct pod_container, sidecar, "sidecar"),
    RECORD_ROW_WORD(struct pod_container, restart, "container-restart", restart_policy_names,
                    RESTART_POLICIES), /* -1, the pod's policy, is not written */
    {.key = "restart-rule",
     .type = RECORD_CUSTOM,
     .read = spec_read_rule,
     .write = spec_write_rules},
    RECORD_ROW_TEXT(struct pod_container, image, "image"),
    RECORD_ROW_STRINGS(struct pod_container, arguments, "arg"),
    RECORD_ROW_STRINGS(struct pod_container, environment, "env"),
    RECORD_ROW_TEXT(struct pod_container, directory, "directory"),
    RECORD_ROW_INT64(struct pod_container, user, "user", -1, ID_MAX),
    RECORD_ROW_INT64(struct pod_container, group, "group", -1, ID_MAX),
    RECORD_ROW_INT64(struct pod_container, capabilities, "capabilities", 0, INT64_MAX),
    RECORD_ROW_BOOL(struct pod_container, unconfined, "unconfined"),
    RECORD_ROW_BOOL(struct pod_container, read_only, "read-only-root"),
    RECORD_ROW_BOOL(struct pod_container, message_from_log, "message-from-log"),
    RECORD_ROW_TEXT(struct pod_container, root, "root"),
    RECORD_ROW_TEXT(struct pod_container, layer, "layer"),
    RECORD_ROW_TEXT(struct pod_container, image_id, "image-id"),
    RECORD_ROW_INT64(struct pod_container, stop_signal, "stop-signal", 0, 64),
    RECORD_ROW_BOOL(struct pod_container, has_stdin, "stdin"),
    RECORD_ROW_BOOL(struct pod_container, stdin_once, "stdin-once"),
    RECORD_ROW_BOOL(struct pod_container, terminal, "terminal"),
    LIMIT_ROWS(struct pod_container),
    RECORD_ROW_STRINGS(struct pod_container, devices, "device"),
};
static const struct record_table CONTAINER_TABLE = RECORD_TABLE(CONTAINER_ROWS);

static const struct record_row MOUNT_ROWS[] = {
    RECORD_ROW_TEXT(struct pod_mount, source, "source"),
    RECORD_ROW_TEXT(struct pod_mount, sub_path, "sub-path"),
    RECORD_ROW_BOOL(struct pod_mount, read_only, "read-only"),
    RECORD_ROW_BOOL(struct pod_mount, only_top, "only-top"),
};
static const struct record_table MOUNT_TABLE = RECORD_TABLE(MOUNT_ROWS);

/* Keys of records that begin a part of the spec. The records that follow belong to this part. */
#define KEY_CONTAINER      "container"
#define KEY_INIT_CONTAINER "init"
#define KEY_MOUNT          "mount"
#define KEY_MEMORY         "volume-memory"

/* ---- Writing ---- */

static void spec_write_container(const struct pod_container *container, struct buf *buf)
{
    record_write(buf, container->init ? KEY_INIT_CONTAINER : KEY_CONTAINER, container->name);
    record_rows_write(&CONTAINER_TABLE, container, buf);
    for (size_t i = 0; i < container->mount_count; i++) {
        record_write(buf, KEY_MOUNT, container->mounts[i].target);
        record_rows_write(&MOUNT_TABLE, &container->mounts[i], buf);
    }
    pod_life_write(&container->life, buf);
}

void pod_spec_write(const struct pod_spec *spec, struct buf *buf)
{
    record_rows_write(&POD_TABLE, spec, buf);
    for (size_t i = 0; i < spec->memory_count; i++) {
        record_write(buf, KEY_MEMORY, spec->memories[i].path);
        record_rows_write(&MEMORY_TABLE, &spec->memories[i], buf);
    }
    for (size_t i = 0; i < spec->container_count; i++)
        spec_write_container(&spec->containers[i], buf);
}

/* ---- Reading ---- */

/* The objects that the next records belong to. A pointer is NULL before the first part of its kind.
 * `mount` becomes NULL again when the part of another container begins. */
struct spec_reader {
    struct arena *arena;
    struct pod_spec *spec;
    struct pod_memory *memory;
    struct pod_container *container;
    struct pod_mount *mount;
    struct pod_life_reader life;
};

static int spec_open_container(struct spec_reader *reader, const char *name, bool init,
                               struct err *err)
{
    if (reader->spec->container_count == POD_CONTAINERS_MAX)
        return err_set(err, ERR_TOO_MANY, "more than %d containers", POD_CONTAINERS_MAX);
    if (!str_is_dns_label(name)) /* it becomes part of file names */
        return err_set(err, ERR_INVALID, "'%s' is not a valid container name", name);
    reader->container = pod_spec_add_container(reader->arena, reader->spec, name);
    reader->container->init = init;
    reader->mount = NULL;
    reader->life =
        (struct pod_life_reader){.arena = reader->arena, .life = &reader->container->life};
    return 0;
}

/* Returns 0 if the record begins a part, 1 if it does not, or a negative code. */
static int spec_open_part(struct spec_reader *reader, const char *key, const char *value,
                          struct err *err)
{
    if (str_eq(key, KEY_CONTAINER) || str_eq(key, KEY_INIT_CONTAINER))
        return spec_open_container(reader, value, str_eq(key, KEY_INIT_CONTAINER), err);
    if (str_eq(key, KEY_MEMORY)) {
        reader->memory = pod_spec_add_memory(reader->arena, reader->spec, value);
        return 0;
    }
    if (reader->container && str_eq(key, KEY_MOUNT)) {
        reader->mount = value[0] == '/'
                            ? pod_container_add_mount(reader->arena, reader->container, value, NULL)
                            : NULL;
        return 0;
    }
    return 1;
}

/* Searches the tables for the key, from the mount's to the pod's, and stores the record in the
 * object of the first table that has it. */
static int spec_read_record(struct spec_reader *reader, const char *key, const char *value,
                            struct err *err)
{
    struct arena *arena = reader->arena;
    int result = spec_open_part(reader, key, value, err);
    if (result == 1)
        result = record_rows_read(&MOUNT_TABLE, arena, reader->mount, key, value, err);
    if (result == 1)
        result = record_rows_read(&CONTAINER_TABLE, arena, reader->container, key, value, err);
    if (result == 1 && reader->container)
        result = pod_life_read(&reader->life, key, value, err);
    if (result == 1)
        result = record_rows_read(&MEMORY_TABLE, arena, reader->memory, key, value, err);
    if (result == 1)
        result = record_rows_read(&POD_TABLE, arena, reader->spec, key, value, err);
    return result == 1 ? err_set(err, ERR_INVALID, "unknown key '%s'", key) : result;
}

static int spec_check(const struct pod_spec *spec, struct err *err)
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
            return err_set(err, ERR_INVALID, "init container '%s' comes after a main container",
                           container->name);
        for (size_t k = 0; k < container->mount_count; k++)
            if (!container->mounts[k].source)
                return err_set(err, ERR_INVALID, "mount '%s' has no source",
                               container->mounts[k].target);
        if (container->sidecar && !container->init)
            return err_set(err, ERR_INVALID,
                           "container '%s' is a sidecar but not an init container",
                           container->name);
        main = main || !container->init;
    }
    return main ? 0 : err_set(err, ERR_INVALID, "no container is given");
}

int pod_spec_parse(struct arena *arena, char *text, size_t size, struct pod_spec *ret,
                   struct err *err)
{
    struct pod_spec spec = {.restart = RESTART_ALWAYS, .grace_ms = POD_GRACE_DEFAULT_MS};
    struct spec_reader reader = {.arena = arena, .spec = &spec};
    struct record_reader records;
    record_reader_init(&records, text, size);
    const char *key;
    char *value;
    int result;
    while ((result = record_next(&records, &key, &value, err)) > 0)
        if (spec_read_record(&reader, key, value, err) < 0)
            return err_wrap(err, "line %u", records.line);
    if (result == 0)
        result = spec_check(&spec, err);
    if (result == 0)
        *ret = spec;
    return result;
}
