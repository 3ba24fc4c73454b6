#!/bin/bash
# The examples run in real containers. They are applied unchanged, with three exceptions. The images are those imported here, because
# there is no registry. Where an example runs programs of the machine, its containers mount this machine's /usr. The trainings are
# shorter: this test shows that they run, not what they learn.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/kubernetes/jobs.sh
. "$KUBERNETES/jobs.sh"
with_operator

with_trainer

forward=
clean_up() {
    [ -z "$forward" ] || kill "$forward" 2>/dev/null || true
    # Pods of a failed test may still use them: they go with the namespace.
    kubectl delete persistentvolumeclaims,persistentvolumes --all --wait=false
    kubectl label node "$NODE" pool-
}

tools=()
for directory in /usr /lib /lib64 /etc/alternatives; do [ ! -d $directory ] || tools+=("$directory"); done

# example KUBECTL-OPTION… : apply an example, with its claims bound to directories of the test, $SHARED/CLAIM. $more is appended to the
# arguments of its programs; $edit, a command of sed, changes the example before. The trainer finds its pictures at the usual path, and
# YOUR_IMAGE becomes the trainer's recommender with the ratings in $SHARED/ratings.
more=
edit=
example() {
    kubectl create --dry-run=client -o json "$@" | sed "$edit" | jq -s --arg more "$more" --arg shared "/var/lib/$NAMESPACE" \
        --arg namespace "$NAMESPACE" --arg trainer "$TRAINER_IMAGE" '
        def mounts(paths): (paths | map({name: ("tools" + gsub("/"; "-")), path: .})) as $mounts
            | .volumes += ($mounts | map({name, hostPath: {path}}))
            | .containers[].volumeMounts += ($mounts | map({name, mountPath: .path, readOnly: true}));
        [.[] | if .kind == "List" then .items[] else . end | del(.metadata.namespace)] as $items
        | [$items[] | select(.kind == "PersistentVolumeClaim")
           | {apiVersion: "v1", kind: "PersistentVolume", metadata: {name: .metadata.name},
              spec: {accessModes: .spec.accessModes, capacity: .spec.resources.requests,
                     hostPath: {path: ($shared + "/" + .metadata.name)},
                     claimRef: {namespace: $namespace, name: .metadata.name}}}] + $items
        | map((.. | select(.containers?)) |= (
            if .containers[0].image == "trainyard/tools" then
                mounts($ARGS.positional) | .containers[] |= (.image = "trainyard/busybox:1" | .command += ($more | split(" ")))
            else
                mounts(["/usr/share/datasets", $shared + "/ratings"])
                | .containers[] |= (if .image == "YOUR_IMAGE" then .args = ["fit", "recommender", "--data=" + $shared + "/ratings"] + .args else . end
                                    | .args += ($more | split(" ")))
                | (.containers[], .initContainers[]?).image = $trainer
            end))
        | {apiVersion: "v1", kind: "List", items: .}' --args "${tools[@]}" >"$SCRATCH/example.json"
    # The programs in the containers are not root, so every user may write there, as on a volume with an fsGroup.
    for claim in $(jq -r '.items[] | select(.kind == "PersistentVolume") | .metadata.name' "$SCRATCH/example.json"); do mkdir -m 777 "$SHARED/$claim"; done
    kubectl apply -f "$SCRATCH/example.json"
}
wait_for_success() { wait_until "$1 $2 to succeed" has_condition "$1/$2" Succeeded; } # KIND NAME
says() { kubectl logs "$1" | finds -E -- "$2"; }
wait_to_say() { wait_until "the log of $1 to match '$2'" says "$1" "$2"; } # POD PATTERN

