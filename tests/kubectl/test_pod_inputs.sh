#!/bin/bash
# The inputs of a pod: a node that matches its affinity, facts about itself, ConfigMaps and Secrets as variables and as files that follow
# changes, volumes of all kinds, its user, groups and capabilities; and the events about inputs that it does not get. As root and as an
# ordinary user.
# shellcheck disable=SC2016 # the shells of the pods expand them
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

waits_for_node() { kubectl describe pod facts | grep -c "didn't match Pod's node affinity/selector" >/dev/null; }

events_of() { kubectl get events --field-selector involvedObject.name="$1" -o jsonpath='{range .items[*]}{.reason}: {.message}{"\n"}{end}'; }
has_event() { events_of "$1" | finds -F -- "$2"; }

# A ConfigMap changes while its pod starts. Both requests use one connection, so that the second one arrives during the start.
check_changes_at_start() {
    local i api pods=12 with=(-sS --fail -o /dev/null --cacert "$TRAINYARD_STATE/pki/ca.crt" -H "Authorization: Bearer $(cat "$TRAINYARD_STATE/token")")
    api=$(kubectl config view -o jsonpath='{.clusters[0].cluster.server}')/api/v1/namespaces/default
    for i in $(seq $pods); do
        printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: early-%d}, data: {word: old}}\n' "$i"
    done | kubectl create -f -
    for i in $(seq $pods); do
        curl "${with[@]}" -H 'Content-Type: application/yaml' --data-binary @- "$api/pods" \
            --next "${with[@]}" -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"data":{"word":"new"}}' "$api/configmaps/early-$i" <<YAML
apiVersion: v1
kind: Pod
metadata: {name: early-$i}
spec:
  restartPolicy: Never
  volumes: [{name: word, configMap: {name: early-$i}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -c, 'until [ "\$(cat /word/word)" = new ]; do read -rt 0.1 <> <(:) || true; done']
    volumeMounts: [{name: word, mountPath: /word}]
YAML
    done
    for i in $(seq $pods); do wait_for_phase "early-$i" Succeeded; done

    # An optional ConfigMap that is created while the pod runs.
    kubectl create -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: optional}
spec:
  restartPolicy: Never
  volumes: [{name: word, configMap: {name: optional, optional: true}}]
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -c, 'echo up; until [ -e /word/word ]; do read -rt 0.1 <> <(:) || true; done']
    volumeMounts: [{name: word, mountPath: /word}]
YAML
    wait_for_log optional up
    kubectl create configmap optional --from-literal=word=new
    wait_for_phase optional Succeeded
}

# Two containers share memory of a limited size. All files of a ConfigMap change at once, through one symbolic link. A file with the pod's
# labels follows them.
check_volumes() {
    kubectl create configmap pair --from-literal=one=1 --from-literal=two=1 --from-literal=9bad=x
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: volumes, labels: {state: first}}
spec:
  restartPolicy: Never
  hostname: here
  subdomain: there
  setHostnameAsFQDN: true
  securityContext:
    fsGroup: 4242
    supplementalGroups: [4343]
    sysctls: [{name: net.core.somaxconn, value: "99"}]
  volumes:
  - {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  - {name: disk, emptyDir: {sizeLimit: 1Gi}}
  - {name: pair, configMap: {name: pair, defaultMode: 0440}}
  - name: me
    downwardAPI:
      items:
      - {path: labels, fieldRef: {fieldPath: metadata.labels}}
      - {path: cpu, resourceFieldRef: {containerName: reader, resource: limits.cpu, divisor: 1m}}
  containers:
  - name: reader
    image: trainyard/tools
    resources: {limits: {cpu: 250m}}
    env:
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}
    - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Gi}}}
    - {name: WHERE, value: "deep/$(CPU)"}
    - {name: LITERAL, value: "$$(CPU)"}
    envFrom: [{configMapRef: {name: pair}, prefix: A_}, {configMapRef: {name: pair}}]
    securityContext:
      readOnlyRootFilesystem: true
      capabilities: {drop: [CHOWN], add: [SYS_ADMIN]}
    command: [bash, -c]
    args:
    - |
      echo "cpu $CPU $(cat /me/cpu), memory $MEMORY, $LITERAL, $A_one$one$A_9bad, $(hostname)"
      echo "somaxconn $(cat /proc/sys/net/core/somaxconn), groups $(id -G), disk $(stat -c %g /disk) $(stat -Lc %a /pair/one)"
      touch /tmp/x 2>/dev/null && echo "BAD: written"
      until [ -e /memory/full ]; do read -rt 0.1 <> <(:) || true; done
      echo "memory $(stat -f -c %T /memory), $(cat /memory/full), sub $(cat /disk/deep/250/file)"
      echo "data $(readlink /pair/one), file $(cat /file)"
      until [ "$(cat /pair/one)" = 2 ]; do read -rt 0.1 <> <(:) || true; done
      echo "pair $(cat /pair/one) $(cat /pair/two), file $(cat /file)"
      until grep -q second /me/labels; do read -rt 0.1 <> <(:) || true; done
      cat /me/labels
    volumeMounts:
    - {name: memory, mountPath: /memory}
    - {name: disk, mountPath: /disk}
    - {name: pair, mountPath: /pair}
    - {name: pair, mountPath: /file, subPath: two}
    - {name: me, mountPath: /me}
  - name: writer
    image: trainyard/tools
    env: [{name: PART, value: "250"}]
    command: [sh, -c]
    args:
    - |
      echo sub >/sub/file
      head -c 2000000 /dev/zero >/memory/more 2>/dev/null && word=endless || word=limited
      rm /memory/more; echo $word >/memory/full
    volumeMounts:
    - {name: memory, mountPath: /memory}
    - {name: disk, mountPath: /sub, subPathExpr: deep/$(PART)}
