/* Types of claims, persistent volumes and storage classes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define BEGINS_EMPTY "a new volume is always empty"

LOCAL_TYPE(VOLUME_RESOURCE_REQUIREMENTS, CORE "VolumeResourceRequirements",
        "the storage size that a claim requests",
    MAP_OF(1, "limits", TYPE_QUANTITY, "the maximum amount of each resource, such as storage"),
    MAP_OF(2, "requests", TYPE_QUANTITY, "the minimum amount of each resource, such as storage"));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_SPEC, CORE "PersistentVolumeClaimSpec",
        "the storage that a claim requests",
    TEXTS(1, "accessModes", "the access modes, such as ReadWriteOnce or ReadWriteMany"),
    OBJECT(4, "selector", TYPE_LABEL_SELECTOR,
        "the label selector of volumes that the claim can bind to"),
    STRUCT(2, "resources", VOLUME_RESOURCE_REQUIREMENTS,
        "the storage size that the claim requests"),
    TEXT(3, "volumeName", "the name of the bound PersistentVolume"),
    TEXT(5, "storageClassName", "the name of the StorageClass", IF_SET),
    TEXT(6, "volumeMode", "Filesystem or Block: mounted as a directory or used as a raw device",
        IF_SET, WORDS("Block", "Filesystem"), FALLBACK("\"Filesystem\"")),
    OBJECT(7, "dataSource", TYPE_TYPED_LOCAL_OBJECT_REFERENCE,
        "the initial content: a snapshot or another claim", UNSUPPORTED(BEGINS_EMPTY)),
    OBJECT(8, "dataSourceRef", TYPE_TYPED_OBJECT_REFERENCE,
        "the initial content: an object of any kind",
        UNSUPPORTED(BEGINS_EMPTY)),
    TEXT(9, "volumeAttributesClassName", "the name of the VolumeAttributesClass", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_CONDITION, CORE "PersistentVolumeClaimCondition",
        "a condition of a claim",
    TEXT(1, "type", "the type of the condition, such as Resizing", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", "when the condition was last checked", ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(MODIFY_VOLUME_STATUS, CORE "ModifyVolumeStatus",
        "the current state of a change of volume attributes",
    TEXT(1, "targetVolumeAttributesClassName", "the name of the new VolumeAttributesClass"),
    TEXT(2, "status", "the state of the change: Pending, InProgress or Infeasible", REQUIRED,
        ALWAYS));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_STATUS, CORE "PersistentVolumeClaimStatus",
        "the current state of a claim",
    TEXT(1, "phase", "the phase: Pending, Bound or Lost", FALLBACK("\"Pending\"")),
    TEXTS(2, "accessModes", "the access modes, such as ReadWriteOnce or ReadWriteMany"),
    MAP_OF(3, "capacity", TYPE_QUANTITY, "the capacity of the bound volume"),
    LIST(4, "conditions", PERSISTENT_VOLUME_CLAIM_CONDITION, "the conditions of the claim",
        KEYS("type"), MERGE("type")),
    MAP_OF(5, "allocatedResources", TYPE_QUANTITY,
        "the allocated capacity; larger than capacity during a resize"),
    TEXT_MAP(7, "allocatedResourceStatuses", "the current state of a resize"),
    TEXT(8, "currentVolumeAttributesClassName", "the name of the current VolumeAttributesClass",
        IF_SET),
    OBJECT(9, "modifyVolumeStatus", MODIFY_VOLUME_STATUS,
        "the current state of a change of volume attributes"));

TYPE(TYPE_PERSISTENT_VOLUME_CLAIM, CORE "PersistentVolumeClaim",
        "a request for storage that outlives pods",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", PERSISTENT_VOLUME_CLAIM_SPEC, "the storage that the claim requests"),
    STRUCT(3, "status", PERSISTENT_VOLUME_CLAIM_STATUS, "its current state"));

TYPE(TYPE_PERSISTENT_VOLUME_CLAIM_TEMPLATE, CORE "PersistentVolumeClaimTemplate",
        "a template for claims",
    STRUCT(1, "metadata", TYPE_OBJECT_META, "the labels and annotations of the claims"),
    STRUCT(2, "spec", PERSISTENT_VOLUME_CLAIM_SPEC, "the storage that the claim requests",
        REQUIRED));

LOCAL_TYPE(VOLUME_NODE_AFFINITY, CORE "VolumeNodeAffinity", "the nodes that can use a volume",
    OBJECT(1, "required", TYPE_NODE_SELECTOR, "selects the nodes"));

LOCAL_TYPE(PERSISTENT_VOLUME_SPEC, CORE "PersistentVolumeSpec", "the properties of a volume",
    MAP_OF(1, "capacity", TYPE_QUANTITY, "the capacity of the volume"),
    OBJECT(INSIDE(2, 1), "gcePersistentDisk", TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE,
        "a Google Compute Engine persistent disk"),
    OBJECT(INSIDE(2, 2), "awsElasticBlockStore", TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
        "an Amazon Elastic Block Store volume"),
    OBJECT(INSIDE(2, 3), "hostPath", TYPE_HOST_PATH_VOLUME_SOURCE,
        "a file or directory on the node"),
    OBJECT(INSIDE(2, 4), "glusterfs", TYPE_GLUSTERFS_PERSISTENT_VOLUME_SOURCE, "a Gluster volume"),
    OBJECT(INSIDE(2, 5), "nfs", TYPE_NFS_VOLUME_SOURCE, "a directory of an NFS server"),
    OBJECT(INSIDE(2, 6), "rbd", TYPE_RBD_PERSISTENT_VOLUME_SOURCE, "a Ceph RBD image"),
    OBJECT(INSIDE(2, 7), "iscsi", TYPE_ISCSI_PERSISTENT_VOLUME_SOURCE, "an iSCSI disk"),
    OBJECT(INSIDE(2, 8), "cinder", TYPE_CINDER_PERSISTENT_VOLUME_SOURCE,
        "an OpenStack Cinder volume"),
    OBJECT(INSIDE(2, 9), "cephfs", TYPE_CEPH_FS_PERSISTENT_VOLUME_SOURCE, "a CephFS directory"),
    OBJECT(INSIDE(2, 10), "fc", TYPE_FC_VOLUME_SOURCE, "a Fibre Channel disk"),
    OBJECT(INSIDE(2, 11), "flocker", TYPE_FLOCKER_VOLUME_SOURCE, "a Flocker dataset"),
    OBJECT(INSIDE(2, 12), "flexVolume", TYPE_FLEX_PERSISTENT_VOLUME_SOURCE,
        "a volume of a FlexVolume driver on the node"),
    OBJECT(INSIDE(2, 13), "azureFile", TYPE_AZURE_FILE_PERSISTENT_VOLUME_SOURCE,
        "an Azure file share"),
    OBJECT(INSIDE(2, 14), "vsphereVolume", TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
        "a vSphere virtual disk"),
    OBJECT(INSIDE(2, 15), "quobyte", TYPE_QUOBYTE_VOLUME_SOURCE, "a Quobyte volume"),
    OBJECT(INSIDE(2, 16), "azureDisk", TYPE_AZURE_DISK_VOLUME_SOURCE, "an Azure disk"),
    OBJECT(INSIDE(2, 17), "photonPersistentDisk", TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
        "a VMware Photon disk"),
    OBJECT(INSIDE(2, 18), "portworxVolume", TYPE_PORTWORX_VOLUME_SOURCE, "a Portworx volume"),
    OBJECT(INSIDE(2, 19), "scaleIO", TYPE_SCALE_IO_PERSISTENT_VOLUME_SOURCE, "a ScaleIO volume"),
    OBJECT(INSIDE(2, 20), "local", TYPE_LOCAL_VOLUME_SOURCE, "a disk or directory on one node"),
    OBJECT(INSIDE(2, 21), "storageos", TYPE_STORAGE_OS_PERSISTENT_VOLUME_SOURCE,
        "a StorageOS volume"),
    OBJECT(INSIDE(2, 22), "csi", TYPE_CSI_PERSISTENT_VOLUME_SOURCE, "a volume of a CSI driver"),
    TEXTS(3, "accessModes", "the access modes, such as ReadWriteOnce or ReadWriteMany"),
    OBJECT(4, "claimRef", TYPE_OBJECT_REFERENCE, "the claim that the volume is bound to"),
    TEXT(5, "persistentVolumeReclaimPolicy",
        "what happens after the claim is deleted: Retain, Delete or Recycle",
        WORDS("Delete", "Recycle", "Retain"), FALLBACK("\"Retain\"")),
    TEXT(6, "storageClassName", "the name of the StorageClass"),
    TEXTS(7, "mountOptions", "the mount options of the volume"),
    TEXT(8, "volumeMode", "Filesystem or Block: mounted as a directory or used as a raw device",
        IF_SET, WORDS("Block", "Filesystem"), FALLBACK("\"Filesystem\"")),
    OBJECT(9, "nodeAffinity", VOLUME_NODE_AFFINITY, "the nodes that can use the volume"),
    TEXT(10, "volumeAttributesClassName", "the name of the VolumeAttributesClass", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_STATUS, CORE "PersistentVolumeStatus", "the current state of a volume",
    TEXT(1, "phase", "the phase: Available, Bound, Released, Failed or Pending",
        FALLBACK("\"Pending\"")),
    TEXT(2, "message", "the reason as a sentence, for people"),
    TEXT(3, "reason", "the reason as one word, for programs"),
    TIME(4, "lastPhaseTransitionTime", "when the phase last changed"));

TYPE(TYPE_PERSISTENT_VOLUME, CORE "PersistentVolume", "a volume that a claim can be bound to",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", PERSISTENT_VOLUME_SPEC, "the properties of the volume"),
    STRUCT(3, "status", PERSISTENT_VOLUME_STATUS, "its current state"));

LOCAL_TYPE(TOPOLOGY_SELECTOR_LABEL_REQUIREMENT, CORE "TopologySelectorLabelRequirement",
        "a requirement on a topology label",
    TEXT(1, "key", "the label key", REQUIRED, ALWAYS),
    TEXTS(2, "values", "the allowed values of the label", REQUIRED, ALWAYS));

LOCAL_TYPE_ATOMIC(TOPOLOGY_SELECTOR_TERM, CORE "TopologySelectorTerm",
        "topology domains in which volumes may be provisioned",
    LIST(1, "matchLabelExpressions", TOPOLOGY_SELECTOR_LABEL_REQUIREMENT,
        "requirements on the topology labels"));

TYPE(TYPE_STORAGE_CLASS, STORAGE "StorageClass",
        "a class of storage that claims can request by name",
    KIND_ROWS,
    METADATA(1),
    TEXT(2, "provisioner", "the name of the provisioner that creates the volumes", REQUIRED,
        ALWAYS),
    TEXT_MAP(3, "parameters", "parameters for the provisioner"),
    TEXT(4, "reclaimPolicy",
        "what happens to a volume after its claim is deleted: Retain or Delete", IF_SET,
        WORDS("Delete", "Recycle", "Retain"), FALLBACK("\"Delete\"")),
    TEXTS(5, "mountOptions", "the mount options of the volumes"),
    BOOL(6, "allowVolumeExpansion", "true: claims of the class can be expanded", IF_SET),
    TEXT(7, "volumeBindingMode",
        "whether a claim is bound immediately or when the first pod uses it", IF_SET,
        WORDS("Immediate", "WaitForFirstConsumer"), FALLBACK("\"Immediate\"")),
    LIST(8, "allowedTopologies", TOPOLOGY_SELECTOR_TERM,
        "topology domains in which volumes may be provisioned"));
