#!/bin/bash
# What the containers of a pod share, and what can be changed in a running pod: processes, /dev/shm, read-only volumes, restart rules,
# host names in probes, deadlines; as root and as an ordinary user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
has() { [ "$(field "$1" "$2")" = "$3" ]; }

apply_pods() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: shared}
spec:
  restartPolicy: Never
  shareProcessNamespace: true
  hostIPC: true
  containers:
  - {name: main, image: trainyard/tools, command: [sh, -c, 'until pkill -xf "sleep 54321"; do sleep 0.05; done']}
  - {name: other, image: trainyard/tools, command: [sleep, "54321"]}
---
apiVersion: v1
kind: Pod
metadata: {name: ruled}
spec:
  restartPolicy: Never
  volumes: [{name: v, emptyDir: {}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, 'test -e /dev/shm/was && exit 3; touch /dev/shm/was; touch /v/x && exit 9; exit 42']
    restartPolicy: Never
    restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]
    volumeMounts: [{name: v, mountPath: /v, readOnly: true, recursiveReadOnly: Enabled}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  activeDeadlineSeconds: 100000
  containers:
  - {name: main, image: trainyard/tools, command: [python3, -m, http.server, "8080"]}
---
apiVersion: v1
kind: Pod
metadata: {name: asking}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: trainyard/tools
    command: [sleep, "1000"]
    readinessProbe: {tcpSocket: {host: web.default.svc, port: 8080}, periodSeconds: 1}
  - name: lost
    image: trainyard/tools
    command: [sleep, "1000"]
    readinessProbe: {tcpSocket: {host: nobody.default.svc, port: 8080}, periodSeconds: 1}
YAML
}

unhealthy() { kubectl get events --field-selector "involvedObject.name=$1,reason=Unhealthy" -o jsonpath='{.items[*].message}' | finds -F "$2"; }

check() {
    cluster_up
    apply_pods
    wait_for_phase shared Failed
    assert_eq "exit codes with shared processes" "0 143" "$(field shared '.status.containerStatuses[*].state.terminated.exitCode')"
    wait_for_phase ruled Failed
    assert_eq "restarted by its rule" "1 42 3" \
        "$(field ruled .status.containerStatuses[0].restartCount) $(field ruled .status.containerStatuses[0].lastState.terminated.exitCode) $(field ruled .status.containerStatuses[0].state.terminated.exitCode)"
    assert_eq "how it is mounted" "/v true Enabled" \
        "$(field ruled '.status.containerStatuses[0].volumeMounts[?(@.name=="v")].mountPath') $(field ruled '.status.containerStatuses[0].volumeMounts[?(@.name=="v")].readOnly') $(field ruled '.status.containerStatuses[0].volumeMounts[?(@.name=="v")].recursiveReadOnly')"
    wait_until "a probe to find the service" has asking '.status.containerStatuses[?(@.name=="main")].ready' true
    wait_until "the event about an unknown host name" unhealthy asking "dial tcp: lookup nobody.default.svc: no such host"
    kubectl patch pod web -p '{"spec":{"activeDeadlineSeconds":1}}'
    wait_for_phase web Failed
    assert_eq "why it ended" DeadlineExceeded "$(field web .status.reason)"
    cluster_wipe
}

check
become_ordinary_user
check
