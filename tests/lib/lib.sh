# shellcheck shell=bash disable=SC2034 # the tests use them
# Functions that the shell tests of the real programs share. Source it first:
#
#   . "$(dirname "$0")/../lib/lib.sh"
#
# A test is one process with its own scratch directory and its own cluster. It exits with 0, or prints why it failed. Nothing here waits
# for a fixed time: wait_until waits for a condition, with a deadline that only a defect reaches.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BUILD:-$ROOT/build}
SCALE=${TRAINYARD_TEST_SCALE:-1}
PATIENCE=${TRAINYARD_TEST_PATIENCE:-300} # seconds that wait_until waits; only a defect reaches this limit
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/trainyard-test.XXXXXX")
TRAINYARD=$BUILD/trainyard
TRAINER=$BUILD/trainer
KUBECTL=$(type -P kubectl || true) # the path, because kubectl is a function here
[ -x "$BUILD/tools/usr/bin/kubectl" ] && KUBECTL=$BUILD/tools/usr/bin/kubectl
export TRAINYARD_STATE=$SCRATCH/state
export KUBECONFIG=$TRAINYARD_STATE/kubeconfig
USER_HOME=${HOME:-/}
export HOME=$SCRATCH/home # kubectl keeps a discovery cache there
mkdir -p "$HOME"
CLUSTER_UP=no
AS_USER=()
UP_OPTIONS=() # of every `up`; a test that kills the server and starts it again sets --no-restart

# Print what helps to understand a failed test.
show_cluster() {
    local namespace pod words
    echo "--- the end of the server's log:"
    tail -15 "$TRAINYARD_STATE/trainyard.log"
    echo "--- pods and the last lines of their logs:"
    while read -r namespace pod words; do
        echo "$namespace $pod $words"
        kubectl logs -n "$namespace" "$pod" --all-containers --tail 3 2>&1 | sed 's/^/    /'
    done < <(kubectl get pods --all-namespaces --no-headers 2>&1 | tail -8)
    echo "--- the last events:"
    kubectl get events --all-namespaces --sort-by .metadata.creationTimestamp 2>&1 | tail -8
}

finish() {
    local code=$?
    trap - EXIT
    [ $code = 0 ] || [ ! -s "$TRAINYARD_STATE/trainyard.log" ] || show_cluster || true
    ! declare -F clean_up >/dev/null || clean_up $code || code=1 # the test ends the processes that it started
    # A failed test may have left processes: a long training would keep the machine busy for hours.
    # shellcheck disable=SC2046 # one word each
    [ $code = 0 ] || kill -KILL $(jobs -p) 2>/dev/null || true
    if [ $CLUSTER_UP = yes ]; then as_user "$TRAINYARD" down --wipe >/dev/null || code=1; fi
    rm -rf "$SCRATCH"
    exit $code
}
trap finish EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Run a command as the user of this test: root, or the ordinary user after become_ordinary_user. To start a process that is killed later,
# use `"${AS_USER[@]}" COMMAND… &` instead: if a function runs in the background, $! is the shell around it, and the command would
# survive.
as_user() { "${AS_USER[@]}" "$@"; }

# From here on every command runs as a user without special rights. Only root can call this.
become_ordinary_user() {
    [ "$(id -u)" = 0 ] || return 0
    AS_USER=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
    # The ordinary user may not be able to read the checkout.
    mkdir -p "$SCRATCH/bin"
    cp "$BUILD/trainyard" "$BUILD/trainer" "$BUILD/trainyard-step" "$SCRATCH/bin"
    TRAINYARD=$SCRATCH/bin/trainyard
    TRAINER=$SCRATCH/bin/trainer
    if [ "$KUBECTL" != kubectl ]; then
        cp "$KUBECTL" "$SCRATCH/bin/kubectl"
        KUBECTL=$SCRATCH/bin/kubectl
    fi
    chown -R 65534:65534 "$SCRATCH"
    chmod 755 "$SCRATCH"
}

cluster_up() { # [OPTION…]
    as_user "$TRAINYARD" up --port 0 "${UP_OPTIONS[@]}" "$@" >"$SCRATCH/up.log" 2>&1 || {
        cat "$SCRATCH/up.log"
        fail "trainyard up $*"
    }
    CLUSTER_UP=yes
    ! declare -F on_up >/dev/null || on_up # the test can define this hook
}

# End the cluster and delete its state, so that the next one starts empty.
cluster_wipe() {
    as_user "$TRAINYARD" down --wipe
    CLUSTER_UP=no
}

