#!/bin/bash
# Services are reachable by name and cluster IP from pods, and at node ports and host ports from the machine, while pods behind them change
# and while the API server is down. Pods reach the API by all its names.
# Takes: host port 3000.
# Takes: node ports by their numbers.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

# A pod that answers each client with its name, and keeps the connection open until the client closes it.
server() { # NAME [NODE] [PORTS]
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {pod-name: serving}}
spec:
  terminationGracePeriodSeconds: 0
  ${2:+nodeSelector: {kubernetes.io/hostname: $2\}}
  containers:
  - name: main
    image: trainyard/tools
    ports: [{containerPort: 3000${3:+, $3}}]
    command: [python3, -u, -c]
    args:
    - |
      import socketserver
      class Handler(socketserver.StreamRequestHandler):
          def handle(self):
              self.wfile.write(b"this is $1\n")
              for line in self.rfile:
                  self.wfile.write(b"$1 heard " + line)
              self.wfile.write(b"$1 says goodbye\n")
      class Server(socketserver.ThreadingTCPServer):
          daemon_threads = True
      server = Server(("0.0.0.0", 3000), Handler)
      print("listening", flush=True)
      server.serve_forever()
---
YAML
}

# The service of the FaceNet tutorial.
service() { # TYPE [NODE-PORT]
    cat <<YAML
apiVersion: v1
kind: Service
metadata: {name: serving}
spec:
  ${1:+type: $1}
  selector: {pod-name: serving}
  ports: [{port: 3000, targetPort: 3000${2:+, nodePort: $2}}]
YAML
}

# A pod that runs the commands of the test: it runs each script that appears as /desk/ID.sh, and writes the output to ID.sh.done.
SHELL_POD=$(
    cat <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: shell}
spec:
  terminationGracePeriodSeconds: 0
  dnsConfig: {options: [{name: timeout, value: "15"}, {name: attempts, value: "5"}]} # the name server may be down for a while
  volumes: [{name: work, persistentVolumeClaim: {claimName: work}}]
  containers:
  - name: main
    image: trainyard/tools
    volumeMounts: [{name: work, mountPath: /desk}]
    command: [bash, -c]
    args:
    - |
      cd /desk
      echo ready
      while true; do
          for script in *.sh; do
              [ -e "$script" ] || continue
              mv "$script" "$script.running"
              { bash "$script.running" >"$script.out" 2>&1; mv "$script.out" "$script.done"; } &
          done
          read -rt 0.05 <> <(:)
      done
YAML
)

# Run a command in the shell pod and print its output. The pod's volume is a directory below the state directory.
inside() { # COMMAND
    local work=$TRAINYARD_STATE/volumes/default/work id
    id=$(date +%s%N) # not a counter: this runs in subshells
    as_user tee "$work/$id.tmp" >/dev/null <<<"$1"
    as_user mv "$work/$id.tmp" "$work/$id.sh"
    wait_until "the shell pod to run: $1" test -e "$work/$id.sh.done"
    cat "$work/$id.sh.done"
}

first_line() { # ADDRESS PORT: connects from the machine and prints the first line that the server sends
    local line=
    exec 5<>"/dev/tcp/$1/$2" && read -r line <&5 && echo "$line"
    exec 5>&-
} 2>/dev/null
says() { [ "$(first_line "$1" "$2")" = "$3" ]; }
inside_says() { [ "$(inside "exec 3<>/dev/tcp/$1/$2 && head -1 <&3" | sed -n 1p)" = "$3" ]; }

# A pod reaches the API by all its names, and curl verifies the server's certificate. Anonymous clients may get /version.
check_api() {
    local name answer
    as_user cp "$TRAINYARD_STATE/pki/ca.crt" "$TRAINYARD_STATE/volumes/default/work/ca.crt"
    # shellcheck disable=SC2016 # the pod's variables
    for name in kubernetes.default.svc kubernetes kubernetes.default kubernetes.default.svc.cluster.local 10.96.0.1 \
        kubernetes.docker.internal:6443 10.244.0.1:6443 '$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT'; do
        answer=$(inside "curl -sS --cacert /desk/ca.crt https://$name/version")
        assert_contains "the API at $name" gitVersion "$answer"
    done
    # The port in the kubeconfig also works in a pod.
    local port
    port=$(sed -n 's|.*server: https://127.0.0.1:||p' "$KUBECONFIG")
    answer=$(inside "curl -sS --cacert /desk/ca.crt https://kubernetes.docker.internal:$port/version")
    assert_contains "the API at the port of the kubeconfig" gitVersion "$answer"
}

