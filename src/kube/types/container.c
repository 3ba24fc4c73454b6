/* Types of containers and their parts. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_DEVICES "there are no devices to claim"

LOCAL_TYPE(CONTAINER_PORT, CORE "ContainerPort", "a port that a container listens on",
    TEXT(1, "name", "the name of the port, which services can refer to"),
    INT32(2, "hostPort", "the port on the node that forwards to this port"),
    INT32(3, "containerPort", "the port number in the container", REQUIRED, ALWAYS),
    TEXT(4, "protocol", "the protocol of the port: TCP, UDP or SCTP", WORDS("SCTP", "TCP", "UDP"),
        FALLBACK("\"TCP\"")),
    TEXT(5, "hostIP", "the address of the node on which the host port is open",
        UNSUPPORTED("a host port is open at the address of its node")));

LOCAL_TYPE(RESOURCE_CLAIM, CORE "ResourceClaim",
        "a resource claim of the pod that a container uses",
    TEXT(1, "name", "the name of an entry in the pod's resourceClaims", REQUIRED, ALWAYS),
    TEXT(2, "request", "the name of one request of the claim; default: all requests"));

TYPE(TYPE_RESOURCE_REQUIREMENTS, CORE "ResourceRequirements",
        "the CPU, memory and other resources that are needed",
    MAP_OF(1, "limits", TYPE_QUANTITY, "the maximum amount of each resource"),
    MAP_OF(2, "requests", TYPE_QUANTITY,
        "the amount of each resource that is reserved on the node"),
    LIST(3, "claims", RESOURCE_CLAIM, "the resource claims of the pod that are used", KEYS("name"),
        UNSUPPORTED(NO_DEVICES)));

LOCAL_TYPE(CONTAINER_RESIZE_POLICY, CORE "ContainerResizePolicy",
        "whether a resize of a resource restarts the container",
    TEXT(1, "resourceName", "the resource that the policy is for: cpu or memory", REQUIRED, ALWAYS),
    TEXT(2, "restartPolicy", "NotRequired or RestartContainer", REQUIRED, ALWAYS));

LOCAL_TYPE(CONTAINER_RESTART_RULE_ON_EXIT_CODES, CORE "ContainerRestartRuleOnExitCodes",
        "the exit codes that a restart rule matches",
    TEXT(1, "operator", "In or NotIn: whether the exit code must be one of the values", REQUIRED),
    LIST_OF(2, "values", TYPE_INT32, "the exit codes", SET));

LOCAL_TYPE(CONTAINER_RESTART_RULE, CORE "ContainerRestartRule",
        "an action for certain exit codes of a container",
    TEXT(1, "action", "the action if the rule matches: Restart", REQUIRED),
    OBJECT(2, "exitCodes", CONTAINER_RESTART_RULE_ON_EXIT_CODES,
        "the exit codes that the rule matches"));

LOCAL_TYPE(VOLUME_MOUNT, CORE "VolumeMount", "the mount of a volume in a container",
    TEXT(1, "name", "the name of a volume of the pod", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", "true: the mount is read-only"),
    TEXT(7, "recursiveReadOnly", "whether mounts below this mount are read-only too", IF_SET,
        WORDS("Disabled", "Enabled", "IfPossible")),
    TEXT(3, "mountPath", "the path in the container where the volume is mounted", REQUIRED, ALWAYS),
    TEXT(4, "subPath", "a path in the volume that is mounted instead of its root"),
    TEXT(5, "mountPropagation", "whether later mounts propagate between node and container", IF_SET,
        WORDS("Bidirectional", "HostToContainer", "None"), UNSUPPORTED("mounts are not passed on")),
    TEXT(6, "subPathExpr", "like subPath, but expands $(NAME) from the environment"));

LOCAL_TYPE(VOLUME_DEVICE, CORE "VolumeDevice", "a raw block device in a container",
    TEXT(1, "name", "the name of a volume of the pod whose claim has volumeMode Block", REQUIRED,
        ALWAYS),
    TEXT(2, "devicePath", "the path of the device in the container", REQUIRED, ALWAYS));

LOCAL_TYPE(EXEC_ACTION, CORE "ExecAction", "a command that is run in the container",
    TEXTS(1, "command", "the program and its arguments; it does not run in a shell"));

LOCAL_TYPE(HTTP_HEADER, CORE "HTTPHeader", "a header of an HTTP request",
    TEXT(1, "name", "the name of the header", REQUIRED, ALWAYS),
    TEXT(2, "value", "the value of the header", REQUIRED, ALWAYS));

LOCAL_TYPE(HTTP_GET_ACTION, CORE "HTTPGetAction", "an HTTP GET request",
    TEXT(1, "path", "the path of the request", FALLBACK("\"/\"")),
    INT_OR_TEXT(2, "port", "the port number, or the name of a container port", REQUIRED, IF_SET),
    TEXT(3, "host", "the host to connect to; default: the pod's IP"),
    TEXT(4, "scheme", "HTTP or HTTPS", WORDS("HTTP", "HTTPS"), FALLBACK("\"HTTP\"")),
    LIST(5, "httpHeaders", HTTP_HEADER, "additional headers of the request"));

LOCAL_TYPE(TCP_SOCKET_ACTION, CORE "TCPSocketAction", "an attempt to open a TCP connection",
    INT_OR_TEXT(1, "port", "the port number, or the name of a container port", REQUIRED, IF_SET),
    TEXT(2, "host", "the host to connect to; default: the pod's IP"));

LOCAL_TYPE(GRPC_ACTION, CORE "GRPCAction", "a call of the gRPC health service",
    INT32(1, "port", "the port of the gRPC server", REQUIRED, ALWAYS),
    TEXT(2, "service", "the service name in the health check request", IF_SET, FALLBACK("\"\"")));

LOCAL_TYPE(PROBE, CORE "Probe", "a health check of a container",
    OBJECT(INSIDE(1, 1), "exec", EXEC_ACTION, "succeeds if the command exits with 0"),
    OBJECT(INSIDE(1, 2), "httpGet", HTTP_GET_ACTION,
        "succeeds if the response has a status from 200 to 399"),
    OBJECT(INSIDE(1, 3), "tcpSocket", TCP_SOCKET_ACTION, "succeeds if the connection is accepted"),
    OBJECT(INSIDE(1, 4), "grpc", GRPC_ACTION, "succeeds if the gRPC health check reports SERVING"),
    INT32(2, "initialDelaySeconds", "seconds from the start of the container to the first check"),
    INT32(3, "timeoutSeconds", "seconds after which a check times out", FALLBACK("1")),
    INT32(4, "periodSeconds", "seconds between two checks", FALLBACK("10")),
    INT32(5, "successThreshold",
        "successful checks in a row before the probe succeeds after a failure", FALLBACK("1")),
    INT32(6, "failureThreshold", "failed checks in a row before the probe fails", FALLBACK("3")),
    INT64(7, "terminationGracePeriodSeconds",
        "the grace period in seconds if this probe fails; default: the pod's", IF_SET));

LOCAL_TYPE(SLEEP_ACTION, CORE "SleepAction", "a pause",
    INT64(1, "seconds", "the length of the pause in seconds", REQUIRED, ALWAYS));

LOCAL_TYPE(LIFECYCLE_HANDLER, CORE "LifecycleHandler",
        "an action at the start or end of a container",
    OBJECT(1, "exec", EXEC_ACTION, "a command to run in the container"),
    OBJECT(2, "httpGet", HTTP_GET_ACTION, "an HTTP GET request to send"),
    OBJECT(3, "tcpSocket", TCP_SOCKET_ACTION, "has no effect; accepted for older manifests"),
    OBJECT(4, "sleep", SLEEP_ACTION, "a pause"));

LOCAL_TYPE(LIFECYCLE, CORE "Lifecycle",
        "actions after a container starts and before it ends",
    OBJECT(1, "postStart", LIFECYCLE_HANDLER, "the action right after the start of the container"),
    OBJECT(2, "preStop", LIFECYCLE_HANDLER, "the action before the container gets SIGTERM"),
    TEXT(3, "stopSignal", "the signal that stops the container", IF_SET));

/* All fields of a container except the name, because the row of the name differs between the types
 * of containers. */
