#!/bin/bash
# elasticPolicy.metrics on a real API server: the operator creates the job's autoscaler, updates its limits, and deletes it when the job
# is suspended; and the scale subresource has the values that an autoscaler needs. Kubernetes 1.20 has autoscalers of v2beta2.
. "$(dirname "$0")/lib.sh"
without_operator

maximum_is() { [ "$(kubectl get hpa net -o jsonpath='{.spec.maxReplicas}')" = "$1" ]; }
has_reason() { kubectl get events -o jsonpath='{.items[*].reason}' | finds -w -- "$1"; }

kubectl apply -f "$ROOT/manifests/crds.yaml"
wait_established crd/pytorchjobs.kubeflow.org
"$TRAINYARD" operator --namespace "$NAMESPACE" >"$SCRATCH/operator.log" 2>&1 &
operator=$!
clean_up() { kill $operator; }

kubectl apply -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: net}
spec:
  elasticPolicy:
    minReplicas: 1
    maxReplicas: 3
    metrics:
    - type: Resource
      resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers: [{name: pytorch, image: none.invalid/none, imagePullPolicy: Never, resources: {requests: {cpu: 10m}}}]
YAML
wait_until 'the autoscaler' kubectl get hpa net
assert_eq 'what it scales' 'kubeflow.org/v1 PyTorchJob net 1 3' \
    "$(kubectl get hpa net -o jsonpath='{.spec.scaleTargetRef.apiVersion} {.spec.scaleTargetRef.kind} {.spec.scaleTargetRef.name} {.spec.minReplicas} {.spec.maxReplicas}')"
assert_contains 'the metric' '/80%' "$(kubectl get hpa net)"
assert_eq 'the owner of the autoscaler' 'PyTorchJob net true' \
    "$(kubectl get hpa net -o jsonpath='{.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].controller}')"
has_selector() {
    kubectl get --raw "/apis/kubeflow.org/v1/namespaces/$NAMESPACE/pytorchjobs/net/scale" | finds '"selector":"training.kubeflow.org/job-name=net,'
}
wait_until 'the selector of the scale subresource' has_selector

kubectl patch pytorchjob net --type merge -p '{"spec":{"elasticPolicy":{"maxReplicas":5}}}'
wait_until 'the autoscaler to get the new limit' maximum_is 5
kubectl patch pytorchjob net --type merge -p '{"spec":{"runPolicy":{"suspend":true}}}'
wait_until 'the autoscaler of a suspended job to go' is_gone hpa net
for reason in SuccessfulCreateAutoscaler SuccessfulUpdateAutoscaler SuccessfulDeleteAutoscaler; do
    wait_until "$reason" has_reason $reason
done
kubectl patch pytorchjob net --type merge -p '{"spec":{"runPolicy":{"suspend":false}}}'
wait_until 'another autoscaler' kubectl get hpa net
kubectl delete pytorchjob net
wait_until 'the autoscaler of a deleted job to go' is_gone hpa net
