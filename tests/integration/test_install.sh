#!/bin/bash
# make install: the programs run from where they were put, and the man pages are there.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

BUILD=$BUILD DESTDIR=$SCRATCH/root PREFIX=/usr "$ROOT/tools/install"
for program in trainyard trainer trainyard-step; do
    [ -x "$SCRATCH/root/usr/bin/$program" ] || fail "$program is not installed"
done
for program in trainyard trainer; do
    page=$(zcat "$SCRATCH/root/usr/share/man/man1/$program.1.gz")
    assert_contains "the man page of $program" ".SH NAME" "$page"
    bash -n "$SCRATCH/root/usr/share/bash-completion/completions/$program"
done
TRAINYARD=$SCRATCH/root/usr/bin/trainyard
cluster_up
kubectl run hello --image trainyard/tools --restart Never --command -- echo hello
wait_for_phase hello Succeeded
assert_eq "the log of a pod" hello "$(kubectl logs hello)"
cluster_wipe
