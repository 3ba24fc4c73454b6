/* The cells of PodGroups, Scales and leases; see cells.h. */
#include "kube/table/cells.h"

struct json *table_group_min_member(struct arena *arena, const struct json *group, int64_t now_ms)
{
    return json_int(arena, json_get_int(json_get(group, "spec"), "minMember", 0));
}

static struct json *status_count(struct arena *arena, const struct json *group, const char *name)
{
    return json_int(arena, json_get_int(json_get(group, "status"), name, 0));
}

struct json *table_group_running(struct arena *arena, const struct json *group, int64_t now_ms)
{
    return status_count(arena, group, "running");
}

struct json *table_group_succeeded(struct arena *arena, const struct json *group, int64_t now_ms)
{
    return status_count(arena, group, "succeeded");
}

struct json *table_group_failed(struct arena *arena, const struct json *group, int64_t now_ms)
{
    return status_count(arena, group, "failed");
}

struct json *table_group_queue(struct arena *arena, const struct json *group, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(group, "spec"), "queue", ""));
}

struct json *table_lease_holder(struct arena *arena, const struct json *lease, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(lease, "spec"), "holderIdentity", ""));
}

struct json *table_scale_desired(struct arena *arena, const struct json *scale, int64_t now_ms)
{
    return json_int(arena, json_get_int(json_get(scale, "spec"), "replicas", 0));
}

struct json *table_scale_available(struct arena *arena, const struct json *scale, int64_t now_ms)
{
    return status_count(arena, scale, "replicas");
}
