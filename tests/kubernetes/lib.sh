# shellcheck shell=bash
# Functions for the tests on a real Kubernetes, on top of tests/lib/lib.sh. tests/kubernetes/run sets KUBECONFIG.
#
#   . "$(dirname "$0")/lib.sh"
#
# Every test has its own namespace, $NAMESPACE, which is deleted with everything in it when the test ends.
cluster_kubeconfig=${KUBECONFIG:?tests/kubernetes/run sets it}
KUBERNETES=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$KUBERNETES/common.sh"
# shellcheck source=tests/lib/lib.sh
. "$KUBERNETES/../lib/lib.sh"
export KUBECONFIG=$cluster_kubeconfig
KUBECTL=$CACHE/bin/kubectl
NAMESPACE=$(basename "$0" .sh | tr _ -)
PATH=$CACHE/bin:$PATH

# The failure is printed again at the end, below the objects of the cluster.
failure=
fail() {
    failure="FAILED: $*"
    echo "$failure" >&2
    exit 1
}

finish_on_kubernetes() {
    local code=$?
    trap - EXIT
    if [ $code != 0 ] && [ $code != 77 ]; then # 77: skipped
        echo '--- the objects of the cluster:'
        kubectl get pods,services -A -o wide 2>&1 || true
        kubectl get events -n "$NAMESPACE" --sort-by=.lastTimestamp 2>&1 | tail -40 || true
        kubectl describe pods -n "$NAMESPACE" 2>&1 | tail -60 || true
    fi
    ! declare -F clean_up >/dev/null || clean_up $code || code=1 # undoes the test's changes to the cluster itself
    [ $code = 0 ] || kubectl delete pods -n "$NAMESPACE" --all --force --grace-period=0 >/dev/null 2>&1 || true
    # After an interrupt the namespace stays, because tests/kubernetes/run stops the whole cluster.
    [ $code -ge 128 ] || kubectl delete namespace "$NAMESPACE" --timeout=120s >/dev/null || code=1
    rm -rf "$SCRATCH"
    [ -z "$failure" ] || echo "$failure" >&2
    exit $code
}
trap finish_on_kubernetes EXIT

# A test needs the operator of install.yaml, or one that it starts itself, or none: it calls one of these functions.
operator_is_ready() { [ "$(kubectl get deployment trainyard-operator -n trainyard -o jsonpath='{.status.readyReplicas}')" = 2 ]; }
with_operator() { operator_is_ready 2>/dev/null || "$KUBERNETES/install"; }
without_operator() {
    kubectl get deployment trainyard-operator -n trainyard >/dev/null 2>&1 || return 0
    kubectl scale deployment trainyard-operator -n trainyard --replicas=0
    wait_until 'the operator to be gone' is_gone pods -n trainyard -l app.kubernetes.io/component=operator
}

kubectl create namespace "$NAMESPACE" >/dev/null
kubectl config view --raw >"$SCRATCH/kubeconfig"
KUBECONFIG=$SCRATCH/kubeconfig
kubectl config set-context --current --namespace "$NAMESPACE" >/dev/null
# A pod is refused before the service account exists.
wait_until "the service account of $NAMESPACE" kubectl get serviceaccount default
