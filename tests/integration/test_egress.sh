#!/bin/bash
# Egress: pods reach hosts beyond the machine, but not the machine itself; as root through the kernel, as an ordinary user through pasta or
# slirp4netns. In this test the machine is a network namespace of its own. A second namespace plays the internet. A third one plays a
# neighbour, whose packets the machine forwards and Trainyard must not change.
# Alone: changes network links, addresses and firewall rules.
# shellcheck source=tests/lib/lib.sh
if [ -z "${TRAINYARD_TEST_WORLD:-}" ]; then
    options=(--mount --net)
    [ "$(id -u)" = 0 ] || options+=(--user --map-root-user)
    TRAINYARD_TEST_WORLD=yes exec unshare "${options[@]}" -- "$0" "$@"
fi
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

clean_up() {
    local pid
    for pid in $SERVERS; do kill "$pid" 2>/dev/null || true; done
    [ -z "${SECOND_UP:-}" ] || TRAINYARD_STATE=$SCRATCH/second "$TRAINYARD" down --wipe >/dev/null
}
SERVERS=

link() { # NETWORK OUR-ADDRESS ITS-ADDRESS
    ip netns add "$1"
    ip link add "$1" type veth peer name machine netns "$1"
    ip address add "$2/24" dev "$1"
    ip link set "$1" up
    ip -n "$1" address add "$3/24" dev machine
    ip -n "$1" link set machine up
    ip -n "$1" link set lo up
}

make_world() {
    mount -t tmpfs none /run # Trainyard records the machine's original IP forwarding there
    mount -t tmpfs none /dev/net
    mknod -m 666 /dev/net/tun c 10 200 # the mode that distributions use
    ip link set lo up
    link internet 198.51.100.2 198.51.100.1
    link neighbour 198.51.101.1 198.51.101.2
    ip route add default via 198.51.100.1
    ip -n neighbour route add default via 198.51.101.1
    ip -n internet route add 198.51.101.0/24 via 198.51.100.2
    ip -n internet address add 192.0.2.1/32 dev lo
    ip -n internet address add 192.0.2.53/32 dev lo
    serve internet 0.0.0.0 80
    ip netns exec internet python3 "$ROOT/tests/lib/name_server.py" 192.0.2.53 >"$SCRATCH/names" &
    SERVERS+=" $!"
    wait_until "a name server on the internet" grep -q answering "$SCRATCH/names"
    serve "" 127.0.0.1 8001
    serve "" 0.0.0.0 8002
    echo "nameserver 192.0.2.53" >"$SCRATCH/resolv.conf"
}

# An HTTP server that answers with the address of the client.
serve() { # NETWORK ADDRESS PORT
    local inside=()
    [ -z "$1" ] || inside=(ip netns exec "$1")
    "${inside[@]}" python3 -c '
import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"hello {self.client_address[0]}\n".encode())
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Page)
print("serving", flush=True)
server.serve_forever()' "$2" "$3" >"$SCRATCH/serve.$3" &
    SERVERS+=" $!"
    wait_until "a server at $2:$3" grep -q serving "$SCRATCH/serve.$3"
}

# A pod that repeats its requests for ever. The test reads the pod's log file, which it can also read while the API server is down.
asker() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: asker}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -c]
    args:
    - |
      turn=0
      gateway=$(ip route get 192.0.2.1 2>/dev/null | sed -n 's/.*via \([0-9.]*\).*/\1/p')
      ask() { echo "turn $turn: $1 $(curl -sS -m "$3" "http://$2/" 2>&1)"; }
      while true; do
          turn=$((turn + 1))
          ask internet www.example.com 20
          ask loopback 127.0.0.1:8001 1
          ask gateway "${gateway:-10.244.0.1}:8002" 1
          ask machine 198.51.100.2:8002 1
          echo "turn $turn is over"
          read -rt 0.2 <> <(:)
      done
YAML
    wait_for_log asker "turn 1 is over"
}
newest_log() { find "$TRAINYARD_STATE/pods" -name 'main.*.log' | sort | tail -1; }
another_run() { [ "$(newest_log)" != "$1" ]; }
next_turn() {
    local turn LOG
    LOG=$(newest_log)
    turn=$(($(grep -c "is over" "$LOG") + 2))
    wait_until "turn $turn of pod asker" grep -q "turn $turn is over" "$LOG"
    sed -n "s/.*turn $turn: //p" "$LOG"
}
reaches_out() { next_turn | finds "^internet hello 198.51.100.2"; }

check_turn() { # WHEN
    local said
    said=$(next_turn)
    assert_contains "a request to the internet, $1" "internet hello 198.51.100.2" "$said" # with the machine's address as the source
    case $(grep -v ^internet <<<"$said") in *hello*) fail "a pod reaches the machine, $1: $said" ;; esac
}

# The machine's rules, links and forwarding are the same as before.
check_undone() { # FORWARDING
    assert_eq "rules left" "" "$(nft list ruleset 2>/dev/null || true)"
    assert_eq "links left" "" "$(ip -o link show | grep -E 'tyo|ty0' || true)"
    assert_eq "forwarding" "$1" "$(cat /proc/sys/net/ipv4/ip_forward)"
    if pgrep -f "$TRAINYARD_STATE/run" >/dev/null; then fail "a process of the cluster is left"; fi
}

