#!/bin/bash
# The conformance suite of TFJobs (tests/conformance) on the embedded cluster, with real pods. In a soak the suite runs
# again and again.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

IMAGE=example/conformance:1

cluster_up --nodes 2
"$TRAINYARD" image add $IMAGE -- "$BUILD/tests/conformance/conformance-replica"

# The operator ends as on a machine that loses its power; the pods live on.
cat >"$SCRATCH/restart" <<SH
kill -9 "\$("$TRAINYARD" status -o json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')"
exec "$TRAINYARD" up --port 0
SH

for round in $(seq $(((SCALE + 3) / 4))); do
    echo "round $round"
    "$ROOT/tests/conformance/run" --kubectl "$KUBECTL" --image $IMAGE --restart-operator "sh $SCRATCH/restart" ||
        fail "the conformance suite"
done
