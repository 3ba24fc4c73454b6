#!/bin/bash
# `up`, `status` and `down` print the right output and keep the cluster's state. `down --wipe` leaves nothing behind.
# Alone: compares the network interfaces and mounts of the machine before and after.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

check() { # as root or as the ordinary user
    interfaces_before=$(ls /sys/class/net)
    mounts_before=$(wc -l </proc/self/mounts)

    if as_user "$TRAINYARD" status >"$SCRATCH/out"; then fail "status says that a cluster runs"; fi
    assert_contains "status before up" "no cluster runs" "$(cat "$SCRATCH/out")"

    # A program that reads the output of `up` must see its end although the server runs in the background. If standard input is closed, the
    # lock file of the state directory must not become file descriptor 0.
    cluster_up --nodes 2 <&- 9> >(cat >/dev/null)
    wait $!
    assert_contains "up prints the next command" "export KUBECONFIG=$TRAINYARD_STATE/kubeconfig" "$(cat "$SCRATCH/up.log")"
    assert_eq "mode of the kubeconfig" 600 "$(stat -c %a "$KUBECONFIG")"
    assert_eq "mode of the state" 700 "$(stat -c %a "$TRAINYARD_STATE")"
    pid=$(server_pid)
    is_alive "$pid" || fail "the server (process $pid) does not run"
    assert_eq "nodes" "node-1 node-2" "$(kubectl get nodes -o jsonpath='{.items[*].metadata.name}')"

    assert_contains "a second up" "already running" "$(as_user "$TRAINYARD" up)"
    assert_contains "a second up with other options" "its options do not change while it runs: run 'trainyard down' before" \
        "$(as_user "$TRAINYARD" up --nodes 5)"
    port=$(as_user "$TRAINYARD" status -o json | jq .port)
    if as_user "$TRAINYARD" up --port "$port" --state "$HOME/other" 2>"$SCRATCH/err"; then fail "up succeeds although the port is taken"; fi
    keeper=$(as_user "$TRAINYARD" status -o json | jq .supervisorPid) # it also has the listening socket open
    grep -qE "port $port is taken by trainyard \(process ($pid|$keeper)\)" "$SCRATCH/err" || fail "a taken port: $(cat "$SCRATCH/err")"
    for path in /healthz /livez /readyz /version; do
        assert_eq "$path without a token" 200 "$(curl -sk -o /dev/null -w '%{http_code}' "https://127.0.0.1:$port$path")"
    done
    for path in / /api /apis /openapi/v2 /api/v1/namespaces /metrics; do
        assert_eq "$path without a token" 401 "$(curl -sk -o /dev/null -w '%{http_code}' "https://127.0.0.1:$port$path")"
    done
    assert_eq "the server after a second up" "$pid" "$(server_pid)"

    kubectl create configmap kept --from-literal=a=1
    kubectl config set-context --current --namespace=kubeflow
    as_user "$TRAINYARD" down
    is_alive "$pid" && fail "the server (process $pid) still runs after down"
    if as_user "$TRAINYARD" status >/dev/null; then fail "status says that a cluster runs after down"; fi

    # The next `up` has the same nodes and objects, even if its parent process ignores SIGCHLD.
    (
        AS_USER=("${AS_USER[@]}" /usr/bin/python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])')
        cluster_up
    )
    assert_eq "nodes after a restart" "node-1 node-2" "$(kubectl get nodes -o jsonpath='{.items[*].metadata.name}')"
    assert_eq "the namespace chosen before" kubeflow "$(kubectl config view --minify -o jsonpath='{..namespace}')"
    kubectl config set-context --current --namespace=default
    assert_eq "an object after a restart" 1 "$(kubectl get configmap kept -o jsonpath='{.data.a}')"

    start_sleeper
    assert_eq "warning events of the pod" "" "$(kubectl get events --field-selector type=Warning,involvedObject.name=sleeper -o jsonpath='{.items[*].message}')"

    # Pods that `down` ended run again at once after `up`, even with restartPolicy Never.
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: once}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: trainyard/tools, command: [sh, -c, "trap 'exit 143' TERM; while true; do sleep 0.1; done"]}
YAML
    wait_for_phase once Running
    for round in 1 2 3; do
        as_user "$TRAINYARD" down
        cluster_up
        for pod in sleeper once; do
            restarted() {
                [ "$(kubectl get pod "$pod" -o jsonpath='{range .status.containerStatuses[0]}{.restartCount} {.ready}{end}')" = "$round true" ]
            }
            wait_until "$pod to run again after up" restarted
        done
    done

    cluster_wipe
    [ -e "$TRAINYARD_STATE" ] && fail "the state directory still exists after down --wipe"
    for process in /proc/[0-9]*; do
        if grep -qsa "$TRAINYARD_STATE" "$process/cmdline" && is_alive "${process#/proc/}"; then
            fail "a process is left: $(tr '\0' ' ' <"$process/cmdline")"
        fi
    done
    assert_eq "network interfaces" "$interfaces_before" "$(ls /sys/class/net)"
    assert_eq "mounts" "$mounts_before" "$(wc -l </proc/self/mounts)"
}

