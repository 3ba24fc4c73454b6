#!/bin/bash
# 'kubectl exec', 'attach', 'cp' and 'run -it': exit codes, input and output byte by byte, terminals, and no process that stays behind. As
# root and as an ordinary user, with kubectl 1.20 (SPDY), 1.32 and 1.36 (WebSocket), as far as they are installed.
# Long: 95 s.
# shellcheck disable=SC2016,SC2094 # the pod's shell expands it; the file is only read
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts the next one itself

# Runs kubectl in a terminal of 33 lines and 77 columns. For each pair of arguments, it waits for the first text and then types the second
# one. At the end it prints everything that kubectl has printed.
cat >"$SCRATCH/terminal.py" <<'PY'
import fcntl, os, pty, select, struct, sys, termios
count = int(sys.argv[1])
script = sys.argv[2 : 2 + 2 * count] # EXPECTED TYPED …
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    words = os.environ["PREFIX"].split() + sys.argv[2 + 2 * count :]
    os.execvp(words[0], words)
seen, at, step = b"", 0, 0
while True:
    while step < count and (found := seen.find(script[2 * step].encode(), at)) >= 0:
        at = found + len(script[2 * step])
        said = script[2 * step + 1].encode().decode("unicode_escape")
        if said.startswith("size "):
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", *map(int, said.split()[1:]), 0, 0))
        else:
            os.write(master, said.encode())
        step += 1
    ready, _, _ = select.select([master], [], [], 120)
    if not ready:
        sys.exit("no output for 120 s after: %r" % seen)
    try: data = os.read(master, 65536)
    except OSError: break
    if not data: break
    seen += data
sys.stdout.write(seen.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
terminal() { PREFIX="${AS_USER[*]}" python3 "$SCRATCH/terminal.py" "$@"; }

cat >"$SCRATCH/pod.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata:
  name: box
  annotations: {kubectl.kubernetes.io/default-container: main}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, "trap : TERM; echo up; while :; do sleep 1000 & wait; done"]
    workingDir: /data
    env: [{name: WORD, value: of the pod}]
    volumeMounts: [{name: data, mountPath: /data}]
  - name: side
    image: trainyard/tools
    command: [sleep, infinity]
---
apiVersion: v1
kind: Pod
metadata: {name: reader}
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  containers:
  - name: main
    image: trainyard/tools
    stdin: true
    stdinOnce: true
    command: [sh, -c, 'echo up; while read -r line; do echo "heard $line"; echo "noise $line" >&2; done; echo end']
YAML

code_of() { "$@" >/dev/null 2>&1 && echo 0 || echo $?; }

check_exec() {
    assert_eq "the environment of a command" "of the pod /data box main" \
        "$(kubectl exec box -c main -- sh -c 'echo $WORD $(pwd) $(hostname) main')"
    assert_eq "the other container" sleep "$(kubectl exec box -c side -- ps -o comm= -p 2)"
    assert_eq "an exit code" 42 "$(code_of kubectl exec box -c main -- sh -c 'exit 42')"
    assert_eq "a signal" 143 "$(code_of kubectl exec box -c main -- sh -c 'kill -TERM $$')"
    assert_eq "stdout alone" out "$(kubectl exec box -c main -- sh -c 'echo out; echo err >&2' 2>/dev/null)"
    assert_eq "stderr alone" err "$(kubectl exec box -c main -- sh -c 'echo out; echo err >&2' 2>&1 >/dev/null)"
    assert_eq "unusual arguments" "a b|*|\$x|ü" "$(kubectl exec box -c main -- printf '%s|%s|%s|%s' 'a b' '*' "\$x" ü)"
    # A program that cannot run gives a clear message and the exit code that shells use.
    assert_contains "a missing program" "cannot run 'no-such': executable file not found in \$PATH (/" "$(kubectl exec box -c main -- no-such 2>&1 || true)"
    assert_eq "the code of a missing program" 127 "$(code_of kubectl exec box -c main -- no-such)"
    assert_eq "the code of a file that is not executable" 126 "$(code_of kubectl exec box -c main -- /etc/passwd)"
    assert_contains "a missing container" "container nobody is not valid for pod box" "$(kubectl exec box -c nobody -- true 2>&1 || true)"
    # Input and its end; a program that ends without reading its input; a program that leaves a background process.
    assert_eq "input" "6 words" "$(printf 'word %s\n' 1 2 3 | kubectl exec -i box -c main -- sh -c 'wc -w; echo words' | xargs)"
    assert_eq "input that is not read" ended "$(head -c 3000000 /dev/zero | kubectl exec -i box -c main -- echo ended)"
    assert_eq "a process that is left behind" here "$(kubectl exec box -c main -- sh -c 'sleep 4711 & echo here')"
    kubectl exec box -c main -- pkill -f 'sleep 4711'
    # Bytes in both directions at once. The data that a slow client has not read yet stays in the pod, not in the server.
    local before
    before=$(resident)
    kubectl exec -i box -c main -- cat <"$SCRATCH/bytes" | cmp - "$SCRATCH/bytes" || fail "bytes through cat"
    kubectl exec box -c main -- head -c $((SIZE)) /dev/zero | (read -rt 1 <> <(:) || true; cmp -n "$SIZE" - /dev/zero) || fail "a slow reader"
    [ $(($(resident) - before)) -lt 65536 ] || fail "the server buffers what it forwards: its memory grew from $before to $(resident) KiB"
}
resident() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$(server_pid)/status"; }

