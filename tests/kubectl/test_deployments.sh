#!/bin/bash
# Deployments, with the kubectl of Debian 12.
# shellcheck disable=SC2016 # the shells of the pods expand them
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

field() { kubectl get deployment web -o jsonpath="{$1}"; }
images() { kubectl get pods -l app=web -o jsonpath='{.items[*].spec.containers[0].image}' | tr ' ' '\n' | sort -u; }
revisions() { kubectl get rs -l app=web -o jsonpath='{range .items[*]}{.metadata.annotations.deployment\.kubernetes\.io/revision}={.spec.replicas} {end}' |
    tr ' ' '\n' | sort -r | xargs; }
described() { kubectl describe deployment web | finds -F -- "$1"; }
settled() { kubectl rollout status deployment/web --timeout="${PATIENCE}s"; }
has_no() { [ -z "$(kubectl get "$1" -l app=web -o name)" ]; }
addresses() { kubectl get endpointslices -l kubernetes.io/service-name=web -o jsonpath='{.items[*].endpoints[*].addresses[0]}' | wc -w; }
has_addresses() { [ "$(addresses)" = "$1" ]; }

manifest() { # LINE-OF-SPEC…
    printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {app: web}}\nspec:\n'
    printf '  %s\n' "$@"
    cat <<'YAML'
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: trainyard/tools, command: [bash, -c, 'trap exit TERM; sleep infinity & wait'], ports: [{containerPort: 80}]}
YAML
}

check_rollouts() {
    manifest 'replicas: 3' | kubectl apply -f -
    settled
    assert_contains "get deployments" "3/3     3            3" "$(kubectl get deployments)"
    assert_contains "get deployments -o wide" "trainyard/tools" "$(kubectl get deployments -o wide)"
    assert_contains "get rs" "DESIRED   CURRENT   READY" "$(kubectl get rs)"
    assert_contains "get all" "deployment.apps/web" "$(kubectl get all)"
    assert_eq "revision" "1" "$(field '.metadata.annotations.deployment\.kubernetes\.io/revision')"
    for word in 'RollingUpdate' '25% max unavailable, 25% max surge' '3 desired | 3 updated | 3 total | 3 available | 0 unavailable' \
        'MinimumReplicasAvailable' 'NewReplicaSetAvailable' 'ScalingReplicaSet' 'Scaled up replica set web-'; do
        wait_until "describe deployment to say '$word'" described "$word"
    done

    kubectl set env deployment/web COLOUR=blue
    settled
    assert_eq "sets after a change" "2=3 1=0" "$(revisions)"
    kubectl rollout restart deployment/web
    settled
    assert_eq "sets after a restart" "3=3 2=0 1=0" "$(revisions)"
    assert_contains "rollout history" "REVISION" "$(kubectl rollout history deployment/web)"
    assert_contains "rollout history of one" "COLOUR" "$(kubectl rollout history deployment/web --revision=2)"
    kubectl rollout undo deployment/web --to-revision=1
    settled
    assert_eq "sets after going back" "4=3 3=0 2=0" "$(revisions)"
    assert_eq "no variable" "" "$(field '.spec.template.spec.containers[0].env')"

    kubectl rollout pause deployment/web
    kubectl set env deployment/web COLOUR=green
    kubectl scale deployment/web --replicas=2
    wait_until "the paused deployment to shrink" eval '[ "$(field .status.replicas)" = 2 ]'
    assert_eq "no new set while paused" "4=2 3=0 2=0" "$(revisions)"
    kubectl rollout resume deployment/web
    settled
    assert_eq "sets after resuming" "5=2 4=0 3=0 2=0" "$(revisions)"
}

check_services() {
    kubectl expose deployment web --port=80
    wait_until "two addresses" has_addresses 2
    assert_contains "get endpointslices" "IPv4          80      " "$(kubectl get endpointslices)"
    kubectl scale deployment/web --replicas=1
    wait_until "one address" has_addresses 1
    kubectl delete service web
    wait_until "no slices" has_no endpointslices
}

check_deletion() {
    local set_
    kubectl delete deployment web --cascade="$1"
    set_=$(kubectl get rs -l app=web -o jsonpath='{.items[?(@.spec.replicas>0)].metadata.name}')
    assert_contains "the set stays" "web-" "$set_"
    manifest 'replicas: 1' | kubectl apply -f -
    settled
    kubectl delete deployment web
    wait_until "no sets" has_no rs
    wait_until "no pods" has_no pods
}

check_create() {
    kubectl create deployment web --image=trainyard/tools --replicas=2 -- bash -c 'trap exit TERM; sleep infinity & wait'
    settled
    assert_eq "its pods" 2 "$(kubectl get pods -l app=web -o name | wc -l)"
    kubectl delete deployment web --cascade=foreground
    assert_eq "nothing is left" "" "$(kubectl get rs,pods -l app=web -o name)"
}

check_refusals() {
    local text
    text=$(manifest 'replicas: -1' | kubectl apply -f - 2>&1) && fail "taken: $text"
    assert_contains "replicas" "spec.replicas: Invalid value: -1: must be greater than or equal to 0" "$text"
    text=$(manifest 'replicas: 1' | sed 's/labels: {app: web}}$/labels: {app: other}}/' | kubectl apply -f - 2>&1) && fail "taken: $text"
    assert_contains "selector" '`selector` does not match template `labels`' "$text"
}

check_others() {
    assert_contains "get storageclasses" "standard (default)   trainyard.dev/directory   Delete          Immediate" "$(kubectl get storageclasses)"
    assert_contains "get priorityclasses" "system-node-critical      2000001000   false" "$(kubectl get priorityclasses)"
    kubectl get namespaces kubeflow kubeflow-user-example-com
}

claim_is_bound() { [ "$(kubectl get pvc "$1" -o jsonpath='{.status.phase}')" = Bound ]; }

# The StorageClass of a tutorial, exactly as the tutorial prints it. Its provisioner does not run here. A claim that names the class gets
# a volume without the class and with it.
check_tutorial_class() {
    local verb
    for verb in none create apply; do
        [ $verb = none ] || kubectl $verb -f - <<'YAML'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: managed-nfs-storage
provisioner: k8s-sigs.io/nfs-subdir-external-provisioner # or choose another name, must match deployment's env PROVISIONER_NAME'
parameters:
  archiveOnDelete: "false"
YAML
        kubectl create -f - <<YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim-$verb}
spec:
  storageClassName: managed-nfs-storage
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 30Gi}}
YAML
        wait_until "the claim to be bound" claim_is_bound claim-$verb
        [ $verb = none ] || kubectl delete storageclass managed-nfs-storage
    done
}

check_version() {
    echo "with $($KUBECTL version --client 2>/dev/null | sed -n 1p)"
    check_rollouts
    check_services
    # Older versions of kubectl call it --cascade=false, newer ones --cascade=orphan.
    if kubectl delete --help | grep -c "orphan" >/dev/null; then check_deletion orphan; else check_deletion false; fi
    check_refusals
    check_create
}

cluster_up
check_others
check_tutorial_class
check_version