up_with() { # DIRECTORY: runs `up` with only this directory in PATH
    as_user env PATH="$1" "$TRAINYARD" up --port 0 --no-restart --resolv-conf "$SCRATCH/resolv.conf" >"$SCRATCH/up.log" 2>&1 || fail "up: $(cat "$SCRATCH/up.log")"
    CLUSTER_UP=yes
}
up() { cluster_up --resolv-conf "$SCRATCH/resolv.conf" "$@"; }

check_kernel() {
    echo 0 >/proc/sys/net/ipv4/ip_forward
    up
    assert_eq "notes at up" "" "$(grep note: "$SCRATCH/up.log" || true)"
    asker
    check_turn "as root"
    # A neighbour's packets are not changed.
    assert_eq "the source address of a neighbour's request" "hello 198.51.101.2" "$(ip netns exec neighbour curl -sS -m "$PATIENCE" http://192.0.2.1/)"
    assert_eq "the source address of the machine's request" "hello 198.51.100.2" "$(curl -sS -m "$PATIENCE" http://192.0.2.1/)"
    # Connections from outside to the pod network are dropped.
    local inner
    inner=$(sed -n 's/^address //p' "$TRAINYARD_STATE/run/way-out")
    ip -n internet route add "$inner" via 198.51.100.2
    # Nothing listens on the port. So a packet that gets through would lead to ConnectionRefusedError. A dropped packet leads to
    # TimeoutError.
    assert_eq "a connection from outside" TimeoutError "$(ip netns exec internet python3 -c '
import socket, sys
try:
    socket.create_connection((sys.argv[1], 1), 1)
except OSError as error:
    print(type(error).__name__)' "$inner")"
    # A second cluster has its own egress rules. Its `down` does not remove those of the first.
    TRAINYARD_STATE=$SCRATCH/second "$TRAINYARD" up --port 0 >"$SCRATCH/second.log" 2>&1 || fail "a second cluster: $(cat "$SCRATCH/second.log")"
    SECOND_UP=yes
    assert_eq "tables" 2 "$(nft list tables | grep -c tyo)"
    TRAINYARD_STATE=$SCRATCH/second "$TRAINYARD" down --wipe >/dev/null
    SECOND_UP=
    check_turn "after another cluster"
    kill -KILL "$(server_pid)"
    check_turn "while the server is down"
    up
    check_turn "with another server"
    # The whole cluster is killed: egress works again after the next `up`.
    local before
    before=$(newest_log)
    kill -KILL "$(server_pid)" "$(pgrep -f "trainyard-step hold $TRAINYARD_STATE")"
    up
    wait_until "another run of the pod" another_run "$before"
    wait_until "a pod to reach the internet after the whole cluster was killed" reaches_out
    check_turn "after the whole cluster was killed"
    as_user "$TRAINYARD" down >/dev/null
    check_undone 0
    # `up` and `status` report a firewall rule of another program that drops the pods' packets.
    nft add table ip filter
    nft 'add chain ip filter FORWARD { type filter hook forward priority 0; policy drop; }'
    up
    assert_contains "a firewall that drops" "the machine's firewall ('filter FORWARD') drops" "$(cat "$SCRATCH/up.log")"
    assert_contains "the same on status" "filter FORWARD" "$("$TRAINYARD" status)"
    nft delete table ip filter
    cluster_wipe
    check_undone 0
    # If IP forwarding was on before, it stays on.
    echo 1 >/proc/sys/net/ipv4/ip_forward
    up
    cluster_wipe
    check_undone 1
    up --isolated
    assert_eq "rules of an isolated cluster" "" "$(nft list ruleset)"
    cluster_wipe
}

program() { pgrep -f "trainyard-step way-out $TRAINYARD_STATE/run/holder" | sed -n 1p; }
another_program() { [ -n "$(program)" ] && [ "$(program)" != "$1" ]; }

check_program() { # NAME
    rm -rf "$SCRATCH/programs"
    mkdir "$SCRATCH/programs"
    ln -s "$(type -P "$1")" "$SCRATCH/programs/$1"
    up_with "$SCRATCH/programs"
    assert_eq "notes at up with $1" "" "$(grep note: "$SCRATCH/up.log" || true)"
    asker
    wait_until "a pod to reach the internet through $1" reaches_out
    check_turn "through $1"
    kill -KILL "$(server_pid)"
    check_turn "through $1 while the server is down"
    up_with "$SCRATCH/programs"
    check_turn "through $1 with another server"
    local before
    before=$(program)
    kill -KILL "$before"
    wait_until "$1 to be started again" another_program "$before"
    wait_until "a pod to reach the internet through the new $1" reaches_out
    cluster_wipe
    check_undone 1
    if pgrep -x "$1" >/dev/null && pgrep -f "$TRAINYARD_STATE" >/dev/null; then fail "a process of $1 is left"; fi
}

check_nothing() {
    mkdir -p "$SCRATCH/nothing"
    up_with "$SCRATCH/nothing"
    assert_contains "the note about the missing program" "pods cannot connect to addresses outside the cluster: install 'passt'" "$(cat "$SCRATCH/up.log")"
    assert_contains "the same on status" "install 'passt'" "$(as_user "$TRAINYARD" status)"
    cluster_wipe
}

make_world
check_kernel
become_ordinary_user
check_program pasta
check_program slirp4netns
check_nothing
