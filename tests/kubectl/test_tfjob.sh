#!/bin/bash
# TFJobs with kubectl: their objects and events, and how a job restarts, ends and is cleaned up.
# shellcheck disable=SC2016 # the shells of the pods expand them
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/training_yaml.sh
. "$ROOT/tests/lib/training_yaml.sh"

cluster_up --nodes 1
state_volume

echo "every type of replica"
{
    replica Chief 1 Never 'until [ -e /state/go ]; do sleep 0.1; done; echo chief done'
    replica Worker 2 Never 'echo "$TF_CONFIG"; sleep 1000'
    replica PS 1 Never 'sleep 1000'
    replica Evaluator 1 Never 'sleep 1000'
} | job roles | kubectl apply -f -
wait_for_tfjob roles Running
for type in chief-0 worker-0 worker-1 ps-0 evaluator-0; do wait_for_phase "roles-$type" Running; done
assert_eq "the services" "service/roles-chief-0 service/roles-evaluator-0 service/roles-ps-0 service/roles-worker-0 service/roles-worker-1 " \
    "$(services_of roles)"
assert_eq "the master" pod/roles-chief-0 "$(kubectl get pods -l training.kubeflow.org/job-role=master -o name)"
counts_workers() { [ "$(kubectl get tfjob roles -o jsonpath='{.status.replicaStatuses.Worker.active}')" = "$1" ]; }
wait_until "the workers to be counted" counts_workers 2
hosts() { for i in "$@"; do printf '"roles-%s.default.svc:2222",' "$i"; done | sed 's/,$//'; }
wait_for_log roles-worker-1 environment
assert_eq "TF_CONFIG" "{\"cluster\":{\"chief\":[$(hosts chief-0)],\"evaluator\":[$(hosts evaluator-0)],\"ps\":[$(hosts ps-0)],\"worker\":[$(hosts worker-0 worker-1)]},\"task\":{\"type\":\"worker\",\"index\":1},\"environment\":\"cloud\"}" \
    "$(kubectl logs roles-worker-1)"
assert_contains "get tfjobs" "STATE" "$(kubectl get tfjobs)"
assert_contains "get tfjobs" "Running" "$(kubectl get tfjobs)"
kubectl logs -f roles-chief-0 >"$SCRATCH/followed" &
follower=$!
kubectl wait --for=condition=Succeeded tfjob/roles --timeout=120s &
waiter=$!
touch "$SHARED/go"
wait $waiter || fail "kubectl wait"
wait $follower || fail "kubectl logs -f"
assert_eq "the followed log" "chief done" "$(cat "$SCRATCH/followed")"
assert_eq "the message" "TFJob default/roles successfully completed." "$(message_of roles Succeeded)"
assert_contains "get tfjob" "Succeeded" "$(kubectl get tfjob roles)"
for line in "Created pod: roles-worker-1" "Created service: roles-ps-0" "TFJobSucceeded" EvaluatorInTFConfig; do
    wait_until "the event '$line'" was_told roles "$line"
done
assert_contains "the pods after the end of a job without cleanup" "pod/roles-ps-0" "$(pods_of roles)"
kubectl delete tfjob roles
wait_until "the pods to go with their job" has_pods roles ""
wait_until "the services to go with their job" has_services roles ""

echo "restart policies"
replica Worker 1 OnFailure "$(fail_once onfailure 1)" | job onfailure | kubectl apply -f -
replica Worker 1 ExitCode "$(fail_once retryable 137)" | job retryable | kubectl apply -f -
replica Worker 1 ExitCode "exit 3" | job permanent | kubectl apply -f -
replica Worker 2 Never "exit 1" | job never | kubectl apply -f -
{
    replica Worker 1 Never 'until [ -e /state/always.2 ]; do sleep 0.1; done'
    replica PS 1 Always 'if [ -e /state/always.1 ]; then touch /state/always.2; else touch /state/always.1; fi'
} | job always | kubectl apply -f -
wait_for_tfjob onfailure Succeeded
assert_eq "restarts in place" 1 "$(kubectl get pod onfailure-worker-0 -o jsonpath='{.status.containerStatuses[0].restartCount}')"
wait_for_tfjob retryable Succeeded
assert_contains "the restart is on the job" '"count":1' "$(kubectl get tfjob retryable -o jsonpath='{.metadata.annotations.trainyard\.dev/restarts}')"
wait_until "the event about the restart" was_told retryable "job retryable is restarting because Worker replica(s) failed."
wait_until "the event about the exit code" was_told retryable "exited with code 137"
wait_for_tfjob permanent Failed
assert_contains "a permanent failure" 'job "permanent" is failing because "Worker" replica(s) failed. permanent-worker-' "$(message_of permanent Failed)"
wait_for_tfjob never Failed
assert_contains "a failure" "TFJob default/never has failed because" "$(message_of never Failed)"
wait_for_tfjob always Succeeded

