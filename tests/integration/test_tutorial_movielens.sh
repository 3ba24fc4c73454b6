#!/bin/bash
# The commands of docs/tutorials/movielens.md work, as root and as an ordinary user: the TFJob of Monolith's tutorial reaches the AUC of one
# process, and the second TFJob survives kill -9 of a worker and of a parameter server. Without a network the test generates ratings from a
# known function, which the model must learn.
# Long: 112 s.

# Pods read the data from the test's directory. It must be outside of /tmp and /var/tmp, because pods have their own.
TMPDIR=$(cd "$(dirname "$0")/../../build" && pwd)
[ "$(id -u)" = 0 ] && TMPDIR=/srv # an ordinary user can read it too
export TMPDIR
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/tutorial.sh
. "$ROOT/tests/lib/tutorial.sh"

MODEL_DIR=volumes/kubeflow/movielens-model
DRAWN=no
LEAST=0.77 # AUC; a prediction by the mean rating of the film has a lower AUC

get_data() {
    if "$ROOT/tools/get-data" movielens >"$SCRATCH/get-data.log" 2>&1; then
        cp -r "$ROOT/build/data/movielens" "$SCRATCH/data"
        return
    fi
    echo "no MovieLens: $(tail -1 "$SCRATCH/get-data.log")"
    echo "generating ratings instead: users and films are on a circle, and users like films that are near"
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

# Prepare the tutorial's directory: put the data where tools/get-data would download them.
furnish() {
    mkdir -p "$SCRATCH/tree/tools" "$SCRATCH/tree/build/data"
    cp -r "$SCRATCH/data" "$SCRATCH/tree/build/data/movielens"
    if [ $DRAWN = yes ]; then
        printf '#!/bin/sh\necho "ratings were drawn: no network"\n' >"$SCRATCH/tree/tools/get-data"
    else
        cp "$ROOT/tools/get-data" "$SCRATCH/tree/tools/get-data"
    fi
    chmod 755 "$SCRATCH/tree/tools/get-data"
    # More steps of smaller batches, so that there is time to kill processes.
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
    assert_contains "the log of a worker" "4 workers, 4 parameter servers" "$TYPED"
    learnt "$together" || fail "AUC of four workers: '$together'"

    tutorial_type 'kubectl apply'
    wait_until "worker 0 to train" trains
    wait_until "the trainer of worker 1 to be killed" kill_in_pod movielens-worker-1 trainer --namespace kubeflow
    wait_until "a snapshot of parameter server 1" has_snapshot 1
    wait_until "the trainer of parameter server 1 to be killed" kill_in_pod movielens-ps-1 trainer --namespace kubeflow
    wait_until "parameter server 1 to restore its snapshot" restored
    tutorial_type 'kubectl --namespace kubeflow logs'
    survived=$(auc)
    learnt "$survived" || fail "AUC of the job in which a worker and a parameter server were killed: '$survived'"
    [ -s "$TRAINYARD_STATE/$MODEL_DIR/recommender.model" ] || fail "no model on the volume"

    tutorial_type 'trainer fit recommender'
    alone=$(auc)
    near "$alone" "$together" || fail "AUC of one process $alone, of four workers $together"
    tutorial_type 'trainer recommend'
    assert_eq "recommended films" 10 "$(grep -cE '^[0-9]+ +[0-9]+ +[0-9.]+ % ' <<<"$TYPED")"
    tutorial_type 'trainer fit recommender'
    shared=$(auc)
    above "$alone" "$shared" || fail "AUC with one row per id $alone, with shared rows $shared"
    tutorial_type 'trainyard down'
    tutorial_done
    echo "AUC: four workers and parameter servers $together, after kills $survived, one process $alone, shared rows $shared"
    as_user "$TRAINYARD" down --wipe
    CLUSTER_UP=no
}

get_data
check
become_ordinary_user
check
