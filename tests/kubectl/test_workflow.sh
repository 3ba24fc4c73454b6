#!/bin/bash
# Workflows with kubectl, as root and as an ordinary user: a pipeline in the form that kfp compiles (a claim, a producer, three consumers
# on separate nodes with the same host port, a step that fails at first, nested steps), the server killed in the middle of it, what is
# refused, and what is left behind.
# Takes: host port 3000.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts the next one itself

# step NAME 'SHELL SCRIPT' [FURTHER YAML]: a container step with the pipeline's claim mounted at /data.
step() {
    cat <<YAML
  - name: $1
    inputs: {parameters: [{name: pvc-name}]}
    container:
      image: example.com/never/pulled:4
      command: [sh, -ec, '$2', program]
      volumeMounts: [{name: data, mountPath: /data}]
      ${4:-}
    volumes: [{name: data, persistentVolumeClaim: {claimName: '{{inputs.parameters.pvc-name}}'}}]
    ${3:-}
YAML
}

# A task of the dag: task NAME TEMPLATE DEPENDENCIES [FURTHER ARGUMENTS]
task() {
    cat <<YAML
      - name: $1
        template: $2
        dependencies: [$3]
        arguments:
          parameters:
          - {name: pvc-name, value: '{{tasks.pvc.outputs.parameters.pvc-name}}'}
          ${4:-}
YAML
}

pipeline() {
    cat <<'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: pipeline-
  annotations: {pipelines.kubeflow.org/kfp_sdk_version: 1.4.0}
spec:
  entrypoint: main
  serviceAccountName: pipeline-runner
  templates:
  - name: pvc
    resource:
      action: create
      manifest: |
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata:
          name: '{{workflow.name}}-newpvc'
        spec:
          accessModes: [ReadWriteMany]
          resources: {requests: {storage: 1Gi}}
    outputs:
      parameters:
      - {name: pvc-manifest, valueFrom: {jsonPath: '{}'}}
      - {name: pvc-name, valueFrom: {jsonPath: '{.metadata.name}'}}
      - {name: pvc-size, valueFrom: {jsonPath: '{.status.capacity.storage}'}}
YAML
    step produce 'echo once >>/data/produced; until [ -e /data/go ]; do sleep 0.1; done; mkdir -p /tmp/outputs/x; hostname >/tmp/outputs/x/data' \
        'outputs: {parameters: [{name: x, valueFrom: {path: /tmp/outputs/x/data}}], artifacts: [{name: x, path: /tmp/outputs/x/data}]}'
    for i in 1 2 3; do
        step "consume-$i" "echo once >>/data/consumed-$i; echo {{inputs.parameters.x}} >/data/got-$i" "nodeSelector: {disktype: worker-$i}" \
            'ports: [{containerPort: 3000, hostPort: 3000}]' |
            sed 's/\[{name: pvc-name}\]/[{name: pvc-name}, {name: x}]/'
    done
    step flaky 'echo {{retries}} >>/data/tries; [ {{retries}} = 1 ]' 'retryStrategy: {limit: "2"}'
    cat <<'YAML'
  - name: last
    inputs: {parameters: [{name: pvc-name}]}
    steps:
    - - {name: count, template: count}
    - - name: say
        template: say
        arguments: {parameters: [{name: text, value: '{{item}} of {{steps.count.outputs.parameters.number}}'}]}
        withItems: [1, 2]
      - {name: never, template: say, when: '{{steps.count.outputs.parameters.number}} > 5', arguments: {parameters: [{name: text, value: no}]}}
  - name: count
    script: {image: any, command: [bash], source: "echo $((1 + 1)) >/tmp/number"}
    outputs: {parameters: [{name: number, valueFrom: {path: /tmp/number}}]}
  - name: say
    inputs: {parameters: [{name: text}]}
    container: {image: any, command: [echo, '{{inputs.parameters.text}}']}
  - name: main
    dag:
      tasks:
YAML
    for i in 1 2 3; do task "consume-$i" "consume-$i" "produce, pvc" "- {name: x, value: '{{tasks.produce.outputs.parameters.x}}'}"; done
    task produce produce pvc
    task flaky flaky "consume-1, consume-2, consume-3, pvc"
    task last last "flaky, pvc"
    echo "      - {name: pvc, template: pvc}"
}

