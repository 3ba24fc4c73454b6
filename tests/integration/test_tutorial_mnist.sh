#!/bin/bash
# The commands of docs/tutorials/mnist.md work, as root and as an ordinary user: a chief trains a model, and a web page serves it. Then a
# chief, workers and a parameter server train, one worker is killed, and the page serves the new version without a restart.
# Takes: port 5000.
# Long: 165 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

version() { curl -sf http://localhost:5000/model | sed -n 's/.*"version":"\([0-9]*\)".*/\1/p'; }
newer_than() { [ "$(version)" -gt "$1" ]; }
accuracy() { sed -n 's/.*test accuracy \([0-9.]*\).*/\1/p' <<<"$TYPED" | tail -1; }
good() { awk -v accuracy="$1" 'BEGIN { exit !(accuracy > 0.6) }'; } # chance is 0.1

# 200 steps as in the templates, or fewer, so that the test is shorter. The document does not mention their number.
STEPS=$((SCALE > 1 ? 200 : 60))

check() {
    tutorial_open docs/tutorials/mnist.md
    sed -i "s/value: \"200\"/value: \"$STEPS\"/" "$SCRATCH"/tree/examples/mnist/*.yaml
    tutorial_type 'kubectl get tfjob'
    assert_contains "the job" training "$TYPED"
    tutorial_type 'kubectl get pods training-chief-0' 'Running|Completed'
    tutorial_type 'kubectl logs -f'
    alone=$(accuracy)
    good "$alone" || fail "test accuracy of one process: '$alone'"
    tutorial_type 'kubectl describe tfjob' TFJobSucceeded
    assert_contains "the API version of the job" "kubeflow.org/v1" "$TYPED"
    tutorial_type 'kubectl port-forward'
    tutorial_type 'curl'
    assert_contains "the model's status" '"state":"AVAILABLE"' "$TYPED"
    first=$(version)
    assert_contains "the page" 'Test Random Image' "$(curl -s http://localhost:5000/)"
    assert_contains "an answer" "\"version\":\"$first\"" "$(curl -s http://localhost:5000/random)"

    tutorial_type 'trainyard process'
    tutorial_type 'kubectl get pods' training-distributed-ps-0 training-distributed-worker-1
    wait_until "the trainer of worker 1 to be killed" kill_in_pod training-distributed-worker-1 trainer
    tutorial_type 'kubectl logs -f'
    together=$(accuracy)
    good "$together" || fail "test accuracy of chief, workers and parameter server: '$together'"
    wait_until "the page to serve the new version" newer_than "$first"
    tutorial_type 'trainyard down'
    tutorial_done
    echo "test accuracy after $STEPS steps: one process $alone (version $first), distributed $together"
    as_user "$TRAINYARD" down --wipe
    CLUSTER_UP=no
}

check
become_ordinary_user
check
