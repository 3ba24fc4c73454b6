#!/bin/bash
# Debian's version of the Kubernetes client for Python works with trainyard (python_client.py).
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up
/usr/bin/python3 "$ROOT/tests/integration/python_client.py" || fail "the client for Python got a wrong answer"
