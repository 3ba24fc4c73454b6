# shellcheck shell=bash disable=SC2034 # the tests use them
# Functions that write and inspect training jobs on a real Kubernetes, for the tests of the operator. Source it after lib.sh.

# A directory that outlives the pods of a test: $SHARED here is /shared in every replica.
SHARED=$STATE/lib/$NAMESPACE
rm -rf "$SHARED"
mkdir -p "$SHARED"
chmod 777 "$SHARED"
JOB_IMAGE=trainyard/busybox:1
JOB_SHELL='sh'
JOB_MOUNT=/shared
JOB_VOLUME="hostPath: {path: /var/lib/$NAMESPACE}"
# shellcheck source=tests/lib/training_yaml.sh
. "$ROOT/tests/lib/training_yaml.sh"

# Build and import the trainer's image as a user would. $TRAINER_IMAGE is its name.
with_trainer() {
    make -s -C "$ROOT" image-trainer
    "$KUBERNETES/node" import "$ROOT/build/trainer-image.tar"
    TRAINER_IMAGE=trainyard/trainer:$("$TRAINER" --version | cut -d ' ' -f 2)
}

# until_told NAME: a script that writes its host name to /shared/started and runs until the test calls `tell NAME`.
until_told() { echo "echo \$HOSTNAME >>/shared/started; until [ -e /shared/$1 ]; do usleep 100000; done; echo done"; }
tell() { touch "$SHARED/$1"; }
times_started() { grep -cx -- "$1" "$SHARED/started"; }

of_job() { # NAME KIND: the objects of that kind that belong to a job
    kubectl get "$2" -l "training.kubeflow.org/job-name=$1" -o name | sort | tr '\n' ' '
}
has_objects() { [ "$(of_job "$1" "$2")" = "$3" ]; } # NAME KIND NAMES
reason_of() { kubectl get tfjob "$1" -o jsonpath="{.status.conditions[?(@.type=='$2')].reason}"; }

audit_before=$(wc -l <"$STATE/log/audit.json") # the lines of this test come after it
# How often a pod of that name was created. The API server's audit log shows even pods that are gone.
times_created() { # POD
    tail -n +$((audit_before + 1)) "$STATE/log/audit.json" | jq -rn --arg namespace "$NAMESPACE" --arg pod "$1" '[inputs | select(.verb == "create" and .objectRef.resource == "pods" and
        .objectRef.subresource == null and .objectRef.namespace == $namespace and .objectRef.name == $pod and .responseStatus.code == 201)] | length'
}

# The holder of the operator's lease, as POD_UNIQUE. Empty while there is no leader.
lease_holder() { kubectl get lease trainyard-operator -n trainyard -o jsonpath='{.spec.holderIdentity}'; }
leader() { lease_holder | sed 's/_.*//'; }
has_leader() { kubectl get pod "$(leader)" -n trainyard; } # and its pod exists

# Succeeds also if the server does not know the kind.
nothing_of() { [ -z "$(kubectl get "$1" -o name 2>/dev/null)" ]; }
# After its deletion no object of a job may be left.
assert_nothing_left() {
    kubectl delete tfjobs --all >/dev/null
    kubectl delete pytorchjobs --all >/dev/null
    for kind in pods services podgroups; do
        wait_until "no $kind to be left" nothing_of "$kind"
    done
}
