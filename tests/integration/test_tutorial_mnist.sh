#!/bin/bash
# docs/tutorials/mnist.md, typed as root and as an ordinary user: a chief, its model on the page, then a chief with workers
# and a parameter server, of which one worker is killed, and the page serves their version without a restart.
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

# The templates' 200 steps, or fewer where time is short: the document does not name them.
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
    assert_contains "stored as" "kubeflow.org/v1" "$TYPED"
    tutorial_type 'kubectl port-forward'
    tutorial_type 'curl'
    assert_contains "the model's status" '"state":"AVAILABLE"' "$TYPED"
    first=$(version)
    assert_contains "the page" 'Test Random Image' "$(curl -s http://localhost:5000/)"
    assert_contains "an answer" "\"version\":\"$first\"" "$(curl -s http://localhost:5000/random)"

    tutorial_type 'trainyard process'
    tutorial_type 'kubectl get pods' training-distributed-ps-0 training-distributed-worker-1
    wait_until "worker 1 to train" kill_in_pod training-distributed-worker-1 trainer
    tutorial_type 'kubectl logs -f'
    together=$(accuracy)
    good "$together" || fail "test accuracy of chief, workers and parameter server: '$together'"
    wait_until "the page to take the new version over" newer_than "$first"
    tutorial_type 'trainyard down'
    tutorial_done
    echo "test accuracy after $STEPS steps: one process $alone (version $first), distributed $together"
    as_user "$TRAINYARD" down --wipe
    CLUSTER_UP=no
}

check
become_ordinary_user
check
