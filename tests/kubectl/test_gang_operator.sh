#!/bin/bash
# Jobs whose pods start together, on the embedded cluster, whose scheduler knows PodGroups: what the operator makes, that a job which
# does not fit waits as a whole and says why, and that it starts when there is room.
# shellcheck disable=SC2016 # what the pods run, they expand
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# job NAME SPEC-LINES… <REPLICAS
job() {
    printf 'apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: %s}\nspec:\n' "$1"
    shift
    [ $# = 0 ] || printf '  %s\n' "$@"
    printf '  tfReplicaSpecs:\n'
    cat
}
# replica TYPE REPLICAS MILLI-CPU: pods that run until the file /state/JOB is there.
replica() {
    cat <<YAML
    $1:
      replicas: $2
      restartPolicy: OnFailure
      template:
        spec:
          terminationGracePeriodSeconds: 1
          volumes: [{name: state, persistentVolumeClaim: {claimName: state}}]
          containers:
          - name: tensorflow
            image: trainyard/tools
            command: [bash, -c]
            args: ['until [ -e "/state/\${HOSTNAME%%-*}" ]; do sleep 0.1; done']
            volumeMounts: [{name: state, mountPath: /state}]
            resources: {requests: {cpu: ${3}m}}
YAML
}

phases() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o jsonpath='{.items[*].status.phase}'; }
nodes_of() { kubectl get pods -l "training.kubeflow.org/job-name=$1" -o jsonpath='{.items[*].spec.nodeName}'; }
phases_are() { [ "$(phases "$1")" = "$2" ]; }
group() { kubectl get podgroup "$1" -o jsonpath="$2"; }
group_says() { [ "$(group "$1" "$2")" = "$3" ]; }
is_gone() { ! kubectl get "$@"; }
was_told() { kubectl describe tfjob "$1" | finds -F -- "$2"; }
patch() { kubectl patch tfjob "$1" --type merge -p "$2"; }

cluster_up --nodes 1
kubectl apply -f - <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: state}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
YAML
state=$TRAINYARD_STATE/volumes/default/state
cpus=$(kubectl get nodes -o jsonpath='{.items[0].status.allocatable.cpu}')
share() { echo $((cpus * 1000 * $1 / 100)); } # PERCENT of the machine, in thousandths of a processor

echo "the example runs as it stands"
kubectl apply -f "$ROOT/examples/gang/tfjob.yaml"
wait_until "the group" kubectl get podgroup gang
assert_eq "what it asks for" '3 {"cpu":"300m","memory":"192Mi"} 60' \
    "$(group gang '{.spec.minMember} {.spec.minResources} {.spec.scheduleTimeoutSeconds}')"
assert_eq "whose it is" 'TFJob gang true' "$(group gang '{.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].controller}')"
wait_until "a pod" kubectl get pod gang-worker-2
assert_eq "the mark of a pod" 'gang scheduler-plugins-scheduler' \
    "$(kubectl get pod gang-worker-2 -o jsonpath='{.metadata.labels.scheduling\.x-k8s\.io/pod-group} {.spec.schedulerName}')"
wait_for_tfjob gang Succeeded
wait_until "the group to go" is_gone podgroup gang
for line in "Created PodGroup: gang" "Job has been terminated. Deleting PodGroup" "Deleted PodGroup: gang"; do
    wait_until "the event '$line'" was_told gang "$line"
done
kubectl delete tfjob gang

echo "a job that does not fit waits as a whole"
replica Worker 3 "$(share 40)" | job large | kubectl apply -f -
pods_say_why() { kubectl describe pods -l training.kubeflow.org/job-name=large | finds "FailedScheduling"; }
wait_until "the pods to say why they wait" pods_say_why
wait_until "the job to say why it waits" was_told large "condition message"
assert_eq "pods" "Pending Pending Pending" "$(phases large)"
assert_eq "pods on a node" "" "$(nodes_of large)"
assert_eq "the state" Created "$(kubectl get tfjob large --no-headers | tr -s ' ' | cut -d ' ' -f 2)"

