#!/usr/bin/env python3
"""No acknowledged write and no watch event is lost when the server is killed (kill -9) at random moments.

    kill_server.py TRAINYARD STATE KILLS [SEED]

Each writer owns some config maps and creates, replaces, patches and deletes them, one request at a time. So the test knows the content of
each config map after a kill, except for the one request in flight, which was executed or not. Watchers resume from the last
resourceVersion that they saw. The test checks after every restart:
- The objects match the answers that the writers got.
- Every watcher has seen every change exactly once and in order, and nothing else. The same holds for a watcher that pauses for some
  rounds, unless the server's history really was too short for it (410).
Between the kill and the restart, the test checks the integrity of a copy of the database.
"""
import bisect
import http.client
import json
import os
import random
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import threading
import time

WRITERS, KEYS, WATCHERS = 4, 6, 3
NAMESPACE = "kills"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
PATIENCE = 300  # seconds; a correct server is always faster
# The store keeps 10,000 changes or 8 MiB of superseded objects. That is always more than this number of changes of these config maps.
HISTORY = 3000


def fail(message):
    print(f"FAILED: {message}", flush=True)
    os._exit(1)  # ends all threads too


class Server:
    """The server process, and the port that it serves while it is up."""

    def __init__(self, trainyard, state):
        self.trainyard, self.state = trainyard, state
        self.process = None
        self.changed = threading.Condition()
        self.port = None  # None: down

    def start(self):
        self.said = ""
        self.process = subprocess.Popen([self.trainyard, "up", "--foreground", "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, encoding="utf-8")
        threading.Thread(target=self.listen, args=[self.process], daemon=True).start()

    def listen(self, process):
        """Collect the output of the process until all its writers have closed it."""
        for line in process.stdout:
            with self.changed:
                if process is self.process:
                    self.said += line
                    self.changed.notify_all()

    def wait_until_ready(self):
        with self.changed:
            if not self.changed.wait_for(lambda: "the cluster is up" in self.said, PATIENCE):
                fail(f"the server did not come up: {self.said}")
        with open(os.path.join(self.state, "kubeconfig"), encoding="utf-8") as config:
            port = int(re.search(r"server: https://127.0.0.1:(\d+)", config.read()).group(1))
        with open(os.path.join(self.state, "token"), encoding="utf-8") as token:
            self.headers = {"Authorization": "Bearer " + token.read().strip(), "Content-Type": "application/json"}
        self.tls = ssl.create_default_context(cafile=os.path.join(self.state, "pki", "ca.crt"))
        self.set_port(port)

    def set_port(self, port):
        with self.changed:
            self.port = port
            self.changed.notify_all()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.set_port(None)

    def connect(self):
        with self.changed:
            self.changed.wait_for(lambda: self.port)
            return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=PATIENCE)

    def ask(self, connection, method, path, body=None, kind="application/json"):
        """Return the status and the object. Raises an exception if the connection ends before the answer is complete."""
        connection.request(method, path, json.dumps(body) if body is not None else None, dict(self.headers, **{"Content-Type": kind}))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def must(self, method, path, body=None):
        status, answer = self.ask(self.connect(), method, path, body)
        if status not in (200, 201):
            fail(f"{method} {path}: {status} {answer}")
        return answer


class Operation:
    """A request of a writer, and the event that watchers see if the server executes it."""

    def __init__(self, event, name, number, after):
        self.event, self.name, self.number, self.after = event, name, number, after
        self.revision = None  # the resourceVersion in the server's answer
        self.happened = None  # None: not known yet


class Writer(threading.Thread):
    def __init__(self, server, index, seed):
        super().__init__(daemon=True)
        self.server, self.index, self.random = server, index, random.Random(seed)
        self.maps = {f"w{index}-{key}": None for key in range(KEYS)}  # the number in each map, or None if it does not exist
        self.revisions = {}
        self.operations = []  # since the last comparison with the watchers' events
        self.count = self.acknowledged = 0
        self.may_write, self.is_idle, self.has_written = (threading.Event() for _ in range(3))

    def run(self):
        while True:
            self.may_write.wait()
            self.is_idle.clear()
            connection = self.server.connect()
            try:
                while True:
                    self.write(connection)
            except (OSError, http.client.HTTPException, ValueError):
                self.may_write.clear()
                self.is_idle.set()

    def write(self, connection):
        name = self.random.choice(list(self.maps))
        number = self.maps[name]
        choice = "create" if number is None else self.random.choice(["replace", "patch", "delete"])
        self.count += 1
        new = f"{self.index}.{self.count}"
        body = {"metadata": {"name": name}, "data": {"number": new, "filler": "x" * self.random.randrange(1000)}}
        operation = {"create": lambda: Operation("ADDED", name, new, new),
                     "delete": lambda: Operation("DELETED", name, number, None)}.get(
                         choice, lambda: Operation("MODIFIED", name, new, new))()
        self.operations.append(operation)
        if choice == "create":
            answer = self.server.ask(connection, "POST", MAPS, body)
        elif choice == "replace":
            body["metadata"]["resourceVersion"] = str(self.revisions[name])
            answer = self.server.ask(connection, "PUT", f"{MAPS}/{name}", body)
        elif choice == "patch":
            answer = self.server.ask(connection, "PATCH", f"{MAPS}/{name}", body, "application/merge-patch+json")
        else:
            answer = self.server.ask(connection, "DELETE", f"{MAPS}/{name}")
        status, object_ = answer
        if status not in (200, 201):
            fail(f"{choice} of {name}: {status} {object_}")
        self.acknowledged += 1
        self.has_written.set()
        operation.happened = True
        self.maps[name] = operation.after
        if operation.after is not None:
            operation.revision = self.revisions[name] = int(object_["metadata"]["resourceVersion"])

    def settle(self, found):
        """Check that the objects after a restart equal those before it, except for the request that was in flight."""
        for operation in self.operations:
            if operation.happened is None:
                operation.happened = found.get(operation.name, (None,))[0] == operation.after
                if operation.happened:
                    self.maps[operation.name] = operation.after
        for name, number in self.maps.items():
            is_now, revision = found.get(name, (None, None))
            if is_now != number:
                fail(f"{name} holds {is_now}, but {number} was acknowledged")
            self.revisions[name] = revision


class Watcher(threading.Thread):
    def __init__(self, server, revision, bookmarks):
        super().__init__(daemon=True)
        self.server, self.revision, self.bookmarks = server, revision, bookmarks
        self.events = []  # (revision, type, name, number)
        self.compared = revision  # compare() has checked the events up to this revision
        self.seen = threading.Condition()
        self.may_watch = threading.Event()
        self.may_watch.set()
        self.expired = self.resumed = 0

    def run(self):
        while True:
            self.may_watch.wait()
            try:
                self.watch()
            except (OSError, http.client.HTTPException, ValueError):
                pass

    def watch(self):
        connection = self.server.connect()
        path = f"{MAPS}?watch=true&resourceVersion={self.revision}{'&allowWatchBookmarks=true' if self.bookmarks else ''}"
        connection.request("GET", path, headers=self.server.headers)
        answer = connection.getresponse()
        self.resumed += 1
        if answer.status != 200:
            self.on_refused(answer.status, json.loads(answer.read()))
            return
        while line := answer.readline():
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.on_refused(event["object"].get("code"), event["object"])
                return
            self.on_event(event["type"], event["object"])
            if not self.may_watch.is_set():
                return

    def on_event(self, type_, object_):
        revision, name = int(object_["metadata"]["resourceVersion"]), object_["metadata"].get("name", "")
        if revision < self.revision or (revision == self.revision and type_ != "BOOKMARK"):
            fail(f"{type_} of {name} with revision {revision} after {self.revision}")
        with self.seen:
            if type_ != "BOOKMARK" and name[0] == "w":
                self.events.append((revision, type_, name, object_["data"]["number"]))
            self.revision = revision
            self.seen.notify_all()

    def on_refused(self, status, answer):
        """Accept 410 only if the history is too short for the changes since the last revision. Then list again, as every client does."""
        if status != 410:
            fail(f"watch from {self.revision}: {status} {answer}")
        now = int(self.server.must("GET", MAPS)["metadata"]["resourceVersion"])
        if now - self.revision < HISTORY:
            fail(f"watch from {self.revision}: 410 although the current revision is only {now}: {answer}")
        self.expired += 1
        self.revision = self.compared = now
        self.events.clear()

    def wait_for(self, revision):
        with self.seen:
            if not self.seen.wait_for(lambda: self.revision >= revision, PATIENCE):
                fail(f"a watcher is at {self.revision} and never saw {revision}")

    def compare(self, happened, revision):
        """Check that this watcher saw each change in `happened` (sorted by revision) exactly once, up to the revision."""
        start = bisect.bisect_right(happened, (self.compared, chr(0x10FFFF)))
        with self.seen:
            events = [event for event in self.events if event[0] <= revision]
            self.events = self.events[len(events):]
        if events != happened[start:]:
            missing, extra = set(happened[start:]) - set(events), set(events) - set(happened[start:])
            fail(f"a watcher missed the changes {sorted(missing)[:5]} and saw {sorted(extra)[:5]}, which did not happen")
        self.compared = revision


def check_database(state):
    """Check a copy of the database and its write-ahead log as the killed server left them. To open the original would change it."""
    copy = os.path.join(os.path.dirname(state), "copy")
    shutil.rmtree(copy, ignore_errors=True)
    os.mkdir(copy)
    for name in os.listdir(state):
        if name.startswith("store.db"):
            shutil.copy(os.path.join(state, name), copy)
    database = sqlite3.connect(os.path.join(copy, "store.db"))
    verdict = database.execute("PRAGMA integrity_check").fetchone()[0]
    database.close()
    if verdict != "ok":
        fail(f"the database is damaged: {verdict}")


class Run:
    def __init__(self, trainyard, state, seed):
        self.random = random.Random(seed)
        self.server = Server(trainyard, state)
        self.state = state
        self.happened = []  # every change, sorted by revision: the first watcher's events, which match the writers' operations
        self.server.start()
        self.server.wait_until_ready()
        self.server.must("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        revision = int(self.server.must("GET", MAPS)["metadata"]["resourceVersion"])
        self.writers = [Writer(self.server, index, seed * 100 + index) for index in range(WRITERS)]
        self.watchers = [Watcher(self.server, revision, index % 2) for index in range(WATCHERS)]
        self.sleeper = Watcher(self.server, revision, False)
        self.sleeps = 0
        for thread in self.writers + self.watchers + [self.sleeper]:
            thread.start()
        self.early = 0

    def write_until_killed(self):
        for writer in self.writers:
            writer.is_idle.clear()
            writer.has_written.clear()
            writer.may_write.set()
        for writer in self.writers:  # wait for each: a writer without a connection would only connect to the next server
            if not writer.has_written.wait(PATIENCE):
                fail(f"no write of writer {writer.index} was acknowledged")
        time.sleep(self.random.uniform(0, 0.5))
        self.server.kill()
        for writer in self.writers:
            if not writer.is_idle.wait(PATIENCE):
                fail("a writer still waits for an answer of the killed server")
        check_database(self.state)

    def restart(self):
        """Start the server. Some starts are killed on the way and repeated."""
        while True:
            self.server.start()
            if self.random.random() > 0.2:
                break
            time.sleep(self.random.uniform(0, 0.3))
            self.server.kill()
            check_database(self.state)
            self.early += 1
        self.server.wait_until_ready()

    def note_what_happened(self):
        """Check that the first watcher's events equal the writers' operations, in order per config map, and add them to `happened`."""
        events = [event for event in self.watchers[0].events if event[0] > self.watchers[0].compared]
        by_name = {}
        for revision, type_, name, number in events:
            by_name.setdefault(name, []).append((type_, number, revision))
        for writer in self.writers:
            for name in writer.maps:
                operations = [each for each in writer.operations if each.name == name and each.happened]
                seen = by_name.pop(name, [])
                if [(each.event, each.number) for each in operations] != [each[:2] for each in seen]:
                    fail(f"{name}: the writer did {[(each.event, each.number) for each in operations]}, the watcher saw {seen}")
                for operation, (_, _, revision) in zip(operations, seen):
                    if operation.revision not in (None, revision):
                        fail(f"{name}: the writer got revision {operation.revision}, the watcher saw {revision}")
            writer.operations.clear()
        if by_name:
            fail(f"the watcher saw changes of config maps that no writer owns: {by_name}")
        self.happened += events

    def verify(self):
        listed = self.server.must("GET", MAPS)
        found = {item["metadata"]["name"]: (item["data"]["number"], int(item["metadata"]["resourceVersion"]))
                 for item in listed["items"] if item["metadata"]["name"][0] == "w"}
        for writer in self.writers:
            writer.settle(found)
        marker = self.server.must("POST", MAPS, {"metadata": {"generateName": "marker-"}})
        self.server.must("DELETE", f"{MAPS}/{marker['metadata']['name']}")
        revision = int(marker["metadata"]["resourceVersion"])
        for watcher in self.watchers:
            watcher.wait_for(revision)
        self.note_what_happened()
        for watcher in self.watchers:
            watcher.compare(self.happened, revision)
        self.let_sleep_or_wake(revision)

    def let_sleep_or_wake(self, revision):
        """Pause the sleeper for a random number of rounds, or wake it and check its events.

        The sleeper notices at the next event that it must pause. The events until then count.
        """
        if self.sleeps:
            self.sleeps -= 1
            return
        self.sleeper.may_watch.set()
        self.sleeper.wait_for(revision)
        self.sleeper.compare(self.happened, revision)
        self.sleeper.may_watch.clear()
        self.sleeps = self.random.randrange(30)

    def say(self, kills):
        resumed = sum(watcher.resumed for watcher in self.watchers + [self.sleeper])
        print(f"{kills} kills, {self.early} of them during the start: {sum(w.acknowledged for w in self.writers)} writes acknowledged, none lost; "
              f"{len(self.happened)} changes, each seen once by each of {WATCHERS + 1} watchers, which resumed {resumed} times; "
              f"history was too short {self.sleeper.expired} times; the database is intact", flush=True)


def main():
    trainyard, state, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    os.environ["TRAINYARD_STATE"] = state
    run = Run(trainyard, state, seed)
    done = said = 0
    while done < kills:
        run.write_until_killed()
        early = run.early
        run.restart()
        done += 1 + run.early - early
        run.verify()
        if done - said >= 20:
            run.say(done)
            said = done
    run.sleeps = 0
    run.verify()
    run.say(done)
    run.server.process.terminate()
    run.server.process.wait()


if __name__ == "__main__":
    main()