# kubectl sends the size of the terminal after the command has started.
check_terminal() {
    local said
    said=$(terminal 3 'ready' 'x\n' 'heard x' 'size 44 99' '44 99' '\x03' "$KUBECTL" exec -it box -c main -- sh -c \
        'tty; until [ "$(stty size)" != "0 0" ]; do sleep 0.05; done; stty size; echo $TERM; trap "stty size" WINCH; echo ready; read x; echo heard $x; while :; do sleep 0.1; done' || true)
    assert_contains "the terminal's name" /dev/pts/ "$said"
    assert_contains "its size" "33 77" "$said"
    assert_contains "its kind" xterm "$said"
    assert_contains "Ctrl-C" "exit code 130" "$said"
    assert_eq "an exit code with a terminal" 7 "$(terminal 1 ready 'exit 7\n' "$KUBECTL" exec -it box -c main -- sh -c 'echo ready; exec sh' >/dev/null && echo 0 || echo $?)"
}

check_copy() {
    local here=$SCRATCH/here
    as_user mkdir -p "$here/tree/a b" "$here/back"
    echo one | as_user tee "$here/tree/a b/süß \$x" >/dev/null
    head -c 300000 "$SCRATCH/bytes" | as_user tee "$here/tree/-dash" >/dev/null
    as_user ln -sf "a b" "$here/tree/link"
    kubectl cp "$here/tree" box:/data/tree -c main
    assert_eq "what was copied there" "one" "$(kubectl exec box -c main -- cat "/data/tree/a b/süß \$x")"
    kubectl cp box:/data/tree "$here/back" -c main 2>/dev/null
    cmp "$here/tree/-dash" "$here/back/-dash" || fail "a file that was copied there and back"
    cmp "$here/tree/a b/süß \$x" "$here/back/a b/süß \$x" || fail "a file with an odd name"
    kubectl exec box -c main -- rm -rf /data/tree
    as_user rm -rf "$here"
}

check_attach() {
    kubectl apply -f "$SCRATCH/pod.yaml" >/dev/null
    wait_for_log reader up
    local said
    said=$(printf 'one\ntwo\n' | kubectl attach -i reader 2>"$SCRATCH/noise")
    assert_eq "stdout of an attached container" "heard one heard two end" "$(xargs <<<"$said")"
    assert_contains "its stderr" "noise two" "$(cat "$SCRATCH/noise")"
    wait_for_phase reader Succeeded
    assert_eq "its log" "up heard one heard two end" "$(kubectl logs reader | grep -v noise | xargs)"
    assert_contains "attaching to a pod that has ended" "completed pod" "$(kubectl attach reader 2>&1 || true)"
    kubectl delete pod reader >/dev/null
}

