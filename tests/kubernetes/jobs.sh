# shellcheck shell=bash disable=SC2034 # the tests use them
# Training jobs on a real Kubernetes, as the tests of the operator write them and look at them. Source it after lib.sh.

# What outlives the pods of a test: $SHARED here is /shared in every replica.
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

# The trainer's image, as a user would make it; $TRAINER_IMAGE is its name.
with_trainer() {
    make -s -C "$ROOT" image-trainer
    "$KUBERNETES/node" import "$ROOT/build/trainer-image.tar"
    TRAINER_IMAGE=trainyard/trainer:$("$TRAINER" --version | cut -d ' ' -f 2)
}

# A script that runs until the test says so, and tells every time that it started.
until_told() { echo "echo \$HOSTNAME >>/shared/started; until [ -e /shared/$1 ]; do usleep 100000; done; echo done"; }
tell() { touch "$SHARED/$1"; }
times_started() { grep -cx -- "$1" "$SHARED/started"; }

of_job() { # NAME KIND: the objects of that kind that a job made
    kubectl get "$2" -l "training.kubeflow.org/job-name=$1" -o name | sort | tr '\n' ' '
}
has_objects() { [ "$(of_job "$1" "$2")" = "$3" ]; } # NAME KIND NAMES
reason_of() { kubectl get tfjob "$1" -o jsonpath="{.status.conditions[?(@.type=='$2')].reason}"; }

audit_before=$(wc -l <"$STATE/log/audit.json") # what this test did comes after
# How often the API server was asked to make a pod of that name, and did; its audit says so even of pods that are gone.
times_created() { # POD
    tail -n +$((audit_before + 1)) "$STATE/log/audit.json" | jq -rn --arg namespace "$NAMESPACE" --arg pod "$1" '[inputs | select(.verb == "create" and .objectRef.resource == "pods" and
        .objectRef.subresource == null and .objectRef.namespace == $namespace and .objectRef.name == $pod and .responseStatus.code == 201)] | length'
}

# Who leads, as the operator writes it into its lease: POD_UNIQUE. Empty while nobody does.
lease_holder() { kubectl get lease trainyard-operator -n trainyard -o jsonpath='{.spec.holderIdentity}'; }
leader() { lease_holder | sed 's/_.*//'; }
has_leader() { kubectl get pod "$(leader)" -n trainyard; } # one that is there

# A kind that the server does not know has nothing, too.
nothing_of() { [ -z "$(kubectl get "$1" -o name 2>/dev/null)" ]; }
# After a job is deleted nothing of it may be left.
assert_nothing_left() {
    kubectl delete tfjobs --all >/dev/null
    kubectl delete pytorchjobs --all >/dev/null
    for kind in pods services podgroups; do
        wait_until "no $kind to be left" nothing_of "$kind"
    done
}
