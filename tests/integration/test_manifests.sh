#!/bin/bash
# manifests/: the generated install files equal the output of tools/manifests, and that of kustomize for the same parts. `tools/manifests
# --check` reports a stale file.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

"$ROOT/tools/manifests" --check

# --- --check reports a change of the base, and tools/manifests updates the generated files
mkdir "$SCRATCH/copy"
cp -r "$ROOT/manifests" "$ROOT/meson.build" "$SCRATCH/copy"
mkdir "$SCRATCH/copy/tools"
cp "$ROOT/tools/manifests" "$SCRATCH/copy/tools"
cd "$SCRATCH/copy"
stale() { # FILE: --check must name it
    local output
    output=$(tools/manifests --check 2>&1) && fail "--check did not report the stale file $1"
    assert_contains "the stale file" "$1" "$output"
    tools/manifests >/dev/null
    tools/manifests --check || fail "a file is still stale after tools/manifests"
}
sed -i 's/memory: 32Mi/memory: 33Mi/' manifests/base/deployment.yaml
stale manifests/install-namespaced.yaml
sed -i "s/^  version: '.*',/  version: '9.8.7',/" meson.build
stale manifests/base/deployment.yaml
assert_contains "the image of the next version" "image: trainyard/operator:9.8.7" "$(cat manifests/install.yaml)"
sed -i 's/minimum: 0/minimum: 2/' manifests/base/crd/tfjobs.yaml
stale manifests/overlays/cel/crd/tfjobs.yaml

# --- kustomize gives the same objects; it also prints the generated file, so that both have the same order and style
cd "$ROOT/manifests"
same() { # KUBECTL DIRECTORY FILE
    mkdir -p "$SCRATCH/joined"
    cp "$3" "$SCRATCH/joined/all.yaml"
    echo 'resources: [all.yaml]' >"$SCRATCH/joined/kustomization.yaml"
    "$1" kustomize "$2" >"$SCRATCH/parts.yaml"
    "$1" kustomize "$SCRATCH/joined" | diff - "$SCRATCH/parts.yaml" || fail "kustomize makes other objects from $2 than $3 has"
    [ "$(grep -c ^kind: "$SCRATCH/parts.yaml")" -ge 7 ] || fail "kustomize makes fewer than 7 objects from $2"
}
same "$KUBECTL" base install.yaml
newer=
for candidate in "$KUBECTL" $(type -aP kubectl); do
    # Since 1.24 kubectl prints the version of its kustomize. The kustomize in older versions does not accept directories as resources.
    if "$candidate" version --client -o json 2>/dev/null | finds kustomizeVersion; then newer=$candidate; fi
done
if [ -z "$newer" ]; then
    echo "the overlays are not tested: that needs kubectl 1.24 or newer"
    exit 0
fi
same "$newer" base install.yaml
same "$newer" overlays/cel install-cel.yaml
same "$newer" overlays/namespaced install-namespaced.yaml
