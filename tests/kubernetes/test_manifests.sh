#!/bin/bash
# The definitions of TFJob and PyTorchJob on a real API server: they can be applied client-side, twice; valid jobs are stored unchanged,
# invalid ones are refused with a message; both versions show the same; columns, scale, explain; and the rights of the roles.
. "$(dirname "$0")/lib.sh"
without_operator

MANIFESTS=$ROOT/manifests

# --- the manifests apply, and a second apply changes nothing; other tests cover the operator itself
parts=(namespace.yaml crd service-account.yaml cluster-role.yaml leader-role.yaml user-roles.yaml service.yaml)
kubectl apply "${parts[@]/#/-f$MANIFESTS/base/}"
assert_eq 'changes of a second apply' '' "$(kubectl apply "${parts[@]/#/-f$MANIFESTS/base/}" | grep -v ' unchanged$')"
assert_eq 'the other objects of install.yaml' deployment.apps/trainyard-operator \
    "$(kubectl apply --dry-run=server -f "$MANIFESTS/install.yaml" | grep -Ev '^[^d].* unchanged' | cut -d ' ' -f 1)"
# Another test may have installed the operator and scaled it to 0: its replicas are not compared.
output=$(sed '/^  replicas: /d' "$MANIFESTS/install.yaml" | kubectl apply --server-side --dry-run=server -f - 2>&1) || fail "a server-side apply after a plain one: $output"
wait_established crd/tfjobs.kubeflow.org crd/pytorchjobs.kubeflow.org

explains() { [[ $(kubectl explain "$1") == *"$2"* ]]; }
wait_until 'explain tfjob.spec' explains tfjob.spec 'tfReplicaSpecs	<map[string]Object> -required-'
wait_until 'explain pytorchjob.spec' explains pytorchjob.spec.elasticPolicy 'rdzvBackend	<string>'
explains tfjob.spec.runPolicy 'cleanPodPolicy	<string>' || fail 'explain tfjob.spec.runPolicy'
explains tfjob.spec.tfReplicaSpecs.template.spec.containers 'imagePullPolicy	<string>' || fail 'explain a container of a tfjob'

# --- a job of v1beta1 can be read as v1, and nothing of it is lost: neither fields at their old positions nor an unknown replica type
kubectl apply -f - <<'YAML'
apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata: {name: old}
spec:
  cleanPodPolicy: Running
  ttlSecondsAfterFinished: 100
  activeDeadlineSeconds: 200
  backoffLimit: 3
  runPolicy: {suspend: true, managedBy: kueue.x-k8s.io/multikueue}
  tfReplicaSpecs:
    Ps:
      replicas: 1
      template:
        metadata: {labels: {a: b}, annotations: {c: d}}
        spec:
          nodeSelector: {disk: ssd}
          containers: [{name: tensorflow, image: none, resources: {limits: {cpu: 1}}}]
    Wroker:
      template: {spec: {containers: [{name: tensorflow, image: none}]}}
    Worker:
      replicas: 2
      restartPolicy: ExitCode
      template: {spec: {containers: [{name: tensorflow, image: none}]}}
YAML
expected=$(jq -cS . <<'JSON'
{"cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 100, "activeDeadlineSeconds": 200, "backoffLimit": 3,
 "runPolicy": {"suspend": true, "managedBy": "kueue.x-k8s.io/multikueue"},
 "tfReplicaSpecs": {
  "Ps": {"replicas": 1, "template": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
   "spec": {"nodeSelector": {"disk": "ssd"},
    "containers": [{"name": "tensorflow", "image": "none", "resources": {"limits": {"cpu": 1}}}]}}},
  "Wroker": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "none"}]}}},
  "Worker": {"replicas": 2, "restartPolicy": "ExitCode", "template": {"spec": {"containers": [{"name": "tensorflow", "image": "none"}]}}}}}
JSON
)
for version in v1 v1beta1; do
    got=$(kubectl get "tfjobs.$version.kubeflow.org" old -o json)
    assert_eq "its version as $version" "kubeflow.org/$version" "$(jq -r .apiVersion <<<"$got")"
    assert_eq "its spec as $version" "$expected" "$(jq -cS .spec <<<"$got")"
done

# --- scale, and the columns
kubectl scale tfjob old --replicas=5
assert_eq 'workers after scale' 5 "$(kubectl get tfjob old -o jsonpath='{.spec.tfReplicaSpecs.Worker.replicas}')"
kubectl annotate tfjob old trainyard.dev/progress='step 3/10' >/dev/null
"$KUBECTL" proxy --port=0 >"$SCRATCH/proxy" &
proxy=$!
clean_up() { kill $proxy; }
wait_until 'the proxy' grep -q 127.0.0.1 "$SCRATCH/proxy"
address=$(sed -n 's/.*on \(127.*\)/\1/p' "$SCRATCH/proxy")
write_status() { # RESOURCE NAME STATUS: write a status as the operator does
    curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d "{\"status\": $3}" \
        "http://$address/apis/kubeflow.org/v1/namespaces/$NAMESPACE/$1/$2/status" >/dev/null
}
write_status tfjobs old '{"conditions": [{"type": "Created", "status": "True"}, {"type": "Running", "status": "True",
    "lastUpdateTime": "2026-01-02T03:04:05Z"}], "replicaStatuses": {"Worker": {"active": 4, "selector": "x=y"}},
    "startTime": "2026-01-02T03:04:05Z", "ofTomorrow": 1}'
