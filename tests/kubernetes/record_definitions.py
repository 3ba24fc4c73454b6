#!/usr/bin/env python3
"""Records the answers of a real API server to definitions and custom resources as data.

Reads cases (a JSON array of {"path", "body"[, "method"]}), sends each in turn to the server of the kubeconfig,
and writes them back with the answer: "code"; for a refusal "message" and "causes"; for any other answer "kept"
(the values of the dotted paths that the case lists in "keep"). Run by hand:

    tests/kubernetes/up api && tests/kubernetes/record_definitions.py tests/unit/{kube/data/custom_objects,engine/data/definitions}.json
"""
import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

KUBECONFIG = os.environ.get("KUBECONFIG") or os.path.expanduser("~/.cache/trainyard/kubernetes/kubeconfig")


def connect():
    """The server's address, a TLS context and headers, from the kubeconfig."""
    view = subprocess.run(["kubectl", "--kubeconfig", KUBECONFIG, "config", "view", "--raw", "--flatten", "-o", "json"],
                          check=True, capture_output=True)
    config = json.loads(view.stdout)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    headers = {}
    if "token" in user:
        headers["Authorization"] = "Bearer " + user["token"]
    else:
        with tempfile.NamedTemporaryFile() as pem:
            for part in ("client-certificate-data", "client-key-data"):
                pem.write(base64.b64decode(user[part]))
            pem.flush()
            context.load_cert_chain(pem.name)
    return cluster["server"], context, headers


def send(server, context, headers, case):
    body = json.dumps(case["body"]).encode() if "body" in case else None
    method = case.get("method", "POST" if body else "GET")
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    request = urllib.request.Request(server + case["path"], data=body, method=method,
                                     headers={**headers, "Content-Type": kind, "Accept": case.get("accept", "application/json")})
    try:
        with urllib.request.urlopen(request, context=context) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.loads(refusal.read() or b"{}")


def pick(answer, path):
    for name in path.split("."):
        answer = answer[int(name)] if isinstance(answer, list) else (answer or {}).get(name)
    return answer


def record(connection, case):
    for _ in range(50):  # a new definition is served only after a moment
        code, answer = send(*connection, case)
        if code != 404 or case.get("code") == 404:
            break
        time.sleep(0.1)
    for old in ("code", "message", "causes", "kept"):
        case.pop(old, None)
    case["code"] = code
    if code >= 400:
        case["message"] = answer.get("message", "")
        case["causes"] = answer.get("details", {}).get("causes", [])
    elif "keep" in case:
        case["kept"] = {path: pick(answer, path) for path in case["keep"]}


def main():
    connection = connect()
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as stream:
            cases = json.load(stream)
        for case in cases:
            record(connection, case)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


main()
