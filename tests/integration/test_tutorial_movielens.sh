#!/bin/bash
# docs/tutorials/movielens.md, typed as root and as an ordinary user: the TFJob of Monolith's tutorial learns as one process
# does, and the better one survives kill -9 of a worker and of a parameter server. Without a network the ratings are drawn
# from a taste that is known, and the same must be learnt from them.
# Long: 112 s.

# Pods read the data from the test's directory, and have a /tmp and a /var/tmp of their own.
TMPDIR=$(cd "$(dirname "$0")/../../build" && pwd)
[ "$(id -u)" = 0 ] && TMPDIR=/srv # where an ordinary user can read, too
export TMPDIR
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

MODEL_DIR=volumes/kubeflow/movielens-model
DRAWN=no
LEAST=0.77 # AUC; what guessing by the film's mean gives is below

get_data() {
    if "$ROOT/tools/get-data" movielens >"$SCRATCH/get-data.log" 2>&1; then
        cp -r "$ROOT/build/data/movielens" "$SCRATCH/data"
        return
    fi
    echo "no MovieLens: $(tail -1 "$SCRATCH/get-data.log")"
    echo "drawing ratings instead: users and films on a circle, who is near is liked"
    mkdir -p "$SCRATCH/data"
    awk 'BEGIN {
        srand(1)
        for (i = 0; i < 100000; i++) {
            user = int(rand() * 600); film = int(rand() * 1000)
            printf "%d,%d,%.1f,%d\n", user, film, 3.2 + 1.7 * cos(6.2831853 * (user / 600 - film / 1000)) + rand() - 0.5, i
        }
    }' >"$SCRATCH/data/ratings.csv"
    DRAWN=yes LEAST=0.9
}

# The tutorial's directory, with the data where they would be fetched to.
furnish() {
    mkdir -p "$SCRATCH/tree/tools" "$SCRATCH/tree/build/data"
    cp -r "$SCRATCH/data" "$SCRATCH/tree/build/data/movielens"
    if [ $DRAWN = yes ]; then
        printf '#!/bin/sh\necho "ratings were drawn: no network"\n' >"$SCRATCH/tree/tools/get-data"
    else
        cp "$ROOT/tools/get-data" "$SCRATCH/tree/tools/get-data"
    fi
    chmod 755 "$SCRATCH/tree/tools/get-data"
    # More steps of smaller batches, so that there is time to kill something.
    sed -i 's/--snapshot-every=2/--snapshot-every=1, --batch=8, --epochs=2/' "$SCRATCH/tree/examples/movielens/tfjob.yaml"
    [ ${#AS_USER[@]} = 0 ] || chown -R 65534:65534 "$SCRATCH/tree"
}

auc() { sed -n 's/.*AUC \([0-9.]*\).*/\1/p' <<<"$TYPED" | tail -1; }
learnt() { awk -v auc="$1" -v least="$LEAST" 'BEGIN { exit !(auc > least) }'; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 0.02 && b - a < 0.02) }'; }
above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b + 0.02) }'; }

trains() { kubectl --namespace kubeflow logs movielens-worker-0 | finds '^step'; }
has_snapshot() { [ -s "$TRAINYARD_STATE/$MODEL_DIR/ps-$1-of-4.snapshot" ]; }
restored() { kubectl --namespace kubeflow logs movielens-ps-1 | finds restored; }

check() {
    tutorial_open docs/tutorials/movielens.md
    furnish
    tutorial_type 'export KUBECONFIG'
    kubectl get namespace kubeflow >/dev/null 2>&1 || kubectl create namespace kubeflow
    tutorial_type 'kubectl --namespace kubeflow get pods' monolith-train-worker-3 monolith-train-ps-3
    tutorial_type 'kubectl --namespace kubeflow logs'
    together=$(auc)
    assert_contains "the first words" "4 workers, 4 parameter servers" "$TYPED"
    learnt "$together" || fail "AUC of four workers: '$together'"

    tutorial_type 'kubectl apply'
    wait_until "worker 0 to train" trains
    wait_until "worker 1 to die" kill_in_pod movielens-worker-1 trainer --namespace kubeflow
    wait_until "server 1 to have saved something" has_snapshot 1
    wait_until "server 1 to die" kill_in_pod movielens-ps-1 trainer --namespace kubeflow
    wait_until "server 1 to be back with what it had" restored
    tutorial_type 'kubectl --namespace kubeflow logs'
    survived=$(auc)
    learnt "$survived" || fail "AUC of the job that lost a worker and a server: '$survived'"
    [ -s "$TRAINYARD_STATE/$MODEL_DIR/recommender.model" ] || fail "no model on the volume"

    tutorial_type 'trainer fit recommender'
    alone=$(auc)
    near "$alone" "$together" || fail "AUC of one process $alone, of four workers $together"
    tutorial_type 'trainer recommend'
    assert_eq "films advised" 10 "$(grep -cE '^[0-9]+ +[0-9]+ +[0-9.]+ % ' <<<"$TYPED")"
    tutorial_type 'trainer fit recommender'
    shared=$(auc)
    above "$alone" "$shared" || fail "AUC with a row an id $alone, with shared rows $shared"
    tutorial_type 'trainyard down'
    tutorial_done
    echo "AUC: four workers and servers $together, killed and recovered $survived, one process $alone, shared rows $shared"
    as_user "$TRAINYARD" down --wipe
    CLUSTER_UP=no
}

get_data
check
become_ordinary_user
check
