#!/bin/bash
# The classifier of the TFJob workshop with the real trainer, without a cluster:
# - A chief and two workers with synchronous training give the same losses as one process.
# - Workers and a parameter server, started by the four classic flags, survive that a worker is killed, and then the parameter server.
# - The chief exports one version per run.
# - Settings that cannot work are rejected with an error message.
# Long: 79 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

FASHION=/usr/share/datasets/fashion-mnist
DATA=$SCRATCH/fashion
mkdir "$DATA"

# subset PART COUNT COUNT-AS-BYTES: write the first COUNT pictures of the real data set, so that a run takes seconds. The file header holds
# the count in big-endian bytes: 2000 = 7·256 + 208, 500 = 1·256 + 244.
subset() {
    {
        printf '\0\0\10\3%b\0\0\0\34\0\0\0\34' "$3"
        head -c $(($2 * 784)) < <(zcat "$FASHION/$1-images-idx3-ubyte.gz" 2>/dev/null | tail -c +17)
    } >"$DATA/$1-images-idx3-ubyte"
    {
        printf '\0\0\10\1%b' "$3"
        head -c "$2" < <(zcat "$FASHION/$1-labels-idx1-ubyte.gz" 2>/dev/null | tail -c +9)
    } >"$DATA/$1-labels-idx1-ubyte"
}
subset train 2000 '\0\0\07\0320'
subset t10k 500 '\0\0\01\0364'

losses() { sed -n 's/^step \([0-9]*\).* loss \([0-9.]*\).*/\1 \2/p' "$1"; }

# Synchronous training: each worker's share consists of whole parts of the batch (train/team/exact_sum.h). So the losses are bit-identical
# to those of one process.
IN_STEP=(--data "$DATA" --steps 10 --batch 96 --peer-timeout 60 --log plain)
"$TRAINER" fit classifier "${IN_STEP[@]}" >"$SCRATCH/alone"
assert_contains "a run without a directory for the model" "the model is not kept: neither --model-dir nor --export-dir was given" "$(cat "$SCRATCH/alone")"
have_addresses 3
pids=()
for task in chief-0 worker-0 worker-1; do
    TF_CONFIG="{\"cluster\":{\"chief\":[${LIST%%,*}],\"worker\":[${LIST#*,}]},
        \"task\":{\"type\":\"${task%-*}\",\"index\":${task#*-}}}" TF_EXPORT_DIR=$SCRATCH/export TF_MODEL_DIR=$SCRATCH/model \
        "$TRAINER" fit classifier "${IN_STEP[@]}" >"$SCRATCH/$task" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a process failed: $(tail -n 3 "$SCRATCH"/{chief,worker}-*)"; done
assert_eq "steps printed by the chief" 10 "$(losses "$SCRATCH/chief-0" | wc -l)"
cmp <(losses "$SCRATCH/alone") <(losses "$SCRATCH/chief-0") || fail "chief and two workers differ from one process"
assert_eq "test accuracy of one and of three" "$(grep '^test accuracy' "$SCRATCH/alone")" "$(grep '^test accuracy' "$SCRATCH/chief-0")"
assert_contains "the output of the chief" "Will export model" "$(cat "$SCRATCH/chief-0")"
assert_eq "the output of worker 1" "Will not export model: the chief does
worker 1 (${ADDRESSES[2]}) begins with all 3 workers; chief (${ADDRESSES[0]}) shows the progress
worker 1 (${ADDRESSES[2]}) has done its part: all 10 steps are done" "$(grep -v '^trainer: waiting for ' "$SCRATCH/worker-1")"
first=$(sed -n "s|^exported version \([0-9]*\) to $SCRATCH/export$|\1|p" "$SCRATCH/chief-0")
[ -s "$SCRATCH/export/$first/classifier.model" ] || fail "no version '$first' in: $(ls -R "$SCRATCH/export")"

answer=$("$TRAINER" evaluate --model "$SCRATCH/export/$first/classifier.model" --data "$DATA")
assert_contains "names of labels" "Ankle boot" "$answer"
assert_eq "test accuracy by 'evaluate'" "$(grep '^test accuracy' "$SCRATCH/chief-0")" "$(tail -n 1 <<<"$answer")"
checkpoint=$(find "$SCRATCH/model" -name 'step-*.ckpt' | sed -n 1p)
assert_contains "names of labels with a checkpoint" "Ankle boot" "$("$TRAINER" evaluate --model "$checkpoint" --data "$DATA")"
assert_contains "JSON" '"label":"T-shirt/top","pictures":' "$("$TRAINER" evaluate --model "$SCRATCH/model/classifier.model" --data "$DATA" --log json)"
answer=$("$TRAINER" serve --model "$SCRATCH/model/classifier.model" 2>&1) && fail "a classifier was served as a face model"
assert_contains "serving a classifier from a file" "is a classifier, which is served in versions" "$answer"