echo "and leaves its room to others meanwhile"
replica Worker 2 "$(share 40)" | job small | kubectl apply -f -
wait_until "the other to run" phases_are small "Running Running"
assert_eq "the first" "Pending Pending Pending" "$(phases large)"

echo "with a lower minimum it starts with those for which there is room"
patch large '{"spec":{"runPolicy":{"schedulingPolicy":{"minAvailable":1}}}}'
wait_until "the group to ask for one" group_says large '{.spec.minMember}' 1
touch "$state/small"
wait_for_tfjob small Succeeded
some_run() { [[ "$(phases large)" == *Running*Running* ]]; }
wait_until "two of three to run" some_run
[[ "$(phases large)" == *Pending* ]] || fail "all of it runs: $(phases large)"
wait_for_tfjob large Running
touch "$state/large"
wait_for_tfjob large Succeeded
kubectl delete tfjob large small
rm "$state/large" "$state/small"

echo "two that fit only one after the other"
for name in one two; do
    replica Worker 3 "$(share 25)" | job $name "successPolicy: AllWorkers" | kubectl apply -f -
done
either_runs() { phases_are one "Running Running Running" || phases_are two "Running Running Running"; }
wait_until "one of them to run" either_runs
if phases_are one "Running Running Running"; then first=one second=two; else first=two second=one; fi
assert_eq "the other has nothing" "" "$(nodes_of $second)"
touch "$state/$first"
wait_for_tfjob $first Succeeded
wait_until "the other to run" phases_are $second "Running Running Running"

echo "a replica that is replaced joins the others"
old=$(kubectl get pod $second-worker-1 -o jsonpath='{.metadata.uid}')
kubectl delete pod $second-worker-1
is_replaced() { uid=$(kubectl get pod $second-worker-1 -o jsonpath='{.metadata.uid}') && [ "$uid" != "$old" ]; }
wait_until "the pod to be replaced" is_replaced
wait_for_phase $second-worker-1 Running

echo "scaled, suspended, resumed"
kubectl scale tfjob $second --replicas=2
wait_until "the group to ask for two" group_says $second '{.spec.minMember}' 2
patch $second '{"spec":{"runPolicy":{"suspend":true}}}'
wait_for_tfjob $second Suspended
wait_until "the group to go" is_gone podgroup $second
wait_until "the pods to go" phases_are $second ""
patch $second '{"spec":{"runPolicy":{"suspend":false}}}'
wait_until "it to run again" phases_are $second "Running Running"
group_says $second '{.spec.minMember}' 2 || fail "the group of the second start: $(group $second '{.spec}')"
touch "$state/$second"
wait_for_tfjob $second Succeeded

echo "dynamic workers: one of them is enough"
{
    replica PS 1 "$(share 20)"
    replica Worker 3 "$(share 40)"
} | job dynamic "enableDynamicWorker: true" | kubectl apply -f -
wait_until "the group" group_says dynamic '{.spec.minMember}' 2
wait_for_tfjob dynamic Running
partly() { [ "$(phases dynamic | tr ' ' '\n' | sort | uniq -c | tr -s ' \n' ' ')" = " 1 Pending 3 Running " ]; }
wait_until "all but one to run" partly
kubectl delete tfjob dynamic

echo "more than there are"
replica Worker 1 100 | job ten 'runPolicy: {schedulingPolicy: {minAvailable: 10}}' | kubectl apply -f -
wait_until "the mistake to be told" was_told ten "minAvailable asks for 10 pods at once, the job has 1"
assert_eq "its pods" Pending "$(phases ten)"
assert_eq "its state" Created "$(kubectl get tfjob ten -o jsonpath='{.status.conditions[*].type}')"
patch ten '{"spec":{"runPolicy":{"schedulingPolicy":{"minAvailable":1}}}}'
wait_for_tfjob ten Running

echo "the other example"
kubectl apply -f "$ROOT/examples/suspend/tfjob.yaml"
wait_for_tfjob suspend Suspended
patch suspend '{"spec":{"runPolicy":{"suspend":false}}}'
wait_for_tfjob suspend Succeeded
