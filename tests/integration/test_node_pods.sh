#!/bin/bash
# The lifecycle of pods as kubectl shows it: waiting with a reason, restarts, volumes, images, termination; as root and as an ordinary
# user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
waits_for() { [ "$(field "$1" .status.containerStatuses[0].state.waiting.reason)" = "$2" ]; }
told() { kubectl describe pod "$1" | finds -F -- "$2"; } # NAME TEXT
restarted() { [ "$(field "$1" .status.containerStatuses[0].restartCount)" -ge "$2" ]; }
pod() { # NAME RESTART-POLICY SCRIPT [MORE-OF-THE-SPEC [MORE-OF-THE-CONTAINER]]
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: $2
  terminationGracePeriodSeconds: 1
${4:-}
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, '$3']
${5:-}
YAML
}

check() {
    cluster_up

    # A pod with an unknown image waits with a message that says what to do. The pod starts when the image has been added.
    kubectl run unknown --image=example/image --restart=Never
    wait_until "the unknown image to be rejected" waits_for unknown ErrImageNeverPull
    assert_contains "the advice" "trainyard image add example/image -- COMMAND" \
        "$(field unknown .status.containerStatuses[0].state.waiting.message)"
    wait_until "the event of an unknown image" told unknown "Error: image 'example/image' is not present on this machine"
    as_user "$TRAINYARD" image add example/image -- /bin/echo from the image
    wait_for_phase unknown Succeeded
    assert_eq "the output of the added image" "from the image" "$(kubectl logs unknown)"

    # A config map that a pod refers to may be created after the pod.
    # shellcheck disable=SC2016 # the pod's shell expands it
    pod needs Never 'cat /config/word; echo "$WORD"' '  volumes: [{name: c, configMap: {name: words}}]' \
        '    volumeMounts: [{name: c, mountPath: /config}]
    env: [{name: WORD, valueFrom: {configMapKeyRef: {name: words, key: word}}}]'
    says_what_it_needs() { field needs .status.containerStatuses[0].state.waiting.message | finds -F 'configmap "words" not found'; }
    wait_until "the pod's status to name the missing config map" says_what_it_needs
    waits_for needs ContainerCreating || fail "the pod waits with another reason: $(field needs .status.containerStatuses[0].state.waiting)"
    kubectl create configmap words --from-literal=word=found
    wait_for_phase needs Succeeded
    assert_eq "the value from the config map" "foundfound" "$(kubectl logs needs)"

    # The first restart happens at once, the second after a backoff. A restart is counted when it happens. The previous log is kept.
    pod crash Always 'echo run | tee -a /v/runs; exit 1' '  volumes: [{name: v, emptyDir: {}}]' '    volumeMounts: [{name: v, mountPath: /v}]'
    # On a slow machine the pod may restart while the test counts its runs. So the count is only valid if the status is the same before and
    # after.
    counted() { field crash '.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].state.waiting.reason'; }
    restarts_and_runs() {
        local before
        before=$(counted)
        runs=$(wc -l <"$TRAINYARD_STATE/pods/$(uid_of crash)/volumes/v/runs")
        restarts=${before% *}
        [[ $before == *" CrashLoopBackOff" ]] && [ "$(counted)" = "$before" ]
    }
    local restarts runs
    wait_until "the pod to wait for its next run" restarts_and_runs
    [ "$restarts" -ge 1 ] || fail "the first restart was delayed: CrashLoopBackOff with $restarts restarts"
    assert_eq "runs of a pod that waits for the next one, with $restarts restarts" $((restarts + 1)) "$runs"
    assert_eq "the previous log" run "$(kubectl logs crash --previous)"
    assert_eq "the last exit code" 1 "$(field crash .status.containerStatuses[0].lastState.terminated.exitCode)"
    wait_until "the event of a backoff" told crash "Back-off restarting failed container"

    # The data of a PersistentVolumeClaim outlives pods, and is deleted with the claim.
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
YAML
    local claim='  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]'
    local mount='    volumeMounts: [{name: d, mountPath: /data}]'
    pod writes Never 'echo kept >/data/file' "$claim" "$mount"
    wait_for_phase writes Succeeded
    kubectl delete pod writes
    pod reads Never 'cat /data/file' "$claim" "$mount"
    wait_for_phase reads Succeeded
    assert_eq "the data in the claim" kept "$(kubectl logs reads)"
    kubectl delete pod reads
    kubectl delete pvc data
    data_is_gone() { [ ! -e "$TRAINYARD_STATE/volumes/default/data" ]; }
    wait_until "the claim's data to be deleted" data_is_gone

    # Init containers run in order, before the main container. A pod with hostNetwork uses the machine's network.
    pod inits Never 'cat /v/order; readlink /proc/self/ns/net' \
        '  hostNetwork: true
  volumes: [{name: v, emptyDir: {}}]
  initContainers:
  - {name: one, image: trainyard/tools, command: [sh, -c, "echo one >>/v/order"], volumeMounts: [{name: v, mountPath: /v}]}
  - {name: two, image: trainyard/tools, command: [sh, -c, "echo two >>/v/order"], volumeMounts: [{name: v, mountPath: /v}]}' \
        '    volumeMounts: [{name: v, mountPath: /v}]'
    wait_for_phase inits Succeeded
    assert_eq "init containers, the machine's network" "$(printf 'one\ntwo\n' && readlink /proc/self/ns/net)" "$(kubectl logs inits)"

    # A new image in the spec of a running pod has no effect. An event says so, and the status names the running image.
    as_user "$TRAINYARD" image add example/first -- /bin/sh -c 'echo first; exec sleep 100000'
    kubectl run changing --image=example/first --restart=Never
    wait_for_phase changing Running
    kubectl set image pod/changing changing=example/second
    wait_until "the event of a changed image" told changing "a started pod cannot change to image example/second; delete the pod and create it again"
    assert_eq "the image in the pod's status" example/first "$(field changing .status.containerStatuses[0].image)"
    kubectl delete pod changing
    kubectl run changing --image=example/nowhere --restart=Never
    wait_until "the unknown image to be rejected" waits_for changing ErrImageNeverPull
    kubectl set image pod/changing changing=example/first
    wait_for_phase changing Running
    kubectl delete pod changing

    # A deletion waits for the grace period, but not longer.
    pod stubborn Always 'trap "" TERM; echo up; while :; do sleep 0.1; done'
    wait_for_phase stubborn Running
    kubectl delete pod stubborn --wait=true
    is_gone pod stubborn || fail "a deleted pod still exists"

    # A supervisor that starts late, after its pod was deleted, is terminated. In this test a Python process that holds the pod's lock plays
    # the supervisor.
    pod late Never true '  volumes: [{name: c, configMap: {name: missing}}]' '    volumeMounts: [{name: c, mountPath: /c}]'
    wait_until "the event of a pod that cannot start yet" told late 'configmap "missing" not found'
    as_user python3 -c 'import fcntl, signal, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
signal.alarm(600)
signal.pause()' "$TRAINYARD_STATE/pods/$(uid_of late)/lock" >"$SCRATCH/holder" &
    local holder=$!
    holds() { grep -q held "$SCRATCH/holder"; }
    wait_until "the lock to be held" holds
    kubectl delete pod late
    holder_ended() { ! kill -0 "$holder" 2>/dev/null; }
    wait_until "the process that plays the supervisor to be terminated" holder_ended

    # After `down` and `up`, pods that ran before run again, and finished pods stay as they were.
    pod lasting OnFailure 'echo up; exec sleep 100000'
    wait_for_phase lasting Running
    as_user "$TRAINYARD" down
    cluster_up
    wait_until "the pod to run again" restarted lasting 1
    wait_for_phase lasting Running
    assert_eq "an ended pod after down and up" Succeeded "$(field needs .status.phase)"
    assert_eq "log of an ended pod after down and up" "foundfound" "$(kubectl logs needs)"

    # After a pod is deleted, its directory is deleted too.
    local uid
    uid=$(field lasting .metadata.uid)
    kubectl delete pod lasting
    directory_is_gone() { [ ! -e "$TRAINYARD_STATE/pods/$uid" ]; }
    wait_until "the pod's directory to be deleted" directory_is_gone
    cluster_wipe
}

check
become_ordinary_user
check
