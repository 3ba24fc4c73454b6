#!/bin/bash
# Pods behind a Service see the address of the client pod, over TCP and UDP, also while pods behind the Service change and after the proxy
# was killed. If the kernel does not allow this, they see the gateway's address, and Services work nevertheless.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# A pod that answers over TCP and UDP with its name and the address it sees. Its answers over UDP are fragmented.
server() { # NAME NODE
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: web}}
spec:
  nodeName: $2
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: trainyard/tools
    readinessProbe: {tcpSocket: {port: 4000}, periodSeconds: 1}
    command: [python3, -u, -c]
    args:
    - |
      import socket, threading
      datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      datagrams.bind(("0.0.0.0", 4000))
      def answer():
          while True:
              data, peer = datagrams.recvfrom(65536)
              datagrams.sendto(f"$1 sees {peer[0]}".encode().ljust(5000), peer)
      threading.Thread(target=answer, daemon=True).start()
      listener = socket.create_server(("0.0.0.0", 4000))
      while True:
          connection, peer = listener.accept()
          try:
              connection.sendall(f"$1 sees {peer[0]}".encode())
          except OSError:
              pass # a probe has closed the connection
          connection.close()
YAML
}

client() { # NAME NODE
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  nodeName: $2
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: trainyard/tools, command: [sleep, "100000"]}
YAML
}

service() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: t, port: 3000, targetPort: 4000}, {name: u, port: 3000, targetPort: 4000, protocol: UDP}]
YAML
}

# Open eight connections, or send datagrams from eight sockets, one after the other. Print the distinct answers, sorted.
ASK='
import socket, sys
kind, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
heard = set()
for turn in range(8):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM) as line:
        line.settimeout(20 if kind == "tcp" else 0.3)
        line.connect((host, port))
        for attempt in range(100): # a datagram to a pod that does not listen is lost
            try:
                if kind == "udp":
                    line.send(b"x" * 4000)
                heard.add(line.recv(65536).decode().strip())
                break
            except TimeoutError:
                pass
        else:
            sys.exit("no answer")
print(*sorted(heard), sep="; ")'
ask() { kubectl exec "$1" -- python3 -c "$ASK" "$2" "${3:-web}" "${4:-3000}"; } # POD tcp|udp [HOST PORT]
hears() { [ "$(ask "$1" "$2")" = "$3" ]; }                                     # POD tcp|udp ANSWERS
hears_both() {                                                                 # POD ANSWERS
    wait_until "pod $1 to get these answers over TCP: $2" hears "$1" tcp "$2"
    wait_until "pod $1 to get these answers over UDP: $2" hears "$1" udp "$2"
}
is_refused() { { ask "$1" tcp 2>&1 || true; } | finds ConnectionRefusedError; }
address_of() { kubectl get pod "$1" -o jsonpath='{.status.podIP}'; }
process_of() { pgrep -f "trainyard-step $1 .*$TRAINYARD_STATE"; }

check() { # SEEN [UP-OPTION…]: SEEN is "client", or the address that pods see for all clients
    cluster_up --nodes 2 "${@:2}"
    service
    client near node-1
    client far node-2
    server one node-1
    server two node-2
    local pod
    for pod in near far one two; do
        wait_for_phase $pod Running
    done
    seen() { if [ "$1" = client ]; then address_of "$2"; else echo "$1"; fi; } # SEEN POD
    local near far one three
    near=$(seen "$1" near)
    far=$(seen "$1" far)
    hears_both near "one sees $near; two sees $near"
    hears_both far "one sees $far; two sees $far"
    assert_eq "without a service" "two sees $(address_of near)" "$(ask near tcp "$(address_of two)" 4000)"
    assert_eq "without a service, over UDP" "two sees $(address_of near)" "$(ask near udp "$(address_of two)" 4000)"
    # A pod that reaches itself through the service sees the gateway's address.
    one=$(seen "$1" one)
    hears_both one "one sees 10.244.0.1; two sees $one"

    # The proxy skips a pod behind the service that does not listen.
    kubectl label pod far app=web >/dev/null
    has_endpoint() { kubectl get endpoints web -o jsonpath='{.subsets[*].addresses[*].ip}' | finds -wF "$1"; }
    wait_until "the third pod to be behind the service" has_endpoint "$(address_of far)"
    hears_both near "one sees $near; two sees $near"
    kubectl label pod far app- >/dev/null

    kubectl delete pod one >/dev/null
    hears_both near "two sees $near"
    server three node-1
    hears_both near "three sees $near; two sees $near"
    three=$(seen "$1" three)
    hears_both three "three sees 10.244.0.1; two sees $three"

    local proxy
    proxy=$(process_of proxy)
    kill -KILL "$proxy"
    hears_both far "three sees $far; two sees $far"
    kubectl delete pod two three >/dev/null
    wait_until "a service without pods to refuse connections" is_refused near
    cluster_wipe
}

check client
if [ "$(id -u)" = 0 ]; then
    # As in a container whose /proc/sys is read-only.
    AS_USER=(unshare --mount -- sh -c 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"' --)
    check 10.244.0.1
    AS_USER=()
fi
become_ordinary_user
check client
check client --isolated # without the egress rules, which track connections and reassemble fragments
