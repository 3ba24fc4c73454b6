#!/bin/bash
# Groups of pods (PodGroups) start as a whole or not at all, with real pods: the message of a group that does not fit, what makes it
# start, its state after a kill -9 of the server, and the status of its PodGroup.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts the next one itself

# pod NAME CPU [GROUP]: a pod that runs until it is deleted.
pod() {
    cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {kind: gang${3:+, scheduling.x-k8s.io/pod-group: $3}}}
spec:
  ${3:+schedulerName: scheduler-plugins-scheduler}
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  containers:
  - {name: main, image: trainyard/tools, command: [sleep, "1000"], resources: {requests: {cpu: "$2"}}}
YAML
}

# group NAME MIN_MEMBER [MORE]
group() {
    printf -- '---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: %s}\nspec: {minMember: %s%s}\n' \
        "$1" "$2" "${3:+, $3}"
}

group_is() { [ "$(kubectl get pg "$1" -o jsonpath='{.status.phase}')" = "$2" ]; }
message() { kubectl get pod "$1" -o jsonpath="{.status.conditions[?(@.type=='PodScheduled')].message}"; }
says() { [ "$(message "$1")" = "$2" ]; }
nodes_of() { kubectl get pods "$@" -o jsonpath='{range .items[*]}{.spec.nodeName}{" "}{end}'; }

cluster_up --nodes 2
cpus=$(kubectl get node node-1 -o jsonpath='{.status.allocatable.cpu}')

echo "a group that is not there, and one that is not complete"
pod early-1 1m early | kubectl apply -f -
wait_until "the pod to report what it waits for" says early-1 'pod group "early" does not exist'
group early 2 | kubectl apply -f -
wait_until "the pod to report what it waits for" says early-1 'pod group "early": 1 of 2 members exist'
describes_failure() { kubectl describe pod early-1 | finds FailedScheduling; }
wait_until "the event" describes_failure
pod early-2 1m early | kubectl apply -f -
wait_for_phase early-1 Running
wait_for_phase early-2 Running
wait_until "the group to run" group_is early Running
assert_eq "the group" "early Running 2 2" "$(kubectl get pg early --no-headers | awk '{print $1, $2, $3, $4}')"
kubectl delete pod early-1 early-2 --wait=true
kubectl delete pg early

echo "no room for all: none starts"
pod blocker "$cpus" | kubectl apply -f -
wait_for_phase blocker Running
{
    group gang 2
    pod gang-1 "$cpus" gang
    pod gang-2 "$cpus" gang
} | kubectl apply -f -
for i in 1 2; do
    wait_until "the pod to report what it waits for" says gang-$i \
        'pod group "gang" needs 2 pods at once, but only 1 fits: for the next one 0/2 nodes are available: 2 Insufficient cpu.'
done
assert_eq "nodes" "  " "$(nodes_of -l scheduling.x-k8s.io/pod-group=gang)"
wait_until "the group to be in phase Scheduling" group_is gang Scheduling
# A second group waits, too: two groups never hold half of the nodes each.
{
    group rival 2
    pod rival-1 "$cpus" rival
    pod rival-2 "$cpus" rival
} | kubectl apply -f -
wait_until "the rival to report what it waits for" says rival-1 \
    'pod group "rival" needs 2 pods at once, but only 1 fits: for the next one 0/2 nodes are available: 2 Insufficient cpu.'

echo "the groups survive a kill of the server"
kill -9 "$(server_pid)"
cluster_up --nodes 2
assert_eq "nodes" "    " "$(nodes_of -l scheduling.x-k8s.io/pod-group)"

echo "a node becomes free: one of the two groups starts, as a whole"
kubectl delete pod blocker
one_runs() { group_is gang Running || group_is rival Running; }
wait_until "a group to run" one_runs
first=gang second=rival
group_is gang Running || first=rival second=gang
wait_for_phase $first-1 Running
wait_for_phase $first-2 Running
assert_eq "its nodes" "node-1 node-2 " "$(nodes_of -l scheduling.x-k8s.io/pod-group=$first --sort-by=.spec.nodeName)"
assert_eq "the nodes of the other group" "  " "$(nodes_of -l scheduling.x-k8s.io/pod-group=$second)"
kubectl delete pod $first-1 $first-2
wait_until "the other group to run" group_is $second Running
assert_eq "the nodes of the other group" "node-1 node-2 " \
    "$(nodes_of -l scheduling.x-k8s.io/pod-group=$second --sort-by=.spec.nodeName)"

echo "a group that waits too long gets an event"
{
    group late 1 'scheduleTimeoutSeconds: 1'
    pod late-1 "$cpus" late
} | kubectl apply -f -
has_timed_out() { kubectl describe pg late | finds 'ScheduleTimeout.*not scheduled within 1 s, trying again'; }
wait_until "the event" has_timed_out

echo "pods of another scheduler stay pending"
pod other 1m | sed 's/^spec:/&\n  schedulerName: volcano/' | kubectl apply -f -
pod ours 0 | kubectl apply -f -
wait_for_phase ours Running
assert_eq "the node of the other scheduler's pod" "" "$(kubectl get pod other -o jsonpath='{.spec.nodeName}')"
