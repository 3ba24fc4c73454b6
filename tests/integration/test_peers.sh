#!/bin/bash
# The pods of one job on a machine share the directory /run/trainyard/peers: they pass each other descriptors of shared memory through it,
# on any node and as any user. Pods of other jobs do not see it. It is deleted with the last pod of the job, even if the server was killed
# meanwhile. As root and as an ordinary user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

# One pod passes 64 MiB of shared memory to the other, which writes into it.
cat >"$SCRATCH/pass.py" <<'PYTHON'
import mmap, os, socket, sys
PLACE, SIZE = "/run/trainyard/peers/test.sock", 64 << 20
if sys.argv[1] == "give":
    memory = os.memfd_create("gradients")
    os.truncate(memory, SIZE)
    view = mmap.mmap(memory, SIZE)
    view[:5] = view[-5:] = b"given"
    server = socket.socket(socket.AF_UNIX)
    server.bind(PLACE + ".new")
    os.chmod(PLACE + ".new", 0o777) # peers may run as other users
    server.listen()
    os.rename(PLACE + ".new", PLACE)
    peer = server.accept()[0]
    socket.send_fds(peer, [b"x"], [memory])
    assert peer.recv(1) == b"y"
    print("user", os.getuid(), "reads", view[SIZE // 2 : SIZE // 2 + 5].decode(), view[-5:].decode(), flush=True)
else:
    while not os.path.exists(PLACE): # poll: the directory may not exist yet, so inotify cannot watch it
        os.sched_yield()
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(PLACE)
    memory = socket.recv_fds(peer, 1, 1)[1][0]
    view = mmap.mmap(memory, SIZE)
    print("user", os.getuid(), "reads", view[:5].decode(), flush=True)
    view[SIZE // 2 : SIZE // 2 + 5] = b"taken"
    view[-5:] = b"taken"
    peer.send(b"y")
PYTHON
# Run in a pod of another job: it must find nothing in its own directory, and the first job's socket nowhere.
# shellcheck disable=SC2016 # the pod's shell expands it
LOOK='ls -A /run/trainyard/peers 2>&1; find / -name test.sock -not -path "/proc/*" 2>/dev/null; echo looked; touch /run/trainyard/peers/mine'

replicas() { # TYPE USER COMMAND
    cat <<YAML
    $1:
      restartPolicy: Never
      template:
        spec:
          securityContext: {runAsUser: $2, runAsGroup: $2}
          volumes: [{name: program, configMap: {name: program}}]
          containers: [{name: tensorflow, image: trainyard/tools, command: $3, volumeMounts: [{name: program, mountPath: /program}]}]
YAML
}
job() { # NAME <REPLICAS
    printf 'apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: %s}\nspec:\n  successPolicy: AllWorkers\n  tfReplicaSpecs:\n' "$1"
    cat
}
directory_of() { echo "$TRAINYARD_STATE/peers/default.$(kubectl get tfjob "$1" -o jsonpath='{.metadata.uid}')"; }
# Print the inode numbers of the memfds that a pod's trainer maps.
memory_of() {
    local pids
    pids=$(pod_processes "$1" trainer)
    awk '/\/memfd:/ { print $5 }' "/proc/${pids%%$'\n'*}/maps" | sort -u
}
is_removed() { [ ! -e "$1" ]; }

check() {
    cluster_up --nodes 2
    as_user cp "$SCRATCH/pass.py" "$SCRATCH/home/pass.py"
    kubectl create configmap program --from-file="$SCRATCH/home/pass.py"
    { replicas Chief 1000 '[python3, /program/pass.py, give]'; replicas Worker 2000 '[python3, /program/pass.py, take]'; } |
        job pair | kubectl apply -f -
    wait_for_phase pair-worker-0 Succeeded
    wait_for_tfjob pair Succeeded
    assert_eq "the output of the first pod" "user 1000 reads taken taken" "$(kubectl logs pair-chief-0)"
    assert_eq "the output of the second pod" "user 2000 reads given" "$(kubectl logs pair-worker-0)"
    assert_eq "the nodes of the two pods" "node-1 node-2" \
        "$(kubectl get pods -l training.kubeflow.org/job-name=pair -o jsonpath='{.items[*].spec.nodeName}' | tr ' ' '\n' | sort | paste -sd ' ')"
    local pair stranger
    pair=$(directory_of pair)
    [ -S "$pair/test.sock" ] || fail "the job's directory is not at $pair"

    # Another job has its own directory. A pod without a job has none, even if its labels name a job.
    replicas Worker 1000 "[sh, -c, '$LOOK']" | job stranger | kubectl apply -f -
    wait_for_tfjob stranger Succeeded
    assert_eq "the output of a pod of another job" looked "$(kubectl logs stranger-worker-0)"
    stranger=$(directory_of stranger)
    [ -e "$stranger/mine" ] || fail "the other job has no directory of its own at $stranger"
    [ ! -e "$pair/mine" ] || fail "a pod of another job wrote into the job's directory"
    kubectl run loner --image=trainyard/tools --restart=Never --labels=training.kubeflow.org/job-name=pair \
        --command -- sh -c 'ls /run/trainyard; echo looked'
    wait_for_phase loner Succeeded
    assert_eq "the output of a pod without a job" "bin looked" "$(kubectl logs loner | paste -sd ' ')"

    # The trainer uses the directory: two workers share memory.
    kubectl apply -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: trains}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - name: tensorflow
            image: trainyard/trainer
            args: [fit, face, --persons=12, --held-out=2, --pictures=4, --batch-persons=4, --steps=1000000, --log=plain, --model-dir=/tmp/model]
YAML
    wait_for_log trains-worker-0 'step 2/'
    memory_of trains-worker-0 >"$SCRATCH/memory"
    [ -n "$(memory_of trains-worker-1 | comm -12 - "$SCRATCH/memory")" ] || fail "two workers of one job have no memory in common"
    kubectl delete tfjob trains

    # The directory is deleted with the last pod, not with the first.
    kubectl delete pod pair-worker-0
    [ -e "$pair" ] || fail "the directory was deleted with the first pod"
    kubectl delete tfjob stranger
    wait_until "a deleted job's directory to be deleted" is_removed "$stranger"

    # After a kill, the next server keeps the directories in use and deletes orphaned ones.
    local left=$TRAINYARD_STATE/peers/default.00000000-0000-4000-8000-000000000000
    as_user mkdir -p "$left/deep"
    kill -9 "$(server_pid)"
    cluster_up --nodes 2
    wait_until "the orphaned directory to be deleted" is_removed "$left"
    [ -e "$pair/test.sock" ] || fail "the restarted server deleted a directory that a pod still uses"
    kubectl delete tfjob pair
    wait_until "the directory to be deleted with the last pod" is_removed "$pair"
    assert_eq "directories that are left" "" "$(ls -A "$TRAINYARD_STATE/peers")"
    cluster_wipe
}

check
become_ordinary_user
check
