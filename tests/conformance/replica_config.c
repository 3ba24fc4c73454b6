/* Reads TF_CONFIG as TensorFlow programs do; see replica_config.h. Called by the replica of the
 * conformance suite. It deliberately does not use the trainer's parser: the suite must notice
 * an error that the operator and that parser share. */
#include "replica_config.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* The address of a task: from a list, or from the map that dynamic workers get. */
static const char *task_address(const struct json *cluster, const char *type, int64_t index)
{
    const struct json *tasks = json_get(cluster, type);
    char key[24];

    if (!tasks || index < 0)
        return NULL;
    if (tasks->type == JSON_ARRAY)
        return json_text(json_element(tasks, (size_t)index));
    snprintf(key, sizeof(key), "%lld", (long long)index);
    return json_get_string(tasks, key, NULL);
}

static struct json *parse(struct arena *arena, const char *tf_config, struct err *err)
{
    struct json *config;

    if (json_parse(arena, tf_config, strlen(tf_config), NULL, &config, err) < 0)
        return NULL;
    return config;
}

int replica_config_port(const char *tf_config, int fallback)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *config = tf_config ? parse(arena, tf_config, NULL) : NULL;
    const struct json *task = json_get(config, "task");
    const char *address =
        task_address(json_get(config, "cluster"), json_get_string(task, "type", ""),
                     json_get_int(task, "index", -1));
    const char *colon = address ? strrchr(address, ':') : NULL;
    int64_t port;

    if (!colon || str_to_int64(colon + 1, 1, 65535, &port, NULL) < 0)
        return fallback;
    return (int)port;
}

static bool is_chief(const struct json *cluster, const char *type, int64_t index)
{
    if (json_get(cluster, "chief") || json_get(cluster, "master"))
        return str_eq(type, "chief") || str_eq(type, "master");
    return str_eq(type, "worker") && index == 0;
}

struct json *replica_config_describe(struct arena *arena, const char *tf_config)
{
    struct json *out = json_object(arena);
    struct err err = ERR_INIT;
    const struct json *config = tf_config ? parse(arena, tf_config, &err) : NULL;
    const struct json *task = json_get(config, "task");
    const char *type = json_get_string(task, "type", "worker");
    int64_t index = json_get_int(task, "index", 0);
    bool outside = str_eq(type, "evaluator");
    const struct json *cluster = outside ? NULL : json_get(config, "cluster");
    const char *address = task_address(cluster, type, index);
    size_t workers = json_count(json_get(cluster, "worker")) +
                     json_count(json_get(cluster, "chief")) +
                     json_count(json_get(cluster, "master"));

    if (tf_config && !config) {
        json_set_string(arena, out, "error", err.message);
        return out;
    }
    json_set_string(arena, out, "task_type", type);
    json_set_int(arena, out, "task_id", index);
    json_set(arena, out, "cluster_spec", cluster ? json_clone(arena, cluster) : json_object(arena));
    json_set_bool(arena, out, "is_chief", config ? is_chief(cluster, type, index) : true);
    json_set(arena, out, "master",
             address ? json_stringf(arena, "grpc://%s", address) : json_string(arena, ""));
    json_set_int(arena, out, "num_worker_replicas", config ? (int64_t)workers : 1);
    json_set_int(arena, out, "num_ps_replicas", (int64_t)json_count(json_get(cluster, "ps")));
    return out;
}
