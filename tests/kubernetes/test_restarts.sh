#!/bin/bash
# How jobs restart their pods in a cluster: exit codes, deletions, a drained node, a node that stops responding.
# shellcheck disable=SC2016 # the shells of the pods expand them
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/kubernetes/jobs.sh
. "$KUBERNETES/jobs.sh"
with_operator

echo 'exit codes'
replica Worker 1 OnFailure "$(fail_once onfailure 1)" | job onfailure 'runPolicy: {}' | kubectl apply -f -
replica Worker 1 ExitCode "$(fail_once retryable 137)" | job retryable 'runPolicy: {}' | kubectl apply -f -
replica Worker 1 ExitCode 'exit 3' | job permanent 'runPolicy: {}' | kubectl apply -f -
replica Worker 2 Never 'exit 1' | job never 'runPolicy: {}' | kubectl apply -f -
wait_for_tfjob onfailure Succeeded
assert_eq 'restarts in place' 1 "$(kubectl get pod onfailure-worker-0 -o jsonpath='{.status.containerStatuses[0].restartCount}')"
assert_eq 'pods made' 1 "$(times_created onfailure-worker-0)"
wait_for_tfjob retryable Succeeded
assert_eq 'pods made' 2 "$(times_created retryable-worker-0)"
wait_until 'the event about the exit code' was_told retryable 'exited with code 137'
wait_for_tfjob permanent Failed
assert_contains 'a permanent failure' 'job "permanent" is failing because "Worker" replica(s) failed. permanent-worker-' "$(message_of permanent Failed)"
wait_for_tfjob never Failed
assert_contains 'a failure' "TFJob $NAMESPACE/never has failed because" "$(message_of never Failed)"

echo 'a running pod is deleted'
for policy in OnFailure ExitCode Never; do
    replica Worker 2 $policy "$(until_told go)" | job "deleted-${policy,,}" 'runPolicy: {}' | kubectl apply -f -
done
for policy in onfailure exitcode never; do
    for index in 0 1; do wait_for_phase deleted-$policy-worker-$index Running; done
done
onfailure=$(uid_of deleted-onfailure-worker-0)
exitcode=$(uid_of deleted-exitcode-worker-0)
kubectl delete pod deleted-{onfailure,exitcode,never}-worker-0
wait_until 'OnFailure: the pod to be replaced' is_replaced deleted-onfailure-worker-0 "$onfailure"
wait_until 'ExitCode: the pod to be replaced' is_replaced deleted-exitcode-worker-0 "$exitcode"
wait_for_tfjob deleted-never Failed
tell go
wait_for_tfjob deleted-onfailure Succeeded
wait_for_tfjob deleted-exitcode Succeeded
assert_eq 'pods made' '2 1 2 1 1 1' \
    "$(for policy in onfailure exitcode never; do for index in 0 1; do times_created deleted-$policy-worker-$index; done; done | xargs)"
kubectl delete tfjobs --all

echo 'the node is drained'
{
    replica Chief 1 OnFailure "$(until_told drained)"
    replica Worker 2 ExitCode "$(until_told drained)"
} | job drained 'runPolicy: {}' | kubectl apply -f -
for replica in chief-0 worker-0 worker-1; do wait_for_phase drained-$replica Running; done
before=$(uid_of drained-chief-0)
kubectl drain "$NODE" --ignore-daemonsets --force --delete-emptydir-data --timeout="${PATIENCE}s"
assert_eq 'pods that run on a drained node' '' "$(kubectl get pods --field-selector status.phase=Running -o name)"
kubectl uncordon "$NODE"
wait_until 'the chief to be replaced' is_replaced drained-chief-0 "$before"
for replica in chief-0 worker-0 worker-1; do wait_for_phase drained-$replica Running; done
tell drained
wait_for_tfjob drained Succeeded
assert_eq 'pods made' '2 2 2' "$(for replica in chief-0 worker-0 worker-1; do times_created drained-$replica; done | xargs)"

echo 'the node stops responding'
# If all nodes stop responding, Kubernetes assumes that it is itself disconnected and evicts no pod. So there is a second node without a
# kubelet, whose lease the test renews.
now() { date -u +%FT%T.%6NZ; }
kubectl apply -f - <<EOF
apiVersion: v1
kind: Node
metadata: {name: node-b}
spec: {unschedulable: true}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: node-b, namespace: kube-node-lease}
spec: {holderIdentity: node-b, leaseDurationSeconds: 40, renewTime: "$(now)"}
EOF
kubectl get node node-b -o json | jq --arg now "$(date -u +%FT%TZ)" '.status.conditions = [{type: "Ready", status: "True", reason: "Named",
    message: "in name only", lastHeartbeatTime: $now, lastTransitionTime: $now}]' | kubectl replace --raw /api/v1/nodes/node-b/status -f - >/dev/null
while kubectl patch lease node-b -n kube-node-lease --type merge -p "{\"spec\":{\"renewTime\":\"$(now)\"}}" >/dev/null; do sleep 2; done &
heartbeat=$!
clean_up() {
    kill $heartbeat
    kubectl delete node node-b >/dev/null || true
    [ -e "$STATE/pid/kubelet" ] || node_start kubelet
}

replica Worker 2 ExitCode "$(until_told silent)" | job silent 'runPolicy: {}' | kubectl apply -f -
for index in 0 1; do wait_for_phase silent-worker-$index Running; done
first=$(uid_of silent-worker-0)
second=$(uid_of silent-worker-1)
node_stop kubelet
node_is() { [ "$(kubectl get node "$NODE" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = "$1" ]; }
wait_until 'the node to be unreachable' node_is Unknown
# Without a kubelet the pods stay Terminating, until the operator, whose process still runs on that node, force-deletes them and creates
# others.
wait_until 'a pod of the lost node to be replaced' is_replaced silent-worker-0 "$first"
wait_until 'the other one to be replaced' is_replaced silent-worker-1 "$second"
node_start kubelet
wait_until 'the node to be back' node_is True
for index in 0 1; do wait_for_phase silent-worker-$index Running; done
tell silent
wait_for_tfjob silent Succeeded
assert_eq 'pods made' '2 2' "$(for index in 0 1; do times_created silent-worker-$index; done | xargs)"
clean_up
unset -f clean_up

assert_nothing_left
