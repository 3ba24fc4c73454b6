#!/bin/bash
# install-namespaced.yaml: an operator that runs the jobs of its own namespace and of no other, and has no rights outside of it.
. "$(dirname "$0")/lib.sh"

OTHER=$NAMESPACE-other
# The operator for all namespaces, if one is installed, is scaled to 0 meanwhile.
everywhere() { kubectl get deployment trainyard-operator -n trainyard >/dev/null 2>&1; }
rest() {
    everywhere || return 0
    kubectl scale deployment trainyard-operator -n trainyard --replicas=0
    wait_until 'the other operator to stop' no_operators
}
no_operators() { [ -z "$(kubectl get pods -n trainyard -o name)" ]; }
clean_up() {
    ! everywhere || kubectl scale deployment trainyard-operator -n trainyard --replicas=2
    kubectl delete namespace "$OTHER" --timeout=120s >/dev/null
}
kubectl create namespace "$OTHER"
rest

"$ROOT/tools/image" --name "trainyard/operator:$("$TRAINYARD" --version | cut -d ' ' -f 2)" --output "$SCRATCH/operator.tar" \
    --cmd operator "$TRAINYARD"
"$KUBERNETES/node" import "$SCRATCH/operator.tar"
kubectl apply -f "$ROOT/manifests/crds.yaml"
sed "s/namespace: trainyard/namespace: $NAMESPACE/" "$ROOT/manifests/install-namespaced.yaml" | kubectl apply -f -
wait_until 'both operators to be ready' kubectl wait --for=condition=Available deployment/trainyard-operator --timeout=2s
ready() { [ "$(kubectl get deployment trainyard-operator -o jsonpath='{.status.readyReplicas}')" = 2 ]; }
wait_until 'two ready replicas of the operator' ready

for each in "$OTHER" "$NAMESPACE"; do
    kubectl apply -n "$each" -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: tiny}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: tensorflow, image: "trainyard/busybox:1", command: [sh, -c, exit 0]}]}}
YAML
done
wait_for_tfjob tiny Succeeded
assert_eq "pods of another namespace's job" '' "$(kubectl get pods -n "$OTHER" -o name)"
assert_eq "status of another namespace's job" '' "$(kubectl get tfjob tiny -n "$OTHER" -o jsonpath='{.status}')"
operator=system:serviceaccount:$NAMESPACE:trainyard-operator
assert_eq 'rights in its own namespace' yes "$(kubectl auth can-i create pods --as "$operator")"
assert_eq 'rights in another namespace' no "$(kubectl auth can-i list pods --as "$operator" -n "$OTHER" || true)"
leads() { kubectl get pod "$(kubectl get lease trainyard-operator -o jsonpath='{.spec.holderIdentity}' | sed 's/_.*//')"; }
wait_until 'one of them to lead' leads
