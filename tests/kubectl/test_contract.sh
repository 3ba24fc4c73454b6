#!/bin/bash
# Runs the everyday commands of kubectl 1.20, 1.32 and 1.36 against trainyard: their output must be the same as with a real Kubernetes
# (tests/kubectl/expected, written by tests/kubectl/record; see README.md there).
#
#   tests/kubectl/test_contract.sh [REGEX [VERSION…]]     (default: all cases, all versions)
#
# tests/kubectl/pending lists the cases that do not agree yet. A case that differs and is not listed fails the test, and so does a listed
# case that agrees: the list only shrinks. SHRINK=1 removes the cases that agree from the list. SHOW_PENDING=1 shows the differences of
# the listed cases.
# Long: 319 s.
# shellcheck disable=SC2015,SC2031
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/kubectl/contract.sh
. "$(dirname "$0")/contract.sh"

regex=${1:-.}
[ $# = 0 ] || shift

expected() { # VERSION TOPIC CASE: a file of by_hand comes first; its first line says why 1.20 is not the reference
    local file
    for file in "$CONTRACT/by_hand/$3@$1" "$CONTRACT/by_hand/$3@newer" "$CONTRACT/by_hand/$3"; do
        [ -e "$file" ] && [ "$1/${file##*@}" != 1.20/newer ] || continue
        sed '/^# why: /d' "$file"
        return
    done
    contract_section "$CONTRACT/expected/$1/$2" "$3"
}
is_pending() { grep -qE "^([0-9.,]*,)?${1/./\\.}(,[0-9.,]*)? $2 " "$CONTRACT/pending"; } # VERSION CASE

shrink() { # VERSION CASE
    local versions name reason
    while read -r versions name reason; do
        if [ "$name" = "$2" ]; then versions=$(tr , '\n' <<<"$versions" | grep -vxF "$1" | paste -sd ,) || continue; fi
        echo "$versions $name $reason"
    done <"$CONTRACT/pending" >"$SCRATCH/pending"
    cat "$SCRATCH/pending" >"$CONTRACT/pending"
}

# get-kubectl must look in the cache of the user, because HOME is the test's own directory.
HOME=$(getent passwd "$(id -u)" | cut -d : -f 6) "$ROOT/tools/get-kubectl" "$@" >"$SCRATCH/versions" 2>"$SCRATCH/missing" || true
sed -n 's/^get-kubectl: no \(kubectl .*\)/skipped: \1/p' "$SCRATCH/missing"
[ -s "$SCRATCH/versions" ] || fail 'no version of kubectl is in the cache or could be fetched'

agreed=0 pending=0 differing=0 surprising=0
while read -r version kubectl; do
    started=$SECONDS
    export TRAINYARD_STATE=$SCRATCH/state-$version
    KUBECONFIG=$TRAINYARD_STATE/kubeconfig
    cluster_up --nodes 1
    contract_run "$version" "$kubectl" "$KUBECONFIG" "$SCRATCH/$version" "$regex" </dev/null
    KUBECONFIG=$TRAINYARD_STATE/kubeconfig
    cluster_wipe >/dev/null
    for topic in $(contract_topics); do
        for name in $(contract_cases "$topic"); do
            [ -e "$SCRATCH/$version/$name" ] || continue
            if diff -u --label "real Kubernetes" --label trainyard <(expected "$version" "$topic" "$name") "$SCRATCH/$version/$name" >"$SCRATCH/diff"; then
                if is_pending "$version" "$name"; then
                    echo "--- kubectl $version, $name: agrees; remove it from tests/kubectl/pending"
                    [ -z "${SHRINK:-}" ] || shrink "$version" "$name"
                    surprising=$((surprising + 1))
                else
                    agreed=$((agreed + 1))
                fi
            elif is_pending "$version" "$name"; then
                pending=$((pending + 1))
                [ -z "${SHOW_PENDING:-}" ] || { echo "--- kubectl $version, $name (pending):" && cat "$SCRATCH/diff"; }
            else
                echo "--- kubectl $version, $name:"
                cat "$SCRATCH/diff"
                differing=$((differing + 1))
            fi
        done
    done
    echo "kubectl $version: $((SECONDS - started)) s"
done <"$SCRATCH/versions"
echo "contract: $agreed agree, $pending pending, $differing differ, $surprising agree though pending"
[ $differing = 0 ] && [ $surprising = 0 ]
