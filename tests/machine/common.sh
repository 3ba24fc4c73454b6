# shellcheck shell=bash disable=SC2034 # build and run use them
# Where the whole machine of the tests keeps what; for build and run.

CACHE=${TRAINYARD_MACHINE:-${XDG_CACHE_HOME:-$HOME/.cache}/trainyard/machine} # images; outlives checkouts
ARCH=$(dpkg --print-architecture)

die() {
    echo "machine: $*" >&2
    exit 1
}
