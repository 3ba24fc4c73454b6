/* Reads and saves the settings of a cluster; see up_settings.h. */
#include "cli/trainyard/up_settings.h"

#include "base/json/json_file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/quantity.h"

#include <string.h>

enum {
    NODES_MAX = 64,
    NODE_NAME_MAX = 63, /* limit of Kubernetes for label values, because the name is also a label */
    MEMORY_MIN = 1024 * 1024,
};

/* Parses "3" as node-1 … node-3, and "a,b" as a and b. */
static int parse_nodes(struct arena *arena, const char *text, const char *const **ret,
                       struct err *err)
{
    size_t count = 0;
    int64_t number = 0;
    const char **names;
    if (str_to_int64(text, INT64_MIN, INT64_MAX, &number, NULL) == 0) {
        if (number < 1 || number > NODES_MAX)
            return err_set(err, ERR_USAGE,
                           "--nodes %s: must be a number from 1 to %d, or node names", text,
                           NODES_MAX);
        names = ARENA_ARRAY(arena, const char *, (size_t)number + 1);
        for (; count < (size_t)number; count++)
            names[count] = arena_printf(arena, "node-%zu", count + 1);
        *ret = names;
        return 0;
    }
    names = (const char **)str_split(arena, text, ',', &count);
    if (count > NODES_MAX)
        return err_set(err, ERR_USAGE, "--nodes: there are %zu nodes, but the limit is %d", count,
                       NODES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!str_is_dns_subdomain(names[i]) || strlen(names[i]) > NODE_NAME_MAX)
            return err_set(
                err, ERR_USAGE,
                "--nodes: '%s' is not a valid node name: use at most %d lower case letters, "
                "digits, '-' and '.'",
                names[i], NODE_NAME_MAX);
        for (size_t j = 0; j < i; j++)
            if (str_eq(names[i], names[j]))
                return err_set(err, ERR_USAGE, "--nodes: '%s' is named twice", names[i]);
    }
    *ret = names;
    return 0;
}

/* ---- Amounts --------------------------------------------------------------------------------- */

int up_settings_check_cpus(const char *text, struct err *err)
{
    struct kube_quantity quantity;
    if (kube_quantity_parse(text, &quantity, NULL) < 0 || quantity.nano < 0)
        return err_set(err, ERR_USAGE, "'%s' is not a number of CPUs: write it as 8, 2.5 or 500m",
                       text);
    return 0;
}

int up_settings_check_memory(const char *text, struct err *err)
{
    struct kube_quantity quantity;
    if (kube_quantity_parse(text, &quantity, NULL) < 0 || quantity.nano < 0)
        return err_set(err, ERR_USAGE, "'%s' is not an amount of memory: write it as 8Gi or 500Mi",
                       text);
    int64_t bytes = kube_quantity_value(&quantity);
    if (bytes > 0 && bytes < MEMORY_MIN)
        return err_set(err, ERR_USAGE, "'%s' is less than 1Mi: add a unit, as in 8Gi", text);
    return 0;
}

/* Returns the canonical form of the Kubernetes quantity, or NULL for zero, which means the whole
 * machine. */
static const char *canonical_amount(struct arena *arena, const char *text)
{
    char canonical[KUBE_QUANTITY_TEXT_MAX];
    struct kube_quantity quantity;
    if (kube_quantity_parse(text, &quantity, NULL) < 0 || quantity.nano <= 0)
        return NULL;
    kube_quantity_format(&quantity, canonical);
    return arena_strdup(arena, canonical);
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Returns the value of a setting: `wanted`, which is stored in `settings`; or without `wanted` the
 * stored value; or `fallback`. Sets *is_changed if `settings` has changed. */
static const char *choose_value(struct arena *arena, struct json *settings, const char *name,
                                const char *wanted, const char *fallback, bool *is_changed)
{
    const char *kept = json_get_string(settings, name, fallback);
    if (str_is_empty(wanted) || str_eq(wanted, kept))
        return kept;
    json_set_string(arena, settings, name, wanted);
    *is_changed = true;
    return wanted;
}

int up_settings_apply(struct arena *arena, const struct state_dir *state,
                      const struct up_settings *wanted, struct up_cluster *ret, struct err *err)
{
    struct json *settings = json_object(arena);
    int result =
        file_exists(state->settings) ? json_file_read(arena, state->settings, &settings, err) : 0;
    if (result < 0)
        return result;
    bool is_changed = false;
    const char *nodes = choose_value(arena, settings, "nodes", wanted->nodes, "1", &is_changed);
    const char *cpus = choose_value(arena, settings, "cpus", wanted->cpus, "0", &is_changed);
    const char *memory = choose_value(arena, settings, "memory", wanted->memory, "0", &is_changed);
    result = parse_nodes(arena, nodes, &ret->node_names, err);
    if (result < 0)
        return result;
    ret->size = (struct node_size){.cpu = canonical_amount(arena, cpus),
                                   .memory = canonical_amount(arena, memory)};
    return is_changed ? json_file_write(state->settings, settings, err) : 0;
}
