#!/bin/bash
# Gang scheduling on a real Kubernetes: jobs wait while the server knows no PodGroups and continue when it does; then the scenarios of
# Volcano and of the scheduler-plugins. The test plays both schedulers (tests/lib/gang.sh), and their definitions are reduced copies
# beside this file.
. "$(dirname "$0")/lib.sh"
without_operator
IMAGE=trainyard/busybox:1
# shellcheck source=tests/lib/gang.sh
. "$ROOT/tests/lib/gang.sh"

clean_up() { # EXIT-CODE
    operator_end "$1"
    kubectl delete -f "$KUBERNETES/podgroups-volcano.yaml" -f "$KUBERNETES/podgroups-scheduler-plugins.yaml" --ignore-not-found
}

kubectl apply -f "$ROOT/manifests/crds.yaml"
wait_established crd/tfjobs.kubeflow.org crd/pytorchjobs.kubeflow.org

echo "a server that does not know PodGroups"
operator_start volcano
job early default-scheduler
wait_until "the event about the missing kind" was_told early "the server does not know podgroups.scheduling.volcano.sh (v1beta1)"
assert_eq "its pods" "" "$(pods_of early)"
grep -q "jobs wait for their PodGroups" "$SCRATCH/operator.log" || fail "the operator's log has no message about it"
kubectl apply -f "$KUBERNETES/podgroups-volcano.yaml" -f "$KUBERNETES/podgroups-scheduler-plugins.yaml"
wait_until "the group" volcano_says early Inqueue
wait_for_tfjob early Succeeded

echo "Volcano"
story_of_volcano
operator_stop

echo "the scheduler-plugins"
operator_start coscheduler
story_of_a_coscheduler "$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')"

echo "suspended and resumed, as Kueue does"
job paused
wait_until "the pods" has_pods paused "pod/paused-worker-0 pod/paused-worker-1 pod/paused-worker-2 "
kubectl patch tfjob paused --type merge -p '{"spec":{"runPolicy":{"suspend":true}}}'
wait_for_tfjob paused Suspended
wait_until "the pods to go" has_pods paused ""
wait_until "the group to go" is_gone podgroups.v1alpha1.scheduling.x-k8s.io paused
node=$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')
kubectl patch tfjob paused --type merge -p "{\"spec\":{\"runPolicy\":{\"suspend\":false},\"tfReplicaSpecs\":{\"Worker\":{\"template\":{\"spec\":{
    \"nodeSelector\":{\"kubernetes.io/hostname\":\"$node\"}}}}}}}"
wait_until "the pods of the second start" has_pods paused "pod/paused-worker-0 pod/paused-worker-1 pod/paused-worker-2 "
assert_eq "their template" "{\"kubernetes.io/hostname\":\"$node\"}" "$(kubectl get pod paused-worker-2 -o jsonpath='{.spec.nodeSelector}')"
wait_until "the scheduler to see them" coscheduler_pass paused "$node"
wait_for_tfjob paused Succeeded
