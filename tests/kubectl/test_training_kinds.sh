#!/bin/bash
# The kinds a training operator works with, by hand: PyTorchJobs, PodGroups of both groups, Leases. Nobody acts on the
# suspended job; here it is an object like others.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up --nodes 1
cat >"$SCRATCH/objects.yaml" <<'YAML'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: torch}
spec:
  runPolicy: {suspend: true}
  elasticPolicy: {minReplicas: 1, maxReplicas: 3, rdzvBackend: c10d}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers: [{name: pytorch, image: trainyard/tools, command: ["true"]}]
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: gang}
spec: {minMember: 2, minResources: {cpu: 100m}, scheduleTimeoutSeconds: 60}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang}
spec: {minMember: 4, queue: default}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: leader}
spec: {holderIdentity: somebody, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:05.000006Z"}
YAML
kubectl apply -f "$SCRATCH/objects.yaml"
assert_eq "apply again" "pytorchjob.kubeflow.org/torch unchanged
podgroup.scheduling.x-k8s.io/gang unchanged
podgroup.scheduling.volcano.sh/gang unchanged
lease.coordination.k8s.io/leader unchanged" "$(kubectl apply -f "$SCRATCH/objects.yaml")"

echo "columns"
columns() { kubectl get "$@" | sed -n 1p | tr -s ' ' | sed 's/ $//'; }
kubectl annotate pytorchjob torch trainyard.dev/progress="step 5/9"
assert_eq "of a PyTorchJob" "NAME STATE AGE PROGRESS" "$(columns pytorchjobs)"
assert_contains "of a PyTorchJob" "step 5/9" "$(kubectl get pytorchjob torch)"
assert_eq "of a PodGroup" "NAME PHASE MINMEMBER RUNNING SUCCEEDED FAILED AGE" "$(columns pg gang)"
assert_eq "of Volcano's" "NAME STATUS MINMEMBER RUNNINGS AGE" "$(columns podgroups.scheduling.volcano.sh gang)"
assert_eq "of a Lease" "NAME HOLDER AGE" "$(columns leases)"
assert_contains "of a Lease" "somebody" "$(kubectl get lease leader)"

echo "describe, edit, patch, diff"
assert_contains "describe" "Min Replicas:  1" "$(kubectl describe pytorchjob torch)"
assert_contains "describe" "Min Member:" "$(kubectl describe podgroup gang)"
assert_contains "describe" "Holder Identity:" "$(kubectl describe lease leader)"
EDITOR='sed -i s/minMember:.2/minMember:\ 3/' kubectl edit podgroup gang
assert_eq "edited" 3 "$(kubectl get pg gang -o jsonpath='{.spec.minMember}')"
assert_eq "not the other one" 4 "$(kubectl get podgroups.scheduling.volcano.sh gang -o jsonpath='{.spec.minMember}')"
kubectl patch pytorchjob torch --type merge -p '{"spec":{"nprocPerNode":"2"}}'
assert_eq "patched" 2 "$(kubectl get pytorchjob torch -o jsonpath='{.spec.nprocPerNode}')"
assert_contains "diff" "minMember: 2" "$(kubectl diff -f "$SCRATCH/objects.yaml" || true)"

echo "refusals and warnings"
refuse() { # WORDS FILE
    local said
    if said=$(kubectl apply -f - 2>&1); then fail "was not refused: $said"; fi
    assert_contains "the refusal" "$1" "$said"
}
refuse 'spec.pytorchReplicaSpecs: Required value' <<'YAML'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: wrong}
spec: {}
YAML
refuse 'spec.minMember: Invalid value: "two"' <<'YAML'
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: wrong}
spec: {minMember: two}
YAML
sed 's/elasticPolicy: {/&minReplica: 1, /; s/name: torch/name: typo/; /^---/,$d' "$SCRATCH/objects.yaml" >"$SCRATCH/typo.yaml"
assert_contains "a warning" 'unknown field "spec.elasticPolicy.minReplica"' "$(kubectl apply -f "$SCRATCH/typo.yaml" 2>&1)"

echo "delete"
kubectl delete pytorchjob typo
kubectl delete -f "$SCRATCH/objects.yaml"
assert_eq "all gone" "" "$(kubectl get pytorchjobs,podgroups.scheduling.x-k8s.io,podgroups.scheduling.volcano.sh -o name)"
