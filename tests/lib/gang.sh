# shellcheck shell=bash
# Gang scheduling with the operator as its own process, against any cluster that kubectl reaches. Shared by the tests on the embedded
# cluster and on a real Kubernetes. Volcano and the scheduler-plugins do not run: functions below write to the API what those would write,
# one step at a time. Source it after lib.sh; the test sets NAMESPACE and IMAGE (with sh and sleep).

# ---- The operator ----

operator=
operator_start() { # SCHEDULER
    "${AS_USER[@]}" "$TRAINYARD" operator --namespace "$NAMESPACE" --gang-scheduler-name "$1" --metrics-bind-address 0 \
        --health-probe-bind-address 0 >>"$SCRATCH/operator.log" 2>&1 &
    operator=$!
}
operator_stop() {
    [ -n "$operator" ] || return 0
    kill "$operator"
    wait "$operator" || true
    operator=
}
operator_end() { # EXIT-CODE
    operator_stop 2>/dev/null
    if [ "$1" != 0 ] && [ -s "$SCRATCH/operator.log" ]; then
        echo "--- the end of the operator's log:"
        tail -30 "$SCRATCH/operator.log"
    fi
}
clean_up() { operator_end "$1"; }

# ---- The schedulers, played by functions ----

# volcano_says GROUP PHASE: write the phase of a group, as Volcano does in the order Pending, Inqueue, Running.
volcano_says() {
    local path=/apis/scheduling.volcano.sh/v1beta1/namespaces/$NAMESPACE/podgroups/$1 version
    version=$(kubectl get podgroups.v1beta1.scheduling.volcano.sh "$1" -o jsonpath='{.metadata.resourceVersion}') &&
        kubectl replace --raw "$path/status" -f - >/dev/null <<JSON
{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
 "metadata": {"name": "$1", "namespace": "$NAMESPACE", "resourceVersion": "$version"}, "status": {"phase": "$2"}}
JSON
}

# Bind all pods of a group if there are at least minMember, and else none, as the coscheduling plugin does.
coscheduler_pass() { # GROUP NODE
    local wanted pods pod
    wanted=$(kubectl get podgroups.v1alpha1.scheduling.x-k8s.io "$1" -o jsonpath='{.spec.minMember}') || return
    pods=$(kubectl get pods -l "scheduling.x-k8s.io/pod-group=$1" -o jsonpath='{.items[?(@.spec.schedulerName=="coscheduler")].metadata.name}')
    [ "$(wc -w <<<"$pods")" -ge "$wanted" ] || return
    for pod in $pods; do
        kubectl create --raw "/api/v1/namespaces/$NAMESPACE/pods/$pod/binding" -f - >/dev/null <<JSON
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "$pod"}, "target": {"apiVersion": "v1", "kind": "Node", "name": "$2"}}
JSON
    done
}

# ---- Jobs ----

# shellcheck source=tests/lib/training.sh
. "$ROOT/tests/lib/training.sh"
version_of() { kubectl get tfjob "$1" -o jsonpath='{.metadata.resourceVersion}'; }

# job NAME [SCHEDULER] [SCHEDULING-POLICY]: three workers that end by themselves.
job() {
    kubectl apply -f - <<YAML
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1, annotations: {volcano.sh/wish: granted}}
spec:
  successPolicy: AllWorkers
  runPolicy: {schedulingPolicy: ${3:-null}}
  tfReplicaSpecs:
    Worker:
      replicas: 3
      template:
        spec:
          ${2:+schedulerName: $2}
          containers:
          - name: tensorflow
            image: $IMAGE
            command: [sh, -c, "sleep 1"]
            resources: {requests: {cpu: 10m}}
YAML
}

# ---- The scenarios ----

