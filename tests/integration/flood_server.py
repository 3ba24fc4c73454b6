#!/usr/bin/env python3
"""Clients make the server buffer data for them in every possible way. Another client must not be affected.

    flood_server.py STATE PID PORT COUNT TOKEN-WITHOUT-RIGHTS TOKEN-WITH-RIGHTS

COUNT concurrent connections send large bodies without their last bytes, watch or list without reading the answer, or send long headers.
Meanwhile a client with the owner's token reads and writes, and must be answered. The server's resident memory must always stay below
LIMIT_MIB. The buffered bytes that /metrics reports must fall below 1 MB after the clients have closed their connections.
"""
import http.client
import json
import os
import select
import socket
import ssl
import sys
import threading
import time

LIMIT_MIB = 150
PATIENCE = 300  # seconds; a correct server is always faster
BODY = 2_900_000
STALL = 50  # seconds after which the server may close a connection whose client reads nothing
UPDATES, UPDATE_SIZE = 60, 500_000
LIST_OBJECTS = 20  # of UPDATE_SIZE: a list of 10 MB
MAPS = "/api/v1/namespaces/default/configmaps"

STATE, PID, PORT, COUNT, POOR, RICH = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6]
with open(os.path.join(STATE, "token"), encoding="utf-8") as file:
    OWNER = file.read().strip()
TLS = ssl.create_default_context(cafile=os.path.join(STATE, "pki", "ca.crt"))


def fail(message):
    print(f"FAILED: {message}", flush=True)
    os._exit(1)  # ends all threads too


