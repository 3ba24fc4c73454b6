#!/bin/bash
# Names of services resolve in pods. Two pods listen on port 2222, each in its own network, and a third pod reaches both by name. Names
# outside of the cluster are resolved by the machine's name server. The cluster's name server keeps its address, and it answers while the
# API server is down.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

manifests() {
    for name in one two; do
        cat <<YAML
apiVersion: v1
kind: Service
metadata: {name: $name}
spec:
  clusterIP: None
  selector: {app: $name}
  ports: [{name: tf, port: 2222}]
---
apiVersion: v1
kind: Pod
metadata: {name: $name, labels: {app: $name}}
spec:
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, -u, -c]
    args:
    - |
      import socket
      server = socket.create_server(("0.0.0.0", 2222))
      print("listening", flush=True)
      while True:
          connection, peer = server.accept()
          connection.sendall(b"this is $name\n")
          connection.close()
---
YAML
    done
}

# Print the MAC address of the gateway, on which the name server listens. Pods keep it in their ARP cache for most of a minute.
gateway_hardware() {
    nsenter --target "$(pgrep -f "trainyard-step hold $TRAINYARD_STATE")" --net ip -o link show ty0 | sed 's/.*ether \([0-9a-f:]*\) .*/\1/'
}

# A pod that repeatedly makes DNS queries for A, SRV and PTR records and prints the results. It keeps running while the test kills the API
# server and the name server.
caller() {
    cat <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: asker}
spec:
  terminationGracePeriodSeconds: 0
  dnsConfig: {options: [{name: timeout, value: "15"}, {name: attempts, value: "5"}]} # the name server may be down for a while
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, -u, -c]
    args:
    - |
      import os, socket, struct, time
      def ask_once(name, kind, over_tcp):
          query = struct.pack(">6H", 77, 0x100, 1, 0, 0, 0)
          for label in name.split("."):
              query += bytes([len(label)]) + label.encode()
          query += b"\0" + struct.pack(">2H", kind, 1)
          s = socket.socket(socket.AF_INET, socket.SOCK_STREAM if over_tcp else socket.SOCK_DGRAM)
          s.settimeout(20)
          s.connect(("10.244.0.1", 53))
          s.send((struct.pack(">H", len(query)) if over_tcp else b"") + query)
          if not over_tcp:
              return s.recv(65536)
          size, data = struct.unpack(">H", s.recv(2))[0], b""
          while len(data) < size:
              data += s.recv(65536)
          return data
      def ask(name, kind, over_tcp=False):
          for _ in range(5): # retry on SERVFAIL, as every resolver does
              data = ask_once(name, kind, over_tcp)
              if data[3] & 15 != 2:
                  break
          return data
      def resolve(name):
          try:
              return sorted({item[4][0] for item in socket.getaddrinfo(name, 1)})
          except OSError as error:
              return error.errno == socket.EAI_NONAME and "no such name" or str(error)
      def facts(data):
          flags, _, answers, authority, more = struct.unpack(">5H", data[2:12])
          return f"code {flags & 15}, cut {flags >> 9 & 1}, {answers} answers, {authority} authority, {more} more"
      def tell(turn):
          print(f"turn {turn}: one {resolve('one')}", flush=True)
          print(f"turn {turn}: outside {resolve('www.example.com')}", flush=True)
          print(f"turn {turn}: alias outside {resolve('outside')}", flush=True)
          print(f"turn {turn}: nobody {resolve('nobody')} {resolve('nobody.example.com')}", flush=True)
          print(f"turn {turn}: port {facts(ask('_tf._tcp.one.default.svc.cluster.local', 33))}", flush=True)
          print(f"turn {turn}: six {facts(ask('one.default.svc.cluster.local', 28))}", flush=True)
          print(f"turn {turn}: long {facts(ask('long.example.com', 1))}", flush=True)
          print(f"turn {turn}: long over tcp {facts(ask('long.example.com', 1, True))}", flush=True)
          print(f"turn {turn}: back {socket.getnameinfo((socket.gethostbyname('one'), 1), 0)[0].split('.', 1)[1]}", flush=True)
          print(f"turn {turn} is over", flush=True)
      turn = 1
      while True:
          try:
              tell(turn)
              turn += 1
          except OSError as error: # no answer: retry
              print(f"turn {turn}: {error}", flush=True)
          time.sleep(0.3)
