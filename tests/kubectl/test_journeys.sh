#!/bin/bash
# What users of a tutorial type, with kubectl 1.20, 1.32 and 1.36: they label nodes and place pods on them, reach services by name, use
# one host port on three nodes at once, open a page through 'port-forward', and read logs across a restart. As root, and with the first
# kubectl also as an ordinary user.
# Takes: host port 3000.
# Takes: node ports by their numbers.
# Takes: port 8987.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

NAMESPACE=kubeflow-user-example-com
MEGABYTES=100
FORWARD_PID=

# A worker answers with its name on port 3000 of its node and of its pod.
worker() { # NUMBER
    cat <<YAML
apiVersion: v1
kind: Service
metadata: {name: pipeline-worker-$1, namespace: $NAMESPACE}
spec:
  type: NodePort
  selector: {pod-name: worker-$1}
  ports: [{port: 3000, targetPort: 3000, nodePort: $((30389 + $1))}]
---
apiVersion: v1
kind: Pod
metadata: {name: worker-$1, namespace: $NAMESPACE, labels: {pod-name: worker-$1}}
spec:
  nodeSelector: {disktype: worker-$1}
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, -uc]
    args:
    - |
      import socket
      listener = socket.create_server(("0.0.0.0", 3000))
      print("listening")
      while True:
          line, _ = listener.accept()
          with line: line.sendall(b"worker-$1")
    ports: [{containerPort: 3000, hostPort: 3000}]
YAML
}

# Prints the answer of each HOST:PORT. Retries, because a worker may listen before its service routes to it.
cat >"$SCRATCH/ask.py" <<'PY'
import socket, sys, time
def ask(host, port):
    while True:
        try:
            with socket.create_connection((host, port)) as line:
                answer = b"".join(iter(lambda: line.recv(100), b"")).decode()
            if answer:
                return answer
        except OSError:
            pass
        time.sleep(0.1)
for place in sys.argv[1:]:
    host, port = place.split(":")
    print(ask(host, int(port)))
PY

