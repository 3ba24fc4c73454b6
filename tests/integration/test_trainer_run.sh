#!/bin/bash
# What a user sees of a training run, with the real trainer: the monitor port, files for TensorBoard, options from a file and from the
# environment, a disk that is full for a while or until the end, the report, and a run that is resumed with other numbers of workers and has
# the same losses.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cat >"$SCRATCH/small.yaml" <<YAML
# The same for all runs here.
data: procedural
persons: 40
pictures: 6
held-out: 10
image_size: 32
peer-timeout: 60 # a worker that waits for CPU time must not count as dead
log: plain
YAML
export TRAINER_CONFIG=$SCRATCH/small.yaml
losses() { sed -n 's/^step \([0-9]*\).* loss \([0-9.]*\).*/\1 \2/p' "$@"; }
progress() { curl -sf --max-time "$PATIENCE" "http://127.0.0.1:$1/progress"; }
has_said() { grep -q "$2" "$1"; }
port_of() { sed -n 's|^trainer: progress is at http://127.0.0.1:\([0-9]*\)/progress.*|\1|p' "$1"; }
has_port() { [ -n "$(port_of "$1")" ]; }
stopped() { # PID
    local code=0
    wait "$1" || code=$?
    assert_eq "exit code of a run that SIGTERM stopped" 143 $code
}

# While a worker waits for another, its monitor names that worker. Then both train, and each has its own monitor.
have_addresses 2
start() { # INDEX
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$1}}" TRAINER_MONITOR=127.0.0.1:0 \
        "$TRAINER" fit face --steps 100000 --model-dir "$SCRATCH/watched" >"$SCRATCH/watched-$1" 2>&1 &
    pids[$1]=$!
}
pids=()
start 0
wait_until "the monitor of worker 0" has_port "$SCRATCH/watched-0"
first=$(port_of "$SCRATCH/watched-0")
is_waiting() { progress "$first" | finds '"waiting-for":"worker 1 ('"${ADDRESSES[1]})"'"'; }
wait_until "the monitor to name the missing worker" is_waiting
start 1
is_training() { [ "$(progress "$1" | jq -r .step)" -ge 3 ]; }
wait_until "steps of worker 0" is_training "$first"
second=$(port_of "$SCRATCH/watched-1")
wait_until "steps of worker 1" is_training "$second"
document=$(progress "$first")
for member in step total epoch loss rate; do
    [ "$(jq -r ".$member | type" <<<"$document")" = number ] || fail "no $member in $document"
done
metrics=$(curl -sf "http://127.0.0.1:$second/metrics")
assert_contains "metrics of a worker that does not show the progress" "trainer_examples_per_second" "$metrics"
assert_contains "the metric of the waiting time" "trainer_waiting_seconds_total" "$metrics"
assert_eq "health" ok "$(curl -sf "http://127.0.0.1:$second/healthz")"
kill -TERM "${pids[@]}"
for pid in "${pids[@]}"; do stopped "$pid"; done
assert_contains "the report of a run that was stopped" "stopped after step" "$(jq -r '.events[].message' "$SCRATCH/watched/report.json")"

# A port without an address means all addresses, including IPv6 if the machine has it. The trainer ignores a variable that Kubernetes sets
# for a Service of the name trainer-monitor.
TRAINER_MONITOR_PORT=tcp://10.96.0.7:9100 "$TRAINER" fit face --steps 1 --log plain >"$SCRATCH/linked" 2>&1 || fail "$(cat "$SCRATCH/linked")"
TRAINER_MONITOR_PORT=0 "$TRAINER" fit face --steps 100000 >"$SCRATCH/open" 2>&1 &
open=$!
said() { grep -q "progress is at" "$SCRATCH/open"; }
wait_until "the monitor on all addresses" said
all=$(sed -n 's|^trainer: progress is at http://.*:\([0-9]*\)/progress.*|\1|p' "$SCRATCH/open")
assert_eq "health by IPv4" ok "$(curl -sf "http://127.0.0.1:$all/healthz")"
if ip -6 address show lo 2>/dev/null | finds ::1; then assert_eq "health by IPv6" ok "$(curl -sf "http://[::1]:$all/healthz")"; fi
kill -TERM $open
stopped $open

# If the monitor port is in use, the trainer prints a message and trains without a monitor.
"$TRAINER" fit face --steps 100000 --monitor 127.0.0.1:0 >"$SCRATCH/holder" 2>&1 &
holder=$!
wait_until "the monitor that uses the port" has_port "$SCRATCH/holder"
"$TRAINER" fit face --steps 2 --monitor "127.0.0.1:$(port_of "$SCRATCH/holder")" >"$SCRATCH/guest" 2>&1
assert_contains "a port in use" "Address already in use; training goes on" "$(cat "$SCRATCH/guest")"
assert_contains "training without a monitor" "step 2/2" "$(cat "$SCRATCH/guest")"
kill -TERM $holder
stopped $holder

