#!/bin/bash
# Pods run without namespaces on a machine that forbids them, and with --plain. No process of a pod outlives the pod, whichever process is
# killed.
# Alone: limits the kernel's number of user namespaces.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

# Print the number of processes whose environment names a pod of this state directory.
marked() { grep -laz "^TRAINYARD_POD=$TRAINYARD_STATE/" /proc/[0-9]*/environ 2>/dev/null | wc -l; }
has_ended() { ! is_alive "$1"; }
nothing_runs() { ! pgrep -f "$1" >/dev/null; }
runs() { pgrep -f "$1" >/dev/null; }
strays_run() { [ "$(pgrep -cf "^stray-$1")" = 2 ]; } # TAG: both strays run; the shell that has their name in its arguments does not count
parent_of() { ps -o ppid= -p "$1" | tr -d ' '; }
event_says() { kubectl get events -o jsonpath="{.items[?(@.involvedObject.name==\"$1\")].message}" | finds -F -- "$2"; }
restarts_are() { [ "$(kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[0].restartCount}')" = "$2" ]; }

# pod NAME POLICY COMMAND [PORT]
pod() {
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: $2
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: none
    command: [bash, -c, '$3']
    ${4:+ports: [{containerPort: $4\}]}
YAML
}

# Starts two processes that are hard to find when the pod ends: one by a double fork, one with an empty environment. Only their ancestors
# show to which pod they belong.
# shellcheck disable=SC2016 # life() and kills() put the tag in
STRAYS='(setsid bash -c "exec -a stray-$TAG sleep 1000" &); env -i setsid bash -c "exec -a stray-$TAG sleep 1000" & '

life() { # TAG
    CODE=${STRAYS//\$TAG/$1}
    port=$(fresh_ports 1)
    pod "$1-code" Never "$CODE echo said; until [ -e $SCRATCH/$1-go ]; do sleep 0.05; done; exit 3" "$port"
    wait_for_log "$1-code" said
    wait_until "the strays to run" strays_run "$1"
    pod "$1-second" Never "exit 0" "$port"
    wait_until "the event that the port is taken" event_says "$1-second" "didn't have free ports for the requested pod ports"
    assert_eq "the pod IP" 127.0.0.1 "$(kubectl get pod "$1-code" -o jsonpath='{.status.podIP}')"
    # shellcheck disable=SC2016 # the variable is the pod's
    assert_contains "exec" "$1-code" "$(kubectl exec "$1-code" -- sh -c 'echo $HOSTNAME')"
    as_user touch "$SCRATCH/$1-go"
    wait_for_phase "$1-code" Failed
    assert_eq "the exit code" 3 "$(kubectl get pod "$1-code" -o jsonpath='{.status.containerStatuses[0].state.terminated.exitCode}')"
    nothing_runs "stray-$1" || fail "a process outlived its pod"
    wait_for_phase "$1-second" Succeeded

    pod "$1-restart" OnFailure "[ -e $SCRATCH/$1-again ] || { touch $SCRATCH/$1-again; exit 1; }"
    wait_for_phase "$1-restart" Succeeded
    restarts_are "$1-restart" 1 || fail "the failed container was not restarted once"

    # kubectl in the pod has the rights of the pod's service account.
    pod "$1-token" Never "$KUBECTL get pods 2>&1; true"
    wait_for_phase "$1-token" Succeeded
    assert_contains "a forbidden request of the pod" 'User "system:serviceaccount:default:default" cannot list' "$(kubectl logs "$1-token")"
}

kills() { # TAG
    CODE=${STRAYS//\$TAG/$1}
    pod "$1-kill" Always "$CODE exec -a main-$1 sleep 1000"
    wait_until "the strays of $1 to run" strays_run "$1"
    wait_until "the command of $1 to run" runs "^main-$1"
    first=$(parent_of "$(pgrep -f "^main-$1")")
    supervisor=$(parent_of "$first")
    before=$(pgrep -f "stray-$1|main-$1")
    kill -9 "$first"
    for pid in $before; do wait_until "process $pid to end with the first process" has_ended "$pid"; done
    wait_until "a restart" restarts_are "$1-kill" 1
    wait_until "the command to run again" runs "^main-$1"
    before=$(pgrep -f "stray-$1|main-$1")
    kill -9 "$supervisor"
    for pid in $before; do wait_until "process $pid to end with the supervisor" has_ended "$pid"; done
    wait_until "the command to run once more" runs "^main-$1"
    server=$(server_pid)
    kill -9 "$server"
    wait_until "the server to end" has_ended "$server"
    running=$(pgrep -f "^main-$1")
    cluster_up "${@:2}"
    assert_eq "the pod that outlived the server" "$running" "$(pgrep -f "^main-$1")"
    # Server and supervisor are killed at the same time, so neither can end the pod's processes. `down` finds those by the mark in their
    # environment.
    kill -9 "$(server_pid)" "$(parent_of "$(parent_of "$running")")"
    cluster_wipe
    nothing_runs "stray-$1|main-$1" || fail "a process is left after down --wipe"
    assert_eq "marked processes" 0 "$(marked)"
}

refusals() {
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: volume}
spec:
  containers: [{name: main, image: none, command: [sleep, "1"], volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, emptyDir: {}}]
YAML
    wait_until "the volume to be rejected" event_says volume "volume \"data\": it cannot be mounted at '/data'"
    assert_contains "the condition" Plain \
        "$(kubectl get node node-1 -o jsonpath='{.status.conditions[?(@.type=="trainyard.dev/Namespaces")].reason}')"
    assert_contains "status" "plain processes" "$(as_user "$TRAINYARD" status)"
}

training() {
    kubectl apply -f - <<'YAML' >/dev/null
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: two}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: tensorflow
            image: none
            command: [python3, -u, -c]
            args:
            - |
              import json, os, socket, time
              config = json.loads(os.environ["TF_CONFIG"])
              index, workers = config["task"]["index"], config["cluster"]["worker"]
              own = socket.create_server(("", int(workers[index].split(":")[1])))
              host, port = workers[1 - index].split(":")
              assert host == "127.0.0.1", workers
              while True:
                  try:
                      other = socket.create_connection((host, int(port)))
                      break
                  except ConnectionRefusedError:
                      time.sleep(0.05)
              other.sendall(b"gradient")
              other.close()
              print(own.accept()[0].recv(8).decode())
              with open(os.environ["TRAINYARD_TERMINATION_LOG"], "w") as log:
                  json.dump({"step": index + 5, "total": 5}, log)
YAML
    wait_for_tfjob two Succeeded
    assert_eq "the last progress" "step 5/5" "$(kubectl get tfjob two -o jsonpath='{.metadata.annotations.trainyard\.dev/progress}')"
    assert_contains "the data from the other worker" gradient "$(kubectl logs two-worker-0)"
}

