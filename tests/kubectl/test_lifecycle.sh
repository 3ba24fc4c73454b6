#!/bin/bash
# The life of containers, as the kubelet handles it: probes, hooks, deadlines, sidecars, evictions, conditions and events; as root and as
# an ordinary user.
# Long: 85 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts the next one itself

field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
has() { [ "$(field "$1" "$2")" = "$3" ]; }
restarted() { [ "$(field "$1" .status.containerStatuses[0].restartCount)" -ge "$2" ]; }
condition() { field "$1" ".status.conditions[?(@.type==\"$2\")].$3"; }
is_ready() { [ "$(condition "$1" Ready status)" = "$2" ]; }
# The events of a pod, one per line: "Warning Unhealthy Readiness probe failed: …".
events() {
    kubectl get events --field-selector "involvedObject.name=$1" \
        -o jsonpath='{range .items[*]}{.type} {.reason} {.message}{"\n"}{end}'
}
started_parts() {
    [ "$(kubectl get events --field-selector "involvedObject.name=$1,reason=Started" -o jsonpath='{.items[*].involvedObject.fieldPath}')" = "$2" ]
}
has_event() { events "$1" | finds -F -- "$2"; }
endpoints() { kubectl get endpoints "$1" -o jsonpath="{.subsets[*].$2[*].targetRef.name}"; }
serves() { [ "$(endpoints "$1" "$2")" = "$3" ]; }

# A server that answers /word with 200 if the file /v/word exists and else with 500, and everything else with 200 or a redirect.
SERVER='import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, self.headers["User-Agent"], self.headers["X-Word"], flush=True)
        if self.path == "/leave": self.send_response(302); self.send_header("Location", "http://example.invalid/")
        elif self.path == "/on": self.send_response(302); self.send_header("Location", "/word?twice")
        else: self.send_response(200 if self.path[1:5] != "word" or os.path.exists("/v/word") else 500)
        self.end_headers()
http.server.HTTPServer(("", 8080), Handler).serve_forever()'

start_server() {
    kubectl create configmap server --from-literal=server.py="$SERVER"
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: v, emptyDir: {}}, {name: c, configMap: {name: server}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, /c/server.py]
    ports: [{name: http, containerPort: 8080}]
    volumeMounts: [{name: v, mountPath: /v}, {name: c, mountPath: /c}]
    startupProbe: {tcpSocket: {port: http}, periodSeconds: 1, failureThreshold: 1000}
    readinessProbe:
      httpGet: {port: http, path: /on, httpHeaders: [{name: X-Word, value: said}]}
      periodSeconds: 1
      failureThreshold: 1
    livenessProbe:
      httpGet: {port: http, path: /leave}
      periodSeconds: 1
      timeoutSeconds: 30
YAML
}

check_readiness() {
    start_server
    wait_until "a failed readiness probe" has_event web "Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 500"
    wait_until "it to have started" has web .status.containerStatuses[0].started true
    assert_eq "why it is not ready" "ContainersNotReady containers with unready status: [main]" \
        "$(condition web Ready reason) $(condition web Ready message)"
    assert_eq "ready, phase" "false Running" "$(field web .status.containerStatuses[0].ready) $(field web .status.phase)"
    wait_until "the service to leave it out" serves web notReadyAddresses web
    touch "$TRAINYARD_STATE/pods/$(uid_of web)/volumes/v/word"
    wait_until "the pod to be ready" is_ready web True
    wait_until "the service to list its address as ready" serves web addresses web
    wait_for_log web "/word?twice kube-probe/1.36 said"
    # The server may be killed: the pod's supervisor keeps probing.
    as_user kill -9 "$(server_pid)"
    rm "$TRAINYARD_STATE/pods/$(uid_of_directory web)/volumes/v/word"
    cluster_up
    wait_until "the pod not to be ready" is_ready web False
    wait_until "the service to drop it" serves web notReadyAddresses web
    wait_until "the event about the redirect" has_event web "Warning ProbeWarning Liveness probe warning: Probe terminated redirects"
    assert_eq "restarts" 0 "$(field web .status.containerStatuses[0].restartCount)"
}

check_liveness() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: live}
spec:
  terminationGracePeriodSeconds: 30
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, 'trap "echo told to end; exit 0" TERM; echo begun; touch /tmp/begun; while :; do sleep 0.1; done']
    startupProbe: {exec: {command: [test, -e, /tmp/begun]}, periodSeconds: 1, failureThreshold: 1000}
    livenessProbe: {tcpSocket: {port: 9999}, periodSeconds: 1, failureThreshold: 2, terminationGracePeriodSeconds: 20}
