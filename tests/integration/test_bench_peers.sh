#!/bin/bash
# If a program that tests/bench/run compares with (here iperf3) fails, only its own cells of the table stay empty. Cases: iperf3 cannot
# reach its server, and iperf3 prints the output of another version.
. "$(dirname "$0")/../lib/lib.sh"

mkdir "$SCRATCH/bin"
export PATH=$SCRATCH/bin:$PATH

bench() { # PYTHON: runs this code with tests/bench/run as the module `bench`
    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$ROOT/tests/bench/run" <<END
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("bench", sys.argv[1])
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
loader.exec_module(bench)
bench.time.sleep = lambda seconds: None
$1
END
}

fake_iperf() { # EXIT-CODE JSON
    # shellcheck disable=SC2016 # the fake program expands it
    printf '#!/bin/sh\n[ "$1" = -s ] || echo '\''%s'\''\nexit %d\n' "$2" "$1" >"$SCRATCH/bin/iperf3"
    chmod +x "$SCRATCH/bin/iperf3"
}

expect_no_figure() { # SENTENCE: there is no figure, and the sentence on standard error says why
    bench 'assert bench.iperf_figure() is None' 2>"$SCRATCH/said" || fail "a failed iperf3 ends the run: $(cat "$SCRATCH/said")"
    grep -qF "$1" "$SCRATCH/said" || fail "'$1' is missing in: $(cat "$SCRATCH/said")"
}

fake_iperf 1 '{"start": {}, "end": {}, "error": "unable to connect to server"}'
expect_no_figure 'iperf3: could not be measured: RuntimeError: unable to connect to server'
fake_iperf 0 '{"end": {"sum": {}}}'
expect_no_figure "iperf3: could not be measured: KeyError: 'sum_received'"
fake_iperf 0 'no JSON'
expect_no_figure 'iperf3: could not be measured: JSONDecodeError'
fake_iperf 0 '{"end": {"sum_received": {"bits_per_second": 8e9}, "sum_received_bidir_reverse": {"bits_per_second": 24e9}}}'
bench 'assert bench.iperf_figure() == 2' || fail 'a good figure is not accepted'

# Rows and figures without a peer are still made.
bench 'assert bench.best_of([{"ours": 1, "theirs": None}, {"ours": 2, "theirs": None}]) == {"ours": 2, "theirs": None}
assert bench.row("name", 2, "s", "peer", None, bar=1)["ok"] is None' || fail 'a row without the figure of its peer is not made'
echo ok
