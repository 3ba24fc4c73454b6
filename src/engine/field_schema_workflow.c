/* The names of the fields of a Workflow's spec, as Argo defines them, those we refuse too: they are
 * spelt right, and the refusal says more. */
#include "engine/field_schema.h"
#include "engine/field_schema_parts.h"

#define NO_METRICS  "metrics are not made"
#define NO_PRIORITY "all pods have the same priority"
#define NO_STORE    "there is no artifact store"

static const struct field_schema VALUE_FROM[] = {
    {"path"},     {"jsonPath"},   {"jqFilter"}, {"parameter"},       {"default"},
    {"supplied"}, {"expression"}, {"event"},    {"configMapKeyRef"}, {NULL},
};

static const struct field_schema PARAMETER[] = {
    {"name"},
    {"value"},
    {"default"},
    {"enum", NULL, "any value is taken"},
    {"description"},
    {"globalName"},
    {"valueFrom", VALUE_FROM},
    {NULL},
};

static const struct field_schema PARAMETERS[] = {
    {"artifacts"}, {"result"}, {"exitCode"}, {"parameters", PARAMETER}, {NULL},
};

static const struct field_schema TASK[] = {
    {"name"},         {"template"},
    {"templateRef"},  {"inline"},
    {"dependencies"}, {"depends"},
    {"when"},         {"withItems"},
    {"withParam"},    {"withSequence"},
    {"continueOn"},   {"onExit"},
    {"hooks"},        {"arguments", PARAMETERS},
    {NULL},
};

static const struct field_schema DAG[] = {
    {"target"},
    {"failFast"},
    {"tasks", TASK},
    {NULL},
};

static const struct field_schema RESOURCE[] = {
    {"action"},
    {"manifest"},
    {"manifestFrom"},
    {"mergeStrategy"},
    {"setOwnerReference"},
    {"successCondition"},
    {"failureCondition"},
    {"flags"},
    {NULL},
};

static const struct field_schema BACKOFF[] = {
    {"duration"}, {"factor"}, {"maxDuration"}, {"cap", NULL, "maxDuration is the only limit"},
    {NULL},
};

static const struct field_schema RETRY[] = {
    {"limit"},
    {"retryPolicy"},
    {"expression"},
    {"affinity", NULL, "a retry may come to the same node"},
    {"backoff", BACKOFF},
    {NULL},
};

static const struct field_schema POD_METADATA[] = {
    {"labels"},
    {"annotations"},
    {NULL},
};

static const struct field_schema TEMPLATE[] = {
    {"name"},
    {"activeDeadlineSeconds"},
    {"affinity", FIELD_SCHEMA_AFFINITY},
    {"annotations"},
    {"archiveLocation", NULL, NO_STORE},
    {"automountServiceAccountToken"},
    {"containerSet"},
    {"daemon"},
    {"data"},
    {"executor"},
    {"failFast"},
    {"hostAliases"},
    {"http"},
    {"initContainers"},
    {"memoize", NULL, "results are not remembered, the step runs"},
    {"metrics", NULL, NO_METRICS},
    {"nodeSelector"},
    {"parallelism"},
    {"plugin"},
    {"podSpecPatch"},
    {"priority"},
    {"priorityClassName", NULL, NO_PRIORITY},
    {"schedulerName"},
    {"script"},
    {"securityContext", FIELD_SCHEMA_POD_SECURITY},
    {"serviceAccountName"},
    {"sidecars"},
    {"steps"},
    {"suspend"},
    {"synchronization"},
    {"templateRef"},
    {"timeout"},
    {"container", FIELD_SCHEMA_CONTAINER},
    {"dag", DAG},
    {"inputs", PARAMETERS},
    {"metadata", POD_METADATA},
    {"outputs", PARAMETERS},
    {"resource", RESOURCE},
    {"retryStrategy", RETRY},
    {"tolerations", FIELD_SCHEMA_TOLERATION},
    {"volumes", FIELD_SCHEMA_VOLUME},
    {NULL},
};

const struct field_schema FIELD_SCHEMA_WORKFLOW_SPEC[] = {
    {"entrypoint"},
    {"activeDeadlineSeconds"},
    {"affinity", FIELD_SCHEMA_AFFINITY},
    {"archiveLogs", NULL, NO_STORE},
    {"artifactGC", NULL, NO_STORE},
    {"artifactRepositoryRef", NULL, NO_STORE},
    {"automountServiceAccountToken"},
    {"dnsConfig"},
    {"dnsPolicy"},
    {"executor"},
    {"hooks"},
    {"hostAliases"},
    {"hostNetwork"},
    {"imagePullSecrets"},
    {"metrics", NULL, NO_METRICS},
    {"nodeSelector"},
    {"onExit"},
    {"parallelism"},
    {"podDisruptionBudget"},
    {"podGC"},
    {"podPriority", NULL, NO_PRIORITY},
    {"podPriorityClassName"},
    {"podSpecPatch"},
    {"priority", NULL, "workflows begin as they come"},
    {"retryStrategy"},
    {"schedulerName"},
    {"securityContext", FIELD_SCHEMA_POD_SECURITY},
    {"serviceAccountName"},
    {"shutdown"},
    {"suspend"},
    {"synchronization"},
    {"templateDefaults"},
    {"ttlSecondsAfterFinished"},
    {"ttlStrategy"},
    {"volumeClaimGC"},
    {"volumeClaimTemplates"},
    {"workflowMetadata", NULL, "labels and annotations belong into metadata"},
    {"workflowTemplateRef"},
    {"arguments", PARAMETERS},
    {"podMetadata", POD_METADATA},
    {"templates", TEMPLATE},
    {"tolerations", FIELD_SCHEMA_TOLERATION},
    {"volumes", FIELD_SCHEMA_VOLUME},
    {NULL},
};
