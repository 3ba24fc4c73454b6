/* The columns of each resource: what `kubectl get` shows, in the order it shows it. Priority 1 are
 * those of -o wide. */
#include "base/mem.h"
#include "base/str.h"
#include "kube/table/cells.h"
#include "kube/table/table.h"

#define NAME                                                                                       \
    {                                                                                              \
        "Name", "string", "name", "Name of the object, unique within its namespace.", 0,           \
            table_name                                                                             \
    }
#define AGE                                                                                        \
    {                                                                                              \
        "Age", "string", "", "Time since the object was created.", 0, table_age_cell               \
    }
#define TEXT(name, description, cell)                                                              \
    {                                                                                              \
        name, "string", "", description, 0, cell                                                   \
    }
#define WIDE(name, description, cell)                                                              \
    {                                                                                              \
        name, "string", "", description, 1, cell                                                   \
    }

static const struct kube_column GENERIC[] = {NAME, AGE};

static const struct kube_column NAMESPACES[] = {
    NAME,
    TEXT("Status", "The phase of the namespace.", table_phase),
    AGE,
};

static const struct kube_column NODES[] = {
    NAME,
    TEXT("Status", "Whether the node is ready and takes new pods.", table_node_status),
    TEXT("Roles", "The roles its labels name.", table_node_roles),
    AGE,
    TEXT("Version", "Version of the node's agent.", table_node_version),
    WIDE("Internal-IP", "Address within the cluster.", table_node_internal_ip),
    WIDE("External-IP", "Address from outside.", table_node_external_ip),
    WIDE("OS-Image", "Operating system.", table_node_os_image),
    WIDE("Kernel-Version", "Kernel.", table_node_kernel),
    WIDE("Container-Runtime", "What runs the pods.", table_node_runtime),
};

static const struct kube_column PODS[] = {
    NAME,
    TEXT("Ready", "How many of its containers are ready.", table_pod_ready),
    TEXT("Status", "What its containers, taken together, are doing.", table_pod_status),
    TEXT("Restarts", "How often its containers were restarted, and when last.", table_pod_restarts),
    AGE,
    WIDE("IP", "Address of the pod.", table_pod_ip),
    WIDE("Node", "Node on which it runs.", table_pod_node),
    WIDE("Nominated Node", "Node where room is being made for it.", table_pod_nominated_node),
    WIDE("Readiness Gates", "How many of its extra conditions hold.", table_pod_readiness_gates),
};

static const struct kube_column SERVICES[] = {
    NAME,
    TEXT("Type", "How the service is exposed.", table_service_type),
    TEXT("Cluster-IP", "Address within the cluster.", table_service_cluster_ip),
    TEXT("External-IP", "Address from outside.", table_service_external_ip),
    TEXT("Port(s)", "Ports it serves.", table_service_ports),
    AGE,
    WIDE("Selector", "Labels of the pods behind it.", table_service_selector),
};

static const struct kube_column ENDPOINTS[] = {
    NAME,
    TEXT("Endpoints", "Addresses behind the service of the same name.", table_endpoints),
    AGE,
};

static const struct kube_column CONFIGMAPS[] = {
    NAME,
    {"Data", "integer", "", "How many entries it has.", 0, table_data_count},
    AGE,
};

static const struct kube_column SECRETS[] = {
    NAME,
    TEXT("Type", "What the secret is for.", table_secret_type),
    {"Data", "integer", "", "How many entries it has.", 0, table_data_count},
    AGE,
};

static const struct kube_column PVCS[] = {
    NAME,
    TEXT("Status", "Whether a volume is bound to it.", table_claim_status),
    TEXT("Volume", "The volume bound to it.", table_claim_volume),
    TEXT("Capacity", "Size of that volume.", table_claim_capacity),
    TEXT("Access Modes", "How that volume may be mounted.", table_claim_access),
    TEXT("StorageClass", "Class that the claim asks for.", table_claim_class),
    AGE,
    WIDE("VolumeMode", "File system or block device.", table_volume_mode),
};

static const struct kube_column PVS[] = {
    NAME,
    TEXT("Capacity", "Size of the volume.", table_volume_capacity),
    TEXT("Access Modes", "How it may be mounted.", table_volume_access),
    TEXT("Reclaim Policy", "What becomes of it when its claim is gone.", table_volume_reclaim),
    TEXT("Status", "Whether it is bound.", table_volume_status),
    TEXT("Claim", "The claim it is bound to.", table_volume_claim),
    TEXT("StorageClass", "Class it belongs to.", table_volume_class),
    TEXT("Reason", "Why it failed.", table_volume_reason),
    AGE,
    WIDE("VolumeMode", "File system or block device.", table_volume_mode),
};

