#!/bin/bash
# PyTorchJobs with kubectl: the environment of the programs, and how a job restarts, scales and ends.
# shellcheck disable=SC2016 # the shells of the pods expand them
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
JOB_KIND=PyTorchJob
# shellcheck source=tests/lib/training_yaml.sh
. "$ROOT/tests/lib/training_yaml.sh"

# Prints the variables that a program of torch.distributed or torchrun reads, then "told".
TELL='env | grep -E "^(PET_|MASTER_|WORLD_SIZE|RANK|PYTHONUNBUFFERED)" | sort | tr "\n" " "; echo told'
OWN='env: [{name: RANK, value: mine}]' # a variable that the user set in the same container

cluster_up --nodes 1
state_volume

echo "a master and two workers"
{
    replica Master 1 OnFailure "$TELL; until [ -e /state/go ]; do sleep 0.1; done" "$OWN"
    replica Worker 2 OnFailure "$TELL; until getent hosts \"\$MASTER_ADDR\" >/dev/null; do sleep 0.1; done; echo found; sleep 1000" "$OWN"
} | job ddp 'nprocPerNode: "2"' | kubectl apply -f -
wait_for_job ddp Running
for pod in master-0 worker-0 worker-1; do wait_for_log "ddp-$pod" told; done
environment() { # RANK
    echo "MASTER_ADDR=ddp-master-0 MASTER_PORT=23456 PET_MASTER_ADDR=ddp-master-0 PET_MASTER_PORT=23456 PET_NNODES=3" \
        "PET_NODE_RANK=$1 PET_NPROC_PER_NODE=2 PYTHONUNBUFFERED=1 RANK=$1 WORLD_SIZE=6 told"
}
assert_eq "the master's environment" "$(environment 0)" "$(kubectl logs ddp-master-0)"
assert_contains "a worker's environment" "$(environment 2)" "$(kubectl logs ddp-worker-1)"
wait_for_log ddp-worker-1 found
assert_eq "no init container" "" "$(kubectl get pod ddp-worker-0 -o jsonpath='{.spec.initContainers}')"
assert_eq "the master" pod/ddp-master-0 "$(kubectl get pods -l training.kubeflow.org/job-role=master -o name)"
assert_eq "the port" "pytorchjob-port 23456" \
    "$(kubectl get service ddp-master-0 -o jsonpath='{.spec.ports[0].name} {.spec.ports[0].port}')"
selector=$(kubectl get pytorchjob ddp -o jsonpath='{.status.replicaStatuses.Worker.selector}')
assert_eq "the pods of the selector" "pod/ddp-worker-0 pod/ddp-worker-1 " \
    "$(kubectl get pods -l "$selector" -o name | sort | tr '\n' ' ')"
assert_eq "running" "PyTorchJob ddp is running." "$(message_of ddp Running)"
touch "$SHARED/go"
wait_for_job ddp Succeeded
assert_eq "succeeded" "PyTorchJob ddp is successfully completed." "$(message_of ddp Succeeded)"
kubectl delete pytorchjob ddp

echo "failures"
replica Worker 1 OnFailure "$(fail_once onfailure 1)" | job onfailure | kubectl apply -f -
replica Worker 1 ExitCode "$(fail_once retryable 137)" | job retryable | kubectl apply -f -
replica Worker 2 Never "exit 3" | job never | kubectl apply -f -
wait_for_job onfailure Succeeded
assert_eq "restarts in place" 1 "$(kubectl get pod onfailure-worker-0 -o jsonpath='{.status.containerStatuses[0].restartCount}')"
wait_for_job retryable Succeeded
assert_contains "the restart is on the job" '"count":1' \
    "$(kubectl get pytorchjob retryable -o jsonpath='{.metadata.annotations.trainyard\.dev/restarts}')"
wait_until "the event about the restart" was_told retryable "job retryable is restarting because Worker replica(s) failed."
wait_for_job never Failed
assert_contains "the failure" "PyTorchJob never is failed because" "$(message_of never Failed)"

echo "an elastic job"
replica Worker 2 OnFailure "$TELL; [ \$HOSTNAME != elastic-worker-0 ] || until [ -e /state/elastic ]; do sleep 0.1; done; [ \$HOSTNAME = elastic-worker-0 ] || sleep 1000" "$OWN" |
    job elastic 'elasticPolicy: {minReplicas: 1, maxReplicas: 3, maxRestarts: 7, metrics: [{type: Resource}]}' | kubectl apply -f -
wait_for_log elastic-worker-1 told
assert_eq "an elastic environment" \
    "PET_MAX_RESTARTS=7 PET_NNODES=1:3 PET_NPROC_PER_NODE=auto PET_RDZV_BACKEND=c10d PET_RDZV_ENDPOINT=elastic-worker-0:23456 PYTHONUNBUFFERED=1 RANK=mine told" \
    "$(kubectl logs elastic-worker-1)"
wait_until "the event that no autoscaler exists" was_told elastic "this server has no HorizontalPodAutoscalers"
kubectl scale pytorchjob elastic --replicas=3
wait_for_phase elastic-worker-2 Running
kubectl scale pytorchjob elastic --replicas=1
wait_until "two workers to go" has_pods elastic "pod/elastic-worker-0 "
kubectl scale pytorchjob elastic --replicas=9
wait_until "the event about the limit of replicas" was_told elastic "must be between 1 and 3, is 9; the job goes on with 3"
wait_for_phase elastic-worker-2 Running
has_active() { [ "$(kubectl get pytorchjob elastic -o jsonpath="{.status.replicaStatuses.Worker.active}")" = "$1" ]; }
wait_until "all to be counted" has_active 3
touch "$SHARED/elastic"
wait_for_job elastic Succeeded
assert_eq "succeeded" "PyTorchJob default/elastic successfully completed." "$(message_of elastic Succeeded)"

echo "mistakes are reported"
refused() { # NAME SENTENCE
    wait_for_job "$1" Failed
    assert_contains "$1" "$2" "$(message_of "$1" Failed)"
    assert_eq "nothing made" "" "$(pods_of "$1")"
}
{
    replica Master 1 Never "exit 0"
    replica Worker 0 Never "exit 0"
} | job none | kubectl apply -f -
refused none "spec.pytorchReplicaSpecs[Worker].replicas: must be at least 1, is 0"
replica Worker 5 Never "exit 0" | job many 'elasticPolicy: {minReplicas: 1, maxReplicas: 4}' | kubectl apply -f -
refused many "spec.pytorchReplicaSpecs[Worker].replicas: must be between elasticPolicy.minReplicas 1 and maxReplicas 4, is 5"
replica Worker 1 Never "exit 0" | job word 'nprocPerNode: "many"' | kubectl apply -f -
refused word 'spec.nprocPerNode: must be auto, cpu, gpu or a positive number, is "many"'