# A second run finds all steps done, prints that, and exports again. A run with more steps resumes from the checkpoint.
TF_MODEL_TYPE=CNN "$TRAINER" fit classifier "${IN_STEP[@]}" --model-dir "$SCRATCH/model" --export-dir "$SCRATCH/export" >"$SCRATCH/again"
assert_contains "nothing to do" "all 10 steps are done already" "$(cat "$SCRATCH/again")"
assert_eq "versions" 2 "$(find "$SCRATCH/export" -name classifier.model | wc -l)"
"$TRAINER" fit classifier "${IN_STEP[@]}" --steps 11 --model-dir "$SCRATCH/model" >"$SCRATCH/more"
assert_contains "the resumption" "resumed after step 10" "$(cat "$SCRATCH/more")"

# With a parameter server and the classic flags. All processes are stopped with SIGTERM and started again. Then worker 1 is killed and
# started again, then the parameter server. All this happens at the beginning of a run that is long enough for it: with parameter servers
# a run can only be resumed with the same number of steps.
STEPS=400
have_addresses 3
start() { # ROLE INDEX
    "$TRAINER" fit classifier --ps_hosts="${ADDRESSES[0]}" --worker_hosts="${ADDRESSES[1]},${ADDRESSES[2]}" --job_name="$1" --task_index="$2" \
        --data "$DATA" --steps $STEPS --batch 32 --model-dir "$SCRATCH/async" --export-dir "$SCRATCH/export" --checkpoint-every 20 --log plain \
        >>"$SCRATCH/async-$1-$2" 2>&1 &
    process["$1-$2"]=$!
}
declare -A process
has_passed() { [ "$(losses "$SCRATCH/async-worker-0" | tail -n 1 | cut -d ' ' -f 1)" -ge "$1" ]; }
for task in ps-0 worker-0 worker-1; do start "${task%-*}" "${task#*-}"; done
wait_until "the first steps" has_passed 8
kill -TERM "${process[@]}"
for task in ps-0 worker-0 worker-1; do
    code=0
    wait "${process[$task]}" || code=$?
    assert_eq "exit code of $task, which was stopped" 143 "$code"
done
for task in ps-0 worker-0 worker-1; do start "${task%-*}" "${task#*-}"; done
for victim in worker-1 ps-0; do
    wait_until "some steps" has_passed "$([ "$victim" = ps-0 ] && echo 60 || echo 30)"
    kill -KILL "${process[$victim]}" || fail "$victim had already ended after step $(losses "$SCRATCH/async-worker-0" | tail -n 1)"
    wait "${process[$victim]}" 2>/dev/null || true
    start "${victim%-*}" "${victim#*-}"
done
for task in worker-0 worker-1 ps-0; do
    wait "${process[$task]}" || fail "$task failed: $(tail -n 5 "$SCRATCH"/async-*)"
done
assert_contains "the end" "step $STEPS/$STEPS" "$(cat "$SCRATCH/async-worker-0")"
accuracy=$(sed -n 's/^test accuracy 0\.\([0-9]*\) on 500 pictures$/\1/p' "$SCRATCH/async-worker-0")
[ "${accuracy:-0}" -ge 650 ] || fail "test accuracy 0.$accuracy after asynchronous training"
assert_eq "versions" 3 "$(find "$SCRATCH/export" -name classifier.model | wc -l)"

refused() { # WHAT SENTENCE COMMAND…
    local what=$1 sentence=$2
    shift 2
    if answer=$("$@" 2>&1); then fail "$what was not rejected"; fi
    assert_contains "$what" "$sentence" "$answer"
}
refused "an object store" "mount a volume (a PersistentVolumeClaim)" env TF_EXPORT_DIR=s3://user1/inception/export "$TRAINER" fit classifier
refused "an unknown model type" "unknown model type 'TREE': use cnn or linear" env TF_MODEL_TYPE=TREE "$TRAINER" fit classifier
refused "a directory without data" "has neither 'train-images-idx3-ubyte' nor" "$TRAINER" fit classifier --data "$SCRATCH"
refused "an evaluator" "the chief evaluates the model" env \
    'TF_CONFIG={"cluster":{"chief":["a:1"],"evaluator":["b:1"]},"task":{"type":"evaluator","index":0}}' "$TRAINER" fit classifier
refused "Adam with parameter servers" "use --optimizer adagrad or sgd" "$TRAINER" fit classifier --optimizer adam \
    --ps_hosts="${ADDRESSES[0]}" --worker_hosts="${ADDRESSES[1]}" --job_name=worker --data "$DATA"
refused "evaluate without a model" "use --model FILE" "$TRAINER" evaluate
