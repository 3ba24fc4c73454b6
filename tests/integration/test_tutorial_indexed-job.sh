#!/bin/bash
# The commands of docs/tutorials/indexed-job.md work, as root and as an ordinary user: four pods train with PyTorch and gloo, one is killed,
# and all end with the same weights.
# Long: 180 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$(dirname "$0")/../lib/tutorial.sh"

logs() { kubectl logs --selector "job-name=$1" --tail=-1; }
has_pods() { kubectl get pods --selector "job-name=$1" -o name | finds .; }
says() { logs "$1" | grep -c -- "$2" >/dev/null; }

# Print the loss of the first and of the last epoch that rank 0 logged.
losses() { logs spirals | sed -n 's/^rank 0: epoch.*loss //p' | sed -n '1p;$p' | tr '\n' ' '; }

# Print whether the service account pod-reader of the tutorial may do this, by a request with its own token.
may() { # VERB RESOURCE
    local token
    token=$(kubectl create --raw /api/v1/namespaces/default/serviceaccounts/pod-reader/token -f - <<<'{"spec":{}}' |
        sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
    kubectl --token "$token" auth can-i "$1" "$2" || true
}

check() {
    tutorial_open docs/tutorials/indexed-job.md
    # Fewer epochs, so that the test is shorter. The document does not mention their number.
    [ "$SCALE" -gt 1 ] || sed -i 's/"EPOCHS", "50"/"EPOCHS", "20"/' "$SCRATCH/tree/examples/indexed-job/train.py"
    tutorial_type 'kubectl label nodes docker-desktop cluster=local'
    tutorial_type 'kubectl apply -k examples/indexed-job'
    wait_until "the pods of the job" has_pods spirals
    tutorial_type 'kubectl get pods --selector job-name=spirals -o wide' docker-desktop
    wait_until "training to be under way" says spirals 'rank 0: epoch'
    tutorial_type 'kubectl logs'
    tutorial_type 'kill -9'
    tutorial_type 'kubectl wait --for=condition=complete job/spirals'
    tutorial_type 'kubectl get pods --selector job-name=spirals'
    assert_eq "the pods of index 2" 2 "$(grep -c '^spirals-2-' <<<"$TYPED")"
    tutorial_type 'kubectl logs'
    assert_contains "the end" "all 4 ranks hold the same weights" "$TYPED"
    says spirals 'rank 0: going on after epoch' || fail "training did not resume from its checkpoint"
    local first last
    read -r first last <<<"$(losses)"
    awk -v first="$first" -v last="$last" 'BEGIN { exit !(last < first / 2) }' || fail "the loss went from $first to $last"
    tutorial_type 'kubectl describe job spirals'
    assert_contains "describe" "/ 4 Succeeded / 1 Failed" "$TYPED"
    assert_eq "the completed indexes" 0-3 "$(kubectl get job spirals -o jsonpath='{.status.completedIndexes}')"

    tutorial_type 'kubectl logs --selector job-name=application'
    assert_contains "the log of job application" "rank 1 of 2: 1 to 2 make 3" "$TYPED"
    tutorial_type 'kubectl logs --selector job-name=application-2'
    assert_contains "the log of job application-2" "rank 1 of 2: 1 to 2 make 3" "$TYPED"
    assert_eq "may the service account list pods" yes "$(may list pods)"
    assert_eq "may it list secrets" no "$(may list secrets)"
    tutorial_type 'trainyard down'
    tutorial_done
    cluster_wipe
}

check
become_ordinary_user
check
