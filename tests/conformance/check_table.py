#!/usr/bin/python3
"""Check README.md: every test that it names exists, it names every scenario, and every case has a test.

    check_table.py SOURCE-ROOT
"""
import os
import re
import subprocess
import sys

root = sys.argv[1]
here = os.path.join(root, "tests/conformance")
scenarios = subprocess.run([os.path.join(here, "run"), "--list"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
texts = {}
wrong = []
named = set()


def holds(path, test):
    if path not in texts:
        # Adjacent strings are joined, because a name may be split over several lines.
        with open(os.path.join(root, "tests", path), encoding="utf-8") as file:
            texts[path] = re.sub(r'"\s*"', "", file.read())
    return f'"{test}"' in texts[path] or re.search(rf"\bcmocka_unit_test\w*\(\s*{re.escape(test)}\b", texts[path])


def check(case, reference):
    path, colon, test = reference.partition(": ")
    if path.endswith(".sh"):
        return os.path.exists(os.path.join(root, "tests", path))
    if not colon:
        named.add(reference)
        return reference in scenarios
    try:
        return holds("unit/" + path if not path.startswith("sim/") else path, test)
    except FileNotFoundError:
        return False


rows = 0
for line in open(os.path.join(here, "README.md"), encoding="utf-8"):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.startswith("|") or cells[0] == "case" or set(cells[0]) == {"-"}:
        continue
    rows += 1
    references = re.findall(r"`([^`]*)`", cells[1])
    if not references and cells[1] != "—":
        wrong.append(f"{cells[0]}: no test")
    wrong += [f"{cells[0]}: no such test: {r}" for r in references if not check(cells[0], r)]
wrong += [f"scenario {s}: no case of README.md names it" for s in scenarios if s not in named]
if rows < 100:
    wrong.append(f"only {rows} rows")
print("\n".join(wrong) or f"{rows} cases, each with its test")
sys.exit(1 if wrong else 0)