#define CONTAINER_ROWS_BUT_NAME                                                                    \
    TEXT(2, "image", "the container image"),                                                       \
    TEXTS(3, "command", "the command; replaces the image's entry point"),                          \
    TEXTS(4, "args", "the arguments; replace the image's"),                                        \
    TEXT(5, "workingDir", "the working directory"),                                                \
    LIST(6, "ports", CONTAINER_PORT, "the ports it listens on; other ports can be reached too",    \
        KEYS("containerPort", "protocol"), MERGE("containerPort")),                                \
    LIST(19, "envFrom", TYPE_ENV_FROM_SOURCE,                                                      \
        "config maps and secrets whose keys become environment variables"),                        \
    LIST(7, "env", TYPE_ENV_VAR, "the environment variables", KEYS("name"), MERGE("name")),        \
    STRUCT(8, "resources", TYPE_RESOURCE_REQUIREMENTS,                                             \
        "the CPU, memory and other resources that it needs"),                                      \
    LIST(23, "resizePolicy", CONTAINER_RESIZE_POLICY,                                              \
        "whether a resize of its resources restarts it"),                                          \
    TEXT(24, "restartPolicy", "when it is restarted; overrides the pod's policy", IF_SET),         \
    LIST(25, "restartPolicyRules", CONTAINER_RESTART_RULE, "when it is restarted, by exit code"),  \
    LIST(9, "volumeMounts", VOLUME_MOUNT, "the volumes that are mounted into it",                  \
        KEYS("mountPath"), MERGE("mountPath")),                                                    \
    LIST(21, "volumeDevices", VOLUME_DEVICE, "the raw block devices that it uses",                 \
        KEYS("devicePath"), MERGE("devicePath")),                                                  \
    OBJECT(10, "livenessProbe", PROBE, "the container is restarted if this probe fails"),          \
    OBJECT(11, "readinessProbe", PROBE,                                                            \
        "the container is ready for traffic while this probe succeeds"),                           \
    OBJECT(22, "startupProbe", PROBE, "the other probes start after this probe has succeeded"),    \
    OBJECT(12, "lifecycle", LIFECYCLE, "actions after it starts and before it ends"),              \
    TEXT(13, "terminationMessagePath", "the file that the termination message is read from",       \
        FALLBACK("\"/dev/termination-log\"")),                                                     \
    TEXT(20, "terminationMessagePolicy",                                                           \
        "whether the end of the log is used if that file is empty",                                \
        WORDS("FallbackToLogsOnError", "File"), FALLBACK("\"File\"")),                             \
    TEXT(14, "imagePullPolicy", "when the image is pulled: Always, Never or IfNotPresent",         \
        WORDS("Always", "IfNotPresent", "Never")),                                                 \
    OBJECT(15, "securityContext", TYPE_SECURITY_CONTEXT,                                           \
        "its security settings; override the pod's"),                                              \
    BOOL(16, "stdin", "true: its standard input stays open for kubectl attach"),                   \
    BOOL(17, "stdinOnce", "true: its standard input closes after the first client detaches"),      \
    BOOL(18, "tty", "true: it gets a terminal; requires stdin")

