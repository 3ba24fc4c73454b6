/* A container and what stands in it. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_DEVICES "there are no devices to claim"
#define ONE_POLICY "the restartPolicy of the pod holds for all its containers"
#define NO_PROBES "probes are not run, a container is ready while it runs"

LOCAL_TYPE(CONTAINER_PORT, CORE "ContainerPort", "",
    TEXT(1, "name", ""),
    INT32(2, "hostPort", ""),
    INT32(3, "containerPort", "", REQUIRED, ALWAYS),
    TEXT(4, "protocol", "", WORDS("SCTP", "TCP", "UDP"), FALLBACK("\"TCP\"")),
    TEXT(5, "hostIP", "", UNSUPPORTED("a host port is open at the address of its node")));

LOCAL_TYPE(RESOURCE_CLAIM, CORE "ResourceClaim", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "request", ""));

TYPE(TYPE_RESOURCE_REQUIREMENTS, CORE "ResourceRequirements", "",
    MAP_OF(1, "limits", TYPE_QUANTITY, "", UNSUPPORTED("limits are counted when a node is chosen, but not enforced")),
    MAP_OF(2, "requests", TYPE_QUANTITY, ""),
    LIST(3, "claims", RESOURCE_CLAIM, "", KEYS("name"), UNSUPPORTED(NO_DEVICES)));

LOCAL_TYPE(CONTAINER_RESIZE_POLICY, CORE "ContainerResizePolicy", "",
    TEXT(1, "resourceName", "", REQUIRED, ALWAYS),
    TEXT(2, "restartPolicy", "", REQUIRED, ALWAYS));

LOCAL_TYPE(CONTAINER_RESTART_RULE_ON_EXIT_CODES, CORE "ContainerRestartRuleOnExitCodes", "",
    TEXT(1, "operator", "", REQUIRED),
    LIST_OF(2, "values", TYPE_INT32, "", SET));

LOCAL_TYPE(CONTAINER_RESTART_RULE, CORE "ContainerRestartRule", "",
    TEXT(1, "action", "", REQUIRED),
    OBJECT(2, "exitCodes", CONTAINER_RESTART_RULE_ON_EXIT_CODES, ""));

LOCAL_TYPE(VOLUME_MOUNT, CORE "VolumeMount", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", ""),
    TEXT(7, "recursiveReadOnly", "", IF_SET, WORDS("Disabled", "Enabled", "IfPossible")),
    TEXT(3, "mountPath", "", REQUIRED, ALWAYS),
    TEXT(4, "subPath", ""),
    TEXT(5, "mountPropagation", "", IF_SET, WORDS("Bidirectional", "HostToContainer", "None"), UNSUPPORTED("mounts are not passed on")),
    TEXT(6, "subPathExpr", ""));

LOCAL_TYPE(VOLUME_DEVICE, CORE "VolumeDevice", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "devicePath", "", REQUIRED, ALWAYS));

LOCAL_TYPE(EXEC_ACTION, CORE "ExecAction", "",
    TEXTS(1, "command", ""));

LOCAL_TYPE(HTTP_HEADER, CORE "HTTPHeader", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "value", "", REQUIRED, ALWAYS));

LOCAL_TYPE(HTTP_GET_ACTION, CORE "HTTPGetAction", "",
    TEXT(1, "path", "", FALLBACK("\"/\"")),
    INT_OR_TEXT(2, "port", "", REQUIRED, IF_SET),
    TEXT(3, "host", ""),
    TEXT(4, "scheme", "", WORDS("HTTP", "HTTPS"), FALLBACK("\"HTTP\"")),
    LIST(5, "httpHeaders", HTTP_HEADER, ""));

LOCAL_TYPE(TCP_SOCKET_ACTION, CORE "TCPSocketAction", "",
    INT_OR_TEXT(1, "port", "", REQUIRED, IF_SET),
    TEXT(2, "host", ""));

LOCAL_TYPE(GRPC_ACTION, CORE "GRPCAction", "",
    INT32(1, "port", "", REQUIRED, ALWAYS),
    TEXT(2, "service", "", IF_SET, FALLBACK("\"\"")));

LOCAL_TYPE(PROBE, CORE "Probe", "",
    OBJECT(INSIDE(1, 1), "exec", EXEC_ACTION, ""),
    OBJECT(INSIDE(1, 2), "httpGet", HTTP_GET_ACTION, ""),
    OBJECT(INSIDE(1, 3), "tcpSocket", TCP_SOCKET_ACTION, ""),
    OBJECT(INSIDE(1, 4), "grpc", GRPC_ACTION, ""),
    INT32(2, "initialDelaySeconds", ""),
    INT32(3, "timeoutSeconds", "", FALLBACK("1")),
    INT32(4, "periodSeconds", "", FALLBACK("10")),
    INT32(5, "successThreshold", "", FALLBACK("1")),
    INT32(6, "failureThreshold", "", FALLBACK("3")),
    INT64(7, "terminationGracePeriodSeconds", "", IF_SET));

LOCAL_TYPE(SLEEP_ACTION, CORE "SleepAction", "",
    INT64(1, "seconds", "", REQUIRED, ALWAYS));

LOCAL_TYPE(LIFECYCLE_HANDLER, CORE "LifecycleHandler", "",
    OBJECT(1, "exec", EXEC_ACTION, ""),
    OBJECT(2, "httpGet", HTTP_GET_ACTION, ""),
    OBJECT(3, "tcpSocket", TCP_SOCKET_ACTION, ""),
    OBJECT(4, "sleep", SLEEP_ACTION, ""));

LOCAL_TYPE(LIFECYCLE, CORE "Lifecycle", "",
    OBJECT(1, "postStart", LIFECYCLE_HANDLER, ""),
    OBJECT(2, "preStop", LIFECYCLE_HANDLER, ""),
    TEXT(3, "stopSignal", "", IF_SET));

TYPE(TYPE_CONTAINER, CORE "Container", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "image", ""),
    TEXTS(3, "command", ""),
    TEXTS(4, "args", ""),
    TEXT(5, "workingDir", ""),
    LIST(6, "ports", CONTAINER_PORT, "", KEYS("containerPort", "protocol"), MERGE("containerPort")),
    LIST(19, "envFrom", TYPE_ENV_FROM_SOURCE, ""),
    LIST(7, "env", TYPE_ENV_VAR, "", KEYS("name"), MERGE("name")),
    STRUCT(8, "resources", TYPE_RESOURCE_REQUIREMENTS, ""),
    LIST(23, "resizePolicy", CONTAINER_RESIZE_POLICY, ""),
    TEXT(24, "restartPolicy", "", IF_SET, UNSUPPORTED(ONE_POLICY)),
    LIST(25, "restartPolicyRules", CONTAINER_RESTART_RULE, "", UNSUPPORTED(ONE_POLICY)),
    LIST(9, "volumeMounts", VOLUME_MOUNT, "", KEYS("mountPath"), MERGE("mountPath")),
    LIST(21, "volumeDevices", VOLUME_DEVICE, "", KEYS("devicePath"), MERGE("devicePath")),
    OBJECT(10, "livenessProbe", PROBE, "", UNSUPPORTED(NO_PROBES)),
    OBJECT(11, "readinessProbe", PROBE, "", UNSUPPORTED(NO_PROBES)),
    OBJECT(22, "startupProbe", PROBE, "", UNSUPPORTED(NO_PROBES)),
    OBJECT(12, "lifecycle", LIFECYCLE, "", UNSUPPORTED("hooks are not run; SIGTERM tells a container to end")),
    TEXT(13, "terminationMessagePath", "", FALLBACK("\"/dev/termination-log\"")),
    TEXT(20, "terminationMessagePolicy", "", WORDS("FallbackToLogsOnError", "File"), FALLBACK("\"File\"")),
    TEXT(14, "imagePullPolicy", "", WORDS("Always", "IfNotPresent", "Never")),
    OBJECT(15, "securityContext", TYPE_SECURITY_CONTEXT, ""),
    BOOL(16, "stdin", "", UNSUPPORTED("the input of a container is empty")),
    BOOL(17, "stdinOnce", ""),
    BOOL(18, "tty", "", UNSUPPORTED("a container has no terminal")));

TYPE(TYPE_EPHEMERAL_CONTAINER, CORE "EphemeralContainer", "",
    TEXT(INSIDE(1, 1), "name", "", REQUIRED, ALWAYS),
    TEXT(INSIDE(1, 2), "image", ""),
    TEXTS(INSIDE(1, 3), "command", ""),
    TEXTS(INSIDE(1, 4), "args", ""),
    TEXT(INSIDE(1, 5), "workingDir", ""),
    LIST(INSIDE(1, 6), "ports", CONTAINER_PORT, "", KEYS("containerPort", "protocol"), MERGE("containerPort")),
    LIST(INSIDE(1, 19), "envFrom", TYPE_ENV_FROM_SOURCE, ""),
    LIST(INSIDE(1, 7), "env", TYPE_ENV_VAR, "", KEYS("name"), MERGE("name")),
    STRUCT(INSIDE(1, 8), "resources", TYPE_RESOURCE_REQUIREMENTS, ""),
    LIST(INSIDE(1, 23), "resizePolicy", CONTAINER_RESIZE_POLICY, ""),
    TEXT(INSIDE(1, 24), "restartPolicy", "", IF_SET),
    LIST(INSIDE(1, 25), "restartPolicyRules", CONTAINER_RESTART_RULE, ""),
    LIST(INSIDE(1, 9), "volumeMounts", VOLUME_MOUNT, "", KEYS("mountPath"), MERGE("mountPath")),
    LIST(INSIDE(1, 21), "volumeDevices", VOLUME_DEVICE, "", KEYS("devicePath"), MERGE("devicePath")),
    OBJECT(INSIDE(1, 10), "livenessProbe", PROBE, ""),
    OBJECT(INSIDE(1, 11), "readinessProbe", PROBE, ""),
    OBJECT(INSIDE(1, 22), "startupProbe", PROBE, ""),
    OBJECT(INSIDE(1, 12), "lifecycle", LIFECYCLE, ""),
    TEXT(INSIDE(1, 13), "terminationMessagePath", "", FALLBACK("\"/dev/termination-log\"")),
    TEXT(INSIDE(1, 20), "terminationMessagePolicy", "", WORDS("FallbackToLogsOnError", "File"), FALLBACK("\"File\"")),
    TEXT(INSIDE(1, 14), "imagePullPolicy", "", WORDS("Always", "IfNotPresent", "Never")),
    OBJECT(INSIDE(1, 15), "securityContext", TYPE_SECURITY_CONTEXT, ""),
    BOOL(INSIDE(1, 16), "stdin", ""),
    BOOL(INSIDE(1, 17), "stdinOnce", ""),
    BOOL(INSIDE(1, 18), "tty", ""),
    TEXT(2, "targetContainerName", ""));
