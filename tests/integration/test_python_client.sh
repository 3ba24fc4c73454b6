#!/bin/bash
# Kubernetes' own client for Python, as Debian has it, against trainyard: what its users do every day.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up
/usr/bin/python3 "$ROOT/tests/integration/python_client.py" || fail "the client for Python was told something else"
