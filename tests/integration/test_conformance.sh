#!/bin/bash
# The conformance suite of TFJobs and PyTorchJobs (tests/conformance) passes on the embedded cluster with real pods: with the operator
# inside `up`, and with an operator in a separate process, as in a real cluster. A soak test repeats both.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the script that kills the server also starts it again

IMAGE=example/conformance:1
clean_up() { stop_operator; }

stop_operator() { [ ! -s "$SCRATCH/operator.pid" ] || kill -9 "$(cat "$SCRATCH/operator.pid")" 2>/dev/null || true; }

# The suite runs one of these scripts to kill the operator (kill -9) and to start it again. The pods keep running.
cat >"$SCRATCH/restart-server" <<SH
kill -9 "\$("$TRAINYARD" status -o json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')"
HOME="$USER_HOME" exec "$TRAINYARD" up --port 0 --no-restart
SH
cat >"$SCRATCH/start-operator" <<SH
"$TRAINYARD" operator --kubeconfig "$KUBECONFIG" --metrics-bind-address 0 --health-probe-bind-address 0 \
    </dev/null >>"$SCRATCH/operator.log" 2>&1 &
echo \$! >"$SCRATCH/operator.pid"
SH
cat >"$SCRATCH/restart-operator" <<SH
kill -9 "\$(cat "$SCRATCH/operator.pid")"
. "$SCRATCH/start-operator"
SH

suite() { # RESTART-SCRIPT
    "$TRAINYARD" image add $IMAGE -- "$BUILD/tests/conformance/conformance-replica"
    "$ROOT/tests/conformance/run" --kubectl "$KUBECTL" --image $IMAGE --restart-operator "sh $SCRATCH/$1" || {
        tail -30 "$SCRATCH/operator.log" 2>/dev/null || true
        fail "the conformance suite failed"
    }
}

# The cluster starts with the user's real home directory as HOME, so that pods see its files: this source tree, with the programs that the
# pods run, may be below it.
for round in $(seq $(((SCALE + 3) / 4))); do
    echo "round $round: the operator of the cluster"
    HOME=$USER_HOME cluster_up --nodes 2
    suite restart-server
    cluster_wipe
    echo "round $round: an operator in a separate process"
    HOME=$USER_HOME cluster_up --nodes 2 --no-operator
    sh "$SCRATCH/start-operator"
    suite restart-operator
    stop_operator
    cluster_wipe
done