# Serves random bytes at 127.0.0.1 of the pod, which only port-forward reaches.
cat >"$SCRATCH/page.yaml" <<YAML
apiVersion: v1
kind: Pod
metadata: {name: page, namespace: $NAMESPACE}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, -uc]
    args:
    - |
      import hashlib, http.server, os
      data = os.urandom($MEGABYTES << 20)
      class Page(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              body = hashlib.sha256(data).hexdigest().encode() if self.path == "/digest" else data
              self.send_response(200)
              self.send_header("Content-Length", str(len(body)))
              self.end_headers()
              self.wfile.write(body)
      server = http.server.HTTPServer(("127.0.0.1", 8987), Page)
      print("serving")
      server.serve_forever()
YAML

forwards() { grep -q '^Forwarding from 127.0.0.1:8987 -> 8987$' "$SCRATCH/forward.log"; }
on_node() { kubectl get pod "$1" -n "$NAMESPACE" -o jsonpath='{.spec.nodeName}'; }
runs_again() { [ "$(kubectl get pod twice -o jsonpath='{.status.containerStatuses[0].restartCount}')" = 1 ]; }
waits_in_second_run() { runs_again && kubectl logs twice | finds -x waits; }
clean_up() { [ -z "$FORWARD_PID" ] || kill "$FORWARD_PID" 2>/dev/null || true; }

place_workers() {
    local number
    for number in 1 2 3; do
        kubectl label nodes "node-$number" "disktype=worker-$number"
        worker "$number" | kubectl create -f -
    done
    assert_contains "the labels of the nodes" disktype=worker-2 "$(kubectl get nodes --show-labels=true)"
    for number in 1 2 3; do
        wait_for_log "worker-$number" listening -n "$NAMESPACE"
        assert_eq "the node of worker-$number" "node-$number" "$(on_node "worker-$number")"
    done
    assert_eq "the nodes of the pods in get -o wide" "node-1 node-2 node-3 " \
        "$(kubectl get pods --all-namespaces -o wide | awk '$2 ~ /^worker-/ { print $8 }' | sort | tr '\n' ' ')"
    assert_contains "the services" 3000:30391/TCP "$(kubectl get svc -n "$NAMESPACE")"
}

reach_workers() {
    # From a pod in another namespace, by the names of their services.
    kubectl run ask --image=trainyard/tools --restart=Never --command -- python3 -c "$(cat "$SCRATCH/ask.py")" \
        pipeline-worker-{1,2,3}."$NAMESPACE":3000 >/dev/null
    wait_for_phase ask Succeeded
    assert_eq "the answers by service name" "worker-1 worker-2 worker-3" "$(kubectl logs ask | paste -sd ' ')"
    # From the machine: at port 3000 of each node, and at each node port.
    local addresses places=()
    mapfile -t addresses < <(kubectl get nodes -o jsonpath='{range .items[*]}{.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}')
    for address in "${addresses[@]}"; do places+=("$address:3000"); done
    answers_everywhere() { python3 "$SCRATCH/ask.py" "${places[@]}" 127.0.0.1:3039{0,1,2}; }
    wait_until "the ports of the machine to be open" answers_everywhere
    assert_eq "the answers on the machine" "worker-1 worker-2 worker-3 worker-1 worker-2 worker-3" "$(answers_everywhere | paste -sd ' ')"
    kubectl delete pod ask
}

look_at_page() {
    kubectl create -f "$SCRATCH/page.yaml"
    wait_for_log page serving -n "$NAMESPACE"
    : >"$SCRATCH/forward.log"
    "${AS_USER[@]}" "$KUBECTL" port-forward pod/page -n "$NAMESPACE" 8987:8987 >"$SCRATCH/forward.log" 2>&1 &
    FORWARD_PID=$!
    wait_until "port-forward" forwards
    assert_eq "the digest of $MEGABYTES MB through port-forward" "$(curl -sS http://127.0.0.1:8987/digest)" \
        "$(curl -sS http://localhost:8987/data | sha256sum | cut -d ' ' -f 1)"
    kill "$FORWARD_PID"
    wait "$FORWARD_PID" || true
    FORWARD_PID=
}

# `logs -f` shows a whole run and ends with it. The next run has its own log, and the log of the previous run is kept.
follow_logs() {
    kubectl create -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: twice}
spec:
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 0
  volumes: [{name: state, emptyDir: {}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c]
    args:
    - |
      if [ -e /state/second ]; then echo waits; until [ -e /state/go ]; do sleep 0.05; done; fi
      seq 1 1000
      [ -e /state/second ] || { touch /state/second; until [ -e /state/end ]; do sleep 0.05; done; exit 1; }
    volumeMounts: [{name: state, mountPath: /state}]
YAML
    # Follow at once, before the container runs: `logs -f` waits for it.
    local state first second
    : >"$SCRATCH/first" # an earlier kubectl may have left it
    as_user "$KUBECTL" logs -f twice >>"$SCRATCH/first" 2>&1 &
    first=$!
    has_begun() { [ -s "$SCRATCH/first" ]; }
    wait_until "the follower to follow" has_begun # otherwise it might only see the second run
    state=$TRAINYARD_STATE/pods/$(uid_of twice)/volumes/state
    as_user touch "$state/end"
    wait $first || fail "logs -f of the first run failed: $(cat "$SCRATCH/first")"
    wait_until "the second run" waits_in_second_run
    as_user "$KUBECTL" logs -f twice >"$SCRATCH/second" 2>&1 &
    second=$!
    as_user touch "$state/go"
    wait $second || fail "logs -f of the second run failed: $(cat "$SCRATCH/second")"
    cmp "$SCRATCH/first" <(seq 1 1000) || fail "the log of the first run"
    cmp "$SCRATCH/second" <(echo waits && seq 1 1000) || fail "the log of the second run"
    cmp <(kubectl logs twice --previous) <(seq 1 1000) || fail "the log of the previous run"
    assert_eq "the end of the log" "1000" "$(kubectl logs twice --tail=1)"
    assert_contains "times in the log" "T" "$(kubectl logs twice --tail=1 --timestamps)"
    kubectl delete pod twice
}

journey() { # uses $KUBECTL
    cluster_up --nodes 3
    place_workers
    reach_workers
    look_at_page
    follow_logs
    cluster_wipe
}

HOME=$USER_HOME "$ROOT/tools/get-kubectl" >"$SCRATCH/versions" 2>"$SCRATCH/missing" || true
sed -n 's/^get-kubectl: no \(kubectl .*\)/skipped: \1/p' "$SCRATCH/missing"
[ -s "$SCRATCH/versions" ] || fail 'no version of kubectl is in the cache or could be fetched'
while read -r version KUBECTL; do
    echo "with kubectl $version"
    journey </dev/null
done <"$SCRATCH/versions"
read -r _ KUBECTL <"$SCRATCH/versions"
become_ordinary_user
echo "as an ordinary user"
journey
