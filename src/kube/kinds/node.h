/* The keys of the taints that show the state of a node. A new node gets TAINT_NOT_READY when it is
 * created. Afterwards, the taint controller sets and removes these taints. */
#ifndef TRAINYARD_KUBE_KINDS_NODE_H
#define TRAINYARD_KUBE_KINDS_NODE_H

#define TAINT_NOT_READY     "node.kubernetes.io/not-ready"
#define TAINT_UNREACHABLE   "node.kubernetes.io/unreachable"
#define TAINT_UNSCHEDULABLE "node.kubernetes.io/unschedulable"

#endif
