#!/bin/bash
# Pods without namespaces work with kubectl: exec, attach, cp, run and port-forward, probes and hooks, ports that other processes use,
# termination messages, a workflow with an output parameter, and `kubectl top`. As root and as an ordinary user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/limits.sh
. "$(dirname "$0")/../lib/limits.sh"

FORWARD_PID=
OTHER_PID=
clean_up() {
    for pid in $FORWARD_PID $OTHER_PID; do kill "$pid" 2>/dev/null || true; done
}

event_says() { kubectl get events -o jsonpath="{.items[?(@.involvedObject.name==\"$1\")].message}" | finds -F -- "$2"; }
restarts_of() { kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[0].restartCount}'; }
was_restarted() { [ "$(restarts_of "$1")" -ge 1 ]; }
last_words() { kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[0].state.terminated.message}'; }
has_forward() { grep -q '^Forwarding from 127' "$SCRATCH/forward.log"; }
is_listening() { [ -s "$SCRATCH/listens" ]; }
workflow_is() { [ "$(kubectl get workflow "$1" -o jsonpath='{.status.phase}')" = "$2" ]; }

# A pod with an HTTP server. It becomes ready when the test has created the file `ready`.
server_pod() { # NAME PORT
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  terminationGracePeriodSeconds: 20
  containers:
  - name: main
    image: none
    workingDir: $SCRATCH/$1
    command: [python3, -u, -m, http.server, "$2", --bind, 127.0.0.1]
    ports: [{name: web, containerPort: $2}]
    startupProbe: {exec: {command: [bash, -c, 'test -e $SCRATCH/$1/hooked && exec 3<>/dev/tcp/127.0.0.1/$2']}, periodSeconds: 1, failureThreshold: 1000}
    readinessProbe: {httpGet: {path: /ready, port: web}, periodSeconds: 1}
    livenessProbe: {tcpSocket: {port: web}, periodSeconds: 1, timeoutSeconds: 30}
    lifecycle:
      postStart: {exec: {command: [touch, $SCRATCH/$1/hooked]}}
      preStop: {exec: {command: [touch, $SCRATCH/$1/stopped]}}
YAML
}

probes_and_forward() { # TAG
    local name=$1-server port said
    as_user mkdir "$SCRATCH/$name"
    port=$(fresh_ports 1)
    server_pod "$name" "$port"
    wait_until "the postStart hook" test -e "$SCRATCH/$name/hooked"
    wait_until "the event of the failed readiness probe" event_says "$name" "Readiness probe failed"
    ! has_condition "pod/$name" Ready || fail "the pod is ready although its readiness probe fails"
    echo here | as_user tee "$SCRATCH/$name/ready" >/dev/null
    wait_until "the pod to be ready" has_condition "pod/$name" Ready
    assert_eq "restarts of a pod whose liveness probe succeeds" 0 "$(restarts_of "$name")"

    : >"$SCRATCH/forward.log"
    "${AS_USER[@]}" "$KUBECTL" port-forward "pod/$name" ":$port" >>"$SCRATCH/forward.log" 2>&1 &
    FORWARD_PID=$!
    wait_until "port-forward" has_forward
    said=$(python3 - "$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) .*/\1/p' "$SCRATCH/forward.log")" <<'PY'
import sys, urllib.request
print(urllib.request.urlopen("http://127.0.0.1:%s/ready" % sys.argv[1]).read().decode())
PY
    )
    assert_contains "the answer through port-forward" here "$said"
    kill "$FORWARD_PID"
    wait "$FORWARD_PID" 2>/dev/null || true
    FORWARD_PID=
    kubectl delete pod "$name" --wait >/dev/null
    [ -e "$SCRATCH/$name/stopped" ] || fail "the preStop hook did not run"

    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1-dead}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: none, command: [sleep, "1000"], livenessProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 1}}
YAML
    wait_until "a container whose probe fails to be restarted" was_restarted "$1-dead"
    kubectl delete pod "$1-dead" --wait >/dev/null
}

into_the_pod() { # TAG
    local said code=0
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1-box}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: none, stdin: true, stdinOnce: true, command: [sh, -c, 'while read line; do echo "got \$line"; done; echo over']}
YAML
    wait_for_phase "$1-box" Running
    as_user mkdir "$SCRATCH/$1-copy"
    head -c 300000 /dev/urandom | as_user tee "$SCRATCH/$1-copy/data" >/dev/null
    kubectl cp "$SCRATCH/$1-copy/data" "$1-box:$SCRATCH/$1-copy/inside"
    kubectl cp "$1-box:$SCRATCH/$1-copy/inside" "$SCRATCH/$1-copy/back" 2>/dev/null
    cmp "$SCRATCH/$1-copy/data" "$SCRATCH/$1-copy/back" || fail "kubectl cp into the pod and back changed the file"
    kubectl exec "$1-box" -- sh -c 'exit 7' 2>/dev/null || code=$?
    assert_eq "the exit code of exec" 7 $code
    said=$(printf 'one\ntwo\n' | kubectl attach -i "$1-box" 2>"$SCRATCH/noise")
    assert_contains "attach" "got two" "$said"
    wait_for_phase "$1-box" Succeeded
    assert_contains "the log after the end of the input" over "$(kubectl logs "$1-box")"
    # shellcheck disable=SC2016 # the variable is the pod's
    assert_contains "run -i" "got hello" "$(echo hello | kubectl run "$1-once" -i --rm --restart=Never --image=none --command -- \
        sh -c 'read line; echo "got $line"' 2>/dev/null)"
    # Output from before kubectl is attached is only in the log. So the program repeats its output until the test has seen it.
    script -qfec "$(printf '%q ' "${AS_USER[@]}" "$KUBECTL" run "$1-shell" -it --rm --restart=Never --image=none --command -- \
        sh -c "until [ -e $SCRATCH/$1-seen ]; do tty; sleep 0.1; done")" "$SCRATCH/$1-typed" </dev/null >/dev/null &
    wait_until "run -it: a terminal" grep /dev/pts/ "$SCRATCH/$1-typed"
    touch "$SCRATCH/$1-seen"
    wait $!
}

