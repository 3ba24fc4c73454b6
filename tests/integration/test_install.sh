#!/bin/bash
# `make install`: the installed programs run, the man pages exist, and the program of docs/library.md compiles and runs with only the
# installed files.
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

# The commands are those of docs/library.md. Only the environment variables for the installation below $SCRATCH/root are added.
mkdir "$SCRATCH/outside"
cd "$SCRATCH/outside"
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$ROOT/docs/library.md" | sed '1d;$d'; }
block c >sum.c
block sh | sed "s/29500/$(fresh_ports 1)/" >commands
PKG_CONFIG_SYSROOT_DIR=$SCRATCH/root PKG_CONFIG_PATH=$SCRATCH/root/usr/lib/pkgconfig \
    LD_LIBRARY_PATH=$SCRATCH/root/usr/lib sh -e commands >sums
assert_eq "the output of two processes with libtrainyard" "rank 0 of 2: 3
rank 1 of 2: 3" "$(sort sums)"
for header in "$SCRATCH"/root/usr/include/trainyard/*.h; do
    cc -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$SCRATCH/root/usr/include" -x c "$header"
    clang-14 -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$SCRATCH/root/usr/include" -x c++ "$header"
done
assert_eq "exported symbols without the prefix ty_" "" \
    "$(nm -D --defined-only "$SCRATCH/root/usr/lib/libtrainyard.so" | awk '$3 !~ /^ty_/ {print $3}')"

TRAINYARD=$SCRATCH/root/usr/bin/trainyard
cluster_up
kubectl run hello --image trainyard/tools --restart Never --command -- echo hello
wait_for_phase hello Succeeded
assert_eq "the log of a pod" hello "$(kubectl logs hello)"
cluster_wipe
