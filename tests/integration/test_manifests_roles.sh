#!/bin/bash
# The roles in manifests/ give the operator enough rights. With its service account, for all namespaces and for one namespace, it runs a
# job that is scaled, restarts, ends, is cleaned up and is deleted. No request of the operator is forbidden.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

operator=
clean_up() { # EXIT-CODE
    [ -z "$operator" ] || kill "$operator" 2>/dev/null
    [ "$1" = 0 ] || cat "$SCRATCH"/operator-*.log
}

cluster_up --no-operator
# Write a kubeconfig with the token of the service account instead of the administrator's.
login() { # NAMESPACE
    local token
    token=$(echo '{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}' |
        kubectl create --raw "/api/v1/namespaces/$1/serviceaccounts/trainyard-operator/token" -f - | jq -r .status.token)
    sed "s/^\( *token: \).*/\1$token/" "$KUBECONFIG" >"$SCRATCH/$1.kubeconfig"
}
start() { # NAMESPACE [OPTION…]
    login "$1"
    "$TRAINYARD" operator --kubeconfig "$SCRATCH/$1.kubeconfig" --leader-elect --metrics-bind-address 0 \
        --health-probe-bind-address 0 "${@:2}" >"$SCRATCH/operator-$1.log" 2>&1 &
    operator=$!
}
stop() {
    kill "$operator"
    wait "$operator" || fail "the operator ended with $?"
    operator=
    ! grep -iE 'forbidden|cannot' "$SCRATCH"/operator-*.log || fail "a request of the operator was forbidden"
}
event_is_there() { [[ $(kubectl get events -n "$1" -o jsonpath='{.items[*].reason}') == *"$2"* ]]; }
pod_is_running() { [ "$(kubectl get pod "$2" -n "$1" -o jsonpath='{.status.phase}')" = Running ]; }
live() { # NAMESPACE: runs a job through its whole life
    kubectl apply -n "$1" -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: life}
spec:
  runPolicy: {cleanPodPolicy: All, ttlSecondsAfterFinished: 1}
  tfReplicaSpecs:
    Chief:
      restartPolicy: ExitCode
      template: {spec: {containers: [{name: tensorflow, image: trainyard/tools, command: [sleep, infinity]}]}}
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: tensorflow, image: trainyard/tools, command: [sleep, infinity]}]}}
YAML
    wait_until 'the job to run' pod_is_running "$1" life-worker-0
    kubectl scale tfjob life -n "$1" --replicas=2
    wait_until 'the second worker' pod_is_running "$1" life-worker-1
    kubectl scale tfjob life -n "$1" --replicas=1
    wait_until 'the second worker to be deleted' is_gone pod/life-worker-1 -n "$1"
    wait_until 'the chief to run' pod_is_running "$1" life-chief-0
    wait_until 'the process of the chief to be killed' kill_in_pod life-chief-0 sleep -n "$1"
    wait_until 'the event of a restart' event_is_there "$1" TFJobRestarting
    kubectl patch tfjob life -n "$1" --type merge -p '{"spec": {"runPolicy": {"activeDeadlineSeconds": 1}}}'
    wait_until 'the job to be deleted' is_gone tfjob/life -n "$1"
    wait_until 'its pods to be deleted' is_gone pods -n "$1"
    wait_until 'its services to be deleted' is_gone services -n "$1"
}

base=$ROOT/manifests/base
kubectl apply -f "$base/namespace.yaml" -f "$base/service-account.yaml" -f "$base/cluster-role.yaml" -f "$base/leader-role.yaml" \
    -f "$base/user-roles.yaml"
kubectl create namespace team
start trainyard --leader-election-namespace trainyard
live team
stop

kubectl delete clusterrolebinding trainyard-operator
kubectl create namespace mine
sed 's/namespace: trainyard/namespace: mine/' "$base/service-account.yaml" >"$SCRATCH/account.yaml"
sed 's/namespace: trainyard/namespace: mine/' "$base/leader-role.yaml" >"$SCRATCH/leader.yaml"
sed 's/namespace: trainyard/namespace: mine/' "$ROOT/manifests/overlays/namespaced/role.yaml" >"$SCRATCH/role.yaml"
kubectl apply -f "$SCRATCH/account.yaml" -f "$SCRATCH/leader.yaml" -f "$SCRATCH/role.yaml"
start mine --leader-election-namespace mine --namespace mine
live mine
stop
cluster_wipe