check
become_ordinary_user
check

# `up --foreground` with a space in the path of the state directory: it prints when the cluster is up, and its commands can be pasted into a
# shell.
spaced="$SCRATCH/a state"
as_user "$TRAINYARD" up --foreground --port 0 --state "$spaced" >"$SCRATCH/foreground.log" 2>&1 &
foreground=$!
wait_until "the cluster in the foreground to be up" grep -q 'the cluster is up' "$SCRATCH/foreground.log"
(
    eval "$(grep -o 'export KUBECONFIG=.*' "$SCRATCH/foreground.log")"
    assert_eq "node of the cluster in the foreground" node-1 "$(kubectl get nodes -o jsonpath='{.items[*].metadata.name}')"
)
if as_user "$TRAINYARD" check --state "$spaced" 2>"$SCRATCH/err"; then fail "check succeeds while the cluster runs"; fi
assert_contains "check while the cluster runs" "run 'trainyard down --state '$spaced'' first" "$(cat "$SCRATCH/err")"
kill -TERM "$(as_user "$TRAINYARD" status --state "$spaced" -o json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')"
wait $foreground || fail "up --foreground ended with $?"
as_user "$TRAINYARD" down --wipe --state "$spaced"

# `up` rejects a damaged token file: with an empty token no client could authenticate.
as_user "$TRAINYARD" up --port 0 >/dev/null
as_user "$TRAINYARD" down
true >"$TRAINYARD_STATE/token"
if as_user "$TRAINYARD" up --port 0 2>"$SCRATCH/err"; then fail "an empty token was accepted"; fi
assert_contains "an empty token" "token' contains no valid token" "$(cat "$SCRATCH/err")"
rm "$TRAINYARD_STATE/token"
echo damaged >"$TRAINYARD_STATE/pki/server.key"
if as_user "$TRAINYARD" up --port 0 2>"$SCRATCH/err"; then fail "a damaged key was accepted"; fi
assert_contains "a damaged key" "$TRAINYARD_STATE/pki' is damaged (move it away" "$(cat "$SCRATCH/err")"
rm -r "$TRAINYARD_STATE/pki"
cluster_up
kubectl get nodes >/dev/null
cluster_wipe

# Names of nodes, a kubeconfig at another path, and `status -o json`.
as_user "$TRAINYARD" up --port 0 --nodes alpha,beta --kubeconfig "$HOME/mine"
CLUSTER_UP=yes
assert_eq "named nodes" "alpha beta" "$(KUBECONFIG=$HOME/mine kubectl get nodes -o jsonpath='{.items[*].metadata.name}')"
assert_eq "mode of a kubeconfig at another path" 600 "$(stat -c %a "$HOME/mine")"
version=$("$TRAINYARD" --version)
told=$(as_user "$TRAINYARD" status -o json | jq -r '[.running, .kubeconfig, .version, (.pid > 1), (.port > 1)] | join(" ")')
assert_eq "status -o json" "true $HOME/mine ${version#trainyard } true true" "$told"
cluster_wipe
assert_contains "the default port" "default 6443" "$("$TRAINYARD" up --help)"

