#!/bin/bash
# The operator with definitions like those of Kubeflow's training operator (foreign-crds), for users who migrate and keep them: jobs run,
# restart and are cleaned up, and the API server drops fields that the schema does not know before the operator sees them. Then our
# definitions are applied over them, and every job stays unchanged and continues.
# shellcheck disable=SC2016 # the shells of the pods expand them
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/kubernetes/jobs.sh
. "$KUBERNETES/jobs.sh"
without_operator

clean_up() { kubectl apply -f "$ROOT/manifests/crds.yaml"; } # for the tests that follow
bring() { # RELEASE
    "$KUBERNETES/foreign-crds" "$1" <"$SCRATCH/openapi.json" | kubectl apply --server-side --force-conflicts -f -
    wait_established crd/tfjobs.kubeflow.org crd/pytorchjobs.kubeflow.org
}
write() { kubectl create --validate=false -f -; } # without it kubectl would refuse unknown fields
columns() { kubectl get "$1" | sed -n '1s/  */ /gp' | sed 's/ $//'; }

kubectl get --raw /openapi/v2 >"$SCRATCH/openapi.json"
kubectl delete -f "$ROOT/manifests/crds.yaml" --ignore-not-found

echo 'the form up to 1.6: a status must have replicaStatuses, whatever happens to the job'
bring 1.3
"$KUBERNETES/install" "$ROOT/manifests/operator.yaml"
replica Worker 1 Never 'exit 0' | sed 's/name: tensorflow/name: other/' | job wrong 'runPolicy: {}' | write
replica Worker 1 ExitCode "$(fail_once early 137)" | job early 'runPolicy: {suspend: true}' | write
wait_for_tfjob wrong Failed
assert_contains 'why' 'must have at least one container with name tensorflow' "$(message_of wrong Failed)"
wait_for_tfjob early Succeeded
assert_eq 'the unknown field is dropped' '{}' "$(kubectl get tfjob early -o jsonpath='{.spec.runPolicy}')"
assert_eq 'pods made' 2 "$(times_created early-worker-0)"

echo 'the form of 1.9: restarts and cleanPodPolicy'
bring 1.9
# A changed definition takes effect a moment later. Until then fields that the older one lacks would be dropped.
suspend_is_kept() {
    [ "$(replica Worker 1 Never 'exit 0' | job probe 'runPolicy: {suspend: true}' |
        kubectl create --validate=false --dry-run=server -o jsonpath='{.spec.runPolicy.suspend}' -f -)" = true ]
}
wait_until 'the definitions of 1.9 to take effect' suspend_is_kept
{
    replica Chief 1 Never "$(until_told train)"
    replica Worker 2 ExitCode "$(fail_once 'train-$HOSTNAME' 137); exec sleep 1000"
    replica PS 1 OnFailure 'exec sleep 1000'
} | job train 'runPolicy: {cleanPodPolicy: Running}' | sed 's/^      template:/&\n        metadata: {labels: {team: a}, annotations: {note: b}}/' | write
{
    JOB_KIND=PyTorchJob
    replica Master 1 OnFailure 'until [ -e /shared/net-again ]; do usleep 100000; done'
    replica Worker 2 ExitCode "[ \$HOSTNAME != net-worker-1 ] || { $(fail_once net 137); touch /shared/net-again; }; until [ -e /shared/net-again ]; do usleep 100000; done"
} | JOB_KIND=PyTorchJob job net 'runPolicy: {cleanPodPolicy: All}' | sed 's,^metadata: {,&annotations: {trainyard.dev/restart-scope: job}\, ,' | write
# A field at its v1beta1 position, and a field that this Kubernetes does not know.
replica Worker 1 Never 'exit 0' | sed 's/^        spec:/&\n          aFieldOfTomorrow: {deep: [1, 2]}/' |
    job old 'runPolicy: {}' | sed 's/^spec:/&\n  cleanPodPolicy: All/' | write
replica Worker 1 Never 'exit 0' | job paused 'runPolicy: {suspend: true}' | write

JOB_KIND=PyTorchJob wait_for_job net Succeeded
wait_until 'All: every pod of it to go' has_objects net pods ''
assert_eq 'pods made: one fails, all restart, as the annotation says' '2 2 2' \
    "$(for replica in master-0 worker-0 worker-1; do times_created net-$replica; done | xargs)"