# One worker, then three, then two resume the same run: the losses equal those of one uninterrupted run, and so do the TensorBoard events.
same() { # WHAT STEP-AND-LOSS-FILE STEP-AND-LOSS-FILE
    paste "$2" "$3" | awk '
        $1 != $3 || $2 != $4 { print "step " $1 ": " $2 " and " $4; bad = 1 }
        END { exit bad || NR != 15 }' || fail "$1"
}
together() { # WORKERS STEPS
    local i
    pids=()
    have_addresses "$1"
    for ((i = 0; i < $1; i++)); do
        TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$i}}" "$TRAINER" fit face --schedule constant \
            --steps "$2" --checkpoint-every 2 --checkpoint_dir "$SCRATCH/changing" >"$SCRATCH/changing-$1-$i" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || fail "a worker failed: $(tail -n 3 "$SCRATCH/changing-$1"-*)"; done
}
"$TRAINER" fit face --schedule constant --steps 15 --events "$SCRATCH/undisturbed" >"$SCRATCH/alone"
together 1 5
together 3 10
together 2 15
losses "$SCRATCH/changing-1-0" "$SCRATCH/changing-3-0" "$SCRATCH/changing-2-0" >"$SCRATCH/changing-losses"
losses "$SCRATCH/alone" >"$SCRATCH/alone-losses"
same "other numbers of workers change the losses" "$SCRATCH/alone-losses" "$SCRATCH/changing-losses"
python3 "$ROOT/tests/lib/read_events.py" "$SCRATCH/undisturbed"/* >"$SCRATCH/events-alone"
python3 "$ROOT/tests/lib/read_events.py" "$SCRATCH/changing/events"/* >"$SCRATCH/events-changing"
assert_eq "event files" 3 "$(grep -c ' version brain.Event:2' "$SCRATCH/events-changing")"
assert_eq "steps at which runs were resumed" "6 11" "$(sed -n 's/.* start //p' "$SCRATCH/events-changing" | xargs)"
scalars() { awk -v tag="$2" '$3 == tag { print $2, $4 }' "$1" | sort -n; }
assert_eq "steps in the events" 15 "$(scalars "$SCRATCH/events-alone" loss | wc -l)"
same "the events differ" <(scalars "$SCRATCH/events-alone" loss) <(scalars "$SCRATCH/events-changing" loss)
assert_eq "learning rates" 15 "$(scalars "$SCRATCH/events-alone" learning-rate | wc -l)"
[ "$(scalars "$SCRATCH/events-alone" images-per-second | wc -l)" -ge 13 ] || fail "no speed in $(cat "$SCRATCH/events-alone")"
assert_eq "evaluations in the events" 1 "$(scalars "$SCRATCH/events-alone" auc | wc -l)"

# The report joins the three runs: it has their curves, options and result.
report=$SCRATCH/changing/report.json
assert_eq "runs, steps and points in the report" "3 15 15 15" "$(jq -r '[.runs, .done, .steps, (.points | length)] | join(" ")' "$report")"
same "the report differs" "$SCRATCH/alone-losses" <(jq -r '.points[] | "\(.step) \(.loss)"' "$report" | awk '{ printf "%d %.4f\n", $1, $2 }')
assert_contains "the result in the report" "pair AUC" "$(jq -r .result "$report")"
assert_eq "an option in the report" 2 "$(jq -r '.options["checkpoint-every"]' "$report")"
assert_contains "the HTML report" "<polyline" "$(cat "$SCRATCH/changing/report.html")"

# A limit on the file size stands for a full disk, and does not need root. The trainer reports it, tries again, and continues when the limit
# is lifted.
"$TRAINER" fit face --steps 100000 --checkpoint-every 1 --model-dir "$SCRATCH/full" --events off > >(
    cat >"$SCRATCH/full-log" && touch "$SCRATCH/full-log-is-whole"
) 2>&1 &
full=$!
newest() { find "$SCRATCH/full" -name 'step-*.ckpt' | sort | tail -n 1; }
has_moved() { [[ "$(newest)" > "$stuck" ]]; }
stuck=
wait_until "a checkpoint" has_moved
prlimit --pid $full --fsize=100000:
wait_until "the message about the failed checkpoint" has_said "$SCRATCH/full-log" "cannot write '.*': File too large; training continues, and the last good checkpoint is of step"
said=$(grep -c 'File too large' "$SCRATCH/full-log")
has_repeated() { [ "$(grep -c 'File too large' "$SCRATCH/full-log")" -gt "$said" ]; }
wait_until "another attempt to write a checkpoint" has_repeated
prlimit --pid $full --fsize=unlimited:
stuck=$(newest)
wait_until "checkpoints again" has_moved
kill -TERM $full
stopped $full
wait_until "the end of its log" test -e "$SCRATCH/full-log-is-whole"
assert_eq "temporary checkpoint files" "" "$(find "$SCRATCH/full" -name '*.ckpt.*')"
last=$(losses "$SCRATCH/full-log" | tail -n 1 | cut -d ' ' -f 1)
assert_eq "the last checkpoint" "$SCRATCH/full/step-$(printf %08d "$last").ckpt" "$(newest)"
# If the disk is full until the end, the trainer fails. Older checkpoints stay.
"$TRAINER" fit face --steps 100000 --checkpoint-every 0 --model-dir "$SCRATCH/full" --events off > >(cat >"$SCRATCH/fuller-log") 2>"$SCRATCH/fuller-error" &
full=$!
wait_until "more steps" has_said "$SCRATCH/fuller-log" '^step '
prlimit --pid $full --fsize=100000:
kill -TERM $full
code=0
wait $full || code=$?
case $code in 0 | 143) fail "a run whose last checkpoint cannot be written ended with $code" ;; esac
assert_contains "the error message" "File too large" "$(cat "$SCRATCH/fuller-error")"
assert_eq "temporary checkpoint files" "" "$(find "$SCRATCH/full" -name '*.ckpt.*')"
assert_eq "the last checkpoint" "$SCRATCH/full/step-$(printf %08d "$last").ckpt" "$(newest)"

refused() { # WHAT SENTENCE COMMAND…: the command must fail with exit code 2, which means wrong usage
    local what=$1 sentence=$2 answer code=0
    shift 2
    answer=$("$@" 2>&1) || code=$?
    assert_eq "the exit code of $what: $answer" 2 $code
    assert_contains "$what" "$sentence" "$answer"
}
refused "a wrong variable" "environment variable TF_TRAIN_STEPS: 'many' is not a whole number" env TF_TRAIN_STEPS=many "$TRAINER" fit face
refused "a batch size of 12.5 people" "is not a multiple of the 4 per person" env TF_BATCH_SIZE=50 "$TRAINER" fit face
refused "a bucket as the model directory" "mount a volume (a PersistentVolumeClaim)" env TF_MODEL_DIR=s3://bucket/model "$TRAINER" fit face
refused "a bucket as the model to read" "mount a volume" "$TRAINER" predict --model gs://bucket/face.model
refused "an invalid monitor address" "write PORT, IP:PORT or off" "$TRAINER" fit face --monitor everywhere
printf 'steps: 20\nbatch_persns: 3\n' >"$SCRATCH/wrong.yaml"
refused "an unknown option in a file" "wrong.yaml:2:1: unknown option 'batch_persns': did you mean 'batch-persons'?" "$TRAINER" fit face --config "$SCRATCH/wrong.yaml"
printf 'steps: 20\nlr: -3\n' >"$SCRATCH/wrong.yaml"
refused "a wrong value in a file" "$SCRATCH/wrong.yaml:2:5: 'lr': '-3' is not above 0" "$TRAINER" fit face --config "$SCRATCH/wrong.yaml"
refused "a rate in a variable" "environment variable TF_LEARNING_RATE: '-4' is not above 0" env TF_LEARNING_RATE=-4 "$TRAINER" fit face
refused "an invalid monitor address in a variable" "environment variable TRAINER_MONITOR: 'abc' is not an address" env TRAINER_MONITOR=abc "$TRAINER" fit face
refused "a negative shift" "option '--shift': '-1' is not between 0 and 1" "$TRAINER" fit face --shift -1
refused "a negative margin" "option '--margin': '-1' is not above 0" "$TRAINER" fit face --margin -1
refused "an invalid image size" "option '--image-size': '50' is not a multiple of 16" "$TRAINER" fit face --image-size 50
refused "two channels" "use 1 (grey) or 3 (RGB)" "$TRAINER" fit face --channels 2
refused "a peer timeout of 0" "option '--peer-timeout': '0' is not between 0.1 and 86400" "$TRAINER" fit face --peer-timeout 0
refused "more --min-workers than workers" "--min-workers is 3, but there is only 1 worker" "$TRAINER" fit face --min-workers 3
unset TRAINER_CONFIG
refused "an unknown model type" "option '--model': unknown model type 'rnn': use cnn or linear" "$TRAINER" fit classifier --model rnn
refused "a negative rate of the recommender" "option '--learning-rate': '-1' is not above 0" "$TRAINER" fit recommender --learning-rate -1

# A run can only be resumed with the same data options, by one process at a time, and in a writable directory. If the model will not be
# kept, the trainer says so at the start.
export TRAINER_CONFIG=$SCRATCH/small.yaml
"$TRAINER" fit face --steps 2 --model-dir "$SCRATCH/began" >/dev/null 2>&1 || fail "a run of two steps failed"
refused "another number of test people" "was trained with --held-out 10, but this run has 12: use another --model-dir, or --held-out 10 again" \
    "$TRAINER" fit face --steps 4 --held-out 12 --model-dir "$SCRATCH/began"
refused "another value of --light" "was trained with --light even, but this run has keep" "$TRAINER" fit face --steps 4 --light keep --model-dir "$SCRATCH/began"
refused "another number of people" "was trained with --persons 40, but this run has 41" "$TRAINER" fit face --steps 4 --persons 41 --model-dir "$SCRATCH/began"
"$TRAINER" fit face --steps 3 --learning-rate 0.001 --model-dir "$SCRATCH/began" >"$SCRATCH/longer" 2>&1 || fail "$(cat "$SCRATCH/longer")"
assert_contains "a longer run with another rate" "resumed after step 2" "$(cat "$SCRATCH/longer")"
"$TRAINER" fit face --steps 100000 --model-dir "$SCRATCH/began" >"$SCRATCH/keeper" 2>&1 &
holder=$!
wait_until "steps of the run that holds the lock" has_said "$SCRATCH/keeper" '^step 4/'
answer=$("$TRAINER" fit face --steps 100000 --model-dir "$SCRATCH/began" 2>&1) && fail "two runs write into one directory"
assert_contains "a second run in the same directory" "'$SCRATCH/began' is in use by process $holder on " "$answer"
kill -TERM $holder
stopped $holder
: >"$SCRATCH/file"
answer=$("$TRAINER" fit face --steps 2 --model-dir "$SCRATCH/file" 2>&1) && fail "a file was accepted as the model directory"
assert_contains "a file as the model directory" "'$SCRATCH/file' is a file, not a directory" "$answer"
assert_contains "a run without a model directory" "the model will not be kept" "$("$TRAINER" fit face --steps 1 2>&1 | sed -n 1p)"

# With incomplete cluster settings the trainer fails, so that a worker of a cluster never trains alone by mistake.
answer=$(env -u TF_CONFIG WORLD_SIZE=3 RANK=1 "$TRAINER" fit face --steps 1 2>&1) && fail "one worker of three trained alone"
assert_contains "no MASTER_ADDR" "WORLD_SIZE is 3, but neither MASTER_ADDR nor TF_CONFIG says where the other processes are" "$answer"
refused "an empty list of workers" "--worker-hosts is empty" "$TRAINER" fit face --worker-hosts ""
refused "a task index without hosts" "'--worker-hosts' is missing" "$TRAINER" fit face --task-index 2

# On SIGHUP the trainer saves a checkpoint as on SIGTERM. Training continues when the reader of its output closes the pipe.
"$TRAINER" fit face --steps 100000 --checkpoint-every 10 --model-dir "$SCRATCH/hangup" --events off > >(for _ in 1 2 3; do read -r _; done) 2>&1 &
unheard=$!
saved() { find "$SCRATCH/hangup" -name 'step-*.ckpt' | finds '[4-9]0.ckpt'; } # any of several: on a slow disk some checkpoints are skipped
wait_until "a checkpoint after the pipe was closed" saved
kill -HUP $unheard
code=0
wait $unheard || code=$?
assert_eq "exit code after SIGHUP" 129 $code
assert_contains "the report after SIGHUP" "stopped after step" "$(jq -r '.events[].message' "$SCRATCH/hangup/report.json")"

# Workers that were started with different options fail and print which options differ.
have_addresses 2
for i in 1 0; do
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$i}}" \
        "$TRAINER" fit face --steps 2 --shift "0.$((i + 1))" >"$SCRATCH/apart-$i" 2>&1 &
    pids[i]=$!
done
for i in 0 1; do
    wait "${pids[$i]}" && fail "workers with different options trained together"
done
grep -q "its options differ: --shift 0.[12] there and 0.[12] here; start all tasks with the same" "$SCRATCH"/apart-? ||
    fail "no worker prints which options differ: $(tail -n 2 "$SCRATCH"/apart-?)"