---
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {type: ExternalName, externalName: www.example.com}
YAML
}

# Wait for the next complete turn of the pod `asker` and check its output.
next_turn() {
    local turn said
    turn=$(($(kubectl logs asker | grep -c "is over") + 2))
    wait_for_log asker "turn $turn is over"
    said=$(kubectl logs asker | sed -n "s/^turn $turn: //p")
    assert_contains "a service" "one ['10.244." "$said"
    assert_contains "a port of a service" "port code 0, cut 0, 1 answers, 0 authority, 1 more" "$said"
    assert_contains "no IPv6 address" "six code 0, cut 0, 0 answers, 1 authority, 0 more" "$said"
    assert_contains "the reverse lookup" "back one.default.svc.cluster.local" "$said"
    [ "$(id -u)" = 0 ] || return 0 # only root can run a name server on port 53
    assert_contains "a name outside of the cluster" "outside ['192.0.2.1']" "$said"
    assert_contains "a service that is an alias of an outside name" "alias outside ['192.0.2.1']" "$said"
    assert_contains "names that do not exist" "nobody no such name no such name" "$said"
    assert_contains "an answer too long for a datagram" "long code 0, cut 1, 0 answers" "$said"
    assert_contains "the same over TCP" "long over tcp code 0, cut 0, 100 answers" "$said"
}

name_servers() { pgrep -f "trainyard-step names $TRAINYARD_STATE/run/holder"; }
check_without_server() {
    next_turn
    kill -KILL "$(server_pid)"
    # The API does not answer now, so the test reads the pod's log file.
    local log turns
    log=$(find "$TRAINYARD_STATE/pods" -path '*main*' -name '*.log' -exec grep -l "turn 1: one" {} +)
    turns=$(grep -c "is over" "$log")
    more_turns() { [ "$(grep -c "is over" "$log")" -gt $((turns + 1)) ]; }
    wait_until "answers of the name server while the API server is down" more_turns
    assert_eq "queries that failed while the API server was down" "" "$(grep "one [^[]" "$log" || true)"
    cluster_up --resolv-conf "$SCRATCH/resolv.conf"
    next_turn
    local killed
    killed=$(name_servers)
    kill -KILL "$killed"
    another_answers() { [ -n "$(name_servers)" ] && [ "$(name_servers)" != "$killed" ]; }
    wait_until "another name server" another_answers
    next_turn
}

clean_up() { [ -z "$NAME_SERVER" ] || kill "$NAME_SERVER"; }
NAME_SERVER=
echo "search example.org" >"$SCRATCH/resolv.conf"
if [ "$(id -u)" = 0 ]; then
    python3 "$ROOT/tests/lib/name_server.py" 127.0.0.77 >"$SCRATCH/name_server" &
    NAME_SERVER=$!
    wait_until "the machine's name server" grep -q answering "$SCRATCH/name_server"
    echo "nameserver 127.0.0.77" >>"$SCRATCH/resolv.conf"
fi

check() {
    cluster_up --nodes 2 --resolv-conf "$SCRATCH/resolv.conf"
    hardware=$(gateway_hardware)
    manifests | kubectl apply -f -
    wait_for_log one listening
    wait_for_log two listening
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: alias}
spec: {type: ExternalName, externalName: two.default.svc.cluster.local}
---
apiVersion: v1
kind: Pod
metadata: {name: caller}
spec:
  restartPolicy: Never
  dnsConfig: {options: [{name: timeout, value: "15"}, {name: attempts, value: "5"}]}
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -ec]
    args:
    - |
      for name in one two two.default two.default.svc two.default.svc.cluster.local alias; do
          until getent hosts $name >/dev/null; do sleep 0.05; done # a pod may run before its name resolves
          exec 3<>/dev/tcp/$name/2222
          echo "$name: $(cat <&3)"
      done
YAML
    wait_for_phase caller Succeeded
    assert_eq "the answers that the caller got" "one: this is one
two: this is two
two.default: this is two
two.default.svc: this is two
two.default.svc.cluster.local: this is two
alias: this is two" "$(kubectl logs caller)"
    caller | kubectl apply -f -
    wait_for_log asker "turn 1 is over"
    check_without_server
    assert_eq "the gateway's MAC address after pods were started and deleted" "$hardware" "$(gateway_hardware)"
    cluster_wipe
}

check
become_ordinary_user
check