# The kernel really forbids namespaces: `up` runs without capabilities in a user namespace that allows no nested one.
# shellcheck disable=SC2016 # for the inner shell
FORBIDDEN='echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
if unshare -r true 2>/dev/null; then
    unshare -r bash -c "$FORBIDDEN" - "$TRAINYARD" up --port 0 >"$SCRATCH/up.log" 2>&1 || { cat "$SCRATCH/up.log"; fail "up where namespaces are forbidden"; }
    CLUSTER_UP=yes
    assert_contains "up" "this machine forbids namespaces: unshare(CLONE_NEWUSER): No space left on device. Pods run as" "$(cat "$SCRATCH/up.log")"
    pod forbidden Never 'echo it runs'
    wait_for_phase forbidden Succeeded
    cluster_wipe
else
    echo "skipped: this machine itself forbids user namespaces"
fi

# Root as in a Docker container: with Docker's capabilities, and with a seccomp filter that rejects unshare, setns and mount.
cat >"$SCRATCH/docker_root.py" <<'PY'
import ctypes, os, struct, sys
CALLS = {"x86_64": [272, 308, 165], "aarch64": [97, 268, 40]}[os.uname().machine]  # unshare, setns, mount
rows = [(0x20, 0, 0, 0)]  # the number of the call
rows += [(0x15, len(CALLS) - i, 0, call) for i, call in enumerate(CALLS)]
rows += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]  # allow, EPERM
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("rows", ctypes.c_void_p)]
program = Program(len(rows), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(22, 2, ctypes.byref(program), 0, 0) < 0:
    sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
KEPT = "chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap net_bind_service sys_chroot kill audit_write"
caps = "-all," + ",".join("+" + name for name in KEPT.split())
os.execvp("setpriv", ["setpriv", "--bounding-set=" + caps, "--inh-caps=-all"] + sys.argv[1:])
PY
if [ "$(id -u)" = 0 ] && python3 "$SCRATCH/docker_root.py" true 2>/dev/null; then
    python3 "$SCRATCH/docker_root.py" "$TRAINYARD" up --port 0 >"$SCRATCH/up.log" 2>&1 || { cat "$SCRATCH/up.log"; fail "up with Docker's rights"; }
    CLUSTER_UP=yes
    assert_contains "up" "this machine forbids namespaces: unshare(CLONE_NEWUSER): Operation not permitted" "$(cat "$SCRATCH/up.log")"
    assert_contains "the advice" "docker run --privileged" "$(cat "$SCRATCH/up.log")"
    pod docker Never 'id -u; grep CapBnd /proc/self/status'
    wait_for_phase docker Succeeded
    kubectl run other --image=none --restart=Never --overrides='{"spec": {"securityContext": {"runAsUser": 65534}}}' --command -- id -u >/dev/null
    wait_for_phase other Succeeded
    assert_eq "another user" 65534 "$(kubectl logs other)"
    cluster_wipe
fi

cluster_up --plain
refusals
training
life root
kills root --plain
become_ordinary_user
# In a container parts of /proc are hidden, and the kernel does not allow an ordinary user to mount a new /proc.
(
    AS_USER=(unshare --mount sh -c 'mount --bind /dev/null /proc/interrupts && exec "$@"' - "${AS_USER[@]}")
    cluster_up
)
assert_contains "up" "this machine forbids namespaces: cannot mount a new /proc while parts of the current one are hidden: Operation not permitted" "$(cat "$SCRATCH/up.log")"
pod hidden Never 'echo it runs'
wait_for_phase hidden Succeeded
cluster_wipe
cluster_up --plain
life user
kills user --plain

# From one mode to the other: the pods are restarted in the new mode.
cluster_up
pod moves Always 'exec -a moves sleep 1000'
wait_for_phase moves Running
kill -9 "$(server_pid)"
cluster_up --plain
wait_until "the pod to run in the other mode" restarts_are moves 1
wait_until "its command to run" runs ^moves
kill -9 "$(server_pid)"
cluster_up
wait_until "the pod to run in namespaces again" restarts_are moves 2
cluster_wipe
nothing_runs ^moves || fail "the pod outlived its cluster"
