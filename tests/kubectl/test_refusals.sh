#!/bin/bash
# Requests that are unsupported or invalid are refused with a message that kubectl shows: never with "the server could not find the
# requested resource" or a bare status code.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

refused() { # SENTENCE COMMAND…: the command must fail and print SENTENCE
    local sentence=$1 said
    shift
    if said=$(kubectl "$@" 2>&1); then fail "kubectl $*: accepted"; fi
    assert_contains "kubectl $*" "$sentence" "$said"
}

pod_refused() { # SENTENCE SPEC
    printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad"},"spec":%s}' "$2" >"$SCRATCH/bad.json"
    refused "$1" create --validate=false -f "$SCRATCH/bad.json"
}

cluster_up
kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: sleeper}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: trainyard/tools, command: [sleep, "100000"]}
YAML
wait_for_phase sleeper Running

refused "container nobody is not valid for pod sleeper" exec sleeper -c nobody -- ls
refused 'the server could not find the requested resource' \
    create cronjob c --image=x --schedule="* * * * *"
refused "The request is invalid" patch pod sleeper --type=json -p '[{"op":"remove","path":"/nope"}]'

pod_refused "spec.containers: Required value" null
pod_refused "spec.hostNetwork must be true or false, not the string \"yes\"" \
    '{"hostNetwork":"yes","containers":[{"name":"c","image":"x"}]}'
pod_refused "spec.containers[0].env[0].value must be a string, not the number 5; quote it" \
    '{"containers":[{"name":"c","image":"x","env":[{"name":"A","value":5}]}]}'

# A TFJob of v1alpha1: the error message contains the job in its current form, which can be applied.
cat >"$SCRATCH/list.yaml" <<'YAML'
apiVersion: kubeflow.org/v1alpha1
kind: TFJob
metadata: {name: from-2018}
spec:
  replicaSpecs:
  - tfReplicaType: MASTER
    template:
      spec:
        containers: [{name: tensorflow, image: trainyard/tools, command: [sh, -c, "true"]}]
        restartPolicy: Never
  - replicas: 2
    tfReplicaType: WORKER
    template:
      spec:
        containers: [{name: tensorflow, image: trainyard/tools, command: [sleep, "100000"]}]
YAML
for verb in create apply; do refused "spec.replicaSpecs: Forbidden: the list with tfReplicaType" $verb -f "$SCRATCH/list.yaml"; done
{ kubectl create -f "$SCRATCH/list.yaml" 2>&1 || true; } | sed -n '/^apiVersion/,$p' | kubectl apply -f -
wait_for_tfjob from-2018 Succeeded
assert_eq "its workers" 2 "$(kubectl get tfjob from-2018 -o jsonpath='{.spec.tfReplicaSpecs.Worker.replicas}')"

head -c 5000000 /dev/zero | tr '\0' x >"$SCRATCH/large"
refused "longer than 3145728 bytes" create configmap large --from-file="$SCRATCH/large"

# The server still works afterwards.
kubectl get pod sleeper >/dev/null