assert_eq 'columns' 'NAME STATE PROGRESS AGE|old Running step 3/10' \
    "$(kubectl get tfjobs | tr -s ' ' | sed 's/ [^ ]*$//; 1s/$/ AGE/' | paste -sd '|')"
assert_eq 'scale of the status' '{"replicas":5} {"replicas":4,"selector":"x=y"}' \
    "$(kubectl get --raw "/apis/kubeflow.org/v1/namespaces/$NAMESPACE/tfjobs/old/scale" | jq -rc '"\(.spec) \(.status)"')"
assert_eq 'an unknown field of the status' 1 "$(kubectl get tfjob old -o jsonpath='{.status.ofTomorrow}')"

kubectl apply -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: torch}
spec:
  nprocPerNode: "2"
  runPolicy: {suspend: true, schedulingPolicy: {minAvailable: 1, queue: q, minResources: {cpu: 2, memory: 1.5Gi, gpu: "1e3"}}}
  elasticPolicy: {minReplicas: 1, maxReplicas: 3, rdzvBackend: c10d, rdzvConf: [{key: a, value: b}], metrics: [{type: Resource}]}
  pytorchReplicaSpecs:
    Worker: {replicas: 1, restartPolicy: OnFailure, template: {spec: {containers: [{name: pytorch, image: none}]}}}
YAML
kubectl patch pytorchjob torch --type merge -p '{"spec": {"nprocPerNode": "auto"}}'
kubectl scale pytorchjob torch --replicas=3
assert_eq 'a PyTorchJob' 'auto 3 [{"type":"Resource"}] 1.5Gi' "$(kubectl get pytorchjob torch -o json |
    jq -rc '.spec | "\(.nprocPerNode) \(.pytorchReplicaSpecs.Worker.replicas) \(.elasticPolicy.metrics) \(.runPolicy.schedulingPolicy.minResources.memory)"')"

for job in tfjob/old pytorchjob/torch; do
    output=$(kubectl scale $job --replicas=20000 2>&1) && fail "$job was scaled to 20000"
    assert_contains "the refusal of $job" 'Worker.replicas in body should be less than or equal to 10000' "$output"
done

# --- invalid jobs are refused at once, with the name of the field
refused() { # PART NAME SPEC [KIND]
    local output
    printf 'apiVersion: kubeflow.org/v1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n' "${4:-TFJob}" "$2" "$3" >"$SCRATCH/bad.yaml"
    output=$(kubectl create --validate=false -f "$SCRATCH/bad.yaml" 2>&1) && fail "accepted: $2 $3"
    assert_contains "the refusal of $2 $3" "$1" "$output"
}
refused 'spec.tfReplicaSpecs: Required value' bad '{}'
refused 'spec.tfReplicaSpecs in body should have at least 1 properties' bad '{tfReplicaSpecs: {}}'
refused 'spec.tfReplicaSpecs.Worker.replicas in body should be greater than or equal to 0' bad '{tfReplicaSpecs: {Worker: {replicas: -1}}}'
refused 'spec.tfReplicaSpecs.Worker.replicas in body should be less than or equal to 10000' bad '{tfReplicaSpecs: {Worker: {replicas: 10001}}}'
refused 'spec.elasticPolicy.maxReplicas in body should be less than or equal to 10000' bad \
    '{elasticPolicy: {maxReplicas: 10001}, pytorchReplicaSpecs: {Worker: {}}}' PyTorchJob
