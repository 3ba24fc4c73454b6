#!/bin/bash
# The kinds that a training operator works with, used by hand: PyTorchJobs, PodGroups of both API groups, Leases. The job is suspended, so
# the operator starts nothing for it.
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
sed '/^---/,$d' "$SCRATCH/objects.yaml" >"$SCRATCH/torch.yaml"
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
assert_eq "the other PodGroup is unchanged" 4 "$(kubectl get podgroups.scheduling.volcano.sh gang -o jsonpath='{.spec.minMember}')"
kubectl patch pytorchjob torch --type merge -p '{"spec":{"nprocPerNode":"2"}}'
assert_eq "patched" 2 "$(kubectl get pytorchjob torch -o jsonpath='{.spec.nprocPerNode}')"
assert_contains "diff" "minMember: 2" "$(kubectl diff -f "$SCRATCH/objects.yaml" || true)"

echo "scale"
replicas() { kubectl get pytorchjob torch -o jsonpath='{.spec.pytorchReplicaSpecs.Worker.replicas}'; }
kubectl scale pytorchjob/torch --replicas=3
assert_eq "scaled" 3 "$(replicas)"
kubectl scale pytorchjob torch --current-replicas=3 --replicas=1
assert_eq "scaled if it has 3" 1 "$(replicas)"
if kubectl scale pytorchjob torch --current-replicas=3 --replicas=2; then fail "scaled although it has not 3"; fi
if said=$(kubectl scale pytorchjob torch --replicas=20000 2>&1); then fail "scaled to 20000"; fi
assert_contains "the refusal" "Worker.replicas in body should be less than or equal to 10000" "$said"
kubectl scale -f "$SCRATCH/torch.yaml" --replicas=0
assert_eq "scaled to none" 0 "$(replicas)"
kubectl apply -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: lower}
spec:
  runPolicy: {suspend: true}
  tfReplicaSpecs:
    worker: {replicas: 1, template: {spec: {containers: [{name: tensorflow, image: trainyard/tools, command: ["true"]}]}}}
YAML
kubectl scale tfjob/lower --replicas=4
assert_eq "its key in another case" 4 "$(kubectl get tfjob lower -o jsonpath='{.spec.tfReplicaSpecs.worker.replicas}')"
# Newer versions of kubectl write the scale subresource.
kubectl get --raw /apis/kubeflow.org/v1/namespaces/default/tfjobs/lower/scale >"$SCRATCH/scale.json"
assert_contains "the Scale" '"kind":"Scale","metadata":{"name":"lower"' "$(sed 's/"apiVersion":"autoscaling.v1",//' "$SCRATCH/scale.json")"
# Without resourceVersion, because the operator may write a status meanwhile.
sed 's/"spec":{"replicas":4}/"spec":{"replicas":2}/; s/"resourceVersion":"[0-9]*",//' "$SCRATCH/scale.json" >"$SCRATCH/scale2.json"
kubectl replace --raw /apis/kubeflow.org/v1/namespaces/default/tfjobs/lower/scale -f "$SCRATCH/scale2.json"
assert_eq "replaced" 2 "$(kubectl get tfjob lower -o jsonpath='{.spec.tfReplicaSpecs.worker.replicas}')"
kubectl delete tfjob lower

echo "refusals and warnings"
refuse() { # MESSAGE: expect the server's refusal, without kubectl's own validation
    local said
    if said=$(kubectl apply --validate=false -f - 2>&1); then fail "was not refused: $said"; fi
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
sed 's/elasticPolicy: {/&minReplica: 1, /; s/name: torch/name: typo/' "$SCRATCH/torch.yaml" >"$SCRATCH/typo.yaml"
if said=$(kubectl apply -f "$SCRATCH/typo.yaml" 2>&1); then fail "a misspelt field was not refused: $said"; fi
grep -Eq 'unknown field "(spec\.elasticPolicy\.)?minReplica"( in |$)' <<<"$said" || fail "the typo: $said"

echo "delete"
kubectl delete -f "$SCRATCH/objects.yaml"
assert_eq "all gone" "" "$(kubectl get pytorchjobs,podgroups.scheduling.x-k8s.io,podgroups.scheduling.volcano.sh -o name)"
