#!/bin/bash
# The operator as install.yaml sets it up, and a TFJob in real containers: its objects, its events, and that all of it is deleted.
# shellcheck disable=SC2016 # the shells of the pods expand them
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/kubernetes/jobs.sh
. "$KUBERNETES/jobs.sh"
with_operator

echo 'two replicas, one of which leads'
assert_eq 'replicas' 2 "$(kubectl get deployments -n trainyard -o jsonpath='{.items[0].status.readyReplicas}')"
wait_until 'one of them to lead' has_leader

echo 'every role'
peers='roles-chief-0 roles-ps-0 roles-worker-0 roles-worker-1'
greet='echo "$TF_CONFIG" >/shared/config-$HOSTNAME; (cd /tmp && echo it is $HOSTNAME >index.html && httpd -p 2222)'
meet="for peer in $peers; do until wget -qO- http://\$peer.$NAMESPACE.svc:2222/; do usleep 100000; done; done >/shared/met-\$HOSTNAME; touch /shared/ready-\$HOSTNAME"
{
    replica Chief 1 Never "$greet; $meet; until [ -e /shared/go ]; do usleep 100000; done"
    replica Worker 2 OnFailure "$greet; $meet; exec sleep 1000"
    replica PS 1 Never "$greet; $meet; exec sleep 1000"
} | job roles 'runPolicy: {}' | kubectl apply -f -
wait_for_tfjob roles Running
for peer in $peers; do
    wait_until "$peer to have reached the others" [ -e "$SHARED/ready-$peer" ]
    assert_eq "the peers that $peer reached" "$(for each in $peers; do echo "it is $each"; done)" "$(cat "$SHARED/met-$peer")"
    type=${peer#roles-} index=${peer##*-}
    hosts() { for each in "$@"; do printf '"roles-%s.%s.svc:2222",' "$each" "$NAMESPACE"; done | sed 's/,$//'; }
    assert_eq "TF_CONFIG of $peer" "{\"cluster\":{\"chief\":[$(hosts chief-0)],\"ps\":[$(hosts ps-0)],\"worker\":[$(hosts worker-0 worker-1)]},\"task\":{\"type\":\"${type%-*}\",\"index\":$index},\"environment\":\"cloud\"}" \
        "$(cat "$SHARED/config-$peer")"
    for kind in pod service; do
        labels=$(kubectl get $kind "$peer" -o json | jq -c '.metadata.labels | with_entries(select(.key | startswith("training.kubeflow.org/")))')
        role=
        [ "$kind-$peer" = pod-roles-chief-0 ] && role='"training.kubeflow.org/job-role":"master",'
        assert_eq "labels of $kind $peer" "$(jq -cS . <<<"{$role\"training.kubeflow.org/job-name\":\"roles\",\"training.kubeflow.org/operator-name\":\"tfjob-controller\",\"training.kubeflow.org/replica-index\":\"$index\",\"training.kubeflow.org/replica-type\":\"${type%-*}\"}")" \
            "$(jq -cS . <<<"$labels")"
        assert_eq "owner of $kind $peer" "[{\"apiVersion\":\"kubeflow.org/v1\",\"blockOwnerDeletion\":true,\"controller\":true,\"kind\":\"TFJob\",\"name\":\"roles\",\"uid\":\"$(kubectl get tfjob roles -o jsonpath='{.metadata.uid}')\"}]" \
            "$(kubectl get $kind "$peer" -o json | jq -cS .metadata.ownerReferences)"
    done
    assert_eq "service $peer" "None 2222" "$(kubectl get service "$peer" -o jsonpath='{.spec.clusterIP} {.spec.ports[*].port}')"
done
actives='{.status.replicaStatuses.Chief.active} {.status.replicaStatuses.PS.active} {.status.replicaStatuses.Worker.active}'
all_count() { [ "$(kubectl get tfjob roles -o jsonpath="$actives")" = '1 1 2' ]; }
wait_until 'all replicas that run to be counted' all_count
assert_eq 'restart policies' 'Never Never OnFailure OnFailure' \
    "$(for peer in $peers; do kubectl get pod "$peer" -o jsonpath='{.spec.restartPolicy}{" "}'; done | sed 's/ $//')"
tell go
wait_for_tfjob roles Succeeded
assert_eq 'the message' "TFJob $NAMESPACE/roles successfully completed." "$(message_of roles Succeeded)"
assert_eq 'conditions' 'Created=True Running=False Succeeded=True ' \
    "$(kubectl get tfjob roles -o jsonpath='{range .status.conditions[*]}{.type}={.status}{" "}{end}')"
assert_eq 'times' true "$(kubectl get tfjob roles -o json | jq '.status.startTime <= .status.completionTime')"
for line in 'SuccessfulCreatePod: Created pod: roles-worker-1' 'SuccessfulCreateService: Created service: roles-ps-0' 'TFJobSucceeded: '; do
    wait_until "the event '$line'" was_told roles "$line"
done
for peer in $peers; do assert_eq "pods made for $peer" 1 "$(times_created "$peer")"; done
assert_contains 'get tfjobs' Succeeded "$(kubectl get tfjobs)"

echo 'progress on the job, read from /progress of its chief or master'
step() { # COUNT: written in one step, because a pod may read the file meanwhile
    echo "{\"step\": $1, \"total\": 10, \"loss\": 0.5}" >"$SHARED/next"
    mv "$SHARED/next" "$SHARED/progress"
}
has_progress() { [ "$(kubectl get "$1" steps -o jsonpath='{.metadata.annotations.trainyard\.dev/progress}')" = "$2" ]; } # KIND TEXT
step 1
serve='httpd -p 8000 -h /shared; until [ -e /shared/end ]; do usleep 100000; done'
with_port() { sed "s/^            image:/            ports: [{name: $1, containerPort: 8000}]\n&/"; }
replica Chief 1 Never "$serve" | with_port progress | job steps 'runPolicy: {}' | kubectl apply -f -
JOB_KIND=PyTorchJob replica Master 1 Never "$serve" | with_port metrics | JOB_KIND=PyTorchJob job steps 'runPolicy: {}' | kubectl apply -f -
for kind in tfjob pytorchjob; do wait_until "the progress of the $kind" has_progress $kind 'step 1/10, loss 0.5'; done
step 7
for kind in tfjob pytorchjob; do
    wait_until "the next progress of the $kind" has_progress $kind 'step 7/10, loss 0.5'
    assert_eq "the column of the $kind" 'NAME STATE PROGRESS AGE|steps Running step 7/10, loss 0.5' \
        "$(kubectl get $kind steps | tr -s ' ' | sed 's/ [^ ]*$//; 1s/$/ AGE/' | paste -sd '|')"
done
tell end
wait_for_tfjob steps Succeeded
assert_eq 'the last progress' 'step 7/10, loss 0.5' "$(progress_of steps)"

echo 'cleanPodPolicy'
for policy in None Running All; do
    {
        replica Worker 1 Never 'exit 0'
        replica PS 1 Never 'exec sleep 1000'
    } | job "clean-${policy,,}" "runPolicy: {cleanPodPolicy: $policy}" | kubectl apply -f -
done
for policy in none running all; do wait_for_tfjob clean-$policy Succeeded; done
wait_until 'Running: the finished pod alone to stay' has_objects clean-running pods 'pod/clean-running-worker-0 '
wait_until 'All: every pod to go' has_objects clean-all pods ''
wait_until 'All: every service to go' has_objects clean-all services ''
assert_eq 'None: all pods stay' 'pod/clean-none-ps-0 pod/clean-none-worker-0 ' "$(of_job clean-none pods)"

echo 'limits'
replica Worker 1 Never 'exec sleep 1000' | job deadline 'runPolicy: {activeDeadlineSeconds: 3}' | kubectl apply -f -
replica Worker 1 ExitCode 'exit 137' | job backoff 'runPolicy: {backoffLimit: 1}' | kubectl apply -f -
replica Worker 1 Never 'exit 0' | job short 'runPolicy: {ttlSecondsAfterFinished: 1}' | kubectl apply -f -
wait_for_tfjob deadline Failed
assert_eq 'past the deadline' 'Job deadline has failed because it was active longer than specified deadline' "$(message_of deadline Failed)"
wait_until 'the pod to be stopped' has_objects deadline pods ''
wait_for_tfjob backoff Failed
assert_eq 'past the limit' 'Job backoff has failed because it has reached the specified backoff limit' "$(message_of backoff Failed)"
wait_until 'the job to go after its time' is_gone tfjob short
wait_until 'its pods to go' has_objects short pods ''

echo 'suspend and resume'
replica Worker 1 Never 'exec sleep 1000' | job paused 'runPolicy: {suspend: true}' | kubectl apply -f -
wait_for_tfjob paused Suspended
assert_eq 'no pods' '' "$(of_job paused pods)"
kubectl patch tfjob paused --type merge -p '{"spec":{"runPolicy":{"suspend":false}}}'
wait_for_tfjob paused Running
kubectl patch tfjob paused --type merge -p '{"spec":{"runPolicy":{"suspend":true}}}'
wait_until 'the pods to go' has_objects paused pods ''
wait_until 'the services to go' has_objects paused services ''
assert_contains 'the state' Suspended "$(kubectl get tfjob paused)"

echo 'nothing is left of jobs that are deleted'
assert_nothing_left
