#!/bin/bash
# Two pods that both listen on 2222, each in its own network, reached by name from a third.
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

check() {
    cluster_up --nodes 2
    manifests | kubectl apply -f -
    wait_for_log one listening
    wait_for_log two listening
    kubectl apply -f - <<'YAML'
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
      for name in one two two.default two.default.svc two.default.svc.cluster.local; do
          exec 3<>/dev/tcp/$name/2222
          echo "$name: $(cat <&3)"
      done
YAML
    wait_for_phase caller Succeeded
    assert_eq "what the caller heard" "one: this is one
two: this is two
two.default: this is two
two.default.svc: this is two
two.default.svc.cluster.local: this is two" "$(kubectl logs caller)"
    cluster_wipe
}

check
become_ordinary_user
check
