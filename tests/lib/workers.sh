# shellcheck shell=bash
# Workers of `trainer fit face` on this machine that train in step, for tests that disturb them. Source it after lib.sh, with MODEL
# (options of all workers) set. The stdout of a worker is in $SCRATCH/worker-INDEX, its stderr in $SCRATCH/said-INDEX.

# Print "STEP LOSS" for each step in the files.
losses() { sed -n 's/.*"event":"step","step":\([0-9]*\),.*"loss":\([^,]*\),.*/\1 \2/p' "$@"; }

have_addresses 3
workers=()
# A failed test shows the last lines of each worker. No worker may stay behind, not even one that SIGSTOP has stopped.
clean_up() { # CODE
    [ "$1" = 0 ] || show_workers || true
    for worker in "${workers[@]}"; do kill -KILL "$worker" 2>/dev/null || true; done
}

show_workers() {
    local i
    for i in "${!workers[@]}"; do
        [ -e "$SCRATCH/worker-$i" ] || continue
        if is_alive "${workers[$i]}"; then
            echo "--- worker $i runs; the end of its output:"
        else
            echo "--- worker $i has ended; the end of its output:"
        fi
        tail -qn 5 "$SCRATCH/worker-$i" "$SCRATCH/said-$i" 2>&1 || true
    done
}

start() { # INDEX OPTION…
    local index=$1
    shift
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$index}}" \
        "$TRAINER" fit face "${MODEL[@]}" --model-dir "$SCRATCH/model" "$@" >>"$SCRATCH/worker-$index" 2>>"$SCRATCH/said-$index" &
    workers[index]=$!
}
