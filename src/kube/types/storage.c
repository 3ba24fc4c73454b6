/* Types of claims, persistent volumes and storage classes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define BEGINS_EMPTY "a volume begins empty"

LOCAL_TYPE(VOLUME_RESOURCE_REQUIREMENTS, CORE "VolumeResourceRequirements",
        "how much storage is needed",
    MAP_OF(1, "limits", TYPE_QUANTITY, "the maximum"),
    MAP_OF(2, "requests", TYPE_QUANTITY, "the minimum"));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_SPEC, CORE "PersistentVolumeClaimSpec",
        "which storage is wanted",
    TEXTS(1, "accessModes", "how many may mount it: ReadWriteOnce, ReadOnlyMany, …"),
    OBJECT(4, "selector", TYPE_LABEL_SELECTOR, "labels that the volume must have"),
    STRUCT(2, "resources", VOLUME_RESOURCE_REQUIREMENTS, "how large it must be"),
    TEXT(3, "volumeName", "the volume that is bound to it"),
    TEXT(5, "storageClassName", "the class of storage", IF_SET),
    TEXT(6, "volumeMode", "a file system, or a raw block device", IF_SET,
        WORDS("Block", "Filesystem"), FALLBACK("\"Filesystem\"")),
    OBJECT(7, "dataSource", TYPE_TYPED_LOCAL_OBJECT_REFERENCE,
        "the initial content: a snapshot or another claim", UNSUPPORTED(BEGINS_EMPTY)),
    OBJECT(8, "dataSourceRef", TYPE_TYPED_OBJECT_REFERENCE,
        "the initial content: an object of any kind",
        UNSUPPORTED(BEGINS_EMPTY)),
    TEXT(9, "volumeAttributesClassName", "the class of its attributes, such as its speed", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_CONDITION, CORE "PersistentVolumeClaimCondition",
        "a condition of a claim",
    TEXT(1, "type", "the type of the condition, such as Resizing", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", "when the condition was last checked", ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(MODIFY_VOLUME_STATUS, CORE "ModifyVolumeStatus",
        "the present state of a change of attributes",
    TEXT(1, "targetVolumeAttributesClassName", "the class it is to have"),
    TEXT(2, "status", "Pending, InProgress or Infeasible", REQUIRED, ALWAYS));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_STATUS, CORE "PersistentVolumeClaimStatus",
        "the present state of a claim",
    TEXT(1, "phase", "Pending, Bound or Lost", FALLBACK("\"Pending\"")),
    TEXTS(2, "accessModes", "how many may mount it: ReadWriteOnce, ReadOnlyMany, …"),
    MAP_OF(3, "capacity", TYPE_QUANTITY, "how large the volume is"),
    LIST(4, "conditions", PERSISTENT_VOLUME_CLAIM_CONDITION, "its conditions", KEYS("type"),
        MERGE("type")),
    MAP_OF(5, "allocatedResources", TYPE_QUANTITY, "how large it is going to be"),
    TEXT_MAP(7, "allocatedResourceStatuses", "the present state of a change of its size"),
    TEXT(8, "currentVolumeAttributesClassName", "the class of attributes it has", IF_SET),
    OBJECT(9, "modifyVolumeStatus", MODIFY_VOLUME_STATUS,
        "the present state of a change of attributes"));

TYPE(TYPE_PERSISTENT_VOLUME_CLAIM, CORE "PersistentVolumeClaim",
        "a claim on storage that outlives pods",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", PERSISTENT_VOLUME_CLAIM_SPEC, "which storage is wanted"),
    STRUCT(3, "status", PERSISTENT_VOLUME_CLAIM_STATUS, "its present state"));

TYPE(TYPE_PERSISTENT_VOLUME_CLAIM_TEMPLATE, CORE "PersistentVolumeClaimTemplate",
        "a template of claims",
    STRUCT(1, "metadata", TYPE_OBJECT_META, "labels and annotations that each of them gets"),
    STRUCT(2, "spec", PERSISTENT_VOLUME_CLAIM_SPEC, "which storage is wanted", REQUIRED));

LOCAL_TYPE(VOLUME_NODE_AFFINITY, CORE "VolumeNodeAffinity", "which nodes can use a volume",
    OBJECT(1, "required", TYPE_NODE_SELECTOR, "the nodes"));

LOCAL_TYPE(PERSISTENT_VOLUME_SPEC, CORE "PersistentVolumeSpec", "the specification of a volume",
    MAP_OF(1, "capacity", TYPE_QUANTITY, "how large it is"),
    OBJECT(INSIDE(2, 1), "gcePersistentDisk", TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE,
        "a disk of Google's cloud"),
    OBJECT(INSIDE(2, 2), "awsElasticBlockStore", TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
        "a disk of Amazon's cloud"),
    OBJECT(INSIDE(2, 3), "hostPath", TYPE_HOST_PATH_VOLUME_SOURCE, "a directory of the node"),
    OBJECT(INSIDE(2, 4), "glusterfs", TYPE_GLUSTERFS_PERSISTENT_VOLUME_SOURCE, "a Gluster volume"),
    OBJECT(INSIDE(2, 5), "nfs", TYPE_NFS_VOLUME_SOURCE, "a directory of an NFS server"),
    OBJECT(INSIDE(2, 6), "rbd", TYPE_RBD_PERSISTENT_VOLUME_SOURCE, "a block device of Ceph"),
    OBJECT(INSIDE(2, 7), "iscsi", TYPE_ISCSI_PERSISTENT_VOLUME_SOURCE, "a disk reached by iSCSI"),
    OBJECT(INSIDE(2, 8), "cinder", TYPE_CINDER_PERSISTENT_VOLUME_SOURCE, "a disk of OpenStack"),
    OBJECT(INSIDE(2, 9), "cephfs", TYPE_CEPH_FS_PERSISTENT_VOLUME_SOURCE,
        "a directory of Ceph's file system"),
    OBJECT(INSIDE(2, 10), "fc", TYPE_FC_VOLUME_SOURCE, "a disk reached by Fibre Channel"),
    OBJECT(INSIDE(2, 11), "flocker", TYPE_FLOCKER_VOLUME_SOURCE, "a dataset of Flocker"),
    OBJECT(INSIDE(2, 12), "flexVolume", TYPE_FLEX_PERSISTENT_VOLUME_SOURCE,
        "a volume of a plugin that is a program on the node"),
    OBJECT(INSIDE(2, 13), "azureFile", TYPE_AZURE_FILE_PERSISTENT_VOLUME_SOURCE,
        "a file share of Microsoft's cloud"),
    OBJECT(INSIDE(2, 14), "vsphereVolume", TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
        "a disk of vSphere"),
    OBJECT(INSIDE(2, 15), "quobyte", TYPE_QUOBYTE_VOLUME_SOURCE, "a Quobyte volume"),
    OBJECT(INSIDE(2, 16), "azureDisk", TYPE_AZURE_DISK_VOLUME_SOURCE,
        "a disk of Microsoft's cloud"),
    OBJECT(INSIDE(2, 17), "photonPersistentDisk", TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
        "a disk of VMware's Photon"),
    OBJECT(INSIDE(2, 18), "portworxVolume", TYPE_PORTWORX_VOLUME_SOURCE, "a Portworx volume"),
    OBJECT(INSIDE(2, 19), "scaleIO", TYPE_SCALE_IO_PERSISTENT_VOLUME_SOURCE, "a ScaleIO volume"),
    OBJECT(INSIDE(2, 20), "local", TYPE_LOCAL_VOLUME_SOURCE, "a disk or directory of one node"),
    OBJECT(INSIDE(2, 21), "storageos", TYPE_STORAGE_OS_PERSISTENT_VOLUME_SOURCE,
        "a StorageOS volume"),
    OBJECT(INSIDE(2, 22), "csi", TYPE_CSI_PERSISTENT_VOLUME_SOURCE, "a volume of a storage driver"),
    TEXTS(3, "accessModes", "how many may mount it: ReadWriteOnce, ReadOnlyMany, …"),
    OBJECT(4, "claimRef", TYPE_OBJECT_REFERENCE, "the claim it is bound to"),
    TEXT(5, "persistentVolumeReclaimPolicy",
        "what is done with the volume after its claim is deleted: Retain, Delete or Recycle",
        WORDS("Delete", "Recycle", "Retain"), FALLBACK("\"Retain\"")),
    TEXT(6, "storageClassName", "the class of storage"),
    TEXTS(7, "mountOptions", "options it is mounted with"),
    TEXT(8, "volumeMode", "a file system, or a raw block device", IF_SET,
        WORDS("Block", "Filesystem"), FALLBACK("\"Filesystem\"")),
    OBJECT(9, "nodeAffinity", VOLUME_NODE_AFFINITY, "which nodes can use it"),
    TEXT(10, "volumeAttributesClassName", "the class of its attributes", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_STATUS, CORE "PersistentVolumeStatus", "the present state of a volume",
    TEXT(1, "phase", "Available, Bound, Released, Failed or Pending", FALLBACK("\"Pending\"")),
    TEXT(2, "message", "the reason as a sentence, for people"),
    TEXT(3, "reason", "the reason as one word, for programs"),
    TIME(4, "lastPhaseTransitionTime", "when the phase last changed"));

TYPE(TYPE_PERSISTENT_VOLUME, CORE "PersistentVolume", "storage that claims are bound to",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", PERSISTENT_VOLUME_SPEC, "its specification"),
    STRUCT(3, "status", PERSISTENT_VOLUME_STATUS, "its present state"));

LOCAL_TYPE(TOPOLOGY_SELECTOR_LABEL_REQUIREMENT, CORE "TopologySelectorLabelRequirement",
        "a label that places must have",
    TEXT(1, "key", "the label", REQUIRED, ALWAYS),
    TEXTS(2, "values", "one of these values", REQUIRED, ALWAYS));

LOCAL_TYPE_ATOMIC(TOPOLOGY_SELECTOR_TERM, CORE "TopologySelectorTerm",
        "places where volumes may be made",
    LIST(1, "matchLabelExpressions", TOPOLOGY_SELECTOR_LABEL_REQUIREMENT,
        "the labels they must have"));

TYPE(TYPE_STORAGE_CLASS, STORAGE "StorageClass",
        "a class of storage that claims can request by name",
    KIND_ROWS,
    METADATA(1),
    TEXT(2, "provisioner", "the provisioner of its volumes", REQUIRED, ALWAYS),
    TEXT_MAP(3, "parameters", "settings for the provisioner"),
    TEXT(4, "reclaimPolicy",
        "what is done with its volumes after their claim is deleted: Retain or Delete", IF_SET,
        WORDS("Delete", "Recycle", "Retain"), FALLBACK("\"Delete\"")),
    TEXTS(5, "mountOptions", "options it is mounted with"),
    BOOL(6, "allowVolumeExpansion", "true: claims may be made larger", IF_SET),
    TEXT(7, "volumeBindingMode", "whether a claim waits for its first pod before it is bound",
        IF_SET, WORDS("Immediate", "WaitForFirstConsumer"), FALLBACK("\"Immediate\"")),
    LIST(8, "allowedTopologies", TOPOLOGY_SELECTOR_TERM, "places where its volumes may be made"));
