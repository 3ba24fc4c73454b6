/* Types of containers and their parts. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_DEVICES "there are no devices to claim"

LOCAL_TYPE(CONTAINER_PORT, CORE "ContainerPort", "a port that a container listens on",
    TEXT(1, "name", "its name, which services may use"),
    INT32(2, "hostPort", "a port of the node that leads to it"),
    INT32(3, "containerPort", "its number", REQUIRED, ALWAYS),
    TEXT(4, "protocol", "the protocol spoken there", WORDS("SCTP", "TCP", "UDP"),
        FALLBACK("\"TCP\"")),
    TEXT(5, "hostIP", "the address of the node at which the host port is open",
        UNSUPPORTED("a host port is open at the address of its node")));

LOCAL_TYPE(RESOURCE_CLAIM, CORE "ResourceClaim", "devices of the pod that a container uses",
    TEXT(1, "name", "which of the pod's resourceClaims", REQUIRED, ALWAYS),
    TEXT(2, "request", "one request of that claim; default: all requests"));

TYPE(TYPE_RESOURCE_REQUIREMENTS, CORE "ResourceRequirements",
        "how much processor, memory and devices are needed",
    MAP_OF(1, "limits", TYPE_QUANTITY, "the most it may use of each resource"),
    MAP_OF(2, "requests", TYPE_QUANTITY, "how much of each resource a node must have to spare"),
    LIST(3, "claims", RESOURCE_CLAIM, "devices of the pod's resourceClaims", KEYS("name"),
        UNSUPPORTED(NO_DEVICES)));

LOCAL_TYPE(CONTAINER_RESIZE_POLICY, CORE "ContainerResizePolicy",
        "what happens when the amount of a resource is changed while it runs",
    TEXT(1, "resourceName", "the resource it is about", REQUIRED, ALWAYS),
    TEXT(2, "restartPolicy", "whether the container must be restarted for it", REQUIRED, ALWAYS));

LOCAL_TYPE(CONTAINER_RESTART_RULE_ON_EXIT_CODES, CORE "ContainerRestartRuleOnExitCodes",
        "which exit codes a rule is about",
    TEXT(1, "operator", "In or NotIn", REQUIRED),
    LIST_OF(2, "values", TYPE_INT32, "the exit codes", SET));

LOCAL_TYPE(CONTAINER_RESTART_RULE, CORE "ContainerRestartRule",
        "what to do when a container ends in a certain way",
    TEXT(1, "action", "the action if the rule matches: Restart", REQUIRED),
    OBJECT(2, "exitCodes", CONTAINER_RESTART_RULE_ON_EXIT_CODES, "the exit codes it holds for"));

LOCAL_TYPE(VOLUME_MOUNT, CORE "VolumeMount", "where a container sees a volume",
    TEXT(1, "name", "which of the pod's volumes", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", "true: the container cannot write to it"),
    TEXT(7, "recursiveReadOnly", "whether mounts below it are read-only, too", IF_SET,
        WORDS("Disabled", "Enabled", "IfPossible")),
    TEXT(3, "mountPath", "the directory in the container at which it appears", REQUIRED, ALWAYS),
    TEXT(4, "subPath", "a path in the volume that is mounted instead of its root"),
    TEXT(5, "mountPropagation", "whether mounts made later are seen on the other side", IF_SET,
        WORDS("Bidirectional", "HostToContainer", "None"), UNSUPPORTED("mounts are not passed on")),
    TEXT(6, "subPathExpr", "like subPath, with $(NAME) for values of the environment"));

LOCAL_TYPE(VOLUME_DEVICE, CORE "VolumeDevice", "a raw block device in a container",
    TEXT(1, "name", "which of the pod's volumes; a claim of block mode", REQUIRED, ALWAYS),
    TEXT(2, "devicePath", "the path in the container at which the device appears", REQUIRED,
        ALWAYS));

LOCAL_TYPE(EXEC_ACTION, CORE "ExecAction", "a command that is run in the container",
    TEXTS(1, "command", "the program and its arguments; no shell is around them"));

LOCAL_TYPE(HTTP_HEADER, CORE "HTTPHeader", "a header of an HTTP request",
    TEXT(1, "name", "the name of the header", REQUIRED, ALWAYS),
    TEXT(2, "value", "its value", REQUIRED, ALWAYS));

LOCAL_TYPE(HTTP_GET_ACTION, CORE "HTTPGetAction", "an HTTP GET request",
    TEXT(1, "path", "the path of the request", FALLBACK("\"/\"")),
    INT_OR_TEXT(2, "port", "the port, as a number or by the name the container gives it", REQUIRED,
        IF_SET),
    TEXT(3, "host", "the host to connect to; default: the pod itself"),
    TEXT(4, "scheme", "plain or encrypted", WORDS("HTTP", "HTTPS"), FALLBACK("\"HTTP\"")),
    LIST(5, "httpHeaders", HTTP_HEADER, "headers that are sent with it"));

LOCAL_TYPE(TCP_SOCKET_ACTION, CORE "TCPSocketAction", "an attempt to open a TCP connection",
    INT_OR_TEXT(1, "port", "the port, as a number or by the name the container gives it", REQUIRED,
        IF_SET),
    TEXT(2, "host", "the host to connect to; default: the pod itself"));

LOCAL_TYPE(GRPC_ACTION, CORE "GRPCAction", "a call of the health service of gRPC",
    INT32(1, "port", "the port it listens on", REQUIRED, ALWAYS),
    TEXT(2, "service", "the service whose health is asked for", IF_SET, FALLBACK("\"\"")));

LOCAL_TYPE(PROBE, CORE "Probe", "a check of the health of a container",
    OBJECT(INSIDE(1, 1), "exec", EXEC_ACTION, "succeeds if this command exits with 0"),
    OBJECT(INSIDE(1, 2), "httpGet", HTTP_GET_ACTION,
        "succeeds if this request is answered with 200 to 399"),
    OBJECT(INSIDE(1, 3), "tcpSocket", TCP_SOCKET_ACTION, "succeeds if this connection is accepted"),
    OBJECT(INSIDE(1, 4), "grpc", GRPC_ACTION, "succeeds if this health check succeeds"),
    INT32(2, "initialDelaySeconds", "how long to wait after the start before the first try"),
    INT32(3, "timeoutSeconds", "how long a try may take", FALLBACK("1")),
    INT32(4, "periodSeconds", "how long between tries", FALLBACK("10")),
    INT32(5, "successThreshold", "how many tries in a row must succeed after a failure",
        FALLBACK("1")),
    INT32(6, "failureThreshold", "how many tries in a row must fail before the probe fails",
        FALLBACK("3")),
    INT64(7, "terminationGracePeriodSeconds",
        "how long the container may take to end when this probe fails", IF_SET));

LOCAL_TYPE(SLEEP_ACTION, CORE "SleepAction", "a pause",
    INT64(1, "seconds", "how long", REQUIRED, ALWAYS));

LOCAL_TYPE(LIFECYCLE_HANDLER, CORE "LifecycleHandler",
        "an action at the start or end of a container",
    OBJECT(1, "exec", EXEC_ACTION, "run this command in the container"),
    OBJECT(2, "httpGet", HTTP_GET_ACTION, "make this request"),
    OBJECT(3, "tcpSocket", TCP_SOCKET_ACTION, "has no effect; accepted for older manifests"),
    OBJECT(4, "sleep", SLEEP_ACTION, "wait"));

LOCAL_TYPE(LIFECYCLE, CORE "Lifecycle",
        "actions after a container starts and before it ends",
    OBJECT(1, "postStart", LIFECYCLE_HANDLER, "the action right after the start"),
    OBJECT(2, "preStop", LIFECYCLE_HANDLER, "the action before the container gets SIGTERM"),
    TEXT(3, "stopSignal", "the signal that tells it to end", IF_SET));

/* The fields of a container without its name, which differs between the types that use them. */
#define CONTAINER_ROWS_BUT_NAME                                                                    \
    TEXT(2, "image", "the image it is run from"),                                                  \
    TEXTS(3, "command", "the command to run instead of the image's entry point"), \
    TEXTS(4, "args", "the arguments, in place of the image's"),                                    \
    TEXT(5, "workingDir", "the directory it starts in"),                                           \
    LIST(6, "ports", CONTAINER_PORT, "the ports it listens on; other ports can be reached, too", \
        KEYS("containerPort", "protocol"), MERGE("containerPort")),                                \
    LIST(19, "envFrom", TYPE_ENV_FROM_SOURCE,                                                      \
        "config maps and secrets; all their keys become variables"), \
    LIST(7, "env", TYPE_ENV_VAR, "variables of its environment", KEYS("name"), MERGE("name")),     \
    STRUCT(8, "resources", TYPE_RESOURCE_REQUIREMENTS,                                             \
        "how much processor, memory and devices it needs"),                                        \
    LIST(23, "resizePolicy", CONTAINER_RESIZE_POLICY,                                              \
        "whether it restarts when its resources are changed"),                                     \
    TEXT(24, "restartPolicy", "when it is started again, where that differs from the pod's",       \
        IF_SET),                                                                                   \
    LIST(25, "restartPolicyRules", CONTAINER_RESTART_RULE,                                         \
        "when it is started again, by its exit code"),                                             \
    LIST(9, "volumeMounts", VOLUME_MOUNT, "where it sees which volumes", KEYS("mountPath"),        \
        MERGE("mountPath")),                                                                       \
    LIST(21, "volumeDevices", VOLUME_DEVICE, "where it sees which raw block devices",              \
        KEYS("devicePath"), MERGE("devicePath")),                                                  \
    OBJECT(10, "livenessProbe", PROBE, "when this fails the container is restarted"),              \
    OBJECT(11, "readinessProbe", PROBE, "while this fails services do not send to it"),            \
    OBJECT(22, "startupProbe", PROBE, "until this succeeds the other probes wait"),                \
    OBJECT(12, "lifecycle", LIFECYCLE, "actions after its start and before its end"),         \
    TEXT(13, "terminationMessagePath", "the file that holds the termination message",          \
        FALLBACK("\"/dev/termination-log\"")),                                                     \
    TEXT(20, "terminationMessagePolicy", \
        "whether the end of the log is used if that file is empty", \
        WORDS("FallbackToLogsOnError", "File"), FALLBACK("\"File\"")),                             \
    TEXT(14, "imagePullPolicy", "when the image is pulled: Always, Never or IfNotPresent", \
        WORDS("Always", "IfNotPresent", "Never")),                                                 \
    OBJECT(15, "securityContext", TYPE_SECURITY_CONTEXT,                                           \
        "its users and rights, where they differ from the pod's"),                                 \
    BOOL(16, "stdin", "true: its standard input stays open for kubectl attach"), \
    BOOL(17, "stdinOnce", \
        "true: its standard input is closed after the first client has detached"), \
    BOOL(18, "tty", "true: it gets a terminal; needs stdin")