check_node_port() {
    service NodePort 30390 | kubectl apply -f -
    assert_eq "the columns of a NodePort" "NodePort <none> 3000:30390/TCP" \
        "$(kubectl get svc serving --no-headers | awk '{ print $2, $4, $5 }')"
    server one node-1 | kubectl apply -f -
    wait_for_log one listening
    wait_until "the service from a pod by name" inside_says serving 3000 "this is one"
    inside_says serving.default.svc.cluster.local 3000 "this is one" || fail "no answer at the fully qualified name"
    local address
    address=$(kubectl get svc serving -o jsonpath='{.spec.clusterIP}')
    assert_contains "a cluster IP" 10.96. "$address"
    assert_contains "the address of the name" "$address" "$(inside "getent hosts serving")"
    wait_until "the service from the machine" says 127.0.0.1 30390 "this is one"
    wait_until "the service at the second node" says 127.0.0.2 30390 "this is one"
    assert_contains "variables of the service" "SERVING_SERVICE_HOST=$address" "$(inside env)"
    # A client that has shut down its sending side still gets the answer.
    assert_contains "a half-closed connection" "one says goodbye" \
        "$(inside 'python3 -c "
import socket
s = socket.create_connection((\"serving\", 3000))
s.sendall(b\"hello\\n\")
s.shutdown(socket.SHUT_WR)
print(b\"\".join(iter(lambda: s.recv(4096), b\"\")).decode())"')"
    if kubectl create service nodeport other --tcp=1:1 --node-port=30390 2>"$SCRATCH/err"; then
        fail "a node port was allocated twice"
    fi
    assert_contains "a node port that is taken" "provided port is already allocated" "$(cat "$SCRATCH/err")"
}

# Open a connection from the shell pod through the service. The client sends a line each time the file `say` appears.
open_line() {
    local work=$TRAINYARD_STATE/volumes/default/work
    as_user tee "$work/line.tmp" >/dev/null <<'SH'
exec 3<>/dev/tcp/serving/3000
while read -r line <&3; do
    echo "$line" >>/desk/heard
    while [ ! -e /desk/say ]; do read -rt 0.05 <> <(:); done
    rm /desk/say
    echo word >&3
done
echo "the connection has ended" >>/desk/heard
SH
    as_user mv "$work/line.tmp" "$work/line.sh" # renamed, so that the shell pod finds a complete script
    wait_until "a connection through the service" test -s "$work/heard"
}
heard() { [ "$(wc -l <"$TRAINYARD_STATE/volumes/default/work/heard")" -ge "$1" ]; }
line_lives() { # WHEN
    local before
    before=$(wc -l <"$TRAINYARD_STATE/volumes/default/work/heard")
    as_user touch "$TRAINYARD_STATE/volumes/default/work/say"
    wait_until "an answer on the open connection, $1" heard $((before + 1))
    assert_eq "the answer on the open connection, $1" "one heard word" "$(tail -1 "$TRAINYARD_STATE/volumes/default/work/heard")"
}

# The pods behind the service change: open connections stay open, and new connections go to the current pods.
check_endpoints() {
    open_line
    line_lives "at first"
    server two node-2 | kubectl apply -f -
    wait_for_log two listening
    wait_until "the second pod to be reached" inside_says serving 3000 "this is two"
    kubectl label pod one pod-name- >/dev/null
    only_two() { for _ in 1 2 3 4; do inside_says serving 3000 "this is two" || return 1; done; }
    wait_until "the first pod to leave the service" only_two
    line_lives "after its pod left the service"
    kubectl label pod one pod-name=serving >/dev/null
    kubectl delete pod two >/dev/null
    only_one() { for _ in 1 2 3 4; do inside_says serving 3000 "this is one" || return 1; done; }
    wait_until "the second pod to leave the service" only_one
}

# The server is killed: connections through services stay open, and new ones can be opened.
check_kill() {
    kill -KILL "$(server_pid)"
    line_lives "without a server"
    address=$1
    for _ in 1 2 3; do
        inside_says "$address" 3000 "this is one" || fail "no new connection while the server is down"
    done
    if says 127.0.0.1 30390 "this is one"; then fail "a node port is served while the server is down"; fi
    cluster_up
    line_lives "after up"
    wait_until "the service from a pod after up" inside_says serving 3000 "this is one"
    wait_until "the service from the machine after up" says 127.0.0.1 30390 "this is one"
    assert_eq "the address is the same after up" "$address" "$(kubectl get svc serving -o jsonpath='{.spec.clusterIP}')"
    check_api
    # Services also survive a kill of the proxy.
    proxy=$(pgrep -f "trainyard-step proxy $TRAINYARD_STATE/run/holder")
    kill -KILL "$proxy"
    wait_until "the service after its proxy was killed" inside_says serving 3000 "this is one"
}

# Each node has its own port 3000.
check_host_ports() {
    for node in 1 2 3; do
        server "host-$node" "node-$node" "hostPort: 3000" | kubectl apply -f -
    done
    for node in 1 2 3; do
        wait_for_log "host-$node" listening
        wait_until "host port 3000 of node $node" says "127.0.0.$node" 3000 "this is host-$node"
    done
    # There is no node for a fourth pod with this host port.
    server host-4 "" "hostPort: 3000" | kubectl apply -f -
    waits_for_port() { kubectl describe pod host-4 | finds "FailedScheduling"; }
    wait_until "the fourth to wait for a node" waits_for_port
    kubectl delete pod host-1 host-2 host-3 host-4 >/dev/null
}

# If another process listens on a node port, an event of the Service says so. The server waits, and opens the port when it is free.
check_taken_port() {
    rm -f "$SCRATCH/squatter.out" # from an earlier round
    python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 30391))
print("taken", flush=True)
sys.stdin.read()' <"$SCRATCH/squatter" >"$SCRATCH/squatter.out" &
    exec 7>"$SCRATCH/squatter"
    wait_until "a program to take the port" grep -qs taken "$SCRATCH/squatter.out"
    kubectl create service nodeport late --tcp=3000:3000 --node-port=30391 >/dev/null
    kubectl set selector svc late pod-name=serving >/dev/null
    told() { kubectl describe svc late | finds "port 30391 of 127.0.0.1 is taken by .*: waiting until it is free"; }
    wait_until "the event that the port is taken" told
    exec 7>&-
    wait_until "the node port to be opened when it is free" says 127.0.0.1 30391 "this is one"
}

# UDP through a service, a node port and a host port. A service may have the same port number for TCP and UDP.
check_datagrams() {
    # Another process has bound the UDP port that is the pod's host port.
    rm -f "$SCRATCH/bound"
    python3 -c 'import signal, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 30393)); print("bound", flush=True); signal.pause()' >"$SCRATCH/bound" &
    local squatter=$!
    wait_until "another process to bind the port" grep -qs bound "$SCRATCH/bound"
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: datagrams}
spec:
  type: NodePort
  selector: {app: datagrams}
  ports: [{name: u, port: 3000, targetPort: 4000, protocol: UDP, nodePort: 30392}, {name: t, port: 3000, targetPort: 4000, protocol: TCP}]
---
apiVersion: v1
kind: Pod
metadata: {name: datagrams, labels: {app: datagrams}}
spec:
  nodeName: node-1
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: trainyard/tools
    ports: [{containerPort: 4000, hostPort: 30393, protocol: UDP}]
    command: [python3, -u, -c]
    args:
    - |
      import socket
      s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      s.bind(("0.0.0.0", 4000))
      print("listening", flush=True)
      while True:
          data, peer = s.recvfrom(65536)
          s.sendto(b"heard " + data, peer)
YAML
    wait_for_log datagrams listening
    # shellcheck disable=SC2016
    SAY='import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(2)
s.connect((sys.argv[1], int(sys.argv[2])))
s.send(b"word")
print(s.recv(65536).decode())'
    inside_hears() { [ "$(inside "python3 -c '$SAY' datagrams 3000")" = "heard word" ]; }
    outside_hears() { [ "$(python3 -c "$SAY" "$1" "${2:-30392}")" = "heard word" ]; }
    wait_until "datagrams through the service" inside_hears
    wait_until "datagrams at the node port" outside_hears 127.0.0.1
    wait_until "datagrams at another node" outside_hears 127.0.0.3
    local holder="python3 (process $squatter)"
    [ "$(as_user id -u)" = 0 ] || holder="a program of another user"
    names_holder() { kubectl describe pod datagrams | finds -F "port 30393 of 127.0.0.1 is taken by $holder: waiting"; }
    wait_until "the event that the host port is taken" names_holder
    kill "$squatter"
    wait "$squatter" || true
    wait_until "datagrams at the host port" outside_hears 127.0.0.1 30393
    kubectl delete pod datagrams >/dev/null
}

check() {
    rm -f "$SCRATCH/squatter"
    mkfifo "$SCRATCH/squatter"
    cluster_up --nodes 3
    for namespace in kubeflow kubeflow-user-example-com; do
        kubectl get namespace "$namespace" >/dev/null || fail "no namespace $namespace"
    done
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: work}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Mi}}
YAML
    # The service must exist before the shell pod starts: a pod gets the environment variables of the services that exist at its start.
    service "" | kubectl apply -f -
    echo "$SHELL_POD" | kubectl apply -f -
    wait_for_log shell ready
    check_api
    check_node_port
    check_endpoints
    check_kill "$(kubectl get svc serving -o jsonpath='{.spec.clusterIP}')"
    check_host_ports
    check_taken_port
    check_datagrams
    # The service of the API is created again after it was deleted.
    kubectl delete svc kubernetes >/dev/null
    wait_until "the service of the API to exist again" kubectl get svc kubernetes
    wait_until "the API through this service" inside "curl -sSf --cacert /desk/ca.crt https://kubernetes.default.svc/version"
    cluster_wipe
    if pgrep -f "$TRAINYARD_STATE/run" >/dev/null; then fail "a process is left after down --wipe"; fi
}

check
become_ordinary_user
check
