#!/bin/bash
# When the server is killed (kill -9) at random moments, also during its start, no acknowledged write is lost, and a client that resumes its
# watch from the last resourceVersion sees every change once. TRAINYARD_TEST_KILLS is the number of kills (default 8).
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

CLUSTER_UP=yes # kill_server.py starts the cluster; with this setting lib.sh ends it
"$ROOT/tests/integration/kill_server.py" "$TRAINYARD" "$TRAINYARD_STATE" "${TRAINYARD_TEST_KILLS:-8}"
