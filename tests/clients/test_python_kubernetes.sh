#!/bin/bash
# PyPI's current Kubernetes client for Python passes the same test as Debian's in tests/integration/test_python_client.sh.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up
"$BUILD/clients/kubernetes/bin/python" "$ROOT/tests/integration/python_client.py" || fail "the Python client got an unexpected answer"