kubectl() { as_user "$KUBECTL" "$@"; }

server_pid() { as_user "$TRAINYARD" status -o json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p'; }

# Whether a process runs; a zombie counts as gone. It reads the file once, because a zombie may be reaped between two reads.
is_alive() { grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; }

# Print the processes of a pod with this command name. The uid of the pod excludes processes of other clusters on this machine.
pod_processes() { # POD COMMAND [KUBECTL-OPTION…]
    local uid parents pid
    uid=$(kubectl get pod "$1" "${@:3}" -o jsonpath='{.metadata.uid}') || return
    parents=$(pgrep -f "trainyard-step pod .*/$uid\$") || return
    while parents=$(pgrep -P "$(paste -sd, <<<"$parents")"); do
        for pid in $parents; do
            [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$2" ] || echo "$pid"
        done
    done
}
kill_in_pod() { # POD COMMAND [KUBECTL-OPTION…]: kill -9, as when a machine is lost
    local pids
    pids=$(pod_processes "$@")
    # shellcheck disable=SC2086 # one word each
    [ -n "$pids" ] && kill -9 $pids
}

# wait_until WHAT COMMAND…: run the command until it succeeds.
wait_until() {
    local what=$1 deadline=$((SECONDS + PATIENCE))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || {
            "$@" || true
            fail "waited $PATIENCE seconds for: $what"
        }
        read -rt 0.1 <> <(:) || true
    done
}

# Custom resources are served once their definition is established. `kubectl wait` of 1.20 fails on a definition without conditions.
wait_established() { # CRD…, as for kubectl wait
    wait_until "$* to be established" kubectl wait --for=condition=Established "$@" --timeout=5s
}

assert_eq() { # WHAT EXPECTED ACTUAL
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

assert_contains() { # WHAT PART WHOLE
    case $3 in *"$2"*) ;; *) fail "$1: no '$2' in: $3" ;; esac
}

# COMMAND | finds GREP-ARGUMENT…: succeed if the output of the command matches. It reads to the end: `grep -q` exits at the first match,
# and then SIGPIPE may kill the command, which fails the pipe (pipefail).
finds() { grep "$@" | cat >/dev/null; }

# fresh_ports COUNT: print ports that no process listens on, in one line. Call it in $(…), which waits for the end of the program: until
# then the program holds the ports.
fresh_ports() { python3 "$ROOT/tests/lib/fresh_ports.py" "$1"; }

# have_addresses COUNT: set ADDRESSES to new addresses for COUNT processes of this machine, and LIST to the same list for TF_CONFIG.
have_addresses() {
    local ports
    ports=$(fresh_ports "$1")
    read -ra ADDRESSES <<<"$ports"
    ADDRESSES=("${ADDRESSES[@]/#/127.0.0.1:}")
    LIST=$(printf ',"%s"' "${ADDRESSES[@]}")
    LIST=${LIST#,}
}

# is_gone KUBECTL-GET-ARGUMENT…: succeed if the server answers that the object does not exist.
is_gone() {
    local left
    left=$(kubectl get "$@" --ignore-not-found -o name) && [ -z "$left" ]
}
uid_of() { kubectl get pod "$1" -o jsonpath='{.metadata.uid}'; }
is_replaced() { # POD OLD-UID
    local uid
    uid=$(uid_of "$1") && [ "$uid" != "$2" ]
}
has_condition() { # KIND/NAME CONDITION
    [ "$(kubectl get "$1" -o jsonpath="{.status.conditions[?(@.type=='$2')].status}")" = True ]
}

pod_phase_is() { [ "$(kubectl get pod "$1" -o jsonpath='{.status.phase}')" = "$2" ]; }
wait_for_phase() { wait_until "pod $1 to be $2" pod_phase_is "$1" "$2"; }

# A pod "sleeper" that runs and does nothing.
start_sleeper() {
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: sleeper}
spec:
  containers:
  - {name: main, image: trainyard/tools, command: [sleep, "100000"]}
YAML
    wait_for_phase sleeper Running
}

log_has() { kubectl logs "$1" "${@:3}" | finds -F -- "$2"; }
wait_for_log() { wait_until "the log of pod $1 to contain '$2'" log_has "$@"; } # POD TEXT [KUBECTL-OPTION…]

tfjob_has_condition() { has_condition "tfjob/$1" "$2"; }
wait_for_tfjob() { wait_until "tfjob $1 to be $2" tfjob_has_condition "$1" "$2"; }
