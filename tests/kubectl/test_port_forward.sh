#!/bin/bash
# 'kubectl port-forward' into pods: a server that only listens on 127.0.0.1 of its pod, transfers compared byte by byte, many connections
# at once, a half-closed connection, a port without a listener, a pod that is deleted. As root and as an ordinary user, with the kubectl
# of Debian 12 and, if there is one, the machine's own.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

FORWARD_PID=

forward_log() { cat "$SCRATCH/forward.log"; }
forwards() { [ "$(grep -c '^Forwarding from 127' "$SCRATCH/forward.log")" -ge "$1" ]; }
local_port() { sed -n "s/^Forwarding from 127.0.0.1:\([0-9]*\) -> $1\$/\1/p" "$SCRATCH/forward.log" | tail -1; }
forward_says() { grep -qF -- "$1" "$SCRATCH/forward.log"; }
forward_ended() { ! is_alive "$FORWARD_PID"; }

# forward COUNT ARGUMENT…: start port-forward, and wait until COUNT ports are open.
forward() {
    local count=$1
    shift
    : >"$SCRATCH/forward.log"
    "${AS_USER[@]}" "$KUBECTL" port-forward -v=4 "$@" >>"$SCRATCH/forward.log" 2>&1 &
    FORWARD_PID=$!
    wait_until "port-forward $*" forwards "$count"
}

stop_forward() {
    kill "$FORWARD_PID" 2>/dev/null || true
    wait "$FORWARD_PID" 2>/dev/null || true
}

resident_peak() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$(server_pid)/status"; }

# Sends SIZE bytes on each of COUNT connections at once, closes its sending side, and compares the answer: the digest of the sent bytes,
# followed by the bytes.
cat >"$SCRATCH/client.py" <<'PY'
import hashlib, os, socket, sys, threading
port, count, size = map(int, sys.argv[1:4])
failures = []
def talk():
    try:
        data = os.urandom(size)
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: line.recv(65536), b""))
        if answer != hashlib.sha256(data).hexdigest().encode() + data:
            failures.append("sent %d bytes, got %d different ones" % (size, len(answer)))
    except OSError as error:
        failures.append(str(error))
threads = [threading.Thread(target=talk) for _ in range(count)]
for each in threads: each.start()
for each in threads: each.join()
sys.exit("\n".join(failures) if failures else 0)
PY
# Sends and receives at the same time. The received bytes must equal the sent ones.
cat >"$SCRATCH/echo.py" <<'PY'
import os, socket, sys, threading
data = os.urandom(int(sys.argv[2]))
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as line:
    def send():
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
    threading.Thread(target=send).start()
    answer = b"".join(iter(lambda: line.recv(65536), b""))
sys.exit(0 if answer == data else "received %d bytes that differ from the %d sent ones" % (len(answer), len(data)))
PY
# Sends a word and prints the answer.
cat >"$SCRATCH/say.py" <<'PY'
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as line:
    line.sendall(sys.argv[2].encode())
    print(line.recv(100).decode())
PY
cat >"$SCRATCH/pod.yaml" <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: digest}
spec:
  selector: {app: digest}
  ports: [{name: digest, port: 80, targetPort: 8987}]
---
apiVersion: v1
kind: Pod
metadata: {name: digest, labels: {app: digest}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, -u, -c]
    args:
    - |
      import hashlib, socket, threading
      def read_all(line): return b"".join(iter(lambda: line.recv(65536), b""))
      def digest(line):
          data = read_all(line)
          line.sendall(hashlib.sha256(data).hexdigest().encode() + data)
      def echo(line):
          for piece in iter(lambda: line.recv(65536), b""): line.sendall(piece)
      def talk(function, line):
          with line: function(line)
      def serve(listener, function):
          while True:
              line, _ = listener.accept()
              threading.Thread(target=talk, args=(function, line)).start()
      address = socket.gethostbyname(socket.gethostname())
      for host, port, function in (("127.0.0.1", 8987, digest), ("0.0.0.0", 8988, echo), (address, 8989, digest)):
          listener = socket.create_server((host, port), backlog=128)
          threading.Thread(target=serve, args=(listener, function)).start()
      print("serving")
    ports: [{containerPort: 8987}]
YAML