---
apiVersion: v1
kind: Pod
metadata: {name: slow}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: v, emptyDir: {}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [sleep, "1000"]
    volumeMounts: [{name: v, mountPath: /v}]
    startupProbe: {exec: {command: [test, -e, /v/begun]}, periodSeconds: 1, failureThreshold: 1000}
    readinessProbe: {exec: {command: [sh, -c, 'echo never; exit 3']}, periodSeconds: 1}
    livenessProbe: {exec: {command: [sh, -c, 'sleep 20']}, periodSeconds: 1, failureThreshold: 1, initialDelaySeconds: 1}
YAML
    wait_for_phase live Running # then its address is known
    wait_until "the liveness probe to fail" has_event live "Warning Unhealthy Liveness probe failed: dial tcp $(field live .status.podIP):9999: connect: connection refused"
    wait_until "the event about the stop" has_event live "Normal Killing Container main failed liveness probe, will be restarted"
    wait_until "the container to be restarted" restarted live 1
    assert_eq "the output before the restart" "begun told to end" "$(kubectl logs live --previous | xargs)"

    wait_until "the startup probe to fail" has_event slow "Warning Unhealthy Startup probe failed"
    assert_eq "started" false "$(field slow .status.containerStatuses[0].started)"
    touch "$TRAINYARD_STATE/pods/$(uid_of slow)/volumes/v/begun"
    wait_until "it to have started" has slow .status.containerStatuses[0].started true
    wait_until "the readiness probe to run after that" has_event slow "Warning Unhealthy Readiness probe failed: never"
    wait_until "the liveness probe to run" has_event slow 'Liveness probe failed: command timed out: "sh -c sleep 20" timed out after 1s'
    wait_until "the container to be restarted" restarted slow 1
    kubectl delete pod live slow --wait=false
}

check_hooks() {
    local said=$SCRATCH/hooks
    rm -rf "$said"
    mkdir -p "$said" && chmod 777 "$said"
    sed "s|HOOKS|$said|" <<'YAML' | kubectl apply -f -
apiVersion: v1
kind: Pod
metadata: {name: hooks}
spec:
  terminationGracePeriodSeconds: 60
  volumes: [{name: v, hostPath: {path: HOOKS}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, 'trap "echo term >>/v/said; exit 0" TERM; touch /v/up; while :; do sleep 0.1; done']
    volumeMounts: [{name: v, mountPath: /v}]
    lifecycle:
      postStart: {exec: {command: [sh, -c, 'until [ -e /v/go ] && [ -e /v/up ]; do sleep 0.1; done; echo post >>/v/said']}}
      preStop: {exec: {command: [sh, -c, 'echo pre >>/v/said']}}
  - name: second
    image: trainyard/tools
    command: [sh, -c, 'echo second >>/v/said; sleep 1000']
    volumeMounts: [{name: v, mountPath: /v}]
    lifecycle: {preStop: {sleep: {seconds: 1}}}
---
apiVersion: v1
kind: Pod
metadata: {name: badhook}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: trainyard/tools
    command: [sleep, "1000"]
    lifecycle: {postStart: {httpGet: {port: 1}}}
YAML
    # A container does not count as running until its postStart hook has ended, and the next container waits for it.
    wait_until "the container to start" has_event hooks "Started container main"
    wait_until "its reason" has hooks .status.containerStatuses[0].state.waiting.reason ContainerCreating
    assert_eq "phase" Pending "$(field hooks .status.phase)"
    touch "$said/go"
    wait_for_phase hooks Running
    wait_until "the second container" grep -q second "$said/said"
    kubectl delete pod hooks
    assert_eq "the order of the hooks" "post second pre term" "$(xargs <"$said/said")"

    wait_for_phase badhook Failed
    wait_until "the event about the failed hook" has_event badhook "Warning FailedPostStartHook PostStartHook failed"
    wait_until "the event about the end of its container" has_event badhook "Normal Killing FailedPostStartHook"
}

check_ends() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: late}
spec:
  activeDeadlineSeconds: 100000
  terminationGracePeriodSeconds: 60
  containers: [{name: main, image: trainyard/tools, command: [sleep, "1000"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: beside}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 20
  volumes: [{name: v, emptyDir: {}}]
  initContainers:
  - name: first
    image: trainyard/tools
    command: [sh, -c, 'trap "echo first ends >>/v/said; exit 0" TERM; touch /v/up; while :; do sleep 0.1; done']
    restartPolicy: Always
    startupProbe: {exec: {command: [test, -e, /v/up]}, periodSeconds: 1, failureThreshold: 1000}
    volumeMounts: [{name: v, mountPath: /v}]
  - name: second
    image: trainyard/tools
    command: [sh, -c, 'trap "echo second ends >>/v/said; exit 0" TERM; touch /v/second; while :; do sleep 0.1; done']
    restartPolicy: Always
    volumeMounts: [{name: v, mountPath: /v}]
  - name: once
    image: trainyard/tools
    command: [sh, -c, 'test -e /v/up && echo once >>/v/said']
    volumeMounts: [{name: v, mountPath: /v}]
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, 'while [ ! -e /v/go ] || [ ! -e /v/second ]; do sleep 0.1; done; echo main ends >>/v/said']
    volumeMounts: [{name: v, mountPath: /v}]
---
apiVersion: v1
kind: Pod
metadata: {name: gated}
spec:
  terminationGracePeriodSeconds: 1
  readinessGates: [{conditionType: example.com/open}]
  containers: [{name: main, image: trainyard/tools, command: [sleep, "1000"]}]
YAML
    wait_until "a pod to run" has_event late "Normal Started"
    kubectl patch pod late -p '{"spec":{"activeDeadlineSeconds":1}}'
    wait_for_phase late Failed
    assert_eq "why" "DeadlineExceeded Pod was active on the node longer than the specified deadline 143 PodFailed" \
        "$(field late .status.reason) $(field late .status.message) $(field late .status.containerStatuses[0].state.terminated.exitCode) $(condition late Ready reason)"
    wait_until "the event about the deadline" has_event late \
        "Normal DeadlineExceeded Pod was active on the node longer than the specified deadline"

    wait_until "the gated pod's containers" has gated '.status.conditions[?(@.type=="ContainersReady")].status' True
    assert_eq "the gate" "ReadinessGatesNotReady corresponding condition of pod readiness gate \"example.com/open\" does not exist." \
        "$(condition gated Ready reason) $(condition gated Ready message)"

    wait_for_phase beside Running
    wait_until "the pod with sidecars to be ready" is_ready beside True
    assert_eq "its init containers" "true true true" "$(field beside .status.initContainerStatuses[*].ready)"
    wait_until "events to name the containers" started_parts beside \
        "spec.initContainers{first} spec.initContainers{second} spec.initContainers{once} spec.containers{main}"
    touch "$TRAINYARD_STATE/pods/$(uid_of beside)/volumes/v/go"
    wait_for_phase beside Succeeded
    assert_eq "the order of the ends" "once main ends second ends first ends" \
        "$(xargs <"$TRAINYARD_STATE/pods/$(uid_of beside)/volumes/v/said")"
    assert_eq "conditions of a completed pod" "PodReadyToStartContainers=False Initialized=True Ready=False ContainersReady=False PodScheduled=True" \
        "$(kubectl get pod beside -o jsonpath='{range .status.conditions[*]}{.type}={.status} {end}' | xargs)"
    assert_eq "their reasons" "PodCompleted PodCompleted" "$(condition beside Initialized reason) $(condition beside Ready reason)"
}