TYPE(TYPE_CONTAINER, CORE "Container", "one program of a pod, with all it needs to run",
    TEXT(1, "name", "its name, unique in the pod", REQUIRED, ALWAYS),
    CONTAINER_ROWS_BUT_NAME);

TYPE(TYPE_STEP_CONTAINER, "io.argoproj.workflow.v1alpha1.Container",
        "the program of a step, with all it needs to run",
    TEXT(0, "name", "its name; default: main"),
    CONTAINER_ROWS_BUT_NAME);

TYPE(TYPE_EPHEMERAL_CONTAINER, CORE "EphemeralContainer",
        "a container added to a running pod to look into it",
    TEXT(INSIDE(1, 1), "name", "its name, unique in the pod", REQUIRED,
        ALWAYS),
    TEXT(INSIDE(1, 2), "image", "the image it is run from"),
    TEXTS(INSIDE(1, 3), "command", "the command to run instead of the image's entry point"),
    TEXTS(INSIDE(1, 4), "args", "the arguments, in place of the image's"),
    TEXT(INSIDE(1, 5), "workingDir", "the directory it starts in"),
    LIST(INSIDE(1, 6), "ports", CONTAINER_PORT, "not allowed in such a container",
        KEYS("containerPort", "protocol"), MERGE("containerPort")),
    LIST(INSIDE(1, 19), "envFrom", TYPE_ENV_FROM_SOURCE,
        "config maps and secrets; all their keys become variables"),
    LIST(INSIDE(1, 7), "env", TYPE_ENV_VAR, "variables of its environment", KEYS("name"),
        MERGE("name")),
    STRUCT(INSIDE(1, 8), "resources", TYPE_RESOURCE_REQUIREMENTS,
        "not allowed in such a container: it uses what the pod has to spare"),
    LIST(INSIDE(1, 23), "resizePolicy", CONTAINER_RESIZE_POLICY,
        "whether it restarts when its resources are changed"),
    TEXT(INSIDE(1, 24), "restartPolicy", "not allowed in such a container", IF_SET),
    LIST(INSIDE(1, 25), "restartPolicyRules", CONTAINER_RESTART_RULE,
        "not allowed in such a container"),
    LIST(INSIDE(1, 9), "volumeMounts", VOLUME_MOUNT, "where it sees which volumes",
        KEYS("mountPath"), MERGE("mountPath")),
    LIST(INSIDE(1, 21), "volumeDevices", VOLUME_DEVICE, "where it sees which raw block devices",
        KEYS("devicePath"), MERGE("devicePath")),
    OBJECT(INSIDE(1, 10), "livenessProbe", PROBE, "not allowed in such a container"),
    OBJECT(INSIDE(1, 11), "readinessProbe", PROBE, "not allowed in such a container"),
    OBJECT(INSIDE(1, 22), "startupProbe", PROBE, "not allowed in such a container"),
    OBJECT(INSIDE(1, 12), "lifecycle", LIFECYCLE, "not allowed in such a container"),
    TEXT(INSIDE(1, 13), "terminationMessagePath", "the file that holds the termination message",
        FALLBACK("\"/dev/termination-log\"")),
    TEXT(INSIDE(1, 20), "terminationMessagePolicy",
        "whether the end of the log is used if that file is empty",
        WORDS("FallbackToLogsOnError", "File"), FALLBACK("\"File\"")),
    TEXT(INSIDE(1, 14), "imagePullPolicy",
        "when the image is pulled: Always, Never or IfNotPresent",
        WORDS("Always", "IfNotPresent", "Never")),
    OBJECT(INSIDE(1, 15), "securityContext", TYPE_SECURITY_CONTEXT, "its users and rights"),
    BOOL(INSIDE(1, 16), "stdin", "true: its standard input stays open for kubectl attach"),
    BOOL(INSIDE(1, 17), "stdinOnce",
        "true: its standard input is closed after the first client has detached"),
    BOOL(INSIDE(1, 18), "tty", "true: it gets a terminal; needs stdin"),
    TEXT(2, "targetContainerName", "the container whose processes it can see"));
