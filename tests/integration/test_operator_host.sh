#!/bin/bash
# The operator as a separate process, with jobs that use hostNetwork: it has only two ports for two jobs of two replicas each, so the second
# job waits. The operator reads a pod's progress at the pod's address.
# Alone: needs three consecutive free ports.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/training.sh
. "$ROOT/tests/lib/training.sh"

OPERATOR_PID=
clean_up() { [ -z "$OPERATOR_PID" ] || kill -9 "$OPERATOR_PID" 2>/dev/null || true; }

free_ports() { # COUNT: prints the first of COUNT consecutive ports that are free now
    python3 - "$1" <<'PYTHON'
import socket, sys

def free(port):
    with socket.socket() as s:
        try:
            s.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True

count = int(sys.argv[1])
print(next(p for p in range(24000, 30000) if all(free(p + i) for i in range(count))))
PYTHON
}

# job NAME PROGRESS_PORT
job() {
    kubectl apply -f - <<YAML
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1}
spec:
  tfReplicaSpecs:
    Worker:
      template:
        spec:
          hostNetwork: true
          terminationGracePeriodSeconds: 1
          containers: [{name: tensorflow, image: trainyard/tools, command: [sleep, infinity]}]
    Chief: # only one replica can have the port on a node
      template:
        spec:
          hostNetwork: true
          terminationGracePeriodSeconds: 1
          containers:
          - name: tensorflow
            image: trainyard/tools
            ports: [{name: metrics, containerPort: $2}]
            command: [python3, -u, -c]
            args:
            - |
              import http.server
              class Handler(http.server.BaseHTTPRequestHandler):
                  def do_GET(self):
                      self.send_response(200)
                      self.end_headers()
                      self.wfile.write(b'{"step": 7, "total": 9, "waiting-for": "$1"}')
              http.server.HTTPServer(("127.0.0.1", $2), Handler).serve_forever()
YAML
}

sorted_ports() { host_ports_of "$1" | grep -o '[0-9]*' | sort | tr '\n' ' '; }
has_ports() { [ "$(sorted_ports "$1")" = "$2" ]; }
progress_is() { [ "$(progress_of "$1")" = "$2" ]; }

first=$(free_ports 3)
range="$first $((first + 1)) "
cluster_up --nodes 1 --no-operator
"$TRAINYARD" operator --kubeconfig "$KUBECONFIG" --host-port-range "$first-$((first + 1))" --metrics-bind-address 0 \
    --health-probe-bind-address 0 2>"$SCRATCH/operator.log" &
OPERATOR_PID=$!
job one $((first + 2))
wait_until "the ports of the first job" has_ports one "$range"
wait_for_phase one-worker-0 Running
wait_until "the progress of the first job" progress_is one "step 7/9, waiting for one"

job two $((first + 2))
wait_until "the event that the second job waits for ports" was_told two "2 replicas with hostNetwork wait for free ports"
assert_eq "pods of the second job" "" "$(pods_of two)"
assert_eq "ports of the second job" "" "$(host_ports_of two)"
kubectl delete tfjob one
wait_until "the second to get the ports" has_ports two "$range"
wait_for_phase two-worker-0 Running
wait_until "the progress of the second job" progress_is two "step 7/9, waiting for two"
