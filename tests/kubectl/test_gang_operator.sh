#!/bin/bash
# Jobs whose pods start together, on the embedded cluster, whose scheduler knows PodGroups: the operator creates the PodGroup, a job that
# does not fit waits as a whole and reports why, and it starts when there is room.
# shellcheck disable=SC2016 # the shells of the pods expand them
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/training_yaml.sh
. "$ROOT/tests/lib/training_yaml.sh"

# gang TYPE REPLICAS MILLI-CPU: pods that run until the file /state/JOB exists.
gang() {
    replica "$1" "$2" OnFailure 'until [ -e "/state/${HOSTNAME%%-*}" ]; do sleep 0.1; done' "resources: {requests: {cpu: ${3}m}}"
}

nodes_of() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o jsonpath='{.items[*].spec.nodeName}'; }
group() { kubectl get podgroup "$1" -o jsonpath="$2"; }
group_says() { [ "$(group "$1" "$2")" = "$3" ]; }
patch() { kubectl patch tfjob "$1" --type merge -p "$2"; }

cluster_up --nodes 1
state_volume
cpus=$(kubectl get nodes -o jsonpath='{.items[0].status.allocatable.cpu}')
share() { echo $((cpus * 1000 * $1 / 100)); } # PERCENT of the machine, in millicores

echo "the example runs unchanged"
# The group is deleted when the job ends. So the node is cordoned while the test looks at the group.
node=$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')
kubectl cordon "$node"
kubectl apply -f "$ROOT/examples/gang/tfjob.yaml"
wait_until "the group" kubectl get podgroup gang
assert_eq "the requests of the group" '3 {"cpu":"300m","memory":"192Mi"} 60' \
    "$(group gang '{.spec.minMember} {.spec.minResources} {.spec.scheduleTimeoutSeconds}')"
assert_eq "the owner of the group" 'TFJob gang true' "$(group gang '{.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].controller}')"
kubectl uncordon "$node"
wait_until "a pod" kubectl get pod gang-worker-2
assert_eq "the label and the scheduler of a pod" 'gang scheduler-plugins-scheduler' \
    "$(kubectl get pod gang-worker-2 -o jsonpath='{.metadata.labels.scheduling\.x-k8s\.io/pod-group} {.spec.schedulerName}')"
wait_for_tfjob gang Succeeded
wait_until "the group to go" is_gone podgroup gang
for line in "Created PodGroup: gang" "Job has been terminated. Deleting PodGroup" "Deleted PodGroup: gang"; do
    wait_until "the event '$line'" was_told gang "$line"
done
kubectl delete tfjob gang

echo "a job that does not fit waits as a whole"
gang Worker 3 "$(share 40)" | job large | kubectl apply -f -
pods_say_why() { kubectl describe pods -l training.kubeflow.org/job-name=large | finds "FailedScheduling"; }
wait_until "the pods to report why they wait" pods_say_why
wait_until "the job to report why it waits" was_told large "condition message"
assert_eq "pods" "Pending Pending Pending" "$(phases_of large)"
assert_eq "pods on a node" "" "$(nodes_of large)"
assert_eq "the state" Created "$(kubectl get tfjob large --no-headers | tr -s ' ' | cut -d ' ' -f 2)"

echo "meanwhile another job can use the room"
gang Worker 2 "$(share 40)" | job small | kubectl apply -f -
wait_until "the other to run" has_phases small "Running Running"
assert_eq "the pods of the first job" "Pending Pending Pending" "$(phases_of large)"

echo "with a lower minimum it starts with as many pods as fit"
patch large '{"spec":{"runPolicy":{"schedulingPolicy":{"minAvailable":1}}}}'
wait_until "the group to ask for one" group_says large '{.spec.minMember}' 1
touch "$SHARED/small"
wait_for_tfjob small Succeeded
some_run() { [[ "$(phases_of large)" == *Running*Running* ]]; }
wait_until "two of three to run" some_run
[[ "$(phases_of large)" == *Pending* ]] || fail "all of its pods run: $(phases_of large)"
wait_for_tfjob large Running
touch "$SHARED/large"
wait_for_tfjob large Succeeded
kubectl delete tfjob large small
rm "$SHARED/large" "$SHARED/small"

echo "two jobs that fit only one after the other"
for name in one two; do
    gang Worker 3 "$(share 25)" | job $name "successPolicy: AllWorkers" | kubectl apply -f -
done
either_runs() { has_phases one "Running Running Running" || has_phases two "Running Running Running"; }
wait_until "one of them to run" either_runs
if has_phases one "Running Running Running"; then first=one second=two; else first=two second=one; fi
assert_eq "the other has no node" "" "$(nodes_of $second)"
touch "$SHARED/$first"
wait_for_tfjob $first Succeeded
wait_until "the other to run" has_phases $second "Running Running Running"

echo "a replica that is replaced joins the others"
old=$(uid_of $second-worker-1)
kubectl delete pod $second-worker-1
wait_until "the pod to be replaced" is_replaced $second-worker-1 "$old"
wait_for_phase $second-worker-1 Running

echo "scaled, suspended, resumed"
kubectl scale tfjob $second --replicas=2
wait_until "the group to ask for two" group_says $second '{.spec.minMember}' 2
patch $second '{"spec":{"runPolicy":{"suspend":true}}}'
wait_for_tfjob $second Suspended
wait_until "the group to go" is_gone podgroup $second
wait_until "the pods to go" has_phases $second ""
patch $second '{"spec":{"runPolicy":{"suspend":false}}}'
wait_until "it to run again" has_phases $second "Running Running"
group_says $second '{.spec.minMember}' 2 || fail "the group of the second start: $(group $second '{.spec}')"
touch "$SHARED/$second"
wait_for_tfjob $second Succeeded

echo "dynamic workers: one of them is enough"
{
    gang PS 1 "$(share 20)"
    gang Worker 3 "$(share 40)"
} | job dynamic "enableDynamicWorker: true" | kubectl apply -f -
wait_until "the group" group_says dynamic '{.spec.minMember}' 2
wait_for_tfjob dynamic Running
partly() { [ "$(phases_of dynamic | tr ' ' '\n' | sort | uniq -c | tr -s ' \n' ' ')" = " 1 Pending 3 Running " ]; }
wait_until "all but one to run" partly
kubectl delete tfjob dynamic

echo "minAvailable is larger than the number of pods"
gang Worker 1 100 | job ten 'runPolicy: {schedulingPolicy: {minAvailable: 10}}' | kubectl apply -f -
wait_until "the event about the mistake" was_told ten "minAvailable is 10, but the job's number of pods is 1"
wait_until "its pod to wait" has_phases ten Pending
wait_for_tfjob ten Created
assert_eq "its state" Created "$(kubectl get tfjob ten -o jsonpath='{.status.conditions[*].type}')"
patch ten '{"spec":{"runPolicy":{"schedulingPolicy":{"minAvailable":1}}}}'
wait_for_tfjob ten Running

echo "the other example"
kubectl apply -f "$ROOT/examples/suspend/tfjob.yaml"
wait_for_tfjob suspend Suspended
patch suspend '{"spec":{"runPolicy":{"suspend":false}}}'
wait_for_tfjob suspend Succeeded
