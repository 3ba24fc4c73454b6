/* The names of the fields of training jobs and of the groups their pods start in, as Kubeflow, the
 * scheduler-plugins and Volcano define them. */
#include "engine/field_schema_parts.h"

static const struct field_schema SCHEDULING_POLICY[] = {
    {"minAvailable"},
    {"queue", NULL, "there are no queues: a group starts when there is room for it"},
    {"minResources"},
    {"priorityClass", NULL, "there are no priorities: a group starts when there is room for it"},
    {"scheduleTimeoutSeconds"},
    {NULL},
};

static const struct field_schema RUN_POLICY[] = {
    {"cleanPodPolicy"},
    {"ttlSecondsAfterFinished"},
    {"activeDeadlineSeconds"},
    {"backoffLimit"},
    {"suspend"},
    {"managedBy"},
    {"schedulingPolicy", SCHEDULING_POLICY},
    {NULL},
};

static const struct field_schema REPLICA_SPEC[] = {
    {"replicas"},
    {"restartPolicy"},
    {"template", FIELD_SCHEMA_POD_TEMPLATE},
    {NULL},
};

static const struct field_schema REPLICA_SPECS[] = {
    {"*", REPLICA_SPEC},
    {NULL},
};

static const struct field_schema TFJOB_SPEC[] = {
    {"successPolicy"},
    {"enableDynamicWorker"},
    {"runPolicy", RUN_POLICY},
    {"tfReplicaSpecs", REPLICA_SPECS},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_TFJOB[] = {
    {"apiVersion"},       {"kind"}, {"status"}, {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", TFJOB_SPEC}, {NULL},
};

static const struct field_schema RDZV_CONF[] = {
    {"key"},
    {"value"},
    {NULL},
};

static const struct field_schema ELASTIC_POLICY[] = {
    {"minReplicas"},
    {"maxReplicas"},
    {"rdzvBackend"},
    {"rdzvPort"},
    {"rdzvHost"},
    {"rdzvId"},
    {"rdzvConf", RDZV_CONF},
    {"standalone"},
    {"nProcPerNode"},
    {"maxRestarts"},
    {"metrics", NULL, "nothing scales by load: change the replicas, or use 'kubectl scale'"},
    {NULL},
};

static const struct field_schema PYTORCHJOB_SPEC[] = {
    {"runPolicy", RUN_POLICY},
    {"elasticPolicy", ELASTIC_POLICY},
    {"pytorchReplicaSpecs", REPLICA_SPECS},
    {"nprocPerNode"},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_PYTORCHJOB[] = {
    {"apiVersion"},
    {"kind"},
    {"status"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", PYTORCHJOB_SPEC},
    {NULL},
};

static const struct field_schema POD_GROUP_SPEC[] = {
    {"minMember"},
    {"minResources"},
    {"scheduleTimeoutSeconds"},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_POD_GROUP[] = {
    {"apiVersion"},           {"kind"}, {"status"}, {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", POD_GROUP_SPEC}, {NULL},
};

static const struct field_schema VOLCANO_POD_GROUP_SPEC[] = {
    {"minMember"},    {"minTaskMember"},   {"queue"}, {"priorityClassName"},
    {"minResources"}, {"networkTopology"}, {NULL},
};

const struct field_schema FIELD_SCHEMA_VOLCANO_POD_GROUP[] = {
    {"apiVersion"},
    {"kind"},
    {"status"},
    {"metadata", FIELD_SCHEMA_METADATA},
    {"spec", VOLCANO_POD_GROUP_SPEC},
    {NULL},
};
