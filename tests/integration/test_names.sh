#!/bin/bash
# Two pods that both listen on 2222, each in its own network, reached by name from a third; names outside of the cluster from the
# machine's name server; the name server stays where pods remember it, and while the server is away.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # what kills the server here starts the next one itself

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

# The hardware address of the gateway, where the name server is. Neighbours remember it for most of a minute.
gateway_hardware() {
    nsenter --target "$(pgrep -f "trainyard-step hold $TRAINYARD_STATE")" --net ip -o link show ty0 | sed 's/.*ether \([0-9a-f:]*\) .*/\1/'
}

# Addresses, ports and the way back, without the cluster's server, and without the name server's first process.
caller() {
    cat <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: asker}
spec:
  terminationGracePeriodSeconds: 0
  dnsConfig: {options: [{name: timeout, value: "15"}, {name: attempts, value: "5"}]} # a name server may stand still for a while
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
          for _ in range(5): # as every resolver does where a server could not find out
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
          except OSError as error: # nobody answers: again, until somebody does
              print(f"turn {turn}: {error}", flush=True)
          time.sleep(0.3)
---
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {type: ExternalName, externalName: www.example.com}
YAML
}

# What the asker says in its next whole turn is as it should be.
next_turn() {
    local turn said
    turn=$(($(kubectl logs asker | grep -c "is over") + 2))
    wait_for_log asker "turn $turn is over"
    said=$(kubectl logs asker | sed -n "s/^turn $turn: //p")
    assert_contains "a service" "one ['10.244." "$said"
    assert_contains "a port of a service" "port code 0, cut 0, 1 answers, 0 authority, 1 more" "$said"
    assert_contains "no address of that kind" "six code 0, cut 0, 0 answers, 1 authority, 0 more" "$said"
    assert_contains "the way back" "back one.default.svc.cluster.local" "$said"
    [ "$(id -u)" = 0 ] || return 0 # nobody else may be a name server
    assert_contains "a name outside" "outside ['192.0.2.1']" "$said"
    assert_contains "a name of ours that stands for it" "alias outside ['192.0.2.1']" "$said"
    assert_contains "no such name" "nobody no such name no such name" "$said"
    assert_contains "an answer too long for a datagram" "long code 0, cut 1, 0 answers" "$said"
    assert_contains "the same over TCP" "long over tcp code 0, cut 0, 100 answers" "$said"
}

name_servers() { pgrep -f "trainyard-step names $TRAINYARD_STATE/run/holder"; }
check_without_server() {
    next_turn
    kill -KILL "$(server_pid)"
    # Nothing can be asked of the API now; what the pod says is in its log.
    local log turns
    log=$(find "$TRAINYARD_STATE/pods" -path '*main*' -name '*.log' -exec grep -l "turn 1: one" {} +)
    turns=$(grep -c "is over" "$log")
    more_turns() { [ "$(grep -c "is over" "$log")" -gt $((turns + 1)) ]; }
    wait_until "names while the server is away" more_turns
    assert_eq "names that failed while the server was away" "" "$(grep "one [^[]" "$log" || true)"
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
          until getent hosts $name >/dev/null; do sleep 0.05; done # a pod may speak before its name is known
          exec 3<>/dev/tcp/$name/2222
          echo "$name: $(cat <&3)"
      done
YAML
    wait_for_phase caller Succeeded
    assert_eq "what the caller heard" "one: this is one
two: this is two
two.default: this is two
two.default.svc: this is two
two.default.svc.cluster.local: this is two
alias: this is two" "$(kubectl logs caller)"
    caller | kubectl apply -f -
    wait_for_log asker "turn 1 is over"
    check_without_server
    assert_eq "the gateway's hardware address after pods have come and gone" "$hardware" "$(gateway_hardware)"
    cluster_wipe
}

check
become_ordinary_user
check
