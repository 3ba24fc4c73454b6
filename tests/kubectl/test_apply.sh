#!/bin/bash
# Server-side apply with kubectl: objects are created and changed, conflicts are reported and forced, dropped fields disappear, other
# managers keep their fields. Also: switching from client-side apply and back, dry runs, diffs, custom resources, and the manager of the
# scale subresource.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

maps=/api/v1/namespaces/default/configmaps jobs=/apis/kubeflow.org/v1/namespaces/default/tfjobs

settings() { # NAME=VALUE…
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n'
    for pair; do printf '  %s: "%s"\n' "${pair%%=*}" "${pair#*=}"; done
}
value() { kubectl get cm settings -o jsonpath="{.data.$1}"; }
# The entries of an object's managedFields: "manager operation subresource". kubectl hides them since 1.21 unless asked.
owners() { kubectl get --raw "$1" | jq -r '.metadata.managedFields // [] | .[] | [.manager, .operation, .subresource // "-"] | join(" ")' | sort; }
version() { kubectl get cm settings -o jsonpath='{.metadata.resourceVersion}'; }

check() {
    # Create, apply again without a change, change.
    settings mode=fast size=1 | kubectl apply --server-side -f -
    assert_eq "made" fast "$(value mode)"
    before=$(version)
    settings mode=fast size=1 | kubectl apply --server-side -f -
    assert_eq "applied again, it is the same" "$before" "$(version)"
    assert_eq "its owner" "kubectl Apply -" "$(owners "$maps/settings")"
    settings mode=slow | kubectl apply --server-side -f -
    assert_eq "changed" slow "$(value mode)"
    assert_eq "what is dropped is gone" "" "$(value size)"

    # Another field manager.
    settings mode=other | kubectl apply --server-side --field-manager me -f - >"$SCRATCH/conflict" 2>&1 && fail "no conflict"
    assert_contains "the conflict" 'conflict with "kubectl": .data.mode' "$(cat "$SCRATCH/conflict")"
    settings mode=other extra=1 | kubectl apply --server-side --field-manager me --force-conflicts -f -
    assert_eq "forced" other "$(value mode)"
    kubectl patch cm settings --type merge -p '{"data":{"extra":"2"}}' --field-manager patcher
    settings mode=other extra=1 | kubectl apply --server-side --field-manager me -f - >"$SCRATCH/conflict" 2>&1 && fail "no conflict with a patch"
    assert_contains "the conflict with a patch" 'conflict with "patcher" using v1: .data.extra' "$(cat "$SCRATCH/conflict")"

    # A dry run changes nothing, and diff shows a difference.
    settings mode=dry | kubectl apply --server-side --force-conflicts --dry-run=server -f -
    assert_eq "after a dry run" other "$(value mode)"
    settings mode=seen | kubectl diff --server-side --force-conflicts -f - >"$SCRATCH/diff" 2>&1 && fail "no difference seen"
    assert_contains "the difference" "+  mode: seen" "$(cat "$SCRATCH/diff")"
    kubectl delete cm settings

    # From client-side apply to server-side apply, and back.
    settings mode=fast | kubectl apply -f -
    settings mode=slow | kubectl apply --server-side -f -
    assert_eq "taken over" slow "$(value mode)"
    settings mode=fast | kubectl apply -f -
    assert_eq "and back" fast "$(value mode)"
    kubectl delete cm settings

    # A custom resource with its status and scale subresources.
    cat >"$SCRATCH/job.yaml" <<'YAML'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: job}
spec:
  runPolicy: {suspend: true}
  tfReplicaSpecs:
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: tensorflow, image: trainyard/tools, command: [sleep, "1000"]}]}}
YAML
    kubectl apply --server-side -f "$SCRATCH/job.yaml"
    kubectl scale tfjob/job --replicas 2
    assert_contains "the manager of the scale" "kubectl Update scale" "$(owners "$jobs/job")"
    kubectl apply --server-side -f "$SCRATCH/job.yaml" >"$SCRATCH/conflict" 2>&1 && fail "no conflict with a scale"
    assert_contains "the conflict with a scale" 'with subresource "scale" using kubeflow.org/v1: .spec.tfReplicaSpecs.Worker.replicas' "$(cat "$SCRATCH/conflict")"
    has_status_manager() { owners "$jobs/job" | grep -c 'Update status' >/dev/null; }
    wait_until "the operator's status" has_status_manager
    kubectl delete tfjob job
}

cluster_up
for KUBECTL in $(printf '%s\n' "$(type -P "$KUBECTL")" "$(PATH=/usr/local/bin:/usr/bin:/bin type -P kubectl || true)" | sort -u); do
    echo "with $KUBECTL"
    check
done