echo "a running pod that is deleted"
replica Worker 1 OnFailure "sleep 1000" | job replaced | kubectl apply -f -
replica Worker 1 Never "sleep 1000" | job lost | kubectl apply -f -
wait_for_phase replaced-worker-0 Running
wait_for_phase lost-worker-0 Running
old=$(uid_of replaced-worker-0)
kubectl delete pod replaced-worker-0 lost-worker-0
wait_until "the pod to be replaced" is_replaced replaced-worker-0 "$old"
wait_for_phase replaced-worker-0 Running
wait_for_tfjob lost Failed
kubectl delete tfjob replaced lost

echo "cleanPodPolicy"
for policy in None Running All; do
    name=clean-${policy,,}
    {
        replica Worker 1 Never "exit 0"
        replica PS 1 Never "sleep 1000"
    } | job "$name" "runPolicy: {cleanPodPolicy: $policy}" | kubectl apply -f -
done
wait_for_tfjob clean-none Succeeded
wait_for_tfjob clean-running Succeeded
wait_for_tfjob clean-all Succeeded
wait_until "Running: the finished pod alone to stay" has_pods clean-running "pod/clean-running-worker-0 "
wait_until "All: every pod to go" has_pods clean-all ""
wait_until "All: every service to go" has_services clean-all ""
assert_eq "None: all pods stay" "pod/clean-none-ps-0 pod/clean-none-worker-0 " "$(pods_of clean-none)"
kubectl delete tfjob clean-none

echo "limits"
replica Worker 1 Never "sleep 1000" | job deadline 'runPolicy: {activeDeadlineSeconds: 1}' | kubectl apply -f -
replica Worker 1 ExitCode "exit 137" | job backoff 'runPolicy: {backoffLimit: 1}' | kubectl apply -f -
replica Worker 1 Never "exit 0" | job short 'runPolicy: {ttlSecondsAfterFinished: 1}' | kubectl apply -f -
wait_for_tfjob deadline Failed
assert_eq "past the deadline" "Job deadline has failed because it was active longer than specified deadline" "$(message_of deadline Failed)"
wait_until "the pod to be stopped" has_pods deadline ""
wait_for_tfjob backoff Failed
assert_eq "past the limit" "Job backoff has failed because it has reached the specified backoff limit" "$(message_of backoff Failed)"
wait_until "the job to go after its time" is_gone tfjob short
wait_until "its pods to go" has_pods short ""

echo "suspend and resume"
replica Worker 1 Never "sleep 1000" | job paused 'runPolicy: {suspend: true}' | kubectl apply -f -
wait_for_tfjob paused Suspended
assert_eq "no pods" "" "$(pods_of paused)"
kubectl patch tfjob paused --type merge -p '{"spec":{"runPolicy":{"suspend":false}}}'
wait_for_tfjob paused Running
kubectl patch tfjob paused --type merge -p '{"spec":{"runPolicy":{"suspend":true}}}'
wait_until "the pods to go" has_pods paused ""
wait_for_tfjob paused Suspended
assert_contains "the state" "Suspended" "$(kubectl get tfjob paused)"

echo "mistakes are reported"
replica Wroker 1 Never "exit 0" | job wrong | kubectl apply -f -
wait_for_tfjob wrong Failed
assert_contains "the mistake" "spec.tfReplicaSpecs[Wroker]: unknown replica type" "$(message_of wrong Failed)"
wait_until "the event" was_told wrong FailedValidation
assert_eq "nothing made" "" "$(pods_of wrong)"

echo "the job's events show why a replica failed"
# This script writes the status of a pod that fits on no node. The scheduler writes it once, too: then the script's write conflicts and is
# repeated.
evict() { # POD
    kubectl get pod "$1" -o json |
        sed 's/"phase": "Pending"/"phase": "Failed", "reason": "Evicted", "message": "low on memory"/' >"$SCRATCH/evicted.json" &&
        kubectl replace --raw "/api/v1/namespaces/default/pods/$1/status" -f "$SCRATCH/evicted.json" >"$SCRATCH/replaced" 2>&1
}
replica Worker 1 Never "exit 0" | sed 's,command: .*,command: [/no/such/program],; s,args:.*,,' | job absent | kubectl apply -f -
replica Worker 1 Never "exit 0" | sed 's,containers:,nodeSelector: {no: such}\n          &,' | job evicted | kubectl apply -f -
wait_for_tfjob absent Failed
wait_until "the event" was_told absent "terminated message: cannot run '/no/such/program'"
wait_until "the pod" has_pods evicted "pod/evicted-worker-0 "
wait_until "the eviction" evict evicted-worker-0
wait_for_tfjob evicted Failed
wait_until "the event" was_told evicted "Error pod evicted-worker-0: low on memory"
