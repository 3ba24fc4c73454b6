#!/bin/bash
# Probes over HTTPS and gRPC against servers that speak these protocols and against some that do not; as root and as an ordinary user. The
# servers run in a sidecar, and each other container of the pod has a probe that connects to them.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

ready() { kubectl get pod "$1" -o jsonpath="{.status.containerStatuses[?(@.name==\"$2\")].ready}"; }
is_ready() { [ "$(ready "$1" "$2")" = "$3" ]; }
has_event() {
    kubectl get events --field-selector "involvedObject.name=$1,reason=Unhealthy" -o jsonpath='{range .items[*]}{.message}{"\n"}{end}' |
        finds -Fx -- "$2"
}

# The head of a pod whose containers start when its servers serve. There are several pods, because the number of events per pod is
# limited.
pod() { # NAME
    cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: v, emptyDir: {}}, {name: c, configMap: {name: servers}}]
  initContainers:
  - name: servers
    image: trainyard/tools
    restartPolicy: Always
    command: [sh, -c, 'cp /c/tls.pem /v; exec /usr/bin/python3 /c/probed_servers.py']
    volumeMounts: [{name: v, mountPath: /v}, {name: c, mountPath: /c}]
    startupProbe: {exec: {command: [test, -e, /v/serving]}, periodSeconds: 1, failureThreshold: 1000}
  containers:
YAML
}
container() { # NAME READINESS-PROBE [TIMEOUT]
    echo "  - {name: $1, image: trainyard/tools, command: [sleep, '1000'],"
    echo "     readinessProbe: {$2, periodSeconds: 1, timeoutSeconds: ${3:-5}, failureThreshold: 1}}"
}

start_pods() {
    kubectl create configmap servers --from-file="$SCRATCH/probed_servers.py" --from-file="$SCRATCH/tls.pem"
    {
        pod https
        container well 'httpGet: {port: 8443, scheme: HTTPS, path: /well}'
        container sick 'httpGet: {port: 8443, scheme: HTTPS, path: /sick}'
        container redirected 'httpGet: {port: 8443, scheme: HTTPS, path: /on}'
        container slow 'httpGet: {port: 8443, scheme: HTTPS, path: /slow}' 1
        pod https-broken
        container plain 'httpGet: {port: 8080, scheme: HTTPS, path: /}'
        container closing 'httpGet: {port: 7001, scheme: HTTPS, path: /}'
        container silent 'httpGet: {port: 7002, scheme: HTTPS, path: /}' 1
        container nobody 'httpGet: {port: 7999, scheme: HTTPS, path: /}'
        pod grpc
        container well 'grpc: {port: 9000, service: well}'
        container sick 'grpc: {port: 9000, service: sick}'
        container stranger 'grpc: {port: 9000, service: stranger}'
        container slow 'grpc: {port: 9000, service: slow}' 1
        container bare 'grpc: {port: 9001}'
        pod grpc-broken
        container plain 'grpc: {port: 8080}'
        container closing 'grpc: {port: 7001}'
        container nobody 'grpc: {port: 7999}'
    } | kubectl apply -f -
}

expect() { # POD CONTAINER MESSAGE
    wait_until "an event of pod $1 with '$3'" has_event "$1" "Readiness probe failed: $3"
    assert_eq "container $2 of $1 is ready" false "$(ready "$1" "$2")"
}

check_https() {
    local url
    wait_until "a container to be ready by HTTPS" is_ready https well true
    url=https://$(kubectl get pod https -o jsonpath='{.status.podIP}')
    expect https sick "HTTP probe failed with statuscode: 503"
    expect https redirected "HTTP probe failed with statuscode: 418"
    expect https slow "Get \"$url:8443/slow\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    url=https://$(kubectl get pod https-broken -o jsonpath='{.status.podIP}')
    expect https-broken plain "Get \"$url:8080/\": tls: the handshake failed: wrong version number"
    expect https-broken closing "Get \"$url:7001/\": tls: the handshake failed: unexpected eof while reading"
    expect https-broken silent "Get \"$url:7002/\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    expect https-broken nobody "Get \"$url:7999/\": dial tcp ${url#https://}:7999: connect: connection refused"
    wait_for_log https "asked /well kube-probe/1.36" -c servers
}

check_grpc() {
    local address
    wait_until "a container to be ready by gRPC" is_ready grpc well true
    expect grpc sick 'service unhealthy (responded with "NOT_SERVING")'
    expect grpc stranger 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health), or knows no service "stranger"'
    expect grpc slow "timeout: health rpc did not complete within 1s"
    expect grpc bare 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health), or knows no service ""'
    expect grpc-broken plain "error: health rpc probe failed: the server does not speak HTTP/2"
    expect grpc-broken closing "error: health rpc probe failed: error reading server preface: EOF"
    address=$(kubectl get pod grpc-broken -o jsonpath='{.status.podIP}')
    expect grpc-broken nobody "timeout: failed to connect service \"$address:7999\" within 5s: dial tcp $address:7999: connect: connection refused"
}

# The servers change their answers, and then change them back.
check_change() { # POD
    local sick
    sick=$TRAINYARD_STATE/pods/$(uid_of "$1")/volumes/v/sick
    touch "$sick"
    wait_until "a container not to be ready by $1" is_ready "$1" well false
    rm "$sick"
    wait_until "a container to be ready by $1 again" is_ready "$1" well true
    assert_eq "restarts" "" "$(kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[*].restartCount}' | tr -d "0 ")"
}

check() {
    cluster_up
    start_pods
    check_https
    check_grpc
    check_change https
    check_change grpc
    cluster_wipe
}

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=nobody.invalid -keyout "$SCRATCH/key.pem" -out "$SCRATCH/certificate.pem" 2>/dev/null
cat "$SCRATCH/key.pem" "$SCRATCH/certificate.pem" >"$SCRATCH/tls.pem"
chmod 644 "$SCRATCH/tls.pem"
install -m 644 "$ROOT/tests/lib/probed_servers.py" "$SCRATCH" # an ordinary user may not be able to read the checkout
check
become_ordinary_user
check