# A process outside of all pods listens on the container port of a pod: an event of the pod says so.
taken_port() { # TAG
    python3 -c '
import signal, socket, sys
s = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(s.getsockname()[1]))
signal.pause()' "$SCRATCH/listens" &
    OTHER_PID=$!
    wait_until "the process outside of the pods to listen" is_listening
    port=$(cat "$SCRATCH/listens")
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1-port}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: none, command: ["true"], ports: [{containerPort: $port}]}
YAML
    wait_for_phase "$1-port" Succeeded
    if [ "${#AS_USER[@]}" = 0 ]; then who="python3 (process $OTHER_PID)"; else who="a program of another user"; fi
    wait_until "the event that the port is taken" event_says "$1-port" "port $port of 127.0.0.1 is taken by $who: its container cannot listen there"
    kill "$OTHER_PID"
    wait "$OTHER_PID" 2>/dev/null || true
    OTHER_PID=
    rm "$SCRATCH/listens"
}

words() { # TAG
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1-words}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: none, terminationMessagePolicy: FallbackToLogsOnError, command: [sh, -c, "echo last words; exit 4"]}
---
apiVersion: v1
kind: Pod
metadata: {name: $1-file}
spec:
  restartPolicy: Never
  securityContext: {runAsNonRoot: true}
  containers:
  - {name: main, image: none, terminationMessagePath: /tmp/words, command: [id, -u]}
YAML
    wait_for_phase "$1-words" Failed
    assert_eq "the termination message" "last words" "$(last_words "$1-words")"
    if [ "${#AS_USER[@]}" = 0 ]; then
        wait_until "the event that runAsNonRoot forbids root" event_says "$1-file" "runAsNonRoot and image will run as root"
    else
        wait_for_phase "$1-file" Succeeded
        assert_eq "the user of a pod with runAsNonRoot" 65534 "$(kubectl logs "$1-file")"
        wait_until "the event that terminationMessagePath has no effect" event_says "$1-file" "these have no effect: terminationMessagePath"
    fi
}

pipeline() { # TAG
    kubectl apply -f - <<YAML >/dev/null
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: $1-flow}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: first, template: makes}
    - - name: second
        template: takes
        arguments: {parameters: [{name: word, value: "{{steps.first.outputs.parameters.word}}"}]}
  - name: makes
    script:
      image: none
      command: [bash]
      source: |
        echo "made by \$\$" | sed 's/ [0-9]*\$//' >$SCRATCH/$1-word
    outputs: {parameters: [{name: word, valueFrom: {path: $SCRATCH/$1-word}}]}
  - name: takes
    inputs: {parameters: [{name: word}]}
    container: {image: none, command: [sh, -c, 'echo "{{inputs.parameters.word}}" >$SCRATCH/$1-heard']}
YAML
    wait_until "the workflow to succeed" workflow_is "$1-flow" Succeeded
    assert_eq "the parameter that the second step got" "made by" "$(cat "$SCRATCH/$1-heard")"
}

# `kubectl top` counts the CPU time of a container, and that of a `kubectl exec` command that has ended. An ordinary user has no control
# group that would count it.
spends() { # POD
    kubectl exec "$1" -- python3 -c 'sum(range(3000000))'
    shows_use "$KUBECTL" 2 1 "$1"
}
used() { # TAG
    check_top <(echo "any $KUBECTL")
    pod "$1-idle" Always 'exec sleep 100000' ''
    start_pods
    wait_for_phase "$1-idle" Running
    wait_until "kubectl top to show the memory of an idle pod" shows_use "$KUBECTL" 3 0 "$1-idle"
    wait_until "kubectl top to show the CPU time of an ended command" spends "$1-idle"
    kubectl delete pod "$1-idle" >/dev/null
}

# A container with runAsUser, which only works if the server runs as root, has the rights of its service account through a kubeconfig that
# only this user can read.
other_user() { # NAME
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsUser: 65534}
  containers:
  - {name: main, image: none, command: [bash, -c, 'id -u; $KUBECTL get pods 2>&1; echo "at \$KUBECONFIG"; exec sleep 100000']}
YAML
    wait_for_log "$1" "at /run/"
    FILE=$(kubectl logs "$1" | sed -n 's/^at //p')
    assert_contains "the user of the container" 65534 "$(kubectl logs "$1" | sed -n 1p)"
    assert_contains "a forbidden request of the container" 'User "system:serviceaccount:default:default" cannot list' "$(kubectl logs "$1")"
    assert_eq "owner and mode of the kubeconfig" "65534 400" "$(stat -c '%u %a' "$FILE")"
    ! setpriv --reuid 65533 --clear-groups cat "$FILE" 2>/dev/null || fail "another user can read the token of a pod"
}
is_gone() { [ ! -e "$1" ]; }
other_users() {
    other_user other
    kubectl delete pod other >/dev/null
    wait_until "the kubeconfig of a deleted pod to be deleted" is_gone "$FILE"
    other_user lasting
}

all() { # TAG
    probes_and_forward "$1"
    into_the_pod "$1"
    taken_port "$1"
    words "$1"
    pipeline "$1"
    used "$1"
}

cluster_up --plain
all root
other_users
cluster_wipe
is_gone "${FILE%/*/*}" || fail "'${FILE%/*/*}' is left after down --wipe"
become_ordinary_user
cluster_up --plain
all user
cluster_wipe