# A pod that uses more disk than its limit is evicted, even if its policy would restart it. A Job then creates another pod, as after any
# failure.
check_evictions() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: hoarder}
spec:
  volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, 'head -c 3000000 /dev/zero >/v/heap; exec sleep 1000']
    volumeMounts: [{name: v, mountPath: /v}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: talker}
spec:
  backoffLimit: 1
  template:
    spec:
      restartPolicy: OnFailure
      containers:
      - name: main
        image: trainyard/tools
        resources: {limits: {ephemeral-storage: 1Mi}}
        command: [sh, -c, 'head -c 3000000 /dev/zero | tr "\\0" x; exec sleep 1000']
YAML
    wait_for_phase hoarder Failed
    local words='Usage of EmptyDir volume "v" exceeds the limit "1Mi". '
    assert_eq "why" "Evicted $words" "$(field hoarder .status.reason) $(field hoarder .status.message)"
    assert_eq "its condition" "True TerminationByKubelet $words" \
        "$(condition hoarder DisruptionTarget status) $(condition hoarder DisruptionTarget reason) $(condition hoarder DisruptionTarget message)"
    wait_until "the event about the eviction" has_event hoarder "Warning Evicted $words"

    wait_until "the job to fail" has_condition job/talker Failed
    assert_eq "the pods of the job" "Evicted Evicted" "$(kubectl get pods -l job-name=talker -o jsonpath='{.items[*].status.reason}')"
    assert_eq "their message" 'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ' \
        "$(kubectl get pods -l job-name=talker -o jsonpath='{.items[0].status.message}')"
}

uid_of_directory() { basename "$(dirname "$(grep -l "^hostname $1\$" "$TRAINYARD_STATE"/pods/*/spec)")"; }

check() {
    cluster_up
    check_readiness
    check_liveness
    check_hooks
    check_ends
    check_evictions
    # The events of a pod have the same wording as on any Kubernetes.
    wait_until "the event about the pod's end" has_event late 'Killing Stopping container main'
    assert_eq "the events of a pod" 'Normal Scheduled Normal Pulled Normal Created Normal Started Normal Killing' \
        "$(events late | awk '$2 != "DeadlineExceeded" {print $1, $2}' | xargs)"
    assert_contains "its image" 'Pulled Container image "trainyard/tools" already present on machine' "$(events late)"
    assert_contains "its start" 'Started Started container main' "$(events late)"
    cluster_wipe
}

check
become_ordinary_user
check