TYPE(TYPE_CONTAINER, CORE "Container", "a container of a pod",
    TEXT(1, "name", "the name of the container, unique in the pod", REQUIRED, ALWAYS),
    CONTAINER_ROWS_BUT_NAME);

TYPE(TYPE_STEP_CONTAINER, "io.argoproj.workflow.v1alpha1.Container",
        "the container of a workflow step",
    TEXT(0, "name", "the name of the container; default: main"),
    CONTAINER_ROWS_BUT_NAME);

TYPE(TYPE_EPHEMERAL_CONTAINER, CORE "EphemeralContainer",
        "a container that is added to a running pod for debugging",
    TEXT(INSIDE(1, 1), "name", "the name of the container, unique in the pod", REQUIRED, ALWAYS),
    TEXT(INSIDE(1, 2), "image", "the container image"),
    TEXTS(INSIDE(1, 3), "command", "the command; replaces the image's entry point"),
    TEXTS(INSIDE(1, 4), "args", "the arguments; replace the image's"),
    TEXT(INSIDE(1, 5), "workingDir", "the working directory"),
    LIST(INSIDE(1, 6), "ports", CONTAINER_PORT, "not allowed in an ephemeral container",
        KEYS("containerPort", "protocol"), MERGE("containerPort")),
    LIST(INSIDE(1, 19), "envFrom", TYPE_ENV_FROM_SOURCE,
        "config maps and secrets whose keys become environment variables"),
    LIST(INSIDE(1, 7), "env", TYPE_ENV_VAR, "the environment variables", KEYS("name"),
        MERGE("name")),
    STRUCT(INSIDE(1, 8), "resources", TYPE_RESOURCE_REQUIREMENTS,
        "not allowed in an ephemeral container: it uses spare resources of the pod"),
    LIST(INSIDE(1, 23), "resizePolicy", CONTAINER_RESIZE_POLICY,
        "whether a resize of its resources restarts it"),
    TEXT(INSIDE(1, 24), "restartPolicy", "not allowed in an ephemeral container", IF_SET),
    LIST(INSIDE(1, 25), "restartPolicyRules", CONTAINER_RESTART_RULE,
        "not allowed in an ephemeral container"),
    LIST(INSIDE(1, 9), "volumeMounts", VOLUME_MOUNT, "the volumes that are mounted into it",
        KEYS("mountPath"), MERGE("mountPath")),
    LIST(INSIDE(1, 21), "volumeDevices", VOLUME_DEVICE, "the raw block devices that it uses",
        KEYS("devicePath"), MERGE("devicePath")),
    OBJECT(INSIDE(1, 10), "livenessProbe", PROBE, "not allowed in an ephemeral container"),
    OBJECT(INSIDE(1, 11), "readinessProbe", PROBE, "not allowed in an ephemeral container"),
    OBJECT(INSIDE(1, 22), "startupProbe", PROBE, "not allowed in an ephemeral container"),
    OBJECT(INSIDE(1, 12), "lifecycle", LIFECYCLE, "not allowed in an ephemeral container"),
    TEXT(INSIDE(1, 13), "terminationMessagePath",
        "the file that the termination message is read from", FALLBACK("\"/dev/termination-log\"")),
    TEXT(INSIDE(1, 20), "terminationMessagePolicy",
        "whether the end of the log is used if that file is empty",
        WORDS("FallbackToLogsOnError", "File"), FALLBACK("\"File\"")),
    TEXT(INSIDE(1, 14), "imagePullPolicy",
        "when the image is pulled: Always, Never or IfNotPresent",
        WORDS("Always", "IfNotPresent", "Never")),
    OBJECT(INSIDE(1, 15), "securityContext", TYPE_SECURITY_CONTEXT,
        "its security settings; override the pod's"),
    BOOL(INSIDE(1, 16), "stdin", "true: its standard input stays open for kubectl attach"),
    BOOL(INSIDE(1, 17), "stdinOnce",
        "true: its standard input closes after the first client detaches"),
    BOOL(INSIDE(1, 18), "tty", "true: it gets a terminal; requires stdin"),
    TEXT(2, "targetContainerName", "the container whose process namespace it shares"));