static const struct kube_column EVENTS[] = {
    TEXT("Last Seen", "Time since it happened last.", table_event_last_seen),
    TEXT("Type", "Normal or Warning.", table_event_type),
    TEXT("Reason", "Why, in one word.", table_event_reason),
    TEXT("Object", "What it is about.", table_event_object),
    WIDE("Subobject", "The part of the object it is about.", table_event_subobject),
    WIDE("Source", "Who reports it.", table_event_source),
    TEXT("Message", "What happened.", table_event_message),
    WIDE("First Seen", "Time since it happened first.", table_event_first_seen),
    WIDE("Count", "How often it happened.", table_event_count),
    {"Name", "string", "name", "Name of the event.", 1, table_name},
};

static const struct kube_column JOBS[] = {
    NAME,
    TEXT("Completions", "How many pods have succeeded, of how many.", table_job_completions),
    TEXT("Duration", "Time from its start to its end.", table_job_duration),
    AGE,
    WIDE("Containers", "Names of the containers.", table_template_containers),
    WIDE("Images", "Images of the containers.", table_template_images),
    WIDE("Selector", "Labels of its pods.", table_pod_selector),
};

static const struct kube_column REPLICASETS[] = {
    NAME,
    {"Desired", "integer", "", "How many pods are wanted.", 0, table_replicas_desired},
    {"Current", "integer", "", "How many pods there are.", 0, table_replicas_current},
    {"Ready", "integer", "", "How many of them are ready.", 0, table_replicas_ready},
    AGE,
    WIDE("Containers", "Names of the containers.", table_template_containers),
    WIDE("Images", "Images of the containers.", table_template_images),
    WIDE("Selector", "Labels of its pods.", table_pod_selector),
};

static const struct kube_column DEPLOYMENTS[] = {
    NAME,
    TEXT("Ready", "How many of its pods are ready, of how many.", table_deployment_ready),
    TEXT("Up-to-date", "How many pods are of the newest template.", table_replicas_updated),
    TEXT("Available", "How many pods have been ready for long enough.", table_replicas_available),
    AGE,
    WIDE("Containers", "Names of the containers.", table_template_containers),
    WIDE("Images", "Images of the containers.", table_template_images),
    WIDE("Selector", "Labels of its pods.", table_pod_selector),
};

static const struct kube_column ENDPOINTSLICES[] = {
    NAME,
    TEXT("AddressType", "What its addresses are.", table_slice_type),
    TEXT("Ports", "Ports of all its endpoints.", table_slice_ports),
    TEXT("Endpoints", "Addresses behind the service.", table_slice_endpoints),
    AGE,
};

static const struct kube_column STORAGECLASSES[] = {
    {"Name", "string", "name", "Name of the class, and whether claims get it that name none.", 0,
     table_class_name},
    TEXT("Provisioner", "Who makes its volumes.", table_class_provisioner),
    TEXT("ReclaimPolicy", "What becomes of a volume when its claim is gone.", table_class_reclaim),
    TEXT("VolumeBindingMode", "When a volume is made and bound.", table_class_binding),
    TEXT("AllowVolumeExpansion", "Whether its volumes can grow.", table_class_expansion),
    AGE,
};

static const struct kube_column PRIORITYCLASSES[] = {
    NAME,
    {"Value", "integer", "", "The priority of its pods.", 0, table_priority_value},
    {"Global-Default", "boolean", "", "Whether pods have it that name none.", 0,
     table_priority_global},
    AGE,
};

/* Age where the kind's own definition has it, so that who counts columns finds it. */
static const struct kube_column TRAINING_JOBS[] = {
    NAME,
    TEXT("State", "The job's latest condition.", table_last_condition),
    {"Age", "date", "", "Time since the object was created.", 0, table_age_cell},
    TEXT("Progress", "How far the training is.", table_progress),
};

static const struct kube_column PODGROUPS[] = {
    NAME,
    TEXT("Phase", "What its pods, taken together, are doing.", table_phase),
    {"MinMember", "integer", "", "How many pods start together or not at all.", 0,
     table_group_min_member},
    {"Running", "integer", "", "How many of its pods run.", 0, table_group_running},
    {"Succeeded", "integer", "", "How many of its pods have succeeded.", 0, table_group_succeeded},
    {"Failed", "integer", "", "How many of its pods have failed.", 0, table_group_failed},
    AGE,
};

static const struct kube_column VOLCANO_PODGROUPS[] = {
    NAME,
    TEXT("Status", "What its pods, taken together, are doing.", table_phase),
    {"minMember", "integer", "", "How many pods start together or not at all.", 0,
     table_group_min_member},
    {"Runnings", "integer", "", "How many of its pods run.", 0, table_group_running},
    AGE,
    WIDE("Queue", "The queue it waits in.", table_group_queue),
};

static const struct kube_column SCALES[] = {
    NAME,
    {"Desired", "integer", "", "How many replicas are wanted.", 0, table_scale_desired},
    {"Available", "integer", "", "How many replicas there are.", 0, table_scale_available},
    AGE,
};

static const struct kube_column LEASES[] = {
    NAME,
    TEXT("Holder", "Who has it.", table_lease_holder),
    AGE,
};

