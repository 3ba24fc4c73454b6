/* Services and where they lead. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(SERVICE_PORT, CORE "ServicePort", "",
    TEXT(1, "name", ""),
    TEXT(2, "protocol", "", WORDS("SCTP", "TCP", "UDP"), FALLBACK("\"TCP\"")),
    TEXT(6, "appProtocol", "", IF_SET),
    INT32(3, "port", "", REQUIRED, ALWAYS),
    INT_OR_TEXT(4, "targetPort", ""),
    INT32(5, "nodePort", ""));

LOCAL_TYPE(CLIENT_IP_CONFIG, CORE "ClientIPConfig", "",
    INT32(1, "timeoutSeconds", "", IF_SET));

LOCAL_TYPE(SESSION_AFFINITY_CONFIG, CORE "SessionAffinityConfig", "",
    OBJECT(1, "clientIP", CLIENT_IP_CONFIG, ""));

LOCAL_TYPE(SERVICE_SPEC, CORE "ServiceSpec", "",
    LIST(1, "ports", SERVICE_PORT, "", KEYS("port", "protocol"), MERGE("port")),
    TEXT_MAP(2, "selector", "", ATOMIC),
    TEXT(3, "clusterIP", ""),
    TEXTS(18, "clusterIPs", ""),
    TEXT(4, "type", "", WORDS("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"), FALLBACK("\"ClusterIP\"")),
    TEXTS(5, "externalIPs", ""),
    TEXT(7, "sessionAffinity", "", WORDS("ClientIP", "None"), FALLBACK("\"None\"")),
    TEXT(8, "loadBalancerIP", ""),
    TEXTS(9, "loadBalancerSourceRanges", ""),
    TEXT(10, "externalName", ""),
    TEXT(11, "externalTrafficPolicy", "", WORDS("Cluster", "Local")),
    INT32(12, "healthCheckNodePort", ""),
    BOOL(13, "publishNotReadyAddresses", ""),
    OBJECT(14, "sessionAffinityConfig", SESSION_AFFINITY_CONFIG, "", UNSUPPORTED("a client stays with its pod for as long as that is there")),
    TEXTS(19, "ipFamilies", ""),
    TEXT(17, "ipFamilyPolicy", "", IF_SET, WORDS("PreferDualStack", "RequireDualStack", "SingleStack")),
    BOOL(20, "allocateLoadBalancerNodePorts", "", IF_SET),
    TEXT(21, "loadBalancerClass", "", IF_SET),
    TEXT(22, "internalTrafficPolicy", "", IF_SET, WORDS("Cluster", "Local")),
    TEXT(23, "trafficDistribution", "", IF_SET));

LOCAL_TYPE(PORT_STATUS, CORE "PortStatus", "",
    INT32(1, "port", "", REQUIRED, ALWAYS),
    TEXT(2, "protocol", "", REQUIRED, ALWAYS, WORDS("SCTP", "TCP", "UDP")),
    TEXT(3, "error", "", IF_SET));

LOCAL_TYPE(LOAD_BALANCER_INGRESS, CORE "LoadBalancerIngress", "",
    TEXT(1, "ip", ""),
    TEXT(2, "hostname", ""),
    TEXT(3, "ipMode", "", IF_SET),
    LIST(4, "ports", PORT_STATUS, ""));

LOCAL_TYPE(LOAD_BALANCER_STATUS, CORE "LoadBalancerStatus", "",
    LIST(1, "ingress", LOAD_BALANCER_INGRESS, ""));

LOCAL_TYPE(SERVICE_STATUS, CORE "ServiceStatus", "",
    STRUCT(1, "loadBalancer", LOAD_BALANCER_STATUS, ""),
    LIST(2, "conditions", TYPE_CONDITION, "", KEYS("type"), MERGE("type")));

TYPE(TYPE_SERVICE, CORE "Service", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SERVICE_SPEC, ""),
    STRUCT(3, "status", SERVICE_STATUS, ""));

LOCAL_TYPE_ATOMIC(ENDPOINT_ADDRESS, CORE "EndpointAddress", "",
    TEXT(1, "ip", "", REQUIRED, ALWAYS),
    TEXT(3, "hostname", ""),
    TEXT(4, "nodeName", "", IF_SET),
    OBJECT(2, "targetRef", TYPE_OBJECT_REFERENCE, ""));

LOCAL_TYPE_ATOMIC(ENDPOINT_PORT, CORE "EndpointPort", "",
    TEXT(1, "name", ""),
    INT32(2, "port", "", REQUIRED, ALWAYS),
    TEXT(3, "protocol", "", WORDS("SCTP", "TCP", "UDP"), FALLBACK("\"TCP\"")),
    TEXT(4, "appProtocol", "", IF_SET));

LOCAL_TYPE(ENDPOINT_SUBSET, CORE "EndpointSubset", "",
    LIST(1, "addresses", ENDPOINT_ADDRESS, ""),
    LIST(2, "notReadyAddresses", ENDPOINT_ADDRESS, ""),
    LIST(3, "ports", ENDPOINT_PORT, ""));

TYPE(TYPE_ENDPOINTS, CORE "Endpoints", "",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subsets", ENDPOINT_SUBSET, ""));

LOCAL_TYPE(ENDPOINT_CONDITIONS, DISCOVERY "EndpointConditions", "",
    BOOL(1, "ready", "", IF_SET),
    BOOL(2, "serving", "", IF_SET),
    BOOL(3, "terminating", "", IF_SET));

LOCAL_TYPE(FOR_ZONE, DISCOVERY "ForZone", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS));

LOCAL_TYPE(FOR_NODE, DISCOVERY "ForNode", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS));

LOCAL_TYPE(ENDPOINT_HINTS, DISCOVERY "EndpointHints", "",
    LIST(1, "forZones", FOR_ZONE, ""),
    LIST(2, "forNodes", FOR_NODE, ""));

LOCAL_TYPE(SLICE_ENDPOINT, DISCOVERY "Endpoint", "",
    TEXTS(1, "addresses", "", REQUIRED, ALWAYS, SET),
    STRUCT(2, "conditions", ENDPOINT_CONDITIONS, ""),
    TEXT(3, "hostname", "", IF_SET),
    OBJECT(4, "targetRef", TYPE_OBJECT_REFERENCE, ""),
    TEXT_MAP(5, "deprecatedTopology", ""),
    TEXT(6, "nodeName", "", IF_SET),
    TEXT(7, "zone", "", IF_SET),
    OBJECT(8, "hints", ENDPOINT_HINTS, ""));

LOCAL_TYPE_ATOMIC(SLICE_PORT, DISCOVERY "EndpointPort", "",
    TEXT(1, "name", "", IF_SET),
    TEXT(2, "protocol", "", IF_SET, WORDS("SCTP", "TCP", "UDP"), FALLBACK("\"TCP\"")),
    INT32(3, "port", "", IF_SET),
    TEXT(4, "appProtocol", "", IF_SET));

TYPE(TYPE_ENDPOINT_SLICE, DISCOVERY "EndpointSlice", "",
    KIND_ROWS,
    METADATA(1),
    TEXT(4, "addressType", "", REQUIRED, ALWAYS),
    LIST(2, "endpoints", SLICE_ENDPOINT, "", ALWAYS),
    LIST(3, "ports", SLICE_PORT, "", ALWAYS));
