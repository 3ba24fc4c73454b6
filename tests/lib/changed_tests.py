#!/usr/bin/python3
"""Prints which tests belong to changed files, for tests/run --changed.

    changed_tests.py <FILES         one path per line

Prints one line per selected item, in this order:

    suite NAME      a Meson suite: the module of a changed source file or unit test, and each module that includes a changed header
    sim             the simulations, for a change in the modules that they run or in the simulations themselves
    script FILE     a changed test script, unless it is a long one
    format FILE     a changed C file, for clang-format
    shell FILE      a changed shell script, for shellcheck
    later NAME      tests that the change may break but that take longer, so this selection leaves them out

Must run in the root of the tree. A file that was deleted counts for its module, but is neither formatted nor run.
"""
import os
import re
import sys

# Whole control planes in virtual time: tests/sim/meson.build links them from these modules.
SIMULATED = {"engine", "operator", "pipeline", "store"}
SCRIPTS = re.compile(r"tests/(integration|kubectl|browser)/test_[^/]*\.sh")
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def modules_of_unit_tests():
    return {entry.name for entry in os.scandir("tests/unit") if entry.is_dir()}


def includers(headers):
    """The modules under src/ that include one of these headers, which are named as in an #include."""
    found = set()
    for directory, _, names in os.walk("src"):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(directory, name), "rb") as source:
                    included = {path.decode(errors="replace") for path in INCLUDE.findall(source.read())}
                if included & headers:
                    found.add(directory.split("/")[1])
    return found


def is_shell(path):
    with open(path, "rb") as source:
        first = source.readline(80)
    return re.match(rb"#!/bin/(ba)?sh|# shellcheck shell=", first) is not None


def is_long(script):
    with open(script, encoding="utf-8") as source:
        return re.search("^# Long: ", source.read(), re.MULTILINE) is not None


def select(files):
    suites, headers, later = set(), set(), set()
    sim = False
    scripts, formats, shells = [], [], []
    for path in files:
        parts = path.split("/")
        if parts[0] == "src" and len(parts) > 2:
            suites.add(parts[1])
            if path.endswith(".h"):
                headers.add(path[len("src/"):])
        elif parts[0] == "include":
            headers.add(path[len("include/"):])
        elif path.startswith("tests/unit/") and len(parts) > 3:
            suites.add(parts[2])
        elif path.startswith("tests/fuzz/"):
            suites.add("fuzz")
        elif path.startswith("tests/sim/") or path.startswith("tests/lib/fault_transport"):
            sim = True
        elif path.startswith("web/"):
            suites.add("serve")
            later.add("browser")
        elif path.startswith("tests/refusals/"):
            suites.add("engine")
        elif path == "meson.build" or re.fullmatch(r"tests/(unit/)?meson\.build|src/meson\.build|tests/lib/.*\.h", path):
            suites.add("unit")
        elif path.startswith("docs/tutorials/") or path.startswith("examples/"):
            later.add("integration/test_(tutorial|examples)")
        if SCRIPTS.fullmatch(path) and os.path.exists(path):
            if is_long(path):
                later.add(path[len("tests/"):])
            else:
                scripts.append(path)
        if os.path.isfile(path):
            if path.endswith((".c", ".h")):
                formats.append(path)
            elif is_shell(path):
                shells.append(path)
    if headers:
        suites |= includers(headers)
    sim = sim or bool(suites & SIMULATED)
    if any(path.startswith("src/") for path in files):
        later |= {"integration", "kubectl"}
    suites &= modules_of_unit_tests() | {"fuzz", "unit"}
    if "unit" in suites:
        suites = {"unit"}
    lines = [f"suite {suite}" for suite in sorted(suites)]
    lines += ["sim"] * sim
    lines += [f"script {path}" for path in scripts]
    lines += [f"format {path}" for path in formats]
    lines += [f"shell {path}" for path in shells]
    lines += [f"later {name}" for name in sorted(later)]
    return lines


for line in select(sorted(set(filter(None, sys.stdin.read().splitlines())))):
    print(line)
