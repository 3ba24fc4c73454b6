/* Types of services and their endpoints. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_BALANCER "there is no load balancer on this machine: use the node ports"

LOCAL_TYPE(SERVICE_PORT, CORE "ServicePort", "a port of a service",
    TEXT(1, "name", "the name of the port; required if there are several"),
    TEXT(2, "protocol", "the protocol of the port: TCP, UDP or SCTP", WORDS("SCTP", "TCP", "UDP"),
        FALLBACK("\"TCP\"")),
    TEXT(6, "appProtocol", "the application protocol, such as http", IF_SET),
    INT32(3, "port", "the port number of the service", REQUIRED, ALWAYS),
    INT_OR_TEXT(4, "targetPort",
        "the port number or port name on the pods; default: the value of port"),
    INT32(5, "nodePort", "the port on every node; for type NodePort or LoadBalancer"));

LOCAL_TYPE(CLIENT_IP_CONFIG, CORE "ClientIPConfig", "settings of session affinity by client IP",
    INT32(1, "timeoutSeconds", "seconds of inactivity after which the session ends", IF_SET));

LOCAL_TYPE(SESSION_AFFINITY_CONFIG, CORE "SessionAffinityConfig", "settings of session affinity",
    OBJECT(1, "clientIP", CLIENT_IP_CONFIG, "settings of session affinity by client IP"));

LOCAL_TYPE(SERVICE_SPEC, CORE "ServiceSpec", "the desired state of a service",
    LIST(1, "ports", SERVICE_PORT, "the ports of the service", KEYS("port", "protocol"),
        MERGE("port")),
    TEXT_MAP(2, "selector", "labels of the pods that the service routes traffic to", ATOMIC),
    TEXT(3, "clusterIP",
        "the cluster IP; None: a headless service, whose DNS name resolves to the pods"),
    TEXTS(18, "clusterIPs", "the cluster IPs, one per IP family; the first equals clusterIP"),
    TEXT(4, "type", "how the service is exposed: ClusterIP, NodePort, LoadBalancer or ExternalName",
        WORDS("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"), FALLBACK("\"ClusterIP\"")),
    TEXTS(5, "externalIPs", "additional IP addresses on which nodes accept traffic for the service",
        UNSUPPORTED("a service is reached only at its cluster address and its node ports")),
    TEXT(7, "sessionAffinity", "None, or ClientIP: a client's connections go to the same pod",
        WORDS("ClientIP", "None"), FALLBACK("\"None\"")),
    TEXT(8, "loadBalancerIP", "the requested address of the load balancer",
        UNSUPPORTED(NO_BALANCER)),
    TEXTS(9, "loadBalancerSourceRanges", "the client IP ranges that may use the load balancer",
        UNSUPPORTED(NO_BALANCER)),
    TEXT(10, "externalName",
        "the DNS name that the service is an alias for; for type ExternalName"),
    TEXT(11, "externalTrafficPolicy",
        "Cluster, or Local: external traffic goes only to pods on the same node",
        WORDS("Cluster", "Local")),
    INT32(12, "healthCheckNodePort",
        "the node port on which load balancers check whether a node has pods of the service",
        UNSUPPORTED(NO_BALANCER)),
    BOOL(13, "publishNotReadyAddresses", "true: pods that are not ready are published too"),
    OBJECT(14, "sessionAffinityConfig", SESSION_AFFINITY_CONFIG, "settings of session affinity",
        UNSUPPORTED("there is no timeout: a client stays with its pod until the endpoints change")),
    TEXTS(19, "ipFamilies", "the IP families of the service: IPv4 or IPv6"),
    TEXT(17, "ipFamilyPolicy", "whether the service has one IP family or two", IF_SET,
        WORDS("PreferDualStack", "RequireDualStack", "SingleStack")),
    BOOL(20, "allocateLoadBalancerNodePorts",
        "false: no node ports are allocated for type LoadBalancer", IF_SET),
    TEXT(21, "loadBalancerClass", "the class of the load balancer", IF_SET,
        UNSUPPORTED(NO_BALANCER)),
    TEXT(22, "internalTrafficPolicy",
        "Cluster, or Local: internal traffic goes only to pods on the same node", IF_SET,
        WORDS("Cluster", "Local")),
    TEXT(23, "trafficDistribution", "which endpoints are preferred, such as PreferSameZone",
        IF_SET));

LOCAL_TYPE(PORT_STATUS, CORE "PortStatus", "the state of a port of a load balancer",
    INT32(1, "port", "the port number", REQUIRED, ALWAYS),
    TEXT(2, "protocol", "the protocol of the port: TCP, UDP or SCTP", REQUIRED, ALWAYS,
        WORDS("SCTP", "TCP", "UDP")),
    TEXT(3, "error", "why the port does not work", IF_SET));

LOCAL_TYPE(LOAD_BALANCER_INGRESS, CORE "LoadBalancerIngress", "an ingress point of a load balancer",
    TEXT(1, "ip", "the IP address of the ingress point"),
    TEXT(2, "hostname", "the host name of the ingress point, if it has no IP address"),
    TEXT(3, "ipMode", "how packets to the address are delivered: VIP or Proxy", IF_SET),
    LIST(4, "ports", PORT_STATUS, "the state of the ports"));

LOCAL_TYPE(LOAD_BALANCER_STATUS, CORE "LoadBalancerStatus", "the current state of a load balancer",
    LIST(1, "ingress", LOAD_BALANCER_INGRESS, "the ingress points of the load balancer"));

LOCAL_TYPE(SERVICE_STATUS, CORE "ServiceStatus", "the current state of a service",
    STRUCT(1, "loadBalancer", LOAD_BALANCER_STATUS, "the current state of the load balancer"),
    LIST(2, "conditions", TYPE_CONDITION, "the conditions of the service", KEYS("type"),
        MERGE("type")));

TYPE(TYPE_SERVICE, CORE "Service", "a stable name and IP address for a set of pods",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SERVICE_SPEC, "its desired state"),
    STRUCT(3, "status", SERVICE_STATUS, "its current state"));

LOCAL_TYPE_ATOMIC(ENDPOINT_ADDRESS, CORE "EndpointAddress",
        "the address of one pod behind a service",
    TEXT(1, "ip", "the IP address", REQUIRED, ALWAYS),
    TEXT(3, "hostname", "the DNS host name of the endpoint"),
    TEXT(4, "nodeName", "the node that the endpoint is on", IF_SET),
    OBJECT(2, "targetRef", TYPE_OBJECT_REFERENCE, "the pod that has the address"));

LOCAL_TYPE_ATOMIC(ENDPOINT_PORT, CORE "EndpointPort", "a port of an endpoint",
    TEXT(1, "name", "the name of the service port that maps to this port"),
    INT32(2, "port", "the port number", REQUIRED, ALWAYS),
    TEXT(3, "protocol", "the protocol of the port: TCP, UDP or SCTP", WORDS("SCTP", "TCP", "UDP"),
        FALLBACK("\"TCP\"")),
    TEXT(4, "appProtocol", "the application protocol, such as http", IF_SET));

LOCAL_TYPE(ENDPOINT_SUBSET, CORE "EndpointSubset", "addresses that share the same ports",
    LIST(1, "addresses", ENDPOINT_ADDRESS, "the addresses of pods that are ready"),
    LIST(2, "notReadyAddresses", ENDPOINT_ADDRESS, "the addresses of pods that are not ready"),
    LIST(3, "ports", ENDPOINT_PORT, "the ports of the addresses"));

TYPE(TYPE_ENDPOINTS, CORE "Endpoints", "the addresses and ports of the pods behind a service",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "subsets", ENDPOINT_SUBSET, "the addresses, grouped by their ports"));

LOCAL_TYPE(ENDPOINT_CONDITIONS, DISCOVERY "EndpointConditions", "the conditions of an endpoint",
    BOOL(1, "ready", "true: the endpoint is ready for traffic", IF_SET),
    BOOL(2, "serving", "true: the endpoint is ready, even if it is terminating", IF_SET),
    BOOL(3, "terminating", "true: the endpoint is terminating", IF_SET));

LOCAL_TYPE(FOR_ZONE, DISCOVERY "ForZone", "a zone that should use an endpoint",
    TEXT(1, "name", "the name of the zone", REQUIRED, ALWAYS));

LOCAL_TYPE(FOR_NODE, DISCOVERY "ForNode", "a node that should use an endpoint",
    TEXT(1, "name", "the name of the node", REQUIRED, ALWAYS));

LOCAL_TYPE(ENDPOINT_HINTS, DISCOVERY "EndpointHints",
        "the zones and nodes that should use an endpoint",
    LIST(1, "forZones", FOR_ZONE, "the zones that should use the endpoint"),
    LIST(2, "forNodes", FOR_NODE, "the nodes that should use the endpoint"));

LOCAL_TYPE(SLICE_ENDPOINT, DISCOVERY "Endpoint", "the endpoint of one pod behind a service",
    TEXTS(1, "addresses", "the addresses of the endpoint, all of one family", REQUIRED, ALWAYS,
        SET),
    STRUCT(2, "conditions", ENDPOINT_CONDITIONS, "the conditions of the endpoint"),
    TEXT(3, "hostname", "the DNS host name of the endpoint", IF_SET),
    OBJECT(4, "targetRef", TYPE_OBJECT_REFERENCE, "the pod of the endpoint"),
    TEXT_MAP(5, "deprecatedTopology", "deprecated: use nodeName and zone"),
    TEXT(6, "nodeName", "the node that the endpoint is on", IF_SET),
    TEXT(7, "zone", "the zone that the endpoint is in", IF_SET),
    OBJECT(8, "hints", ENDPOINT_HINTS, "the zones and nodes that should use the endpoint"));

LOCAL_TYPE_ATOMIC(SLICE_PORT, DISCOVERY "EndpointPort", "a port of the endpoints",
    TEXT(1, "name", "the name of the service port that maps to this port", IF_SET),
    TEXT(2, "protocol", "the protocol of the port: TCP, UDP or SCTP", IF_SET,
        WORDS("SCTP", "TCP", "UDP"), FALLBACK("\"TCP\"")),
    INT32(3, "port", "the port number", IF_SET),
    TEXT(4, "appProtocol", "the application protocol, such as http", IF_SET));

TYPE(TYPE_ENDPOINT_SLICE, DISCOVERY "EndpointSlice", "a subset of the endpoints of a service",
    KIND_ROWS,
    METADATA(1),
    TEXT(4, "addressType", "the type of the addresses: IPv4, IPv6 or FQDN", REQUIRED, ALWAYS),
    LIST(2, "endpoints", SLICE_ENDPOINT, "the endpoints", ALWAYS),
    LIST(3, "ports", SLICE_PORT, "the ports of the endpoints", ALWAYS));
