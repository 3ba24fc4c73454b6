#!/usr/bin/env python3
"""A DNS server that replaces the machine's own in a test: www.example.com has one address, long.example.com has more than fit into a
datagram, and no other name exists. usage: name_server.py ADDRESS"""
import socket, socketserver, struct, sys, threading

HEADER = struct.Struct(">6H")


def answer(query, limit):
    number, flags, *_ = HEADER.unpack(query[:12])
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    kind = struct.unpack(">H", query[at + 1:at + 3])[0]
    question, name = query[12:at + 5], ".".join(labels)
    known = {"www.example.com": 1, "long.example.com": 100}
    count = known.get(name, 0) if kind == 1 else 0
    records = b"".join(b"\xc0\x0c" + struct.pack(">2HIH", 1, 1, 60, 4) + bytes([192, 0, 2, i + 1]) for i in range(count))
    code = 0x8180 | (0 if name in known else 3)
    if 12 + len(question) + len(records) > limit:
        count, records, code = 0, b"", code | 0x0200
    return HEADER.pack(number, code, 1, count, 0, 0) + question + records


class Datagrams(socketserver.BaseRequestHandler):
    def handle(self):
        data, sock = self.request
        sock.sendto(answer(data, 512), self.client_address)


class Line(socketserver.StreamRequestHandler):
    def handle(self):
        while size := self.rfile.read(2):
            said = answer(self.rfile.read(struct.unpack(">H", size)[0]), 65535)
            self.wfile.write(struct.pack(">H", len(said)) + said)


socketserver.ThreadingTCPServer.allow_reuse_address = True
place = (sys.argv[1], 53)
servers = [socketserver.ThreadingUDPServer(place, Datagrams), socketserver.ThreadingTCPServer(place, Line)]
for server in servers:
    threading.Thread(target=server.serve_forever).start()
print("answering", flush=True)