workflow_is() { [ "$(kubectl get wf "$1" -o jsonpath='{.status.phase}')" = "$2" ]; }
wait_for_workflow() { wait_until "workflow $1 to be $2" workflow_is "$1" "$2"; }
node_field() { # WORKFLOW DISPLAY-NAME FIELD
    kubectl get wf "$1" -o jsonpath="{range .status.nodes.*}{.displayName}{'|'}{.$3}{'\n'}{end}" | sed -n "s/^$2|//p"
}
node_is() { [ "$(node_field "$1" "$2" phase)" = "$3" ]; }
described() { kubectl describe wf "$1" | finds -F -- "$2"; } # NAME TEXT
message_of() { kubectl get wf "$1" -o jsonpath='{.status.message}'; }
create() { kubectl create -f - -o jsonpath='{.metadata.name}'; }
has_no_pods() { [ -z "$(kubectl get pods -l "workflows.argoproj.io/workflow=$1" -o name)" ]; }

walk() {
    cluster_up --nodes 3
    local name volume i
    for i in 1 2 3; do kubectl label node "node-$i" "disktype=worker-$i"; done

    echo "a pipeline as kfp compiles it, and the server killed in the middle"
    name=$(pipeline | create)
    volume=$TRAINYARD_STATE/volumes/default/$name-newpvc
    wait_until "the producer to run" test -s "$volume/produced"
    kill -9 "$(server_pid)"
    as_user touch "$volume/go"
    cluster_up
    wait_for_workflow "$name" Succeeded
    for i in 1 2 3; do
        assert_eq "the input of consumer $i" "$(node_field "$name" produce id)" "$(cat "$volume/got-$i")"
        assert_eq "runs of consumer $i" once "$(cat "$volume/consumed-$i")"
        assert_eq "the node of consumer $i" "node-$i" "$(node_field "$name" "consume-$i" hostNodeName)"
    done
    assert_eq "runs of the producer" once "$(cat "$volume/produced")"
    assert_eq "attempts" "0 1" "$(xargs <"$volume/tries")"
    assert_eq "the first attempt" Failed "$(node_field "$name" 'flaky(0)' phase)"
    assert_eq "the second attempt" Succeeded "$(node_field "$name" 'flaky(1)' phase)"
    assert_eq "a skipped step" Skipped "$(node_field "$name" never phase)"
    assert_eq "progress" 10/10 "$(kubectl get wf "$name" -o jsonpath='{.status.progress}')"
    assert_contains "its log" "2 of 2" "$(kubectl logs "$(node_field "$name" 'say(1:2)' id)")"
    assert_contains "get wf" "Succeeded" "$(kubectl get wf)"
    wait_until "the event about its end" described "$name" WorkflowSucceeded
    wait_until "the event about artifacts" described "$name" "not kept"
    assert_eq "its labels" "$name" "$(kubectl get wf -l workflows.argoproj.io/phase=Succeeded -o jsonpath='{.items[0].metadata.name}')"
    kubectl delete wf "$name"
    wait_until "its pods to be gone" has_no_pods "$name"
    kubectl get pvc "$name-newpvc" # as in Argo, the object of a resource step stays

    echo "failures"
    name=$(create <<'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: failing}
spec:
  entrypoint: main
  templates:
  - {name: bad, container: {image: any, command: [sh, -c, 'echo no disk >/dev/termination-log; exit 3']}}
  - {name: good, container: {image: any, command: ['true']}}
  - name: main
    dag: {tasks: [{name: a, template: bad}, {name: b, template: good, dependencies: [a]}]}
YAML
)
    wait_for_workflow failing Failed
    assert_eq "its message" "child 'failing.a' failed: Error (exit code 3): no disk" "$(message_of failing)"
    assert_eq "the step that depends on it" Omitted "$(node_field failing b phase)"
    assert_eq "the termination message of the container" "no disk" \
        "$(kubectl get pod "$(node_field failing a id)" -o jsonpath='{.status.containerStatuses[0].state.terminated.message}' | tr -d '\n')"

    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: talks}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: any, terminationMessagePolicy: FallbackToLogsOnError, command: [sh, -c, 'seq 1 1000 >&2; echo the end >&2; exit 1']}
