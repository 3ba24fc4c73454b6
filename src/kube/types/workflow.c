/* Workflows, as Argo defines them, with the fields that are refused, too: they are spelt right, and
 * the refusal says more. What a template holds that is not looked at field by field is anything.
 * See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define ARGO "io.argoproj.workflow.v1alpha1."
#define NO_METRICS "metrics are not made"
#define NO_PRIORITY "all pods have the same priority"
#define NO_STORE "there is no artifact store"

LOCAL_TYPE(VALUE_FROM, ARGO "ValueFrom", "",
    TEXT(0, "path", ""),
    TEXT(0, "jsonPath", ""),
    TEXT(0, "jqFilter", ""),
    TEXT(0, "parameter", ""),
    ANYTHING(0, "default", ""),
    ANYTHING(0, "supplied", ""),
    TEXT(0, "expression", ""),
    TEXT(0, "event", ""),
    ANYTHING(0, "configMapKeyRef", ""));

LOCAL_TYPE(PARAMETER, ARGO "Parameter", "",
    TEXT(0, "name", ""),
    ANYTHING(0, "value", ""),
    ANYTHING(0, "default", ""),
    ANYTHING(0, "enum", "", UNSUPPORTED("any value is taken")),
    TEXT(0, "description", ""),
    TEXT(0, "globalName", ""),
    OBJECT(0, "valueFrom", VALUE_FROM, ""));

LOCAL_TYPE(PARAMETERS, ARGO "Parameters", "",
    ANYTHING(0, "artifacts", ""),
    ANYTHING(0, "result", ""),
    ANYTHING(0, "exitCode", ""),
    LIST(0, "parameters", PARAMETER, ""));

LOCAL_TYPE(TASK, ARGO "Task", "",
    TEXT(0, "name", ""),
    TEXT(0, "template", ""),
    ANYTHING(0, "templateRef", ""),
    ANYTHING(0, "inline", ""),
    TEXTS(0, "dependencies", ""),
    TEXT(0, "depends", ""),
    TEXT(0, "when", ""),
    ANYTHING(0, "withItems", ""),
    TEXT(0, "withParam", ""),
    ANYTHING(0, "withSequence", ""),
    ANYTHING(0, "continueOn", ""),
    TEXT(0, "onExit", ""),
    ANYTHING(0, "hooks", ""),
    OBJECT(0, "arguments", PARAMETERS, ""));

LOCAL_TYPE(DAG, ARGO "DAGTemplate", "",
    TEXT(0, "target", ""),
    BOOL(0, "failFast", ""),
    LIST(0, "tasks", TASK, ""));

LOCAL_TYPE(RESOURCE, ARGO "ResourceTemplate", "",
    TEXT(0, "action", ""),
    TEXT(0, "manifest", ""),
    ANYTHING(0, "manifestFrom", ""),
    TEXT(0, "mergeStrategy", ""),
    BOOL(0, "setOwnerReference", ""),
    TEXT(0, "successCondition", ""),
    TEXT(0, "failureCondition", ""),
    TEXTS(0, "flags", ""));

LOCAL_TYPE(BACKOFF, ARGO "Backoff", "",
    TEXT(0, "duration", ""),
    ANYTHING(0, "factor", ""),
    TEXT(0, "maxDuration", ""),
    TEXT(0, "cap", "", UNSUPPORTED("maxDuration is the only limit")));

LOCAL_TYPE(RETRY, ARGO "RetryStrategy", "",
    ANYTHING(0, "limit", ""),
    TEXT(0, "retryPolicy", ""),
    TEXT(0, "expression", ""),
    ANYTHING(0, "affinity", "", UNSUPPORTED("a retry may come to the same node")),
    OBJECT(0, "backoff", BACKOFF, ""));

LOCAL_TYPE(POD_METADATA, ARGO "Metadata", "",
    TEXT_MAP(0, "labels", ""),
    TEXT_MAP(0, "annotations", ""));

LOCAL_TYPE(TEMPLATE, ARGO "Template", "",
    TEXT(0, "name", ""),
    ANYTHING(0, "activeDeadlineSeconds", ""),
    OBJECT(0, "affinity", TYPE_AFFINITY, ""),
    TEXT_MAP(0, "annotations", ""),
    ANYTHING(0, "archiveLocation", "", UNSUPPORTED(NO_STORE)),
    BOOL(0, "automountServiceAccountToken", ""),
    ANYTHING(0, "containerSet", ""),
    BOOL(0, "daemon", ""),
    ANYTHING(0, "data", ""),
    ANYTHING(0, "executor", ""),
    BOOL(0, "failFast", ""),
    ANYTHING(0, "hostAliases", ""),
    ANYTHING(0, "http", ""),
    ANYTHING(0, "initContainers", ""),
    ANYTHING(0, "memoize", "", UNSUPPORTED("results are not remembered, the step runs")),
    ANYTHING(0, "metrics", "", UNSUPPORTED(NO_METRICS)),
    TEXT_MAP(0, "nodeSelector", ""),
    ANYTHING(0, "parallelism", ""),
    ANYTHING(0, "plugin", ""),
    TEXT(0, "podSpecPatch", ""),
    ANYTHING(0, "priority", ""),
    TEXT(0, "priorityClassName", "", UNSUPPORTED(NO_PRIORITY)),
    TEXT(0, "schedulerName", ""),
    ANYTHING(0, "script", ""),
    OBJECT(0, "securityContext", TYPE_POD_SECURITY_CONTEXT, ""),
    TEXT(0, "serviceAccountName", ""),
    ANYTHING(0, "sidecars", ""),
    ANYTHING(0, "steps", ""),
    ANYTHING(0, "suspend", ""),
    ANYTHING(0, "synchronization", ""),
    ANYTHING(0, "templateRef", ""),
    TEXT(0, "timeout", ""),
    OBJECT(0, "container", TYPE_CONTAINER, ""),
    OBJECT(0, "dag", DAG, ""),
    OBJECT(0, "inputs", PARAMETERS, ""),
    OBJECT(0, "metadata", POD_METADATA, ""),
    OBJECT(0, "outputs", PARAMETERS, ""),
    OBJECT(0, "resource", RESOURCE, ""),
    OBJECT(0, "retryStrategy", RETRY, ""),
    LIST(0, "tolerations", TYPE_TOLERATION, ""),
    LIST(0, "volumes", TYPE_VOLUME, ""));

LOCAL_TYPE(WORKFLOW_SPEC, ARGO "WorkflowSpec", "",
    TEXT(0, "entrypoint", ""),
    ANYTHING(0, "activeDeadlineSeconds", ""),
    OBJECT(0, "affinity", TYPE_AFFINITY, ""),
    ANYTHING(0, "archiveLogs", "", UNSUPPORTED(NO_STORE)),
    ANYTHING(0, "artifactGC", "", UNSUPPORTED(NO_STORE)),
    ANYTHING(0, "artifactRepositoryRef", "", UNSUPPORTED(NO_STORE)),
    BOOL(0, "automountServiceAccountToken", ""),
    ANYTHING(0, "dnsConfig", ""),
    TEXT(0, "dnsPolicy", ""),
    ANYTHING(0, "executor", ""),
    ANYTHING(0, "hooks", ""),
    ANYTHING(0, "hostAliases", ""),
    BOOL(0, "hostNetwork", ""),
    ANYTHING(0, "imagePullSecrets", ""),
    ANYTHING(0, "metrics", "", UNSUPPORTED(NO_METRICS)),
    TEXT_MAP(0, "nodeSelector", ""),
    TEXT(0, "onExit", ""),
    ANYTHING(0, "parallelism", ""),
    ANYTHING(0, "podDisruptionBudget", ""),
    ANYTHING(0, "podGC", ""),
    ANYTHING(0, "podPriority", "", UNSUPPORTED(NO_PRIORITY)),
    TEXT(0, "podPriorityClassName", ""),
    TEXT(0, "podSpecPatch", ""),
    ANYTHING(0, "priority", "", UNSUPPORTED("workflows begin as they come")),
    ANYTHING(0, "retryStrategy", ""),
    TEXT(0, "schedulerName", ""),
    OBJECT(0, "securityContext", TYPE_POD_SECURITY_CONTEXT, ""),
    TEXT(0, "serviceAccountName", ""),
    TEXT(0, "shutdown", ""),
    ANYTHING(0, "suspend", ""),
    ANYTHING(0, "synchronization", ""),
    ANYTHING(0, "templateDefaults", ""),
    ANYTHING(0, "ttlSecondsAfterFinished", ""),
    ANYTHING(0, "ttlStrategy", ""),
    ANYTHING(0, "volumeClaimGC", ""),
    ANYTHING(0, "volumeClaimTemplates", ""),
    ANYTHING(0, "workflowMetadata", "", UNSUPPORTED("labels and annotations belong into metadata")),
    ANYTHING(0, "workflowTemplateRef", ""),
    OBJECT(0, "arguments", PARAMETERS, ""),
    OBJECT(0, "podMetadata", POD_METADATA, ""),
    LIST(0, "templates", TEMPLATE, ""),
    LIST(0, "tolerations", TYPE_TOLERATION, ""),
    LIST(0, "volumes", TYPE_VOLUME, ""));

TYPE(TYPE_WORKFLOW, ARGO "Workflow", "",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", WORKFLOW_SPEC, ""),
    ANYTHING(0, "status", ""));
