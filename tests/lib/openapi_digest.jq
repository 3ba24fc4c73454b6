# Prints one line per field of Kubernetes' own kinds and of the types that they use, from an /openapi/v2 document: its path, its type, and
# how it merges. Descriptions are left out.

def kinds:
    ("Binding ConfigMap Endpoints Event Namespace Node PersistentVolume PersistentVolumeClaim Pod Secret Service ServiceAccount"
     | split(" ")[] | "io.k8s.api.core.v1." + .),
    ("apps.v1.Deployment apps.v1.ReplicaSet authentication.v1.TokenRequest authorization.v1.SelfSubjectAccessReview "
     + "authorization.v1.SelfSubjectRulesReview autoscaling.v1.Scale batch.v1.Job coordination.v1.Lease rbac.v1.ClusterRole "
     + "rbac.v1.ClusterRoleBinding rbac.v1.Role rbac.v1.RoleBinding scheduling.v1.PriorityClass storage.v1.StorageClass"
     | split(" ")[] | "io.k8s.api." + .),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    ("DeleteOptions", "Status" | "io.k8s.apimachinery.pkg.apis.meta.v1." + .);

.definitions as $all

| def name: ltrimstr("#/definitions/");
  def short: sub("^io[.]k8s[.](api|apimachinery[.]pkg[.]apis|apiextensions-apiserver[.]pkg[.]apis)[.]"; "");
  def is_free: (.type == null or .type == "object") and .properties == null and .additionalProperties == null;

  # Add all referenced definitions, repeatedly, until there is no new one.
  def closed:
      . as $known
      | ([.[] | $all[.] | .. | objects | .["$ref"] | strings | name] + $known | unique) as $more
      | if $more == $known then $known else $more | closed end;

  def type:
      if .["$ref"] then
          (.["$ref"] | name) as $name
          | $all[$name]
          | if is_free then "any" elif .properties then "@" + ($name | short) else type end
      elif is_free then "any"
      elif .type == "array" then "[]" + (.items | type)
      elif .type == "object" then "{}" + (.additionalProperties | type)
      else .type + (if .format then ":" + .format else "" end)
      end;

  # For most lists Kubernetes 1.20 publishes only the patch strategy. The list type follows from it.
  def list:
      (.["x-kubernetes-patch-strategy"] // "") as $patch
      | if .type != "array" then ""
        elif .["x-kubernetes-list-map-keys"] then " by " + (.["x-kubernetes-list-map-keys"] | sort | join(","))
        elif .["x-kubernetes-list-type"] == "set" then " set"
        elif .["x-kubernetes-list-type"] then ""
        elif $patch | startswith("merge") then
            (if .["x-kubernetes-patch-merge-key"] then " by " + .["x-kubernetes-patch-merge-key"] else " set" end)
        else ""
        end;

  def patch:
      (if .["x-kubernetes-patch-strategy"] then " patch " + .["x-kubernetes-patch-strategy"] else "" end)
      + (if .["x-kubernetes-patch-merge-key"] then "(" + .["x-kubernetes-patch-merge-key"] + ")" else "" end);

  [kinds | select($all[.])] | closed[]
| . as $name
| $all[$name]
| (.required // []) as $required
| (.properties // {}) | to_entries[]
| ($name | short) + "." + .key + " " + (.value | type)
  + (if .key | IN($required[]) then " required" else "" end)
  + (.value | list + patch)
