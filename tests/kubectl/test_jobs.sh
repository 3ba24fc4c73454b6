#!/bin/bash
# Jobs, with the kubectl of Debian 12 and, if there is one, the machine's own; as root and as an ordinary user.
# shellcheck disable=SC2016 # the shells of the pods expand them
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts the next one itself

job_is() { # NAME FIELD VALUE
    [ "$(kubectl get job "$1" -o jsonpath="{.status.$2}")" = "$3" ]
}
wait_for_job() { wait_until "job $1 to have $2 $3" job_is "$@"; }
reason_of() { kubectl get job "$1" -o jsonpath="{.status.conditions[?(@.type=='Failed')].reason}"; }
described() { kubectl describe job "$1" | finds -F -- "$2"; } # NAME TEXT
pods_of() { kubectl get pods -l "job-name=$1" -o name; }
has_no_pods() { [ -z "$(pods_of "$1")" ]; }
pod_of_index() { # JOB INDEX: its running pod
    kubectl get pods -l "job-name=$1,batch.kubernetes.io/job-completion-index=$2" --field-selector status.phase=Running \
        -o jsonpath='{.items[*].metadata.name}'
}

# apply_job NAME SCRIPT [LINE-OF-SPEC…]
apply_job() {
    {
        printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: %s}\nspec:\n' "$1"
        [ $# -lt 3 ] || printf '  %s\n' "${@:3}"
        printf '  template:\n    spec:\n      restartPolicy: Never\n      terminationGracePeriodSeconds: 1\n'
        printf '      subdomain: peers\n      containers:\n'
        printf '      - {name: main, image: trainyard/tools, command: [bash, -c], args: ["%s"]}\n' "$2"
    } | kubectl apply -f -
}

check_commands() {
    kubectl create job hello --image=trainyard/tools -- bash -c 'echo "hello from $HOSTNAME"'
    kubectl wait --for=condition=complete job/hello --timeout="${PATIENCE}s"
    assert_contains "logs job/hello" "hello from hello-" "$(kubectl logs job/hello)"
    assert_contains "get jobs" "1/1" "$(kubectl get jobs)"
    assert_contains "get jobs" "COMPLETIONS" "$(kubectl get jobs)"
    assert_contains "get jobs -o wide" "trainyard/tools" "$(kubectl get jobs -o wide)"
    assert_contains "get all" "job.batch/hello" "$(kubectl get all)"
    for word in 'Completions:' '1 Succeeded / 0 Failed' 'SuccessfulCreate' 'Created pod: hello-' 'Completed' 'Job completed'; do
        wait_until "describe job to say '$word'" described hello "$word"
    done
    assert_contains "an invalid job" 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"' \
        "$(printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: refused}\nspec: {template: {spec: {containers: [{name: a, image: b}]}}}\n' |
            kubectl apply -f - 2>&1 || true)"
    kubectl delete job hello
    wait_until "the pods of a deleted job to go" has_no_pods hello
}

# Four indexes, two at a time. Each pod knows its index, and completedIndexes ends as "0-3".
check_indexed() {
    apply_job squares 'echo index $JOB_COMPLETION_INDEX of $(hostname)' \
        'completionMode: Indexed' 'completions: 4' 'parallelism: 2'
    kubectl wait --for=condition=complete job/squares --timeout="${PATIENCE}s"
    assert_eq "completedIndexes" "0-3" "$(kubectl get job squares -o jsonpath='{.status.completedIndexes}')"
    local index
    for index in 0 1 2 3; do
        assert_eq "the log of index $index" "index $index of squares-$index" \
            "$(kubectl logs -l "job-name=squares,batch.kubernetes.io/job-completion-index=$index")"
    done
    assert_contains "apply again" unchanged "$(apply_job squares 'echo index $JOB_COMPLETION_INDEX of $(hostname)' \
        'completionMode: Indexed' 'completions: 4' 'parallelism: 2')"
    assert_contains "the template is fixed" "field is immutable" "$(apply_job squares 'echo other' \
        'completionMode: Indexed' 'completions: 4' 'parallelism: 2' 2>&1 || true)"
    kubectl delete job squares
}