def resident(name):
    """VmHWM or VmRSS of the server, in MiB."""
    with open(f"/proc/{PID}/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1]) / 1024
    return fail("the server is gone")


def forget_peak():
    with open(f"/proc/{PID}/clear_refs", "w", encoding="utf-8") as refs:
        refs.write("5")


class Owner:
    """A client with the owner's token that sends one request at a time and requires a successful answer to each.

    The server closes a connection that is idle for minutes.
    """

    def __init__(self):
        self.connection = None

    def call(self, method, path, body=None):
        self.connection = self.connection or http.client.HTTPSConnection("127.0.0.1", PORT, context=TLS, timeout=PATIENCE)
        headers = {"Authorization": "Bearer " + OWNER, "Content-Type": "application/json"}
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            fail(f"{method} {path}: {response.status} {text[:500]}")
        return text

    def metric(self, name):
        for line in self.call("GET", "/metrics").decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        return fail(f"/metrics has no {name}")


class Bystander(threading.Thread):
    """Reads and writes continuously during the flood."""

    def __init__(self):
        super().__init__(daemon=True)
        self.rounds, self.stopped = 0, False
        self.changed = threading.Condition()
        self.owner = Owner()
        self.owner.call("POST", MAPS, {"metadata": {"name": "bystander"}, "data": {"round": "0"}})

    def run(self):
        while not self.stopped:
            value = str(self.rounds)
            self.owner.call("PUT", f"{MAPS}/bystander", {"metadata": {"name": "bystander"}, "data": {"round": value}})
            seen = json.loads(self.owner.call("GET", f"{MAPS}/bystander"))["data"]["round"]
            if seen != value:
                fail(f"wrote {value} and read {seen}")
            with self.changed:
                self.rounds += 1
                self.changed.notify_all()

    def wait_for_rounds(self, count):
        with self.changed:
            wanted = self.rounds + count
            if not self.changed.wait_for(lambda: self.rounds >= wanted, PATIENCE):
                fail(f"the bystander finished {self.rounds} rounds and then got no further answer")


class Client:
    """A connection of the flood. Only read_stream() waits for an answer of the server."""

    def __init__(self, request):
        self.socket = TLS.wrap_socket(socket.create_connection(("127.0.0.1", PORT)), server_hostname="127.0.0.1")
        self.socket.sendall(request)
        self.began = time.monotonic()
        self.heard = b""

    def send(self, data):
        """Send as much as the server reads. The server may answer or close the connection before it has read everything."""
        self.socket.setblocking(False)
        view, deadline = memoryview(data), time.monotonic() + PATIENCE
        while view and not self.hears():
            try:
                view = view[self.socket.send(view):]
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                select.select([self.socket], [self.socket], [], 1)
                if time.monotonic() > deadline:
                    fail("the server neither reads nor answers")
            except OSError:
                break  # status() still reads the answer that the server sent before
        self.socket.setblocking(True)

    def hears(self):
        """Return whether the server has begun to answer."""
        try:
            self.heard += self.socket.recv(65536)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError:
            self.heard += b"HTTP/1.1 reset"
        return bool(self.heard)

    def status(self):
        """Return the HTTP status of the answer, or "none" if the server has not answered.

        Does not wait: stage() calls this after the bystander was answered several times, so the server has had time to answer.
        """
        self.socket.setblocking(False)
        self.hears()
        words = self.heard.split(None, 2)
        return words[1].decode() if len(words) > 1 else "none"

    def read_stream(self):
        """Return the whole body of a chunked answer, or None if the server closed the connection after STALL seconds (a slow machine)."""
        self.socket.settimeout(PATIENCE)
        while not self.heard.endswith(b"\r\n0\r\n\r\n"):
            try:
                data = self.socket.recv(1 << 20)
            except OSError:
                data = b""
            if not data and time.monotonic() - self.began > STALL:
                return None
            if not data:
                fail(f"a stream was cut off after {self.heard[-300:]}")
            self.heard += data
        body, rest = [], self.heard.split(b"\r\n\r\n", 1)[1]
        at = 0
        while at < len(rest):
            end = rest.index(b"\r\n", at)
            size = int(rest[at:end], 16)
            body.append(rest[end + 2:end + 2 + size])
            at = end + 2 + size + 2
        return b"".join(body)


def request(method, path, token, more=""):
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\n{authorization}{more}\r\n".encode()


def count_statuses(clients):
    counts = {}
    for client in clients:
        status = client.status()
        counts[status] = counts.get(status, 0) + 1
    return counts


def flood_bodies(count, token):
    """Send POST requests without the last bytes of their bodies."""
    body = b'{"metadata":{"name":"x"},"data":{"a":"' + b"x" * BODY
    clients = []
    for _ in range(count):
        clients.append(Client(request("POST", MAPS, token, f"Content-Type: application/json\r\nContent-Length: {BODY + 1000}\r\n")))
        clients[-1].send(body)
    return clients


def flood_lists(count, token):
    return [Client(request("GET", MAPS, token)) for _ in range(count)]


def flood_headers(count, _token):
    clients = []
    for _ in range(count):
        clients.append(Client(b"GET / HTTP/1.1\r\nX: "))
        clients[-1].send(b"x" * 60_000)
    return clients


def flood_answers(count, _token):
    """Pipeline many small requests and read none of the answers."""
    clients = []
    for _ in range(count):
        clients.append(Client(b""))
        clients[-1].socket.setblocking(False)
        try:
            for _ in range(16):  # 240 kB: more than the server reads ahead, less than the kernel's socket buffers hold
                clients[-1].socket.send(request("GET", "/healthz", None) * 400)
        except (ssl.SSLWantWriteError, OSError):
            pass  # the server has stopped reading or closed the connection
    return clients


def flood_watches(count, token):
    clients = [Client(request("GET", f"{MAPS}?watch=true", token)) for _ in range(count)]
    owner = Owner()
    for number in range(UPDATES):
        data = {"number": str(number), "fill": "x" * UPDATE_SIZE}
        owner.call("PUT", f"{MAPS}/large-0", {"metadata": {"name": "large-0"}, "data": data})
    return clients


def check_watch(client):
    """Check that the stream has only complete events and ends with 410 Expired. Return the number of events, or None as read_stream()."""
    stream = client.read_stream()
    if stream is None:
        return None
    events = [json.loads(line) for line in stream.splitlines()]
    last = events[-1]
    if last["type"] != "ERROR" or last["object"]["code"] != 410 or last["object"]["reason"] != "Expired":
        fail(f"the last event of a watch whose client did not read is not 410 Expired: {str(last)[:300]}")
    return len(events)


def stage(name, flood, count, token, bystander, expected):
    forget_peak()
    clients = flood(count, token)
    bystander.wait_for_rounds(5)
    counts = count_statuses(clients)
    peak = resident("VmHWM")
    print(f"{name}: {count} connections, answered {counts}, at most {peak:.0f} MiB resident", flush=True)
    if peak > LIMIT_MIB:
        fail(f"{name}: {peak:.0f} MiB resident")
    if not set(counts) <= set(expected):
        fail(f"{name}: answered {counts}, not {expected}")
    if flood is flood_watches:
        events = [check_watch(client) for client in clients[:5]]
        print(f"{name}: events of the first watches before 410: {events}", flush=True)
    for client in clients:
        client.socket.close()
    deadline = time.monotonic() + PATIENCE
    owner = Owner()
    while owner.metric('trainyard_client_memory_bytes{of="http"}') + owner.metric('trainyard_client_memory_bytes{of="watches"}') > 1_000_000:
        if time.monotonic() > deadline:
            fail(f"{name}: the server still holds memory for closed connections: {owner.call('GET', '/metrics').decode()}")
    bystander.wait_for_rounds(5)


def main():
    owner = Owner()
    for number in range(LIST_OBJECTS):
        owner.call("POST", MAPS, {"metadata": {"name": f"large-{number}"}, "data": {"fill": "x" * UPDATE_SIZE}})
    bystander = Bystander()
    bystander.start()
    print(f"{resident('VmRSS'):.0f} MiB resident before", flush=True)
    stage("bodies without a token", flood_bodies, COUNT, None, bystander, ["401"])
    stage("bodies of an account without rights", flood_bodies, COUNT, POOR, bystander, ["403"])
    stage("bodies of an account with rights", flood_bodies, COUNT, RICH, bystander, ["none", "408", "429"])
    stage("headers", flood_headers, COUNT, None, bystander, ["none", "408", "429"])
    stage("small answers", flood_answers, COUNT, None, bystander, ["200", "reset"])
    stage("lists", flood_lists, COUNT, RICH, bystander, ["200", "429", "reset"])
    stage("watches", flood_watches, COUNT * 3 // 7, RICH, bystander, ["200"])
    bystander.stopped = True
    bystander.join()
    expired = Owner().metric("trainyard_watches_expired_total")
    if expired < COUNT * 3 // 7:
        fail(f"only {expired:.0f} watches expired")
    print(f"{resident('VmRSS'):.0f} MiB resident afterwards, {bystander.rounds} rounds of the bystander", flush=True)


main()