check_run() {
    assert_contains "run -i" "got hello" "$(echo hello | kubectl run once -i --rm --restart=Never --image=trainyard/tools --command -- \
        sh -c 'read word; echo got $word' 2>&1)"
    wait_until "the pod of run -i to be gone" is_gone pod once
    local said
    said=$(terminal 3 'enter.' '\n' '$ ' 'tty; until [ "$(stty size)" != "0 0" ]; do sleep 0.05; done; stty size; echo sum $((40+2))\n' 'sum 42' 'exit\n' "$KUBECTL" run shell -it --rm --restart=Never --image=trainyard/tools \
        --env=PS1='$ ' --command -- sh)
    assert_contains "run -it: a terminal" /dev/pts/0 "$said"
    assert_contains "run -it: its size" "33 77" "$said"
    wait_until "the pod of run -it to be gone" is_gone pod shell
}

check_faults() {
    # When a client is killed, its command ends, too.
    local client
    "${AS_USER[@]}" "$KUBECTL" exec box -c main -- sleep 4712 &
    client=$!
    wait_until "the command to run" exec_runs 4712
    kill -9 $client
    wait "$client" 2>/dev/null || true
    wait_until "the command to end with its client" exec_ended 4712
    # When the server is killed, the pod keeps running, and the command of exec ends.
    local uid
    uid=$(uid_of box)
    "${AS_USER[@]}" "$KUBECTL" exec box -c main -- sleep 4713 2>/dev/null &
    client=$!
    wait_until "the command to run" exec_runs 4713
    kill -9 "$(server_pid)"
    wait "$client" 2>/dev/null || true
    cluster_up --nodes 1
    wait_until "the command to end with the server" exec_ended 4713
    assert_eq "the pod" "$uid 0" "$(uid_of box) $(kubectl get pod box -o jsonpath='{.status.containerStatuses[0].restartCount}')"
    assert_eq "exec after a restart" back "$(kubectl exec box -c main -- echo back)"
}
exec_runs() { kubectl exec box -c main -- pgrep -f "^sleep $1"; }
exec_ended() { [ "$(code_of kubectl exec box -c main -- pgrep -f "^sleep $1")" = 1 ]; }

check_refusals() {
    kubectl apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: waiting}
spec:
  nodeSelector: {nowhere: at-all}
  containers: [{name: main, image: trainyard/tools, command: [sleep, infinity]}]
---
apiVersion: v1
kind: Pod
metadata: {name: over}
spec:
  restartPolicy: Never
  containers: [{name: main, image: trainyard/tools, command: ["true"]}]
YAML
    wait_for_phase over Succeeded
    assert_contains "a pending pod" "does not have a host assigned" "$(kubectl exec waiting -- true 2>&1 || true)"
    assert_contains "a completed pod" "completed pod; current phase is Succeeded" "$(kubectl exec over -- true 2>&1 || true)"
    kubectl delete pod waiting over >/dev/null
}

SIZE=$((4 * SCALE << 20)) # with a scale of 25: 100 MB
head -c "$SIZE" /dev/urandom >"$SCRATCH/bytes"
HOME=$USER_HOME "$ROOT/tools/get-kubectl" >"$SCRATCH/versions" 2>/dev/null || true
[ -s "$SCRATCH/versions" ] || echo "1.20 $KUBECTL" >"$SCRATCH/versions"

whole() {
    cluster_up --nodes 1
    kubectl apply -f "$SCRATCH/pod.yaml" >/dev/null
    wait_until "both containers to run" has_condition pod/box Ready
    check_refusals
    while read -r version path; do
        echo "exec with kubectl $version"
        mkdir -p "$SCRATCH/kubectl"
        cp "$path" "$SCRATCH/kubectl/$version"
        KUBECTL=$SCRATCH/kubectl/$version
        check_exec
        check_terminal
        check_copy
        check_attach
        check_run
    done <"$SCRATCH/versions"
    check_faults
    cluster_wipe
}

whole
if [ "$(id -u)" = 0 ]; then
    become_ordinary_user
    whole
fi
