#!/usr/bin/python3
"""The servers that the probes of tests/kubectl/test_probes_net.sh connect to: HTTPS with the certificate of /v/tls.pem, gRPC's health
service, and some that speak neither. Their answers depend on files in /v, so that a test can change them."""
import http.server
import os
import socket
import ssl
import threading
from concurrent import futures

import grpc

SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"
NEVER = threading.Event()


class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("asked", self.path, self.headers["User-Agent"], flush=True)
        if self.path == "/slow":
            NEVER.wait()
        if self.path == "/on":
            self.send_response(302)
            self.send_header("Location", "https://%s/followed" % self.headers["Host"])
        elif self.path == "/followed":
            self.send_response(418)
        else:
            self.send_response(503 if self.path == "/sick" or os.path.exists("/v/sick") else 200)
        self.end_headers()


def serve_web(port, tls):
    server = http.server.ThreadingHTTPServer(("", port), Web)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("/v/tls.pem")
        # Each connection does its handshake in its own thread: a silent client delays no other.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def check_health(request, context):
    service = request[2:].decode()  # the request has one field, whose length is one byte
    if service == "slow":  # until the client is gone: the number of threads is limited
        gone = threading.Event()
        if context.add_callback(gone.set):
            gone.wait()
    if service == "stranger":
        context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
    return NOT_SERVING if service == "sick" or os.path.exists("/v/sick") else SERVING


def serve_grpc(port, methods):
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", methods),))
    if server.add_insecure_port("0.0.0.0:%d" % port) != port:
        raise SystemExit("port %d is taken" % port)
    server.start()
    return server


def serve_socket(port, closes):
    listener = socket.create_server(("", port), backlog=64)
    kept = []

    def accept():
        while True:
            connection, _ = listener.accept()
            if closes:
                connection.close()
            else:
                kept.append(connection)

    threading.Thread(target=accept, daemon=True).start()


serve_web(8443, tls=True)
serve_web(8080, tls=False)
serve_socket(7001, closes=True)
serve_socket(7002, closes=False)
health = serve_grpc(9000, {"Check": grpc.unary_unary_rpc_method_handler(check_health)})
bare = serve_grpc(9001, {})
open("/v/serving", "w").close()
health.wait_for_termination()
