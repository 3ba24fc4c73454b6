#!/bin/bash
# A TFJob with three workers on three nodes trains the face model, as in the demo, and its losses equal those of one worker within rounding.
# While a job trains, its annotation shows the progress. As root and as an ordinary user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

STEPS=12
ARGUMENTS="fit, face, --data=procedural, --seed=5, --steps=$STEPS, --model-dir=/model, --peer-timeout=60, --log=plain, --monitor=9100"

manifest() { # NAME REPLICAS [ARGUMENT]
    cat <<YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $1}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: $2
      restartPolicy: Never
      template:
        spec:
          nodeSelector: {pool: face}
          volumes: [{name: model, persistentVolumeClaim: {claimName: $1}}]
          containers:
          - name: tensorflow
            image: trainyard/trainer
            args: [$ARGUMENTS${3:+, $3}]
            ports: [{name: progress, containerPort: 9100}]
            volumeMounts: [{name: model, mountPath: /model}]
YAML
}

# Print the "STEP LOSS" lines of a job's worker 0.
losses() { kubectl logs "$1-worker-0" | sed -n 's/.*step *\([0-9]*\).*loss *\([0-9.]*\).*/\1 \2/p'; }

progress_of() { kubectl get tfjob "$1" -o jsonpath='{.metadata.annotations.trainyard\.dev/progress}'; }
is_told() { progress_of "$1" | finds -E '^step [0-9]+/100000, epoch [0-9.]+, loss [0-9]+\.[0-9]+, [0-9.]+/s$'; }

check() {
    cluster_up --nodes 3
    kubectl label nodes --all pool=face
    manifest three 3 | kubectl apply -f -
    wait_for_tfjob three Succeeded
    nodes=$(kubectl get pods -l training.kubeflow.org/job-name=three -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sort -u | wc -l)
    assert_eq "number of nodes on which the workers ran" 3 "$nodes"
    config=$(kubectl get pod three-worker-1 -o jsonpath="{.spec.containers[0].env[?(@.name=='TF_CONFIG')].value}")
    assert_eq "TF_CONFIG" '{"cluster":{"worker":["three-worker-0.default.svc:2222","three-worker-1.default.svc:2222","three-worker-2.default.svc:2222"]},"task":{"type":"worker","index":1},"environment":"cloud"}' "$config"
    [ -s "$TRAINYARD_STATE/volumes/default/three/face.model" ] || fail "no model on the volume"

    manifest one 1 | kubectl apply -f -
    wait_for_tfjob one Succeeded
    for name in three one; do assert_contains "the last progress of $name" "step $STEPS/$STEPS, " "$(progress_of $name)"; done
    report=$(kubectl describe tfjob three | sed -n 's/.*trainyard.dev\/report: //p')
    assert_eq "the path of the report" "$TRAINYARD_STATE/volumes/default/three/report.html" "$report"
    [ -s "$report" ] || fail "there is no report at $report"
    losses three >"$SCRATCH/three"
    losses one >"$SCRATCH/one"
    assert_eq "logged steps" "$STEPS" "$(wc -l <"$SCRATCH/one")"
    paste "$SCRATCH/one" "$SCRATCH/three" | awk '
        { difference = $2 - $4; if (difference < 0) difference = -difference
          if ($1 != $3 || difference > 0.0005 + 0.002 * $2) { print "step " $1 ": one worker " $2 ", three workers " $4; bad = 1 } }
        END { exit bad }' || fail "the losses of three workers differ from those of one"

    manifest long 2 --steps=100000 | kubectl apply -f -
    wait_until "the progress in the annotation of the job" is_told long
    echo "progress of a job: $(progress_of long)"
    shows_loss() { kubectl get tfjob long | finds 'loss [0-9]'; } # not while a worker waits for another
    wait_until "the progress in the output of 'kubectl get'" shows_loss
    kubectl delete tfjob long
    echo "three workers, $STEPS steps, last loss $(tail -1 "$SCRATCH/three"); one worker $(tail -1 "$SCRATCH/one")"
    cluster_wipe
}

check
become_ordinary_user
check
