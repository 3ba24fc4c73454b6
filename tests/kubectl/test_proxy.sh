#!/bin/bash
# Proxies to pods, services and nodes: 'kubectl get --raw', 'kubectl proxy' as an intermediate, request and answer bodies, a chunked
# answer, WebSocket, and permissions.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

PROXY_PID=
clean_up() { [ -z "$PROXY_PID" ] || kill "$PROXY_PID" 2>/dev/null || true; }

cluster_up
kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: idle}
spec:
  selector: {app: nobody}
  ports: [{port: 80}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - name: c
    image: none
    ports: [{containerPort: 8080}]
    readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
    command:
    - python3
    - -c
    - |
      import base64, hashlib, http.server, sys
      class Handler(http.server.BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"
          def do_GET(self):
              if self.headers.get("Upgrade") == "websocket":
                  proof = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
                  self.send_response(101)
                  for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"),
                                      ("Sec-WebSocket-Accept", base64.b64encode(proof).decode())):
                      self.send_header(name, value)
                  self.end_headers()
                  self.wfile.write(b"\x81\x05hello")
                  self.close_connection = True
                  return
              text = f"{self.command} {self.path} {self.headers.get('Authorization')}\n".encode()
              self.send_response(200)
              self.send_header("Content-Length", str(len(text)))
              self.end_headers()
              self.wfile.write(text)
          def do_POST(self):
              body = self.rfile.read(int(self.headers["Content-Length"]))
              self.send_response(201)
              self.send_header("Transfer-Encoding", "chunked")
              self.end_headers()
              for byte in range(0, len(body), 1000):
                  piece = body[byte:byte + 1000]
                  self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
              self.wfile.write(b"0\r\n\r\n")
          def log_message(self, *words):
              pass
      http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
YAML
kubectl wait --for=condition=Ready pod/web --timeout=120s
BASE=/api/v1/namespaces/default
has_endpoint() { [ -n "$(kubectl get endpoints web -o jsonpath='{.subsets[0].addresses[0].ip}')" ]; }
wait_until "the service to have its endpoint" has_endpoint

for path in services/web:80 services/web:http services/http:web:80 pods/web pods/web:8080; do
    assert_eq "GET by $path" "GET /a/b?c=d None" "$(kubectl get --raw "$BASE/$path/proxy/a/b?c=d")"
done
assert_contains "a service without endpoints" 'no endpoints available for service "idle"' "$(kubectl get --raw "$BASE/services/idle/proxy/" 2>&1 || true)"
assert_contains "a port without a listener" "error trying to reach service" "$(kubectl get --raw "$BASE/pods/web:9/proxy/" 2>&1 || true)"
assert_contains "a service's https" "does not support https" "$(kubectl get --raw "$BASE/services/https:web:80/proxy/" 2>&1 || true)"
node=$(kubectl get pod web -o jsonpath='{.spec.nodeName}')
assert_eq "a node's health" ok "$(kubectl get --raw "/api/v1/nodes/$node/proxy/healthz")"
assert_contains "a node's pods" '"name":"web"' "$(kubectl get --raw "/api/v1/nodes/$node/proxy/pods")"

# A caller without permissions, and with those of the role edit.
kubectl create serviceaccount caller
as_caller() { kubectl --as system:serviceaccount:default:caller "$@" 2>&1 || true; }
assert_contains "a caller without rights" 'cannot get resource "services/proxy"' "$(as_caller get --raw "$BASE/services/web:80/proxy/")"
kubectl create rolebinding caller --clusterrole edit --serviceaccount default:caller
assert_eq "a caller with rights" "GET / None" "$(as_caller get --raw "$BASE/services/web:80/proxy/")"

# Through 'kubectl proxy', as a browser or curl does.
"$KUBECTL" proxy --port 0 >"$SCRATCH/proxy.log" 2>&1 &
PROXY_PID=$!
wait_until "kubectl proxy" grep -q '^Starting to serve' "$SCRATCH/proxy.log"
address=$(sed -n 's/^Starting to serve on //p' "$SCRATCH/proxy.log")
head -c 1000000 /dev/urandom | base64 >"$SCRATCH/body"
curl -sS --fail --data-binary "@$SCRATCH/body" "http://$address$BASE/services/web:80/proxy/echo" -o "$SCRATCH/echo"
cmp "$SCRATCH/body" "$SCRATCH/echo" || fail "a body came back changed"
assert_contains "a path without its slash" "$BASE/pods/web/proxy/" "$(curl -sS -D - -o /dev/null "http://$address$BASE/pods/web/proxy")"
upgrade=(-H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')
curl -sS --max-time 60 "${upgrade[@]}" "http://$address$BASE/services/web:80/proxy/socket" -i -o "$SCRATCH/upgraded" || true
assert_contains "the change of protocol" "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" "$(tr -d '\0' <"$SCRATCH/upgraded")"
assert_contains "the data after it" "hello" "$(tr -d '\0' <"$SCRATCH/upgraded")"
kill "$PROXY_PID"
