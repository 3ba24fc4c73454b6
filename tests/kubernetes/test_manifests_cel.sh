#!/bin/bash
# The validation rules of install-cel.yaml, on an API server that supports such rules: Kubernetes 1.25 and newer. The one of
# tests/kubernetes/build is older, so the test is skipped there and counted as skipped. Run it alone with the KUBECONFIG of a newer one.
. "$(dirname "$0")/lib.sh"

minor=$(kubectl version -o json | jq -r '.serverVersion.minor' | tr -cd 0-9)
if [ "$minor" -lt 25 ]; then
    echo "skipped: Kubernetes 1.$minor does not know the rules of install-cel.yaml, 1.25 and newer do"
    exit 77
fi

clean_up() { kubectl apply -f "$ROOT/manifests/crds.yaml" >/dev/null; } # definitions without rules, for the tests that follow
parts=(namespace.yaml service-account.yaml cluster-role.yaml leader-role.yaml user-roles.yaml service.yaml)
kubectl apply "${parts[@]/#/-f$ROOT/manifests/base/}" -f "$ROOT/manifests/overlays/cel/crd"
assert_eq 'changes of a second apply' '' "$(kubectl apply -f "$ROOT/manifests/overlays/cel/crd" | grep -v ' unchanged$')"
assert_eq 'the other objects of install-cel.yaml' deployment.apps/trainyard-operator \
    "$(kubectl apply --dry-run=server -f "$ROOT/manifests/install-cel.yaml" | grep -Ev '^[^d].* unchanged' | cut -d ' ' -f 1)"
wait_established crd/tfjobs.kubeflow.org crd/pytorchjobs.kubeflow.org

write() { # KIND NAME SPEC
    printf 'apiVersion: kubeflow.org/v1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n' "$@" >"$SCRATCH/job.yaml"
    kubectl apply -f "$SCRATCH/job.yaml" 2>&1
}
allowed() {
    local output
    output=$(write "$@") || fail "refused: $*: $output"
}
refused() { # PART KIND NAME SPEC
    local output
    output=$(write "${@:2}") && fail "accepted: ${*:2}"
    assert_contains "the refusal of ${*:2}" "$1" "$output"
}
rules_hold() { ! write TFJob probe '{runPolicy: {suspend: true}, tfReplicaSpecs: {Wroker: {}}}'; }
wait_until 'the rules to take effect' rules_hold

name() { printf "%0$1d" 0 | tr 0 a; } # a name of this many letters
SUSPENDED='runPolicy: {suspend: true}'
# --- types
allowed TFJob types "{$SUSPENDED, tfReplicaSpecs: {Chief: {}, WORKER: {replicas: 2}, Ps: {}, evaluator: {replicas: 0}}}"
refused 'unknown replica type, must be Chief, Master, Worker, PS or Evaluator' TFJob bad "{$SUSPENDED, tfReplicaSpecs: {Worker: {}, Wroker: {}}}"
refused 'must not have more than 1 Chief or Master role' TFJob bad "{$SUSPENDED, tfReplicaSpecs: {chief: {}, Master: {}}}"
refused 'a Chief or Master must not have more than 1 replica' TFJob bad "{$SUSPENDED, tfReplicaSpecs: {Chief: {replicas: 2}, Worker: {}}}"
allowed PyTorchJob types "{$SUSPENDED, pytorchReplicaSpecs: {Master: {replicas: 1}, Worker: {}}}"
refused 'unknown replica type, must be Master or Worker' PyTorchJob bad "{$SUSPENDED, pytorchReplicaSpecs: {Master: {}, PS: {}}}"
refused 'a Master must not have more than 1 replica' PyTorchJob bad "{$SUSPENDED, pytorchReplicaSpecs: {Master: {replicas: 2}}}"
# --- names: NAME-worker-0 is 9 characters longer than NAME, NAME-worker-10 is 10 longer
allowed TFJob "$(name 54)" "{$SUSPENDED, tfReplicaSpecs: {Worker: {}}}"
allowed TFJob "$(name 54)" "{$SUSPENDED, tfReplicaSpecs: {Worker: {replicas: 10}}}"
refused 'metadata.name is too long' TFJob "$(name 54)" "{$SUSPENDED, tfReplicaSpecs: {Worker: {replicas: 11}}}"
refused 'metadata.name is too long' TFJob "$(name 55)" "{$SUSPENDED, tfReplicaSpecs: {Worker: {}}}"
allowed TFJob "$(name 58)" "{$SUSPENDED, tfReplicaSpecs: {PS: {replicas: 0}}}"
refused 'metadata.name is too long' PyTorchJob "$(name 55)" "{$SUSPENDED, pytorchReplicaSpecs: {Worker: {}}}"
# --- immutable fields
policy() { echo "{runPolicy: {suspend: true, $1}, tfReplicaSpecs: {Worker: {}}}"; }
ours='managedBy: kubeflow.org/training-operator'
theirs='managedBy: kueue.x-k8s.io/multikueue'
allowed TFJob managed "$(policy "$theirs")"
allowed TFJob managed "$(policy "$theirs, backoffLimit: 3")"
refused 'spec.runPolicy.managedBy is immutable' TFJob managed "$(policy "$ours")"
refused 'spec.runPolicy.managedBy is immutable' TFJob managed "$(policy 'backoffLimit: 3')"
refused 'spec.runPolicy.managedBy is immutable' TFJob managed '{tfReplicaSpecs: {Worker: {}}}'
refused 'spec.runPolicy.managedBy is immutable' TFJob types "{runPolicy: {suspend: true, $theirs}, tfReplicaSpecs: {Worker: {}}}"
allowed TFJob queued "$(policy 'schedulingPolicy: {queue: a}')"
refused 'spec.runPolicy.schedulingPolicy.queue is immutable' TFJob queued "$(policy 'schedulingPolicy: {queue: b}')"
allowed TFJob queued "$(policy 'schedulingPolicy: {queue: a, minAvailable: 1}')"
# --- the operator can still write to a job
kubectl patch tfjob types --type merge -p '{"metadata": {"annotations": {"trainyard.dev/progress": "step 1"}}}'
