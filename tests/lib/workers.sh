# shellcheck shell=bash
# Workers of `trainer fit face` on this machine that train in step, for tests that disturb them. Source it after lib.sh, with MODEL
# (options of all workers) set. What a worker prints is in $SCRATCH/worker-INDEX, what it complains of in $SCRATCH/said-INDEX.

# "STEP LOSS" of everything told in the files.
losses() { sed -n 's/.*"event":"step","step":\([0-9]*\),.*"loss":\([^,]*\),.*/\1 \2/p' "$@"; }

# Below those that the kernel gives to connections: the port of one that was killed stays its own.
read -ra PORTS < <(python3 - <<'PYTHON'
import random, socket

held = []
while len(held) < 3:
    s = socket.socket()
    try:
        s.bind(("", random.randrange(20000, 28000))) # on no address, as workers listen on all
        held.append(s)
    except OSError:
        pass
print(*(s.getsockname()[1] for s in held))
PYTHON
)
address() { echo "127.0.0.1:${PORTS[$1]}"; } # INDEX

# The cluster has so many workers from now on.
have_workers() { # COUNT
    local i
    LIST=
    for ((i = 0; i < $1; i++)); do LIST+=${LIST:+,}\"$(address $i)\"; done
}
have_workers 3

workers=()
# A test that fails must not leave anybody behind, least of all one that is stopped.
clean_up() {
    for worker in "${workers[@]}"; do kill -KILL "$worker" 2>/dev/null || true; done
}

start() { # INDEX OPTION…
    local index=$1
    shift
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$index}}" \
        "$TRAINER" fit face "${MODEL[@]}" --model-dir "$SCRATCH/model" "$@" >>"$SCRATCH/worker-$index" 2>>"$SCRATCH/said-$index" &
    workers[index]=$!
}
