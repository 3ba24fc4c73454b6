/* The functions that make the cells of tables, and helpers that several of them use. A cell
 * function returns the value of one column for one object. It never returns NULL. */
#ifndef TRAINYARD_KUBE_TABLE_CELLS_H
#define TRAINYARD_KUBE_TABLE_CELLS_H

#include "base/json/json.h"

struct kube_column;

typedef struct json *table_cell(struct arena *arena, const struct json *object, int64_t now_ms);

/* Returns the time since the RFC 3339 timestamp, such as "5m", or "<unknown>" if the timestamp is
 * NULL, "" or invalid. */
char *table_age(struct arena *arena, const char *timestamp, int64_t now_ms);
/* Returns the text as a cell, or "<none>" for NULL and "". */
struct json *table_text_or_none(struct arena *arena, const char *text);

/* Returns the cell of a column that has a path instead of a function. The cell is null if the value
 * is missing or null, or has another type than the column. A column of type "string" shows a value
 * of any type as text. */
struct json *table_path_cell(struct arena *arena, const struct kube_column *column,
                             const struct json *object, int64_t now_ms);

table_cell table_name, table_age_cell;
table_cell table_pod_ready, table_pod_status, table_pod_restarts, table_pod_ip, table_pod_node,
    table_pod_nominated_node, table_pod_readiness_gates;
table_cell table_node_status, table_node_roles, table_node_version, table_node_internal_ip,
    table_node_external_ip, table_node_os_image, table_node_kernel, table_node_runtime;
table_cell table_service_type, table_service_cluster_ip, table_service_external_ip,
    table_service_ports, table_service_selector, table_endpoints;
table_cell table_claim_status, table_claim_volume, table_claim_capacity, table_claim_access,
    table_claim_class, table_volume_capacity, table_volume_access, table_volume_reclaim,
    table_volume_status, table_volume_claim, table_volume_class, table_volume_reason,
    table_volume_mode;
table_cell table_event_last_seen, table_event_type, table_event_reason, table_event_object,
    table_event_subobject, table_event_source, table_event_message, table_event_first_seen,
    table_event_count;
table_cell table_created_at, table_account_secrets, table_binding_role, table_binding_users,
    table_binding_groups, table_binding_accounts;
table_cell table_job_completions, table_job_duration;
table_cell table_template_containers, table_template_images, table_pod_selector,
    table_replicas_desired, table_replicas_current, table_replicas_ready, table_replicas_updated,
    table_replicas_available, table_deployment_ready;
table_cell table_slice_type, table_slice_ports, table_slice_endpoints;
table_cell table_class_name, table_class_provisioner, table_class_reclaim, table_class_binding,
    table_class_expansion;
table_cell table_quota_requests, table_quota_limits;
table_cell table_usage_cpu, table_usage_memory, table_usage_window;
table_cell table_priority_value, table_priority_global;
table_cell table_phase, table_status_message, table_data_count, table_secret_type,
    table_lease_holder;
table_cell table_group_min_member, table_group_running, table_group_succeeded, table_group_failed,
    table_group_queue, table_scale_desired, table_scale_available;

#endif
