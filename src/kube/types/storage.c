/* Claims, volumes and their classes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define BEGINS_EMPTY "a volume begins empty"

LOCAL_TYPE(VOLUME_RESOURCE_REQUIREMENTS, CORE "VolumeResourceRequirements", "",
    MAP_OF(1, "limits", TYPE_QUANTITY, ""),
    MAP_OF(2, "requests", TYPE_QUANTITY, ""));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_SPEC, CORE "PersistentVolumeClaimSpec", "",
    TEXTS(1, "accessModes", ""),
    OBJECT(4, "selector", TYPE_LABEL_SELECTOR, ""),
    STRUCT(2, "resources", VOLUME_RESOURCE_REQUIREMENTS, ""),
    TEXT(3, "volumeName", ""),
    TEXT(5, "storageClassName", "", IF_SET),
    TEXT(6, "volumeMode", "", IF_SET, WORDS("Block", "Filesystem"), FALLBACK("\"Filesystem\"")),
    OBJECT(7, "dataSource", TYPE_TYPED_LOCAL_OBJECT_REFERENCE, "", UNSUPPORTED(BEGINS_EMPTY)),
    OBJECT(8, "dataSourceRef", TYPE_TYPED_OBJECT_REFERENCE, "", UNSUPPORTED(BEGINS_EMPTY)),
    TEXT(9, "volumeAttributesClassName", "", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_CONDITION, CORE "PersistentVolumeClaimCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", ""),
    TIME(4, "lastTransitionTime", ""),
    TEXT(5, "reason", ""),
    TEXT(6, "message", ""));

LOCAL_TYPE(MODIFY_VOLUME_STATUS, CORE "ModifyVolumeStatus", "",
    TEXT(1, "targetVolumeAttributesClassName", ""),
    TEXT(2, "status", "", REQUIRED, ALWAYS));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_STATUS, CORE "PersistentVolumeClaimStatus", "",
    TEXT(1, "phase", "", FALLBACK("\"Pending\"")),
    TEXTS(2, "accessModes", ""),
    MAP_OF(3, "capacity", TYPE_QUANTITY, ""),
    LIST(4, "conditions", PERSISTENT_VOLUME_CLAIM_CONDITION, "", KEYS("type"), MERGE("type")),
    MAP_OF(5, "allocatedResources", TYPE_QUANTITY, ""),
    TEXT_MAP(7, "allocatedResourceStatuses", ""),
    TEXT(8, "currentVolumeAttributesClassName", "", IF_SET),
    OBJECT(9, "modifyVolumeStatus", MODIFY_VOLUME_STATUS, ""));

TYPE(TYPE_PERSISTENT_VOLUME_CLAIM, CORE "PersistentVolumeClaim", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", PERSISTENT_VOLUME_CLAIM_SPEC, ""),
    STRUCT(3, "status", PERSISTENT_VOLUME_CLAIM_STATUS, ""));

TYPE(TYPE_PERSISTENT_VOLUME_CLAIM_TEMPLATE, CORE "PersistentVolumeClaimTemplate", "",
    STRUCT(1, "metadata", TYPE_OBJECT_META, ""),
    STRUCT(2, "spec", PERSISTENT_VOLUME_CLAIM_SPEC, "", REQUIRED));

LOCAL_TYPE(VOLUME_NODE_AFFINITY, CORE "VolumeNodeAffinity", "",
    OBJECT(1, "required", TYPE_NODE_SELECTOR, ""));

LOCAL_TYPE(PERSISTENT_VOLUME_SPEC, CORE "PersistentVolumeSpec", "",
    MAP_OF(1, "capacity", TYPE_QUANTITY, ""),
    OBJECT(INSIDE(2, 1), "gcePersistentDisk", TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 2), "awsElasticBlockStore", TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 3), "hostPath", TYPE_HOST_PATH_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 4), "glusterfs", TYPE_GLUSTERFS_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 5), "nfs", TYPE_NFS_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 6), "rbd", TYPE_RBD_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 7), "iscsi", TYPE_ISCSI_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 8), "cinder", TYPE_CINDER_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 9), "cephfs", TYPE_CEPH_FS_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 10), "fc", TYPE_FC_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 11), "flocker", TYPE_FLOCKER_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 12), "flexVolume", TYPE_FLEX_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 13), "azureFile", TYPE_AZURE_FILE_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 14), "vsphereVolume", TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 15), "quobyte", TYPE_QUOBYTE_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 16), "azureDisk", TYPE_AZURE_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 17), "photonPersistentDisk", TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 18), "portworxVolume", TYPE_PORTWORX_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 19), "scaleIO", TYPE_SCALE_IO_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 20), "local", TYPE_LOCAL_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 21), "storageos", TYPE_STORAGE_OS_PERSISTENT_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 22), "csi", TYPE_CSI_PERSISTENT_VOLUME_SOURCE, ""),
    TEXTS(3, "accessModes", ""),
    OBJECT(4, "claimRef", TYPE_OBJECT_REFERENCE, ""),
    TEXT(5, "persistentVolumeReclaimPolicy", "", WORDS("Delete", "Recycle", "Retain"), FALLBACK("\"Retain\"")),
    TEXT(6, "storageClassName", ""),
    TEXTS(7, "mountOptions", ""),
    TEXT(8, "volumeMode", "", IF_SET, WORDS("Block", "Filesystem"), FALLBACK("\"Filesystem\"")),
    OBJECT(9, "nodeAffinity", VOLUME_NODE_AFFINITY, ""),
    TEXT(10, "volumeAttributesClassName", "", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_STATUS, CORE "PersistentVolumeStatus", "",
    TEXT(1, "phase", "", FALLBACK("\"Pending\"")),
    TEXT(2, "message", ""),
    TEXT(3, "reason", ""),
    TIME(4, "lastPhaseTransitionTime", ""));

TYPE(TYPE_PERSISTENT_VOLUME, CORE "PersistentVolume", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", PERSISTENT_VOLUME_SPEC, ""),
    STRUCT(3, "status", PERSISTENT_VOLUME_STATUS, ""));

LOCAL_TYPE(TOPOLOGY_SELECTOR_LABEL_REQUIREMENT, CORE "TopologySelectorLabelRequirement", "",
    TEXT(1, "key", "", REQUIRED, ALWAYS),
    TEXTS(2, "values", "", REQUIRED, ALWAYS));

LOCAL_TYPE_ATOMIC(TOPOLOGY_SELECTOR_TERM, CORE "TopologySelectorTerm", "",
    LIST(1, "matchLabelExpressions", TOPOLOGY_SELECTOR_LABEL_REQUIREMENT, ""));

TYPE(TYPE_STORAGE_CLASS, STORAGE "StorageClass", "",
    KIND_ROWS,
    METADATA(1),
    TEXT(2, "provisioner", "", REQUIRED, ALWAYS),
    TEXT_MAP(3, "parameters", ""),
    TEXT(4, "reclaimPolicy", "", IF_SET, WORDS("Delete", "Recycle", "Retain"), FALLBACK("\"Delete\"")),
    TEXTS(5, "mountOptions", ""),
    BOOL(6, "allowVolumeExpansion", "", IF_SET),
    TEXT(7, "volumeBindingMode", "", IF_SET, WORDS("Immediate", "WaitForFirstConsumer"), FALLBACK("\"Immediate\"")),
    LIST(8, "allowedTopologies", TOPOLOGY_SELECTOR_TERM, ""));
