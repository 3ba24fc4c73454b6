#!/bin/bash
# The operator's leader ends in the middle of a job: once its pod is deleted, once its process is killed. The other replica takes over,
# and no pod is created twice.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/kubernetes/jobs.sh
. "$KUBERNETES/jobs.sh"
with_operator

leads_another() { [ -n "$(lease_holder)" ] && [ "$(lease_holder)" != "$1" ]; }
starts_of() { for replica in chief-0 worker-0 worker-1 worker-2; do times_started "$1-$replica"; done | xargs; } # JOB
all_have_started() { [[ $(starts_of "$1") =~ ^([1-9][0-9]* ?){4}$ ]]; }

# The process id of an operator pod on the node.
operator_process() { # POD
    local container
    container=$(kubectl get pod "$1" -n trainyard -o jsonpath='{.status.containerStatuses[0].containerID}')
    node_ctr tasks ls | awk -v id="${container#containerd://}" '$1 == id { print $2 }'
}

for end in delete kill; do
    echo "$end"
    wait_until 'a leader' has_leader
    holder=$(lease_holder)
    old=$(leader)
    {
        replica Chief 1 OnFailure "$(until_told $end)"
        replica Worker 3 ExitCode "$(until_told $end)"
    } | job "$end" 'runPolicy: {}' | kubectl apply -f -
    # In the middle of the job's start: some of its pods exist, others may not yet.
    wait_until 'the first pod' kubectl get pod "$end-chief-0"
    if [ $end = delete ]; then
        kubectl delete pod "$old" -n trainyard --wait=false
    else
        process=$(operator_process "$old")
        [ -n "$process" ] || fail "no process of $old"
        node_run kill -9 "$process"
    fi
    for replica in chief-0 worker-0 worker-1 worker-2; do wait_for_phase "$end-$replica" Running; done
    wait_until 'another leader' leads_another "$holder"
    wait_until 'all programs to have started' all_have_started $end
    tell $end
    wait_for_tfjob $end Succeeded
    assert_eq 'pods made' '1 1 1 1' "$(for replica in chief-0 worker-0 worker-1 worker-2; do times_created "$end-$replica"; done | xargs)"
    assert_eq 'programs started' '1 1 1 1' "$(starts_of $end)"
done
is_complete() { [ "$(kubectl get deployments -n trainyard -o jsonpath='{.items[0].status.readyReplicas}')" = 2 ]; }
wait_until 'two replicas again' is_complete

assert_nothing_left