YAML
    local group
    log() { kubectl logs volumes -c reader; }
    said() { log | finds -F -- "$1"; }
    wait_until "the volumes to be seen" said "data ..data/one, file 1"
    assert_contains "resources" "cpu 250 250, memory $(($(awk '/MemTotal/ {print $2}' /proc/meminfo) / 1048576 + 1)), \$(CPU), 11x, here.there.default.svc.cluster.local" "$(log)"
    assert_contains "memory" "memory tmpfs, limited, sub sub" "$(log)"
    group=$([ "$(as_user id -u)" = 0 ] && echo "groups 0 4242 4343, disk 4242 440" || echo "groups 0, disk 0 440")
    assert_contains "groups and settings" "somaxconn 99, $group" "$(log)"
    kubectl patch configmap pair --type merge -p '{"data":{"one":"2","two":"2"}}'
    wait_until "the pair to change" said "pair 2 2, file 1"
    kubectl label pod volumes --overwrite state=second
    wait_until "the labels to follow" said 'state="second"'
    wait_for_phase volumes Succeeded
    wait_until "the event about skipped keys" has_event volumes \
        "InvalidEnvironmentVariableNames: Keys [9bad] from the EnvFrom configMap default/pair were skipped"
    wait_until "the event about capabilities" has_event volumes "container reader does not get the capabilities it adds (SYS_ADMIN)"
    [ "$(as_user id -u)" = 0 ] || wait_until "the event about the group" has_event volumes "fsGroup 4242 has no effect"
}

# The event of a volume that cannot be mounted has the kubelet's message. The pod starts when the cause is gone.
check_failures() {
    local place
    place=$(as_user mktemp -d)
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: heals}
spec:
  restartPolicy: Never
  volumes: [{name: v, hostPath: {path: $place/word, type: File}}]
  containers:
  - {name: main, image: trainyard/tools, command: [cat, /word], volumeMounts: [{name: v, mountPath: /word, readOnly: true}]}
YAML
    wait_until "the event about the failed mount" has_event heals \
        "FailedMount: MountVolume.SetUp failed for volume \"v\" : hostPath type check failed: $place/word is not a file"
    as_user tee "$place/word.new" <<<healed >/dev/null
    as_user mv "$place/word.new" "$place/word" # complete before the pod can see it
    wait_for_phase heals Succeeded
    assert_eq "its file" "healed" "$(kubectl logs heals)"
    rm -r "$place"
}

