#!/bin/bash
# OpenAPI as kubectl uses it: `explain` of every kind and of fields at any depth, and validation in an old kubectl. The fields of
# Kubernetes' own kinds must be the same as in Kubernetes.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/openapi.sh
. "$(dirname "$0")/../lib/openapi.sh"

explained() { # WORDS TYPE [OPTION…]
    local words=$1 said
    shift
    said=$(kubectl explain "$@" 2>&1) || fail "kubectl explain $*: $said"
    assert_contains "kubectl explain $*" "$words" "$said"
}

cluster_up

echo 'every kind is explained'
kubectl api-resources --no-headers -o name | cut -d. -f1 | sort -u >"$SCRATCH/resources"
[ "$(wc -l <"$SCRATCH/resources")" -gt 20 ] || fail "few resources: $(cat "$SCRATCH/resources")"
while read -r resource; do
    explained DESCRIPTION: "$resource" </dev/null
    explained apiVersion "$resource" </dev/null
done <"$SCRATCH/resources"

echo 'fields at any depth'
explained 'containers that run together on one node' pod
explained 'the ports it listens on' pod.spec.containers
explained 'no effect here: a' pod.spec.hostPID
explained '<integer>' pod.spec.containers.ports.containerPort
explained 'the pods of each replica type: Chief, Worker, PS, Evaluator' tfjob.spec
explained 'the number of pods' tfjob.spec.tfReplicaSpecs
explained 'a distributed TensorFlow training job' tfjob --api-version kubeflow.org/v1beta1
explained 'steps that run in pods' workflow
said=$(kubectl explain pod.spec.containers --recursive)
for field in containerPort configMapKeyRef timeoutSeconds mountPath; do assert_contains "all fields" "$field" "$said"; done
if said=$(kubectl explain pod.spec.nothing 2>&1); then fail "explained: $said"; fi
assert_contains "no field" 'field "nothing" does not exist' "$said"

echo 'version 3'
kubectl get --raw /openapi/v3 | jq -e '.paths["apis/kubeflow.org/v1"].serverRelativeURL | test("hash=[0-9A-F]{16}$")' >/dev/null
kubectl get --raw /openapi/v3/api/v1 | jq -e '.components.schemas["io.k8s.api.core.v1.Pod"].properties.spec.allOf[0]["$ref"]' >/dev/null

echo 'the fields are those of Kubernetes'
kubectl get --raw /openapi/v2 | openapi_digest >"$SCRATCH/ours"
openapi_compare "$OPENAPI_DIGEST" "$SCRATCH/ours"
