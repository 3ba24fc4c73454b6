#!/bin/bash
# kill -9 of the server at random moments, also while it starts: whoever was told that a write was done finds it done, and whoever
# watches and goes on from where it was sees every change once. TRAINYARD_TEST_KILLS says how often (default 8).
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

CLUSTER_UP=yes # the program below starts it, and what it leaves is ended here
"$ROOT/tests/integration/kill_server.py" "$TRAINYARD" "$TRAINYARD_STATE" "${TRAINYARD_TEST_KILLS:-8}"
