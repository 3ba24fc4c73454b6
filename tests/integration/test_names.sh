#!/bin/bash
# Two pods that both listen on 2222, each in its own network, reached by name from a third; and the name server stays where
# pods remember it.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

manifests() {
    for name in one two; do
        cat <<YAML
apiVersion: v1
kind: Service
metadata: {name: $name}
spec:
  clusterIP: None
  selector: {app: $name}
  ports: [{port: 2222}]
---
apiVersion: v1
kind: Pod
metadata: {name: $name, labels: {app: $name}}
spec:
  containers:
  - name: main
    image: trainyard/tools
    command: [python3, -u, -c]
    args:
    - |
      import socket
      server = socket.create_server(("0.0.0.0", 2222))
      print("listening", flush=True)
      while True:
          connection, peer = server.accept()
          connection.sendall(b"this is $name\n")
          connection.close()
---
YAML
    done
}

# The hardware address of the gateway, where the name server is. Neighbours remember it for most of a minute.
gateway_hardware() {
    nsenter --target "$(pgrep -f "trainyard-step hold $TRAINYARD_STATE")" --net ip -o link show ty0 | sed 's/.*ether \([0-9a-f:]*\) .*/\1/'
}

check() {
    cluster_up --nodes 2
    hardware=$(gateway_hardware)
    manifests | kubectl apply -f -
    wait_for_log one listening
    wait_for_log two listening
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: alias}
spec: {type: ExternalName, externalName: two.default.svc.cluster.local}
---
apiVersion: v1
kind: Pod
metadata: {name: caller}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -ec]
    args:
    - |
      for name in one two two.default two.default.svc two.default.svc.cluster.local alias; do
          exec 3<>/dev/tcp/$name/2222
          echo "$name: $(cat <&3)"
      done
YAML
    wait_for_phase caller Succeeded
    assert_eq "what the caller heard" "one: this is one
two: this is two
two.default: this is two
two.default.svc: this is two
two.default.svc.cluster.local: this is two
alias: this is two" "$(kubectl logs caller)"
    assert_eq "the gateway's hardware address after pods have come and gone" "$hardware" "$(gateway_hardware)"
    cluster_wipe
}

check
become_ordinary_user
check