# A job from its PodGroup to its end, with a Volcano that admits it late. Its pods name the default scheduler, which runs them.
story_of_volcano() {
    job queued default-scheduler '{queue: night, priorityClass: high, minAvailable: 2}'
    wait_until "the group" kubectl get podgroups.v1beta1.scheduling.volcano.sh queued
    assert_eq "the requests of the group" '2 night high {"cpu":"20m"}' "$(kubectl get podgroups.v1beta1.scheduling.volcano.sh queued \
        -o jsonpath='{.spec.minMember} {.spec.queue} {.spec.priorityClassName} {.spec.minResources}')"
    assert_eq "the job's annotation on the group" granted "$(kubectl get podgroups.v1beta1.scheduling.volcano.sh queued -o jsonpath='{.metadata.annotations.volcano\.sh/wish}')"
    wait_until "the event about the wait" was_told queued "no pod is created before volcano admits PodGroup queued to queue night"
    wait_until "Volcano to see it" volcano_says queued Pending
    wait_until "the event about its phase" was_told queued "phase is Pending"
    local version
    version=$(version_of queued)
    # Another job runs to its end meanwhile, which shows that the operator has looked at all jobs.
    job other default-scheduler
    wait_until "Volcano to admit the other" volcano_says other Inqueue
    wait_until "the other to have succeeded" tfjob_has_condition other Succeeded
    assert_eq "the job that waits is not written" "$version" "$(version_of queued)"
    assert_eq "pods of the waiting job" "" "$(pods_of queued)"
    assert_eq "its start" "" "$(kubectl get tfjob queued -o jsonpath='{.status.startTime}')"

    wait_until "Volcano to admit it" volcano_says queued Inqueue
    wait_until "the pods" has_pods queued "pod/queued-worker-0 pod/queued-worker-1 pod/queued-worker-2 "
    assert_eq "the annotations and the scheduler of a pod" 'queued worker default-scheduler' "$(kubectl get pod queued-worker-1 -o jsonpath='{.metadata.annotations.scheduling\.k8s\.io/group-name} {.metadata.annotations.volcano\.sh/task-spec} {.spec.schedulerName}')"
    wait_until "the event about the scheduler of the template" was_told queued SetPodTemplateSchedulerName
    wait_for_tfjob queued Succeeded
    wait_until "the group to go" is_gone podgroups.v1beta1.scheduling.volcano.sh queued
    wait_until "the event about its end" was_told queued "Deleted PodGroup: queued"
    kubectl delete tfjob queued other
}

# The same with a scheduler that binds the pods of a group when all of them exist. The pods run on NODE.
story_of_a_coscheduler() { # NODE
    job together
    wait_until "the pods, at once" has_pods together "pod/together-worker-0 pod/together-worker-1 pod/together-worker-2 "
    assert_eq "the group" '3 {"cpu":"30m"}' "$(kubectl get podgroups.v1alpha1.scheduling.x-k8s.io together -o jsonpath='{.spec.minMember} {.spec.minResources}')"
    assert_eq "the label and the scheduler of a pod" 'together coscheduler' "$(kubectl get pod together-worker-1 -o jsonpath='{.metadata.labels.scheduling\.x-k8s\.io/pod-group} {.spec.schedulerName}')"
    coscheduler_pass together "$1"
    wait_for_tfjob together Succeeded
    wait_until "the group to go" is_gone podgroups.v1alpha1.scheduling.x-k8s.io together

    job never '' '{minAvailable: 10}'
    wait_until "the event about the mistake" was_told never "minAvailable is 10, but the job's number of pods is 3"
    wait_until "its pods" has_pods never "pod/never-worker-0 pod/never-worker-1 pod/never-worker-2 "
    ! coscheduler_pass never "$1" || fail "three pods of ten were started"
    kubectl patch tfjob never --type merge -p '{"spec":{"runPolicy":{"schedulingPolicy":{"minAvailable":2}}}}'
    wait_until "enough pods for the group" coscheduler_pass never "$1"
    wait_for_tfjob never Succeeded
    kubectl delete tfjob together never
}
