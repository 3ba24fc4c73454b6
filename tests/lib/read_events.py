#!/usr/bin/env python3
"""Reads TensorBoard event files independently of our code, from the published format, checks every checksum, and prints one line per
record: "FILE version TEXT", "FILE start STEP", or "FILE STEP TAG VALUE". Exits with 1 at a broken record."""
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(name):
    data = open(name, "rb").read()
    at = 0
    while at < len(data):
        size, check = struct.unpack_from("<QI", data, at)
        assert masked(crc32c(data[at : at + 8])) == check, f"{name}: checksum of a size at {at}"
        body = data[at + 12 : at + 12 + size]
        assert len(body) == size, f"{name}: cut off at {at}"
        (check,) = struct.unpack_from("<I", data, at + 12 + size)
        assert masked(crc32c(body)) == check, f"{name}: checksum of a record at {at}"
        yield body
        at += 12 + size + 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            assert kind == 2, f"wire type {kind}"
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def show(name):
    for position, record in enumerate(records(name)):
        event = dict(fields(record))
        step = event.get(2, 0)
        assert event[1] > 1.5e9, "wall time"
        if position == 0:
            print(name, "version", event[3].decode())
        elif 7 in event:
            assert dict(fields(event[7])) == {1: 1}
            print(name, "start", step)
        else:
            for number, value in fields(event[5]):
                assert number == 1
                scalar = dict(fields(value))
                print(name, step, scalar[1].decode(), f"{scalar[2]:.6g}")


for argument in sys.argv[1:]:
    show(argument)