# An ephemeral volume is a claim that belongs to the pod alone: it is created from the pod's template and deleted with the pod. A later
# pod of the same name starts with an empty volume. An existing claim of that name is not used.
check_ephemeral() {
    local claim pod round
    claim='{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}'
    pod="
apiVersion: v1
kind: Pod
metadata: {name: own}
spec:
  restartPolicy: Never
  volumes: [{name: data, ephemeral: {volumeClaimTemplate: {metadata: {labels: {part: scratch}}, spec: $claim}}}]
  containers:
  - {name: main, image: trainyard/tools, command: [sh, -c, 'ls -A /data; echo x >/data/x; echo written'], volumeMounts: [{name: data, mountPath: /data}]}"
    kubectl apply -f - <<YAML
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: own-data}
spec: $claim
YAML
    kubectl apply -f - <<<"$pod"
    wait_until "the event about a claim that the pod does not own" has_event own \
        "PVC default/own-data was not created for pod default/own (pod is not owner)"
    kubectl delete pvc own-data
    for round in first second; do
        wait_for_phase own Succeeded
        assert_eq "what the $round pod found and did" written "$(kubectl logs own)"
        assert_eq "its claim" "own Bound" "$(kubectl get pvc -l part=scratch -o jsonpath='{.items[0].metadata.ownerReferences[0].name} {.items[0].status.phase}')"
        kubectl delete pod own
        [ $round = second ] || kubectl apply -f - <<<"$pod"
    done
    wait_until "the claim to go with its pod" is_gone pvc own-data
}

check() {
    cluster_up --nodes docker-desktop
    kubectl create configmap settings --from-literal=mode=fast --from-literal=size=3
    kubectl create secret generic keys --from-literal=token=hush --from-literal=other=no
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata:
  name: facts
  labels: {job-name: team}
  annotations: {example.org/note: hello}
spec:
  restartPolicy: Never
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: cluster, operator: In, values: [local]}
  volumes:
  - {name: settings, configMap: {name: settings}}
  - {name: keys, secret: {secretName: keys, defaultMode: 256, items: [{key: token, path: deep/token}]}}
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -c]
    args:
    - |
      echo "$JOB_NAME $NOTE $NAME $NODE $MODE $TOKEN"
      echo "address $ADDRESS is mine: $(hostname -I)"
      echo "token $(cat /keys/deep/token), mode $(stat -Lc %a /keys/deep/token), other $(ls /keys)"
      touch /settings/x 2>/dev/null && echo "written" || echo "read only"
      echo "settings $(cat /settings/mode) $(ls /settings | tr '\n' ' ')"
      until [ "$(cat /settings/mode)" = slow ] && [ ! -e /settings/size ]; do read -rt 0.1 <> <(:) || true; done
      echo "settings $(cat /settings/mode) $(ls /settings | tr '\n' ' ')"
      until [ "$(cat /keys/deep/token)" = changed ]; do read -rt 0.1 <> <(:) || true; done
      echo "still $MODE and $TOKEN"
    env:
    - {name: JOB_NAME, valueFrom: {fieldRef: {fieldPath: "metadata.labels['job-name']"}}}
    - {name: NOTE, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['example.org/note']"}}}
    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: ADDRESS, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: MODE, valueFrom: {configMapKeyRef: {name: settings, key: mode}}}
    - {name: TOKEN, valueFrom: {secretKeyRef: {name: keys, key: token}}}
    volumeMounts:
    - {name: settings, mountPath: /settings}
    - {name: keys, mountPath: /keys, readOnly: true}
YAML
    wait_until "the pod to report what it waits for" waits_for_node
    kubectl label nodes docker-desktop cluster=local
    wait_for_log facts "settings fast mode size"
    local text address
    text=$(kubectl logs facts)
    address=$(kubectl get pod facts -o jsonpath='{.status.podIP}')
    assert_contains "the facts" "team hello facts docker-desktop fast hush" "$text"
    assert_contains "its address" "address $address is mine: $address" "$text"
    assert_contains "the secret" "token hush, mode 400, other deep" "$text"
    assert_contains "the volume" "read only" "$text"

    kubectl patch configmap settings --type merge -p '{"data":{"mode":"slow","size":null}}'
    wait_for_log facts "settings slow mode"
    kubectl patch secret keys -p '{"stringData":{"token":"changed"}}'
    wait_for_phase facts Succeeded
    assert_contains "variables stay" "still fast and hush" "$(kubectl logs facts)"
    check_volumes
    check_changes_at_start
    check_failures
    check_ephemeral
    cluster_wipe
}

check
become_ordinary_user
check
