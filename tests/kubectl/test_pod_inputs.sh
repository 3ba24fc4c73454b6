#!/bin/bash
# What a pod is given: a node it asks for, facts about itself, config maps and secrets as variables and as files that follow their
# objects. As root and as an ordinary user.
# shellcheck disable=SC2016 # what stands in single quotes is for the pods' shells
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

waits_for_node() { kubectl describe pod facts | grep -c "didn't match Pod's node affinity/selector" >/dev/null; }

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
    wait_until "the pod to say what it waits for" waits_for_node
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
    cluster_wipe
}

check
become_ordinary_user
check
