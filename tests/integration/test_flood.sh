#!/bin/bash
# Clients make the server buffer as much data as they can: its memory stays bounded, and other clients are served. With
# TRAINYARD_TEST_SCALE > 1 there are more connections.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# kubectl 1.20 has no `create token`.
token_of() { # ACCOUNT
    kubectl create --raw "/api/v1/namespaces/default/serviceaccounts/$1/token" -f - <<<'{"spec":{}}' | jq -r .status.token
}

ulimit -n "$(ulimit -Hn)"
cluster_up
for account in poor rich; do kubectl create serviceaccount $account; done
kubectl create rolebinding rich --clusterrole=edit --serviceaccount=default:rich
port=$(as_user "$TRAINYARD" status -o json | sed -n 's/.*"port":\([0-9]*\).*/\1/p')
python3 "$ROOT/tests/integration/flood_server.py" "$TRAINYARD_STATE" "$(server_pid)" "$port" $((SCALE > 1 ? 700 : 140)) \
    "$(token_of poor)" "$(token_of rich)"
kubectl get pods >/dev/null || fail "the server does not answer any more"
