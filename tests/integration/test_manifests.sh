#!/bin/bash
# manifests/: the joined files are what tools/manifests makes, and what kustomize makes of the same parts; a stale one is found.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

"$ROOT/tools/manifests" --check

# --- a change of the base is found, and made good
mkdir "$SCRATCH/copy"
cp -r "$ROOT/manifests" "$ROOT/meson.build" "$SCRATCH/copy"
mkdir "$SCRATCH/copy/tools"
cp "$ROOT/tools/manifests" "$SCRATCH/copy/tools"
cd "$SCRATCH/copy"
stale() { # PART: must be named
    local output
    output=$(tools/manifests --check 2>&1) && fail "a stale file was not found"
    assert_contains "what is stale" "$1" "$output"
    tools/manifests >/dev/null
    tools/manifests --check || fail "made, and still stale"
}
sed -i 's/memory: 32Mi/memory: 33Mi/' manifests/base/deployment.yaml
stale manifests/install-namespaced.yaml
sed -i "s/^  version: '.*',/  version: '9.8.7',/" meson.build
stale manifests/base/deployment.yaml
assert_contains "the image of the next version" "image: trainyard/operator:9.8.7" "$(cat manifests/install.yaml)"
sed -i 's/minimum: 0/minimum: 2/' manifests/base/crd/tfjobs.yaml
stale manifests/overlays/cel/crd/tfjobs.yaml

# --- kustomize gives the same; it is asked to print the joined file, too, so that both are in its order and style
cd "$ROOT/manifests"
same() { # KUBECTL DIRECTORY FILE
    mkdir -p "$SCRATCH/joined"
    cp "$3" "$SCRATCH/joined/all.yaml"
    echo 'resources: [all.yaml]' >"$SCRATCH/joined/kustomization.yaml"
    "$1" kustomize "$2" >"$SCRATCH/parts.yaml"
    "$1" kustomize "$SCRATCH/joined" | diff - "$SCRATCH/parts.yaml" || fail "$2 is not what $3 is"
    [ "$(grep -c ^kind: "$SCRATCH/parts.yaml")" -ge 7 ] || fail "too little in $2"
}
same "$KUBECTL" base install.yaml
newer=
for candidate in "$KUBECTL" $(type -aP kubectl); do
    # Since 1.24 kubectl tells the version of its kustomize; that in older ones takes no directories for resources.
    if "$candidate" version --client -o json 2>/dev/null | finds kustomizeVersion; then newer=$candidate; fi
done
if [ -z "$newer" ]; then
    echo "the overlays are not built: that needs kubectl 1.24 or newer"
    exit 0
fi
same "$newer" base install.yaml
same "$newer" overlays/cel install-cel.yaml
same "$newer" overlays/namespaced install-namespaced.yaml
