#!/bin/bash
# Kueue's contract with training jobs. Jobs are created suspended. Kueue admits a job: it adds the node selectors of the assigned flavor
# to the templates and resumes the job. Kueue evicts a job by suspending it, and gives its quota to another job when no pod of it runs any
# more. Kueue itself does not run here: functions below do what its job reconciler does, over the same API.
# shellcheck disable=SC2016 # the shells of the pods expand them
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/training_yaml.sh
. "$ROOT/tests/lib/training_yaml.sh"

field() { kubectl get tfjob "$1" -o jsonpath="$2"; } # JOB JSONPATH
is_false() { [ "$(field "$1" "{.status.conditions[?(@.type=='$2')].status}")" = False ]; }

# ---- The replacement for Kueue: how it reads the state of a job, and what it does ----

# As Kueue reads the status: a job is finished when Succeeded or Failed is True, its pods are ready when Running is True, and it is active
# as long as any replica type counts an active replica.
kueue_finished() { tfjob_has_condition "$1" Succeeded || tfjob_has_condition "$1" Failed; }
kueue_pods_ready() { tfjob_has_condition "$1" Running; }
kueue_active() { [ -n "$(field "$1" '{.status.replicaStatuses.*.active}')" ]; }

declare -A place=() # JOB: "waiting", "admitted", "evicted" or "finished"

kueue_patch() { # JOB SUSPEND NODE-SELECTOR
    kubectl patch tfjob "$1" --type merge -p "{\"spec\":{\"runPolicy\":{\"suspend\":$2},\"tfReplicaSpecs\":{
        \"Worker\":{\"template\":{\"spec\":{\"nodeSelector\":$3}}},\"PS\":{\"template\":{\"spec\":{\"nodeSelector\":$3}}}}}}"
}
kueue_evict() {
    place[$1]=evicted
    kueue_patch "$1" true null
}

# One pass of the reconciler over JOB…, in the order of the queue. Only one job is admitted at a time. FLAVOR is the label of the nodes.
kueue_pass() {
    local job taken=0
    for job in "$@"; do
        case ${place[$job]:=waiting} in
        admitted) ! kueue_finished "$job" || place[$job]=finished ;;
        evicted) kueue_active "$job" || place[$job]=waiting ;;
        esac
        case ${place[$job]} in admitted | evicted) taken=$((taken + 1)) ;; esac
    done
    for job in "$@"; do
        if [ "${place[$job]}" != waiting ] || [ $taken != 0 ]; then continue; fi
        place[$job]=admitted
        taken=1
        kueue_patch "$job" false "{\"$FLAVOR\":\"yes\"}"
    done
    [ $taken -le 1 ] || fail "two jobs are admitted at once"
}
kueue_passes_until() { # FACT… -- JOB…
    local fact=()
    while [ "$1" != -- ]; do
        fact+=("$1")
        shift
    done
    shift
    local deadline=$((SECONDS + 120))
    until "${fact[@]}" >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || fail "waited two minutes for: ${fact[*]}"
        kueue_pass "$@" >/dev/null
    done
}
is_admitted() { [ "${place[$1]:-}" = admitted ]; }

# ---- The jobs ----

# Created suspended, as Kueue's webhook does. After SIGTERM a worker keeps running until /state/leave exists.
job() {
    kubectl apply -f - <<YAML
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1, labels: {kueue.x-k8s.io/queue-name: one-at-a-time}}
spec:
  runPolicy: {suspend: true, cleanPodPolicy: All}
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template: &template
        spec:
          terminationGracePeriodSeconds: 60
          volumes: [{name: state, persistentVolumeClaim: {claimName: state}}]
          containers:
          - name: tensorflow
            image: trainyard/tools
            command: [bash, -c]
            args: ['trap "until [ -e /state/leave ]; do sleep 0.1; done; exit 1" TERM; until [ -e /state/$1 ]; do sleep 0.1; done']
            volumeMounts: [{name: state, mountPath: /state}]
    PS: {replicas: 1, template: *template}
YAML
}

cluster_up --nodes 1
node=$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')
kubectl label node "$node" spot=yes reserved=yes
state_volume

echo "two jobs wait in a queue that admits one at a time"
job first
job second
wait_for_tfjob first Suspended
wait_for_tfjob second Suspended
for name in first second; do
    assert_eq "pods of $name" "" "$(pods_of $name)"
    assert_eq "the start of $name" "" "$(field $name '{.status.startTime}')"
    ! kueue_active $name || fail "$name is active before it started"
done

echo "the first job is admitted"
FLAVOR=spot
kueue_passes_until kueue_pods_ready first -- first second
wait_for_phase first-worker-1 Running
assert_eq "the template at the start" '{"spot":"yes"}' "$(kubectl get pod first-worker-1 -o jsonpath='{.spec.nodeSelector}')"
kueue_active first || fail "a running job is not active"
assert_eq "the other waits" waiting "${place[second]}"
assert_eq "pods of the other" "" "$(pods_of second)"

echo "it is evicted: the second job is admitted when its pods are gone, not before"
kueue_evict first
wait_for_tfjob first Suspended
wait_until "Running to be over" is_false first Running
for _ in 1 2 3 4 5; do kueue_pass first second; done
kueue_active first || fail "not active although its pods still run: $(pods_of first)"
assert_eq "the other waits" waiting "${place[second]}"
touch "$SHARED/leave"
kueue_passes_until is_admitted second -- second first
assert_eq "what is left of the first" "" "$(pods_of first)"
! kueue_finished first || fail "an eviction ended the job"
kueue_passes_until kueue_pods_ready second -- second first

echo "the second job ends, and the first one is admitted again, with another flavor"
FLAVOR=reserved
touch "$SHARED/second"
kueue_passes_until is_admitted first -- second first
tfjob_has_condition second Succeeded || fail "the first job was admitted before the second ended"
kueue_passes_until kueue_pods_ready first -- second first
wait_for_phase first-worker-0 Running
assert_eq "the template of the second start" '{"reserved":"yes"}' "$(kubectl get pod first-worker-0 -o jsonpath='{.spec.nodeSelector}')"
is_false first Suspended || fail "resumed, and still suspended"
touch "$SHARED/first"
kueue_passes_until kueue_finished first -- second first
assert_eq "how it ended" True "$(field first "{.status.conditions[?(@.type=='Succeeded')].status}")"
wait_until "its pods to go" has_pods first ""
kueue_idle() { ! kueue_active "$1"; }
wait_until "a finished job not to be active" kueue_idle first

echo "a job of another manager is left alone"
kubectl apply -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: elsewhere}
spec:
  runPolicy: {managedBy: kueue.x-k8s.io/multikueue}
  tfReplicaSpecs:
    Worker: {template: {spec: {containers: [{name: tensorflow, image: trainyard/tools, command: ["true"]}]}}}
YAML
job ours
wait_for_tfjob ours Suspended # it has been seen, so the job before it has been seen, too
assert_eq "its status" "" "$(field elsewhere '{.status}')"
assert_eq "its pods" "" "$(pods_of elsewhere)"
! kubectl patch tfjob elsewhere --type merge -p '{"spec":{"runPolicy":{"managedBy":null}}}' 2>"$SCRATCH/refused" ||
    fail "the manager was changed"
assert_contains "the refusal" "spec.runPolicy.managedBy" "$(cat "$SCRATCH/refused")"
