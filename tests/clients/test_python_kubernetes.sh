#!/bin/bash
# PyPI's current Kubernetes client for Python does what Debian's does in tests/integration/test_python_client.sh.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up
"$BUILD/clients/kubernetes/bin/python" "$ROOT/tests/integration/python_client.py" || fail "the client for Python got another answer than it expects"