check() { # uses $KUBECTL
    echo "port-forward with $("$KUBECTL" version --client 2>/dev/null | grep -o 'v1\.[0-9.]*' | sed -n 1p)"
    kubectl apply -f "$SCRATCH/pod.yaml"
    wait_for_log digest serving

    # Several ports at once, with local ports that kubectl chooses.
    forward 3 pod/digest :8987 :8988 :8989
    local resident
    resident=$(resident_peak)
    python3 "$SCRATCH/client.py" "$(local_port 8987)" 1 $((5 * SCALE << 20)) || fail "$((5 * SCALE)) MB both ways"
    python3 "$SCRATCH/client.py" "$(local_port 8987)" $((20 * SCALE)) 100000 || fail "many connections at once"
    python3 "$SCRATCH/echo.py" "$(local_port 8988)" $((5 * SCALE << 20)) || fail "both ways at the same time"
    # The data that a slow side has not read yet stays with the sender, not in the server.
    resident=$(($(resident_peak) - resident))
    echo "port-forward: $((20 * SCALE)) MB, and the server's memory grew by $resident KiB"
    [ "$resident" -lt 65536 ] || fail "the server buffers what it forwards: its memory grew by $resident KiB"
    python3 "$SCRATCH/client.py" "$(local_port 8989)" 1 1000 || fail "a server on the pod's own address"
    python3 "$SCRATCH/client.py" "$(local_port 8987)" 1 0 || fail "a connection without data"
    # kubectl asks for WebSocket since 1.31. At this log level it reports when it falls back to SPDY.
    ! forward_says "fallback to secondary dialer" || fail "WebSocket was refused: $(forward_log)"
    stop_forward

    # Through the service, whose port differs from the pod's, with a chosen local port.
    local free
    free=$(fresh_ports 1)
    forward 1 svc/digest "$free:80"
    forward_says "127.0.0.1:$free -> 8987" || fail "the service's port: $(forward_log)"
    python3 "$SCRATCH/client.py" "$free" 1 1000 || fail "by the service"
    stop_forward

    # Through the job that created the pod.
    kubectl create job once --image=trainyard/tools -- python3 -uc "import socket
listener = socket.create_server(('127.0.0.1', 8080))
print('serving')
line, _ = listener.accept()
line.sendall(line.recv(100))"
    wait_for_log job/once serving
    forward 1 job/once :8080
    assert_eq "the answer of the job's pod" hello "$(python3 "$SCRATCH/say.py" "$(local_port 8080)" hello)"
    stop_forward
    kubectl delete job once

    # No process listens on the port: the client's connection is closed, and kubectl prints why.
    forward 1 pod/digest :9999
    python3 "$SCRATCH/client.py" "$(local_port 9999)" 1 10 2>/dev/null && fail "a port without a listener answered"
    wait_until "kubectl to print why" forward_says "error forwarding port 9999 to pod digest, uid"
    forward_says "Connection refused" || fail "no reason in: $(forward_log)"
    stop_forward

    # When the pod is deleted, kubectl ends.
    forward 1 pod/digest :8987
    python3 "$SCRATCH/client.py" "$(local_port 8987)" 1 1000 || fail "before the pod goes"
    kubectl delete pod digest --wait=false
    wait_until "port-forward to end with its pod" forward_ended
    forward_says "lost connection to pod" || fail "no message about the end in: $(forward_log)"
    stop_forward
    wait_until "the pod to be gone" is_gone pod digest
}

both_kubectls() {
    cluster_up --nodes 1
    check
    if [ -x /usr/bin/kubectl ] && [ "$KUBECTL" != /usr/bin/kubectl ]; then (KUBECTL=/usr/bin/kubectl && check); fi
    # A pod that does not run yet.
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: waiting}
spec:
  nodeSelector: {nowhere: at-all}
  containers: [{name: main, image: trainyard/tools, command: [sleep, infinity]}]
YAML
    assert_contains "a pod that does not run" "unable to forward port because pod is not running" \
        "$(kubectl port-forward waiting :80 2>&1 || true)"
    # A pod with hostNetwork: its 127.0.0.1 is that of the machine.
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: host}
spec:
  hostNetwork: true
  restartPolicy: Never
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, -uc]
    args:
    - |
      import socket
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1])
      line, _ = listener.accept()
      line.sendall(line.recv(100))
YAML
    wait_for_log host port
    local port
    port=$(kubectl logs host | sed -n 's/^port //p')
    forward 1 pod/host ":$port"
    assert_eq "the answer of a pod with the machine's network" hello "$(python3 "$SCRATCH/say.py" "$(local_port "$port")" hello)"
    stop_forward

    # The server shuts down while a session is open: it stops cleanly, and kubectl ends, too.
    kubectl apply -f "$SCRATCH/pod.yaml"
    wait_for_log digest serving
    forward 1 pod/digest :8987
    cluster_wipe
    wait_until "port-forward to end with the server" forward_ended
    stop_forward
}

both_kubectls
if [ "$(id -u)" = 0 ]; then
    become_ordinary_user
    both_kubectls
fi