# In a chroot whose root is not a mount point, user namespaces cannot be created, and `up` says so. Only root can make a chroot.
if [ "$(id -u)" = 0 ]; then
    mkdir "$SCRATCH/chroot"
    # shellcheck disable=SC2016 # expanded inside
    unshare --mount bash -c 'set -e; cd "$1"; mkdir tmp
        for entry in bin lib lib64 sbin usr etc proc dev; do
            if [ -L "/$entry" ]; then cp -a "/$entry" .; elif [ -d "/$entry" ]; then mkdir "$entry" && mount --rbind "/$entry" "$entry"; fi
        done
        cp "$2" trainyard && cp "$3" trainyard-step
        HOME=/tmp chroot . /trainyard up --port 0 --state /tmp/state
        chroot . /trainyard down --wipe --state /tmp/state' - "$SCRATCH/chroot" "$TRAINYARD" "$(dirname "$TRAINYARD")/trainyard-step" \
        >"$SCRATCH/out" 2>"$SCRATCH/err" || fail "up in a chroot that is no mount point: $(cat "$SCRATCH/err")"
    assert_contains "up in a chroot" "root directory is not a mount point" "$(cat "$SCRATCH/out")"
    rm -rf "$SCRATCH/chroot"
fi

# Error messages.
if "$TRAINYARD" up --nodes 0 2>"$SCRATCH/err"; then fail "--nodes 0 was accepted"; fi
assert_contains "--nodes 0" "a number from 1 to" "$(cat "$SCRATCH/err")"
if "$TRAINYARD" up --nodes a,a 2>"$SCRATCH/err"; then fail "--nodes a,a was accepted"; fi
assert_contains "--nodes a,a" "named twice" "$(cat "$SCRATCH/err")"
if timeout 20 "$TRAINYARD" up --nodes "$(printf 'n%.0s' {1..64})" 2>"$SCRATCH/err"; then fail "a node name of 64 letters: accepted"; fi
assert_contains "a node name of 64 letters" "is not a valid node name: use at most 63" "$(cat "$SCRATCH/err")"
if timeout 20 "$TRAINYARD" up --resolv-conf /no/such 2>"$SCRATCH/err"; then fail "--resolv-conf without its file was accepted"; fi
assert_contains "--resolv-conf without its file" "option '--resolv-conf': cannot read '/no/such': No such file or directory" "$(cat "$SCRATCH/err")"
if "$TRAINYARD" get pods 2>"$SCRATCH/err"; then fail "'get' was accepted"; fi
assert_contains "a command of kubectl" "did you mean 'kubectl get'?" "$(cat "$SCRATCH/err")"
if "$TRAINYARD" statu 2>"$SCRATCH/err"; then fail "'statu' was accepted"; fi
assert_contains "a mistyped command" "did you mean 'status'" "$(cat "$SCRATCH/err")"
# shellcheck disable=SC2016 # a parameter of the template
printf 'kind: Template\napiVersion: v1\nobjects:\n- kind: Pod\n  metadata: {name: ${NAME}}\n' >"$SCRATCH/template.yaml"
if "$TRAINYARD" process -f "$SCRATCH/template.yaml" 2>"$SCRATCH/err"; then fail "an unquoted brace was accepted"; fi
assert_eq "wrong YAML" "trainyard: $SCRATCH/template.yaml:5:21: did not find expected ',' or '}' while parsing a flow mapping
      metadata: {name: \${NAME}}
                        ^" "$(cat "$SCRATCH/err")"
