# shellcheck shell=bash disable=SC2034 # build and run use them
# The paths of the whole machine of the tests. Sourced by build and run.

CACHE=${TRAINYARD_MACHINE:-${XDG_CACHE_HOME:-$HOME/.cache}/trainyard/machine} # images; kept across checkouts
ARCH=$(dpkg --print-architecture)

die() {
    echo "machine: $*" >&2
    exit 1
}