mkdir -p "$SHARED/ratings"
# Start several examples at once, so that they wait for their pods together.
echo 'four workers and four parameter servers; a chief, workers and a parameter server'
more='--steps=20 --batch=20'
example -f "$ROOT/examples/distributed/tfjob.yaml"
example -f "$ROOT/examples/mnist/tfjob.yaml"
echo 'a recommender on parameter servers'
awk 'BEGIN {
    srand(1)
    for (i = 0; i < 20000; i++) {
        user = int(rand() * 300); film = int(rand() * 500)
        printf "%d,%d,%.1f,%d\n", user, film, 3.2 + 1.7 * cos(6.2831853 * (user / 300 - film / 500)) + rand() - 0.5, i
    }
}' >"$SHARED/ratings/ratings.csv"
more=--epochs=2
example -f "$ROOT/examples/movielens/tfjob.yaml"
echo 'a program that reads TF_CONFIG'
more=
example -k "$ROOT/examples/tf-config"
wait_for_success tfjob line
assert_contains 'the chief of the line' 'step 200 slope 2.9' "$(kubectl logs line-chief-0)"
wait_for_success tfjob movielens
assert_contains 'the recommender' '4 workers, 4 parameter servers' "$(kubectl logs movielens-worker-0)"
[ -s "$SHARED/movielens-model/recommender.model" ] || fail 'no recommender.model on the volume'
wait_for_success tfjob distributed
assert_contains 'the end of four workers' 'test accuracy' "$(kubectl logs distributed-worker-0)"
assert_eq 'pods made' '1 1 1 1 1 1 1 1' "$(for replica in {worker,ps}-{0..3}; do times_created "distributed-$replica"; done | xargs)"
wait_for_success tfjob mnist
assert_contains 'the end of the chief' 'exported version' "$(kubectl logs mnist-chief-0)"
kubectl delete tfjobs --all

echo 'workers that join and leave'
edit='s|self.steps > STEPS|os.path.exists(\\"/tmp/enough\\")|' # the test ends it, because the workers may take long to start
example -k "$ROOT/examples/dynamic-workers"
edit=
wait_to_say dynamic-ps-0 'workers: 2$'
kubectl scale tfjob dynamic --replicas=4
wait_to_say dynamic-ps-0 'workers: 4$'
kubectl scale tfjob dynamic --replicas=2
wait_to_say dynamic-ps-0 'worker 3 has gone'
kubectl exec dynamic-ps-0 -- touch /tmp/enough
wait_for_success tfjob dynamic

echo 'faces: three workers in step, a prediction, the page'
kubectl label node "$NODE" pool=face --overwrite
more='--persons=24 --held-out=8 --pictures=6 --batch-persons=6 --steps=20'
example -f "$ROOT/examples/face/tfjob.yaml"
more=
wait_for_success tfjob face
example -f "$ROOT/examples/face/predict.yaml"
example -f "$ROOT/examples/face/serve.yaml"
wait_for_phase face-predict Succeeded
assert_contains 'the prediction' 'pair AUC' "$(kubectl logs face-predict)"
# Not earlier: a port-forward of Kubernetes 1.20 hangs after a few refused connections.
wait_to_say face-serve 'the page is at'
"$KUBECTL" port-forward pod/face-serve :8987 >"$SCRATCH/forward" & # the page listens on 127.0.0.1 of its pod
forward=$!
is_forwarded() { port=$(sed -n 's/.* 127.0.0.1:\([0-9]*\) .*/\1/p' "$SCRATCH/forward") && [ -n "$port" ]; }
wait_until 'the port-forward to the page' is_forwarded
answers() { curl -sf "http://127.0.0.1:$port/upload" | finds '<title>Who is it?'; }
wait_until 'the page' answers
kill $forward
forward=
kubectl delete pods face-predict face-serve --grace-period=1

echo 'PyTorch, three replicas'
more=--epochs=2
example -k "$ROOT/examples/pytorch"
more=
wait_for_log ddp-master-0 'rank 0 of 3 is ready'
wait_for_success pytorchjob ddp
kubectl logs ddp-master-0

echo 'torchrun, with a worker that joins later'
# The steps of a group of two take longer, so that a late third worker finds the group still training.
edit='s/\\"EPOCHS\\", \\"300\\"/\\"EPOCHS\\", \\"60\\"/; s/import os\\n/import os, time\\n/; s/dist.all_reduce(total)/&; time.sleep(5 * (world_size < 3))/'
example -k "$ROOT/examples/pytorch-elastic"
edit=
wait_to_say elastic-worker-0 'epoch [0-9]+ workers 2'
kubectl scale pytorchjob elastic --replicas=3
wait_to_say elastic-worker-2 'of 3 begins after epoch [1-9]'
wait_for_success pytorchjob elastic

echo 'a gang, without a gang scheduler'
example -f "$ROOT/examples/gang/tfjob.yaml"
wait_for_success tfjob gang

echo 'created suspended'
example -f "$ROOT/examples/suspend/tfjob.yaml"
wait_for_tfjob suspend Suspended
assert_eq 'pods of a suspended job' '' "$(of_job suspend pods)"
kubectl patch tfjob suspend --type merge -p '{"spec":{"runPolicy":{"suspend":false}}}'
wait_for_success tfjob suspend

assert_nothing_left