static const struct kube_column SERVICEACCOUNTS[] = {
    NAME,
    {"Secrets", "string", "", "How many secrets it has.", 0, table_account_secrets},
    AGE,
};

static const struct kube_column RESOURCEQUOTAS[] = {
    NAME,
    TEXT("Request", "What is used of what there is, limits apart.", table_quota_requests),
    TEXT("Limit", "What is used of what limits may be.", table_quota_limits),
    AGE,
};

static const struct kube_column ROLES[] = {
    NAME,
    {"Created At", "date", "", "When it was created.", 0, table_created_at},
};

static const struct kube_column BINDINGS[] = {
    NAME,
    TEXT("Role", "The role that is given.", table_binding_role),
    AGE,
    WIDE("Users", "The users who have it.", table_binding_users),
    WIDE("Groups", "The groups that have it.", table_binding_groups),
    WIDE("ServiceAccounts", "The service accounts that have it.", table_binding_accounts),
};

static const struct kube_column WORKFLOWS[] = {
    NAME,
    TEXT("Status", "The phase of the workflow.", table_phase),
    {"Age", "date", "", "Time since the object was created.", 0, table_age_cell},
    TEXT("Message", "Why it is so.", table_status_message),
};

static const struct kube_column METRICS[] = {
    {"Name", "string", "name", "Name of the resource", 0, table_name},
    {"cpu", "string", "quantity", "", 0, table_usage_cpu},
    {"memory", "string", "quantity", "", 0, table_usage_memory},
    {"Window", "string", "duration", "", 0, table_usage_window},
};

#define COLUMNS(array)                                                                             \
    {                                                                                              \
        array, ARRAY_SIZE(array)                                                                   \
    }

static const struct kube_columns GENERIC_COLUMNS = COLUMNS(GENERIC);

static const struct {
    const struct kube_resource *resource;
    struct kube_columns columns;
} TABLES[] = {
    {&KUBE_NAMESPACES, COLUMNS(NAMESPACES)},
    {&KUBE_NODES, COLUMNS(NODES)},
    {&KUBE_PODS, COLUMNS(PODS)},
    {&KUBE_SERVICES, COLUMNS(SERVICES)},
    {&KUBE_ENDPOINTS, COLUMNS(ENDPOINTS)},
    {&KUBE_CONFIGMAPS, COLUMNS(CONFIGMAPS)},
    {&KUBE_SECRETS, COLUMNS(SECRETS)},
    {&KUBE_PVCS, COLUMNS(PVCS)},
    {&KUBE_PVS, COLUMNS(PVS)},
    {&KUBE_LIMITRANGES, COLUMNS(ROLES)},
    {&KUBE_RESOURCEQUOTAS, COLUMNS(RESOURCEQUOTAS)},
    {&KUBE_EVENTS, COLUMNS(EVENTS)},
    {&KUBE_JOBS, COLUMNS(JOBS)},
    {&KUBE_REPLICASETS, COLUMNS(REPLICASETS)},
    {&KUBE_DEPLOYMENTS, COLUMNS(DEPLOYMENTS)},
    {&KUBE_ENDPOINTSLICES, COLUMNS(ENDPOINTSLICES)},
    {&KUBE_STORAGECLASSES, COLUMNS(STORAGECLASSES)},
    {&KUBE_PRIORITYCLASSES, COLUMNS(PRIORITYCLASSES)},
    {&KUBE_TFJOBS, COLUMNS(TRAINING_JOBS)},
    {&KUBE_PYTORCHJOBS, COLUMNS(TRAINING_JOBS)},
    {&KUBE_PODGROUPS, COLUMNS(PODGROUPS)},
    {&KUBE_VOLCANO_PODGROUPS, COLUMNS(VOLCANO_PODGROUPS)},
    {&KUBE_LEASES, COLUMNS(LEASES)},
    {&KUBE_SCALES, COLUMNS(SCALES)},
    {&KUBE_SERVICEACCOUNTS, COLUMNS(SERVICEACCOUNTS)},
    {&KUBE_ROLES, COLUMNS(ROLES)},
    {&KUBE_CLUSTERROLES, COLUMNS(ROLES)},
    {&KUBE_ROLEBINDINGS, COLUMNS(BINDINGS)},
    {&KUBE_CLUSTERROLEBINDINGS, COLUMNS(BINDINGS)},
    {&KUBE_WORKFLOWS, COLUMNS(WORKFLOWS)},
    {&KUBE_DEFINITIONS, COLUMNS(ROLES)},
    {&KUBE_NODE_METRICS, COLUMNS(METRICS)},
    {&KUBE_POD_METRICS, COLUMNS(METRICS)},
};

const struct kube_columns *kube_columns_of(const struct kube_resource *resource)
{
    for (size_t i = 0; i < ARRAY_SIZE(TABLES); i++)
        if (str_eq(TABLES[i].resource->group, resource->group) &&
            str_eq(TABLES[i].resource->plural, resource->plural))
            return &TABLES[i].columns;
    return &GENERIC_COLUMNS;
}