# The process of index 0 is killed. After the backoff a new pod with the same host name takes its place, and a lookup of the name finds
# the new pod. The failure is counted once, although the server is killed meanwhile.
check_retry() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: peers}
spec: {clusterIP: None, selector: {job-name: team}}
YAML
    apply_job team 'exec sleep inf' 'completionMode: Indexed' 'completions: 2' 'parallelism: 2' 'backoffLimit: 2'
    both_run() { [ -n "$(pod_of_index team 0)" ] && [ -n "$(pod_of_index team 1)" ]; }
    wait_until "both to run" both_run
    local first second other address
    first=$(pod_of_index team 0)
    other=$(pod_of_index team 1)
    wait_until "a process of index 0 to kill" kill_in_pod "$first" sleep # the shell has replaced itself by sleep
    wait_for_job team failed 1
    kill -9 "$(server_pid)"
    cluster_up --nodes docker-desktop
    wait_until "index 0 to run again" both_run
    second=$(pod_of_index team 0)
    [ "$second" != "$first" ] || fail "the pod of index 0 is still $first"
    assert_eq "index 1 was left alone" "$other" "$(pod_of_index team 1)"
    assert_eq "its host name" team-0 "$(kubectl get pod "$second" -o jsonpath='{.spec.hostname}')"
    address=$(kubectl get pod "$second" -o jsonpath='{.status.podIP}')
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: asker}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: trainyard/tools, command: [sh, -c, 'while :; do getent hosts team-0.peers; sleep 0.1; done']}
YAML
    wait_for_log asker "$address "
    assert_eq "failures" 1 "$(kubectl get job team -o jsonpath='{.status.failed}')"
    kubectl delete pod/asker --grace-period=1
    kubectl delete job/team service/peers
}

check_ends() {
    apply_job never 'exit 3' 'backoffLimit: 0'
    wait_until "job never to fail" has_condition job/never Failed
    assert_eq "why" BackoffLimitExceeded "$(reason_of never)"
    wait_until "its event" described never "Job has reached the specified backoff limit"
    apply_job late 'exec sleep 1000' 'activeDeadlineSeconds: 1'
    wait_until "job late to fail" has_condition job/late Failed
    assert_eq "why" DeadlineExceeded "$(reason_of late)"
    assert_eq "no pod of it runs" "" "$(kubectl get pods -l job-name=late --field-selector status.phase=Running -o name)"
    apply_job brief 'true' 'ttlSecondsAfterFinished: 1'
    wait_until "job brief to be removed" is_gone job brief
    wait_until "the pods of brief to go" has_no_pods brief
    kubectl delete job never late
}

check_changes() {
    apply_job some 'exec sleep 1000' 'completions: 4' 'parallelism: 3'
    wait_for_job some active 3
    kubectl patch job some -p '{"spec":{"parallelism":1}}'
    wait_for_job some active 1
    kubectl patch job some -p '{"spec":{"suspend":true}}'
    wait_until "job some to be suspended" has_condition job/some Suspended
    wait_for_job some active ""
    wait_until "its pods to go" has_no_pods some
    kubectl patch job some -p '{"spec":{"suspend":false,"parallelism":2}}'
    wait_for_job some active 2
    assert_eq "pods that were stopped do not count as failed" "" "$(kubectl get job some -o jsonpath='{.status.failed}')"
    local pod
    pod=$(kubectl get pods -l job-name=some -o jsonpath="pod/{.items[0].metadata.name}")
    kubectl delete "$pod" --grace-period=0 --force
    wait_for_job some failed 1
    wait_for_job some active 2
    kubectl delete job some
    wait_until "its pods to go" has_no_pods some
    # A work queue: no completions. The job is complete when one pod has succeeded and the others have ended.
    apply_job queue 'echo done' 'parallelism: 2'
    kubectl wait --for=condition=complete job/queue --timeout="${PATIENCE}s"
    kubectl delete job queue
    # A deletion with --cascade=orphan keeps the pods.
    apply_job leaver 'exec sleep 1000'
    wait_for_job leaver active 1
    kubectl delete job leaver --cascade=orphan
    kubectl delete pods -l job-name=leaver
    wait_until "the orphans to go" has_no_pods leaver
}

check_all() {
    cluster_up --nodes docker-desktop
    check_commands
    check_indexed
    check_retry
    check_ends
    check_changes
    cluster_wipe
}

check_all
if [ -x /usr/bin/kubectl ] && [ "$KUBECTL" != /usr/bin/kubectl ]; then
    cluster_up
    KUBECTL=/usr/bin/kubectl check_commands
    cluster_wipe
fi
become_ordinary_user
check_all
