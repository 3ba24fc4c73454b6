/* The names of the fields of a Workflow's spec, as Argo defines them, those we refuse too: they are
 * spelt right, and the refusal says more. */
#include "engine/field_schema.h"
#include "engine/field_schema_parts.h"

static const struct field_schema VALUE_FROM[] = {
    {"path"},     {"jsonPath"},   {"jqFilter"}, {"parameter"},       {"default"},
    {"supplied"}, {"expression"}, {"event"},    {"configMapKeyRef"}, {NULL},
};

static const struct field_schema PARAMETER[] = {
    {"name"},
    {"value"},
    {"default"},
    {"enum"},
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
    {"duration"}, {"factor"}, {"maxDuration"}, {"cap"}, {NULL},
};

static const struct field_schema RETRY[] = {
    {"limit"}, {"retryPolicy"}, {"expression"}, {"affinity"}, {"backoff", BACKOFF}, {NULL},
};

static const struct field_schema POD_METADATA[] = {
    {"labels"},
    {"annotations"},
    {NULL},
};

static const struct field_schema TEMPLATE[] = {
    {"name"},
    {"activeDeadlineSeconds"},
    {"affinity"},
    {"annotations"},
    {"archiveLocation"},
    {"automountServiceAccountToken"},
    {"containerSet"},
    {"daemon"},
    {"data"},
    {"executor"},
    {"failFast"},
    {"hostAliases"},
    {"http"},
    {"initContainers"},
    {"memoize"},
    {"nodeSelector"},
    {"parallelism"},
    {"plugin"},
    {"podSpecPatch"},
    {"priority"},
    {"priorityClassName"},
    {"schedulerName"},
    {"script"},
    {"securityContext"},
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
    {"affinity"},
    {"archiveLogs"},
    {"artifactGC"},
    {"artifactRepositoryRef"},
    {"automountServiceAccountToken"},
    {"dnsConfig"},
    {"dnsPolicy"},
    {"executor"},
    {"hooks"},
    {"hostAliases"},
    {"hostNetwork"},
    {"imagePullSecrets"},
    {"metrics"},
    {"nodeSelector"},
    {"onExit"},
    {"parallelism"},
    {"podDisruptionBudget"},
    {"podGC"},
    {"podPriority"},
    {"podPriorityClassName"},
    {"podSpecPatch"},
    {"priority"},
    {"retryStrategy"},
    {"schedulerName"},
    {"securityContext"},
    {"serviceAccountName"},
    {"shutdown"},
    {"suspend"},
    {"synchronization"},
    {"templateDefaults"},
    {"ttlSecondsAfterFinished"},
    {"ttlStrategy"},
    {"volumeClaimGC"},
    {"volumeClaimTemplates"},
    {"workflowMetadata"},
    {"workflowTemplateRef"},
    {"arguments", PARAMETERS},
    {"podMetadata", POD_METADATA},
    {"templates", TEMPLATE},
    {"tolerations", FIELD_SCHEMA_TOLERATION},
    {"volumes", FIELD_SCHEMA_VOLUME},
    {NULL},
};
