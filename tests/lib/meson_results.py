#!/usr/bin/python3
"""Read the results of a `meson test`, for tests/lib/runner.sh.

    meson_results.py TESTLOG.json LOG-PREFIX

Prints "ok N", "skipped N", "sum SECONDS" (of all tests), one line "took SECONDS NAME" per test and one line "failed NAME" per failed
test. Writes the output of each failed test to LOG-PREFIX + NAME + ".log". If TESTLOG.json does not exist, Meson failed before it ran
tests, and the output is "ok 0".
"""
import json
import os
import sys

SKIPPED = {"SKIP", "IGNORED"}
PASSED = {"OK", "EXPECTEDFAIL"}


def main(path, prefix):
    ok = skipped = seconds = 0
    failed = []
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as lines:
            for test in map(json.loads, lines):
                name = test["name"].rpartition(" / ")[2]
                seconds += test["duration"]
                print(f"took {test['duration']:.0f} {name}")
                if test["result"] in PASSED:
                    ok += 1
                elif test["result"] in SKIPPED:
                    skipped += 1
                else:
                    failed.append(name)
                    with open(f"{prefix}{name}.log", "w", encoding="utf-8") as log:
                        log.write(f"{name}: {test['result']} after {test['duration']:.1f} s, exit code {test['returncode']}\n")
                        log.write(f"{test.get('stdout', '')}\n{test.get('stderr', '')}\n")
    print(f"ok {ok}\nskipped {skipped}\nsum {seconds:.0f}")
    for name in failed:
        print(f"failed {name}")


main(*sys.argv[1:])
