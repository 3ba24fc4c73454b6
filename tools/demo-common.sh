# shellcheck shell=bash
# Functions that the demos share: a separate cluster in a scratch directory, commands that are shown as they are typed, waiting for events,
# and deleting all files at the end. Source it from the top of the tree.
set -euo pipefail

BUILD=${BUILD:-build}
STATE=$(mktemp -d "${TMPDIR:-/tmp}/trainyard-demo.XXXXXX")
export TRAINYARD_STATE=$STATE/state KUBECONFIG=$STATE/state/kubeconfig
PATH=$PWD/$BUILD:$PWD/$BUILD/tools/usr/bin:$PATH
DEMO_JOBS=() # processes that end with the demo

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { # print a command as a user would type it, and run it
    printf '$ %s\n' "$*"
    "$@"
}
finish() {
    code=$?
    trap - EXIT INT TERM
    say "cleaning up"
    [ ${#DEMO_JOBS[@]} = 0 ] || kill "${DEMO_JOBS[@]}" 2>/dev/null || true
    show trainyard down --wipe || code=1
    rm -rf "$STATE"
    exit $code
}
trap finish EXIT
trap 'exit 0' INT TERM
wait_for() { # EVENT COMMAND…: wait until the command succeeds; after ten minutes show the pods and their warnings, and fail
    local event=$1 deadline=$((SECONDS + 600))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || {
            echo "demo: waited ten minutes for $event" >&2
            kubectl get pods --all-namespaces -o wide >&2
            kubectl get events --all-namespaces --field-selector type=Warning >&2
            exit 1
        }
        sleep 0.2
    done
}
stay() { # SENTENCE: print it and wait until Ctrl-C
    say "$*"
    while :; do sleep 3600 & wait $!; done
}
phase() { [ "$(kubectl get pod "$1" -o jsonpath='{.status.phase}')" = "$2" ]; }
tfjob_is() { [ "$(kubectl get tfjob "$1" -o jsonpath="{.status.conditions[?(@.type=='$2')].status}")" = True ]; }
tfjob_ended() { tfjob_is "$1" Succeeded || tfjob_is "$1" Failed; }
