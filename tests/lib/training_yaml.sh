# shellcheck shell=bash disable=SC2034 # the tests use them
# Functions that write training jobs. Source it after lib.sh; it sources training.sh. The defaults are for the embedded cluster;
# tests/kubernetes/jobs.sh sets those for a real Kubernetes.
#
#   replica Worker 2 Never 'exit 1' | job NAME 'runPolicy: {backoffLimit: 1}' | kubectl apply -f -
#
# All replicas mount one volume at $JOB_MOUNT, which outlives them. After state_volume it is the directory $SHARED here.

# shellcheck source=tests/lib/training.sh
. "$ROOT/tests/lib/training.sh"

JOB_IMAGE=${JOB_IMAGE:-trainyard/tools}
JOB_SHELL=${JOB_SHELL:-bash}
JOB_MOUNT=${JOB_MOUNT:-/state}
[ -n "${JOB_VOLUME:-}" ] || JOB_VOLUME='persistentVolumeClaim: {claimName: state}'

# Create the volume as a claim: then the server creates its directory.
state_volume() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: state}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
YAML
    SHARED=$TRAINYARD_STATE/volumes/default/state
}

# replica TYPE REPLICAS POLICY SCRIPT [CONTAINER-LINE…]: one replica type of a job.
replica() {
    local container=tensorflow
    [ "$JOB_KIND" = TFJob ] || container=pytorch
    cat <<YAML
    $1:
      replicas: $2
      restartPolicy: $3
      template:
        spec:
          terminationGracePeriodSeconds: 1
          volumes: [{name: state, $JOB_VOLUME}]
          containers:
          - name: $container
            image: $JOB_IMAGE
            command: [$JOB_SHELL, -c]
            args: [$(printf '%s' "$4" | sed "s/'/''/g; s/^/'/; s/\$/'/")]
            volumeMounts: [{name: state, mountPath: $JOB_MOUNT}]
YAML
    [ $# -le 4 ] || printf '            %s\n' "${@:5}"
}

# job NAME [SPEC-LINE…] <REPLICAS
job() {
    local replicas=tfReplicaSpecs
    [ "$JOB_KIND" = TFJob ] || replicas=pytorchReplicaSpecs
    printf 'apiVersion: kubeflow.org/v1\nkind: %s\nmetadata: {name: %s}\nspec:\n' "$JOB_KIND" "$1"
    shift
    [ $# = 0 ] || printf '  %s\n' "$@"
    printf '  %s:\n' "$replicas"
    cat
}

# fail_once MARK CODE: a script that fails in its first run and succeeds in the second.
fail_once() { echo "[ -e $JOB_MOUNT/$1 ] || { touch $JOB_MOUNT/$1; exit $2; }; echo done"; }
