#!/bin/bash
# The trainer in real containers, from the image of `make image-trainer`: three workers train the face embedding in step, find each other
# by the names in TF_CONFIG, and their losses equal those of one worker within rounding. A finished job shows its last step and the path
# of its report. Workers that mount a common directory of the node share memory.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/kubernetes/jobs.sh
. "$KUBERNETES/jobs.sh"
with_operator
with_trainer

STEPS=12
PEERS=/nothing # the mount path of the common directory
face_job() { # NAME WORKERS [STEPS]
    mkdir -m 777 "$SHARED/$1" "$SHARED/$1.peers"
    cat <<YAML
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1}
spec:
  successPolicy: AllWorkers
  tfReplicaSpecs:
    Worker:
      replicas: $2
      restartPolicy: Never
      template:
        spec:
          terminationGracePeriodSeconds: 1
          volumes: [{name: model, hostPath: {path: /var/lib/$NAMESPACE/$1}}, {name: peers, hostPath: {path: /var/lib/$NAMESPACE/$1.peers}}]
          containers:
          - name: tensorflow
            image: $TRAINER_IMAGE
            args: [fit, face, --data=procedural, --seed=5, --persons=24, --held-out=8, --pictures=6, --batch-persons=6, --steps=${3:-$STEPS},
                   --model-dir=/model, --log=plain, --monitor=9100]
            ports: [{name: progress, containerPort: 9100}]
            volumeMounts: [{name: model, mountPath: /model}, {name: peers, mountPath: $PEERS}]
YAML
}
# The lines "STEP LOSS" of a pod.
losses() { kubectl logs "$1" | sed -n 's/.*step *\([0-9]*\).*loss *\([0-9.]*\).*/\1 \2/p'; }

face_job three 3 | kubectl apply -f -
face_job one 1 | kubectl apply -f -
wait_for_job three Succeeded
wait_for_job one Succeeded
assert_eq 'pods made' '1 1 1' "$(for i in 0 1 2; do times_created "three-worker-$i"; done | xargs)"
assert_contains 'the number of workers' '3 workers' "$(kubectl logs three-worker-0)"
assert_eq 'how its containers ended' 'Completed Completed Completed' \
    "$(kubectl get pods -l training.kubeflow.org/job-name=three -o jsonpath='{.items[*].status.containerStatuses[0].state.terminated.reason}')"
for pod in three-worker-0 one-worker-0; do
    losses $pod >"$SCRATCH/$pod"
    assert_eq "steps printed by $pod" $STEPS "$(wc -l <"$SCRATCH/$pod")"
done
paste "$SCRATCH/one-worker-0" "$SCRATCH/three-worker-0" | awk '
    { difference = $2 - $4; if (difference < 0) difference = -difference
      if ($1 != $3 || difference > 0.0005 + 0.002 * $2) { print "step " $1 ": one worker " $2 ", three workers " $4; bad = 1 } }
    END { exit bad }' || fail 'three workers differ from one'
for job in three one; do
    [ -s "$SHARED/$job/face.model" ] || fail "no model of $job on the volume"
    assert_eq "the owner of the model of $job" 65532 "$(stat -c %u "$SHARED/$job/face.model")"
done

for job in three one; do
    ends_with_the_last_step() { kubectl get tfjob "$job" | finds " step $STEPS/$STEPS,"; }
    wait_until "the last step in the column PROGRESS of $job" ends_with_the_last_step
    assert_contains "the path of the report of $job" "trainyard.dev/report: /var/lib/$NAMESPACE/$job/report.html on node $NODE" \
        "$(kubectl describe tfjob $job)"
    [ -s "$SHARED/$job/report.html" ] || fail "there is no report of $job"
done

echo "three workers, $STEPS steps, last loss $(tail -1 "$SCRATCH/three-worker-0"); one worker $(tail -1 "$SCRATCH/one-worker-0")"

echo 'two workers with shared memory'
# "INODE FILE" of every memfd that a trainer maps.
memories() { node_run sh -c "awk '/\\/memfd:/ { print \$5, FILENAME }' \$(pgrep -x trainer | sed 's,.*,/proc/&/maps,')" | sort -u; }
has_common_memory() { memories | cut -d ' ' -f 1 | uniq -d | finds .; }
face_job apart 2 1000000 | kubectl apply -f -
wait_for_log apart-worker-0 'step 2/'
! has_common_memory || fail 'workers without a common directory share memory'
kubectl delete tfjob apart
wait_until 'its pods to go' is_gone pods -l training.kubeflow.org/job-name=apart
PEERS=/run/trainyard/peers
face_job together 2 1000000 | kubectl apply -f -
wait_for_log together-worker-0 'step 2/'
has_common_memory || fail "workers with a common directory share no memory: $(memories)"

echo 'progress on the job'
has_progress() { [[ $(progress_of together) == step\ [1-9]*/1000000,*loss\ [0-9]* ]]; }
wait_until 'the progress of the job' has_progress
kubectl get tfjob together

assert_nothing_left