YAML
    wait_for_phase talks Failed
    kubectl get pod talks -o jsonpath='{.status.containerStatuses[0].state.terminated.message}' >"$SCRATCH/words"
    assert_eq "the end of the log as the termination message" "80 922 the end" "$(wc -l <"$SCRATCH/words") $(sed -n 1p "$SCRATCH/words") $(tail -1 "$SCRATCH/words")"

    echo "outputs that do not fit"
    create >/dev/null <<'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: large}
spec:
  entrypoint: main
  templates:
  - name: main
    container: {image: any, command: [sh, -c, 'head -c 5000 /dev/zero | tr "\0" x >/tmp/x']}
    outputs: {parameters: [{name: x, valueFrom: {path: /tmp/x}}]}
YAML
    wait_for_workflow large Error
    assert_contains "its message" "larger than the 4096 bytes" "$(message_of large)"

    echo "a pod deleted by hand, and a deadline"
    create >/dev/null <<'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: deleted}
spec:
  entrypoint: main
  podGC: {strategy: OnPodCompletion}
  templates:
  - name: main
    retryStrategy: {limit: 1, retryPolicy: OnError}
    container: {image: any, command: [sh, -c, '[ {{retries}} = 1 ] || exec sleep 1000']}
YAML
    wait_until "it to run" node_is deleted 'deleted(0)' Running
    kubectl delete pod --grace-period=1 "$(node_field deleted 'deleted(0)' id)"
    wait_for_workflow deleted Succeeded
    assert_eq "the first attempt" "pod deleted" "$(node_field deleted 'deleted(0)' message)"
    wait_until "its pods to be gone" has_no_pods deleted
    create >/dev/null <<'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: late}
spec:
  entrypoint: main
  activeDeadlineSeconds: 1
  templates:
  - {name: main, container: {image: any, command: [sleep, '1000']}}
YAML
    wait_for_workflow late Failed
    assert_eq "its message" "Max duration limit exceeded" "$(message_of late)"
    wait_until "its pod to be stopped" has_no_pods late

    echo "the same name again, while the pods of the first one are still being deleted"
    for i in 1 2 3; do
        create >/dev/null <<'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: again}
spec:
  entrypoint: main
  templates:
  - {name: main, container: {image: any, command: ['true']}}
YAML
        wait_for_workflow again Succeeded
        kubectl delete wf again --wait=false
    done

    echo "a step deletes a claim, as kfp's VolumeOp.delete() compiles it"
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: used}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
YAML
    create >/dev/null <<'YAML'
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: cleaner}
spec:
  entrypoint: main
  serviceAccountName: pipeline-runner
  templates:
  - name: main
    container:
      image: any
      command: [kubectl, delete, PersistentVolumeClaim, used, --ignore-not-found, --output, name, --wait=false]
YAML
    wait_for_workflow cleaner Succeeded
    wait_until "the claim to be gone" is_gone pvc used

    echo "mistakes"
    sed 's/^  generateName:.*/  name: mistaken/; s/dependencies: \[produce, pvc\]/dependencies: [prduce, pvc]/' <(pipeline) | create >/dev/null
    wait_for_workflow mistaken Failed
    assert_eq "its message" "invalid spec: spec.templates[9].dag.tasks[0].dependencies[0]: no task 'prduce'; did you mean 'produce'?" \
        "$(message_of mistaken)"
    # An old kubectl finds the mistake itself, a newer one prints the server's message.
    pipeline | sed 's/nodeSelector/nodeSelectr/' | create >/dev/null 2>"$SCRATCH/said" || true
    grep -Eq 'unknown field "([a-z]+(\[[0-9]+\])?\.)*nodeSelectr"( in |$)' "$SCRATCH/said" || fail "the message: $(cat "$SCRATCH/said")"
    kubectl delete wf --all
    wait_until "all to be gone" is_gone wf mistaken
}

walk
cluster_wipe
[ "$(id -u)" = 0 ] || exit 0
echo "the same as an ordinary user"
become_ordinary_user
walk
