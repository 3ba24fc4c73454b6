/* Types of services and their endpoints. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_BALANCER "there is no load balancer on this machine: use the node ports"

LOCAL_TYPE(SERVICE_PORT, CORE "ServicePort", "a port of a service and where it leads",
    TEXT(1, "name", "its name; required if there are several"),
    TEXT(2, "protocol", "the protocol spoken there", WORDS("SCTP", "TCP", "UDP"),
        FALLBACK("\"TCP\"")),
    TEXT(6, "appProtocol", "the application protocol, such as http", IF_SET),
    INT32(3, "port", "the port at the address of the service", REQUIRED, ALWAYS),
    INT_OR_TEXT(4, "targetPort",
        "the port of the pods, by number or name; default: the same number"),
    INT32(5, "nodePort", "the port at the address of every node"));

LOCAL_TYPE(CLIENT_IP_CONFIG, CORE "ClientIPConfig", "how clients are kept with their pods",
    INT32(1, "timeoutSeconds", "how long a client that is silent is remembered", IF_SET));

LOCAL_TYPE(SESSION_AFFINITY_CONFIG, CORE "SessionAffinityConfig", "how sessions are kept together",
    OBJECT(1, "clientIP", CLIENT_IP_CONFIG, "by the address of the client"));

LOCAL_TYPE(SERVICE_SPEC, CORE "ServiceSpec", "how pods are reached under one name",
    LIST(1, "ports", SERVICE_PORT, "the ports it has", KEYS("port", "protocol"), MERGE("port")),
    TEXT_MAP(2, "selector", "labels of the pods it leads to", ATOMIC),
    TEXT(3, "clusterIP",
        "its address in the cluster; None: it has none, its name leads to the pods"),
    TEXTS(18, "clusterIPs", "its addresses, one for each family; the first is clusterIP"),
    TEXT(4, "type", "where it can be reached: within the cluster, at every node, from outside",
        WORDS("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"), FALLBACK("\"ClusterIP\"")),
    TEXTS(5, "externalIPs", "further addresses at which nodes take its connections",
        UNSUPPORTED("its cluster address and its node ports are all that leads to its pods")),
    TEXT(7, "sessionAffinity", "ClientIP: a client comes to the same pod again",
        WORDS("ClientIP", "None"), FALLBACK("\"None\"")),
    TEXT(8, "loadBalancerIP", "the address wanted of a load balancer", UNSUPPORTED(NO_BALANCER)),
    TEXTS(9, "loadBalancerSourceRanges",
        "only clients from these networks may use the load balancer", UNSUPPORTED(NO_BALANCER)),
    TEXT(10, "externalName", "the name of another host that its name stands for"),
    TEXT(11, "externalTrafficPolicy", "Local: what comes from outside stays on the node it came to",
        WORDS("Cluster", "Local")),
    INT32(12, "healthCheckNodePort",
        "the port at which load balancers ask a node whether it has pods of the service",
        UNSUPPORTED(NO_BALANCER)),
    BOOL(13, "publishNotReadyAddresses", "true: pods that are not ready can be looked up, too"),
    OBJECT(14, "sessionAffinityConfig", SESSION_AFFINITY_CONFIG,
        "how clients are kept with their pods",
        UNSUPPORTED("a client stays with its pod as long as the pod exists")),
    TEXTS(19, "ipFamilies", "the families of its addresses, IPv4 or IPv6"),
    TEXT(17, "ipFamilyPolicy", "whether it has addresses of one family or of both", IF_SET,
        WORDS("PreferDualStack", "RequireDualStack", "SingleStack")),
    BOOL(20, "allocateLoadBalancerNodePorts", "false: a load balancer needs no ports of the nodes",
        IF_SET),
    TEXT(21, "loadBalancerClass", "which kind of load balancer is to be made", IF_SET,
        UNSUPPORTED(NO_BALANCER)),
    TEXT(22, "internalTrafficPolicy", "Local: what comes from within stays on its node", IF_SET,
        WORDS("Cluster", "Local")),
    TEXT(23, "trafficDistribution", "which pods are preferred, such as those that are near",
        IF_SET));

LOCAL_TYPE(PORT_STATUS, CORE "PortStatus", "the state of a port of a load balancer",
    INT32(1, "port", "its number", REQUIRED, ALWAYS),
    TEXT(2, "protocol", "the protocol spoken there", REQUIRED, ALWAYS, WORDS("SCTP", "TCP", "UDP")),
    TEXT(3, "error", "why it does not work", IF_SET));

LOCAL_TYPE(LOAD_BALANCER_INGRESS, CORE "LoadBalancerIngress", "an ingress point of a load balancer",
    TEXT(1, "ip", "its address"),
    TEXT(2, "hostname", "its name, where it has no address of its own"),
    TEXT(3, "ipMode", "how packets to the address are delivered: VIP or Proxy", IF_SET),
    LIST(4, "ports", PORT_STATUS, "the state of its ports"));

LOCAL_TYPE(LOAD_BALANCER_STATUS, CORE "LoadBalancerStatus", "what a load balancer offers",
    LIST(1, "ingress", LOAD_BALANCER_INGRESS, "its ingress points"));

LOCAL_TYPE(SERVICE_STATUS, CORE "ServiceStatus", "the present state of a service",
    STRUCT(1, "loadBalancer", LOAD_BALANCER_STATUS, "its load balancer, if it has one"),
    LIST(2, "conditions", TYPE_CONDITION, "its conditions", KEYS("type"), MERGE("type")));

TYPE(TYPE_SERVICE, CORE "Service", "one name and address for pods that come and go",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SERVICE_SPEC, "how they are reached"),
    STRUCT(3, "status", SERVICE_STATUS, "its present state"));

LOCAL_TYPE_ATOMIC(ENDPOINT_ADDRESS, CORE "EndpointAddress",
        "the address of one pod behind a service",
    TEXT(1, "ip", "the address", REQUIRED, ALWAYS),
    TEXT(3, "hostname", "the host name under which it can be looked up"),
    TEXT(4, "nodeName", "the node it is on", IF_SET),
    OBJECT(2, "targetRef", TYPE_OBJECT_REFERENCE, "the pod that has the address"));

LOCAL_TYPE_ATOMIC(ENDPOINT_PORT, CORE "EndpointPort", "a port behind a service",
    TEXT(1, "name", "which of the service's ports leads here"),
    INT32(2, "port", "its number", REQUIRED, ALWAYS),
    TEXT(3, "protocol", "the protocol spoken there", WORDS("SCTP", "TCP", "UDP"),
        FALLBACK("\"TCP\"")),
    TEXT(4, "appProtocol", "the application protocol, such as http", IF_SET));

LOCAL_TYPE(ENDPOINT_SUBSET, CORE "EndpointSubset", "addresses that have the same ports",
    LIST(1, "addresses", ENDPOINT_ADDRESS, "of pods that are ready"),
    LIST(2, "notReadyAddresses", ENDPOINT_ADDRESS, "of pods that are not ready"),
    LIST(3, "ports", ENDPOINT_PORT, "the ports that each of the addresses has"));

TYPE(TYPE_ENDPOINTS, CORE "Endpoints", "the addresses behind a service",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subsets", ENDPOINT_SUBSET, "the addresses, by their ports"));

LOCAL_TYPE(ENDPOINT_CONDITIONS, DISCOVERY "EndpointConditions", "the conditions of an endpoint",
    BOOL(1, "ready", "it takes connections", IF_SET),
    BOOL(2, "serving", "it takes connections, even if it is about to end", IF_SET),
    BOOL(3, "terminating", "it is about to end", IF_SET));

LOCAL_TYPE(FOR_ZONE, DISCOVERY "ForZone", "a zone that should use an endpoint",
    TEXT(1, "name", "the name of the zone", REQUIRED, ALWAYS));

LOCAL_TYPE(FOR_NODE, DISCOVERY "ForNode", "a node that should use an endpoint",
    TEXT(1, "name", "the name of the node", REQUIRED, ALWAYS));

LOCAL_TYPE(ENDPOINT_HINTS, DISCOVERY "EndpointHints",
        "the zones and nodes that should use an endpoint",
    LIST(1, "forZones", FOR_ZONE, "clients of these zones"),
    LIST(2, "forNodes", FOR_NODE, "clients of these nodes"));

LOCAL_TYPE(SLICE_ENDPOINT, DISCOVERY "Endpoint", "one pod behind a service",
    TEXTS(1, "addresses", "its addresses, all of one family", REQUIRED, ALWAYS, SET),
    STRUCT(2, "conditions", ENDPOINT_CONDITIONS, "its conditions"),
    TEXT(3, "hostname", "the host name under which it can be looked up", IF_SET),
    OBJECT(4, "targetRef", TYPE_OBJECT_REFERENCE, "the pod it is"),
    TEXT_MAP(5, "deprecatedTopology", "where it is, as older versions wrote it"),
    TEXT(6, "nodeName", "the node it is on", IF_SET),
    TEXT(7, "zone", "the zone it is in", IF_SET),
    OBJECT(8, "hints", ENDPOINT_HINTS, "the zones and nodes that should use it"));

LOCAL_TYPE_ATOMIC(SLICE_PORT, DISCOVERY "EndpointPort", "a port behind a service",
    TEXT(1, "name", "which of the service's ports leads here", IF_SET),
    TEXT(2, "protocol", "the protocol spoken there", IF_SET, WORDS("SCTP", "TCP", "UDP"),
        FALLBACK("\"TCP\"")),
    INT32(3, "port", "its number", IF_SET),
    TEXT(4, "appProtocol", "the application protocol, such as http", IF_SET));

TYPE(TYPE_ENDPOINT_SLICE, DISCOVERY "EndpointSlice", "a part of the addresses behind a service",
    KIND_ROWS,
    METADATA(1),
    TEXT(4, "addressType", "the family of its addresses: IPv4, IPv6 or FQDN", REQUIRED, ALWAYS),
    LIST(2, "endpoints", SLICE_ENDPOINT, "the pods behind the service", ALWAYS),
    LIST(3, "ports", SLICE_PORT, "the ports that each of them has", ALWAYS));