refused 'spec.tfReplicaSpecs.Worker.replicas in body must be of type integer' bad '{tfReplicaSpecs: {Worker: {replicas: "2"}}}'
refused 'spec.tfReplicaSpecs.Worker.template in body must be of type object' bad '{tfReplicaSpecs: {Worker: {template: []}}}'
template() { # PART CONTAINER [REST OF THE POD]
    refused "$1" bad "{tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow, image: none, $2}]${3:+, $3}}}}}}"
}
template 'must be of type string: "integer"' 'command: [sleep, 2]'
template 'value in body must be of type string: "integer"' 'env: [{name: STEPS, value: 100}]'
template 'cpu in body should match' 'resources: {limits: {cpu: many}}'
template 'containerPort: Required value' 'ports: [{name: web}]'
template 'Duplicate value: map[string]interface {}{"name":"tensorflow"}' 'tty: true}, {name: tensorflow'
refused 'supported values: "", "Always", "OnFailure", "Never", "ExitCode"' bad '{tfReplicaSpecs: {Worker: {restartPolicy: Sometimes}}}'
policy() { refused "$1" bad "{tfReplicaSpecs: {Worker: {}}, $2}"; }
policy 'supported values: "None", "Running", "All"' 'runPolicy: {cleanPodPolicy: Al}'
policy 'supported values: "None", "Running", "All"' 'cleanPodPolicy: Al'
policy 'supported values: "kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"' 'runPolicy: {managedBy: me}'
policy 'spec.runPolicy.backoffLimit in body should be greater than or equal to 0' 'runPolicy: {backoffLimit: -1}'
policy 'spec.runPolicy.schedulingPolicy.minResources.cpu in body should match' 'runPolicy: {schedulingPolicy: {minResources: {cpu: ten}}}'
policy 'supported values: "", "AllWorkers"' 'successPolicy: Most'
refused 'spec.nprocPerNode in body must be of type string' bad '{nprocPerNode: 2, pytorchReplicaSpecs: {Worker: {}}}' PyTorchJob
refused 'metadata.name in body should match' 1st '{tfReplicaSpecs: {Worker: {}}}'
refused 'metadata.name in body should be at most 63 chars long' "$(printf 'a%.0s' {1..64})" '{tfReplicaSpecs: {Worker: {}}}'
assert_eq 'jobs in the end' old "$(kubectl get tfjobs -o jsonpath='{.items[*].metadata.name}')"

# --- a misspelt field in a template is found, as in a pod
with_command() { # NAME FIELD
    printf '{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "%s"}, "spec": {"runPolicy": {"suspend": true}, "tfReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "none", %s}]}}}}}}' "$1" "$2"
}
output=$(with_command misspelt '"comand": ["sh"]' | kubectl apply -f - 2>&1) && fail 'a misspelt field was accepted'
assert_contains 'the misspelt field' 'unknown field "comand"' "$output"

# --- roles: the operator has the rights that it needs and no more; the roles edit and view include jobs
may() { # USER VERB RESOURCE[/PART][.GROUP] [NAMESPACE [NAME]]: as the API server decides, also for unknown resources
    local whole=${3%%.*} group='' part=''
    [ "$whole" = "$3" ] || group=${3#*.}
    [ "${whole%/*}" = "$whole" ] || part=${whole#*/}
    [ "$(kubectl create -o jsonpath='{.status.allowed}' -f - <<YAML
apiVersion: authorization.k8s.io/v1
kind: SubjectAccessReview
spec:
  user: $1
  resourceAttributes: {namespace: ${4:-$NAMESPACE}, verb: $2, group: "$group", resource: ${whole%/*}, subresource: "$part", name: "${5:-}"}
YAML
    )" = true ]
}
operator=system:serviceaccount:trainyard:trainyard-operator
for right in 'list tfjobs.kubeflow.org' 'patch pytorchjobs.kubeflow.org' 'update tfjobs/status.kubeflow.org' \
    'update pytorchjobs/finalizers.kubeflow.org' 'delete tfjobs.kubeflow.org' 'create pods' 'patch pods' 'delete pods' 'watch services' 'create services' \
    'patch events' 'create podgroups.scheduling.x-k8s.io' 'delete podgroups.scheduling.volcano.sh' \
    'create horizontalpodautoscalers.autoscaling' 'patch horizontalpodautoscalers.autoscaling'; do
    # shellcheck disable=SC2086 # verb and resource
    may $operator $right || fail "the operator may not: $right"
done
for right in 'list horizontalpodautoscalers.autoscaling' 'get secrets' 'create pods/exec' 'get pods/log' 'create tfjobs.kubeflow.org' 'get configmaps' 'list nodes' \
    'create roles.rbac.authorization.k8s.io' 'create leases.coordination.k8s.io'; do
    # shellcheck disable=SC2086
    ! may $operator $right || fail "the operator may: $right"
done
leases=leases.coordination.k8s.io
may $operator create $leases trainyard || fail 'the operator may not create its Lease'
may $operator update $leases trainyard trainyard-operator || fail 'the operator may not lead in its own namespace'
! may $operator update $leases trainyard another || fail "the operator may write a Lease of another program"
kubectl create rolebinding eve --clusterrole=edit --user=eve >/dev/null
kubectl create rolebinding vic --clusterrole=view --user=vic >/dev/null
wait_until 'the role edit to include jobs' may eve create tfjobs.kubeflow.org
wait_until 'the role view to include jobs' may vic list pytorchjobs.kubeflow.org
may eve patch pytorchjobs/scale.kubeflow.org || fail 'edit may not scale'
! may eve update tfjobs/status.kubeflow.org || fail 'edit may write a status'
! may vic create tfjobs.kubeflow.org || fail 'view may create'

# --- the server accepts the variant for one namespace
kubectl apply -f "$MANIFESTS/install-namespaced.yaml" --dry-run=server >/dev/null