for index in 0 1; do wait_for_log train-worker-$index 'done'; done
assert_eq 'pods made' '1 2 2 1' "$(for replica in chief-0 worker-0 worker-1 ps-0; do times_created train-$replica; done | xargs)"
assert_eq 'the metadata of the template' 'a b' "$(kubectl get pod train-ps-0 -o jsonpath='{.metadata.labels.team} {.metadata.annotations.note}')"
tell train
wait_for_tfjob train Succeeded
wait_until 'Running: the finished pod alone to stay' has_objects train pods 'pod/train-chief-0 '
wait_for_tfjob old Succeeded
assert_eq 'the dropped fields' '{"runPolicy":{"suspend":false}} []' \
    "$(kubectl get tfjob old -o json | jq -rc '"\(.spec | del(.tfReplicaSpecs)) \([.. | .aFieldOfTomorrow? | values])"')"
assert_eq 'without cleanPodPolicy the pod stays' 'pod/old-worker-0 ' "$(of_job old pods)"
wait_for_tfjob paused Suspended
assert_eq 'columns' 'NAME STATE AGE' "$(columns tfjobs)"
! kubectl get tfjobs.v1beta1.kubeflow.org 2>/dev/null || fail 'v1beta1 is served'
! kubectl scale tfjob paused --replicas=2 2>/dev/null || fail 'TFJobs can be scaled'

echo 'a PyTorchJob is scaled'
JOB_KIND=PyTorchJob replica Worker 1 OnFailure "$(until_told go)" | JOB_KIND=PyTorchJob job elastic 'runPolicy: {}' |
    sed 's/^spec:/&\n  elasticPolicy: {minReplicas: 1, maxReplicas: 3}/' | write
wait_for_phase elastic-worker-0 Running
kubectl scale pytorchjob elastic --replicas=2
wait_for_phase elastic-worker-1 Running

echo 'our definitions are applied over them, and the jobs stay'
replica Worker 2 ExitCode "$(until_told go)" | job going 'runPolicy: {}' | write
for index in 0 1; do wait_for_phase going-worker-$index Running; done
wait_for_tfjob going Running
replica Worker 1 Never 'exit 0' | job foo 'runPolicy: {cleanPodPolicy: Foo}' | write
wait_for_tfjob foo Failed
kept() { # the objects without their managedFields
    for version in "$@"; do
        kubectl get "tfjobs.$version.kubeflow.org" -o json
        kubectl get pytorchjobs.v1.kubeflow.org -o json
    done | jq -S '[.items[] | del(.metadata.managedFields)] | sort_by(.metadata.name)' | sed 's,kubeflow.org/v1beta1,kubeflow.org/v1,'
}
before=$(kept v1)
kubectl apply -f "$ROOT/manifests/crds.yaml" 2>"$SCRATCH/warning"
assert_eq 'warnings' 2 "$(grep -c 'missing the kubectl.kubernetes.io/last-applied-configuration annotation' "$SCRATCH/warning")"
assert_eq 'changes of a second apply' '' "$(kubectl apply -f "$ROOT/manifests/crds.yaml" | grep -v ' unchanged$')"
has_columns() { [ "$(columns tfjobs)" = 'NAME STATE PROGRESS AGE' ]; }
wait_until 'the columns of our definition' has_columns
assert_eq 'the jobs' "$before" "$(kept v1)"
wait_until 'v1beta1 to be served' kubectl get tfjobs.v1beta1.kubeflow.org
assert_eq 'the jobs, as v1beta1' "$before" "$(kept v1beta1)"
! kubectl patch tfjob foo --type merge -p '{"metadata":{"labels":{"a":"b"}}}' 2>"$SCRATCH/refused" || fail 'a value that our definition does not allow can be written'
assert_contains 'the refusal' 'supported values: "None", "Running", "All"' "$(cat "$SCRATCH/refused")"
kubectl delete tfjob foo

tell go
wait_for_tfjob going Succeeded
assert_eq 'pods made' '1 1' "$(for index in 0 1; do times_created going-worker-$index; done | xargs)"
JOB_KIND=PyTorchJob wait_for_job elastic Succeeded
kubectl patch tfjob paused --type merge -p '{"spec":{"runPolicy":{"suspend":false}}}'
wait_for_tfjob paused Succeeded
replica Worker 1 Never 'exit 0' | job late 'runPolicy: {}' | sed 's/^spec:/&\n  cleanPodPolicy: All/' | write
wait_for_tfjob late Succeeded
wait_until 'its pods to go: no field is dropped any more' has_objects late pods ''

assert_nothing_left
