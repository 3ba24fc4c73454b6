#!/bin/bash
# The conformance suite of TFJobs and PyTorchJobs (tests/conformance) on the embedded cluster, with real pods: with the operator
# that `up` has built in, and with one of its own, as in a real cluster. In a soak again and again.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # what kills the server here starts the next one itself

IMAGE=example/conformance:1
clean_up() { stop_operator; }

stop_operator() { [ ! -s "$SCRATCH/operator.pid" ] || kill -9 "$(cat "$SCRATCH/operator.pid")" 2>/dev/null || true; }

# How the operator ends hard and starts again, as scripts that the suite runs. The pods live on.
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
        fail "the conformance suite"
    }
}

# The cluster is started from the user's own home, which pods are shown: this tree, and so what they run, may lie in it.
for round in $(seq $(((SCALE + 3) / 4))); do
    echo "round $round: the operator of the cluster"
    HOME=$USER_HOME cluster_up --nodes 2
    suite restart-server
    cluster_wipe
    echo "round $round: an operator of its own"
    HOME=$USER_HOME cluster_up --nodes 2 --no-operator
    sh "$SCRATCH/start-operator"
    suite restart-operator
    stop_operator
    cluster_wipe
done
