/* Types of remote storage in volumes of pods and in PersistentVolumes. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE(TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE, CORE "GCEPersistentDiskVolumeSource",
        "a Google Compute Engine persistent disk",
    TEXT(1, "pdName", "the name of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    INT32(3, "partition", "the partition to mount; default: the whole disk"),
    BOOL(4, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, CORE "AWSElasticBlockStoreVolumeSource",
        "an Amazon Elastic Block Store volume",
    TEXT(1, "volumeID", "the ID of the volume", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    INT32(3, "partition", "the partition to mount; default: the whole disk"),
    BOOL(4, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_GIT_REPO_VOLUME_SOURCE, CORE "GitRepoVolumeSource",
        "deprecated: a copy of a git repository",
    TEXT(1, "repository", "the URL of the repository", REQUIRED, ALWAYS),
    TEXT(2, "revision", "the commit, branch or tag"),
    TEXT(3, "directory", "the directory for the files"));

TYPE(TYPE_ISCSI_VOLUME_SOURCE, CORE "ISCSIVolumeSource", "an iSCSI disk",
    TEXT(1, "targetPortal", "the address and port of the target", REQUIRED, ALWAYS),
    TEXT(2, "iqn", "the IQN of the target", REQUIRED, ALWAYS),
    INT32(3, "lun", "the LUN (logical unit number) of the disk", REQUIRED, ALWAYS),
    TEXT(4, "iscsiInterface", "the iSCSI interface; default: the TCP transport",
        FALLBACK("\"default\"")),
    TEXT(5, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(6, "readOnly", "true: the volume is mounted read-only"),
    TEXTS(7, "portals", "additional portal addresses of the target"),
    BOOL(8, "chapAuthDiscovery", "true: discovery uses CHAP authentication"),
    BOOL(11, "chapAuthSession", "true: sessions use CHAP authentication"),
    OBJECT(10, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret that holds the credentials"),
    TEXT(12, "initiatorName", "the IQN of the initiator", IF_SET));

TYPE(TYPE_GLUSTERFS_VOLUME_SOURCE, CORE "GlusterfsVolumeSource", "a Gluster volume",
    TEXT(1, "endpoints", "the name of the Endpoints object that lists the Gluster servers",
        REQUIRED, ALWAYS),
    TEXT(2, "path", "the name of the volume", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_RBD_VOLUME_SOURCE, CORE "RBDVolumeSource", "a Ceph RBD image",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "image", "the name of the image", REQUIRED, ALWAYS),
    TEXT(3, "fsType", "the file system type of the volume, such as ext4"),
    TEXT(4, "pool", "the Ceph pool of the image", FALLBACK("\"rbd\"")),
    TEXT(5, "user", "the user name for authentication", FALLBACK("\"admin\"")),
    TEXT(6, "keyring", "the file with the key; used if no secret is given",
        FALLBACK("\"/etc/ceph/keyring\"")),
    OBJECT(7, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret that holds the credentials"),
    BOOL(8, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_FLEX_VOLUME_SOURCE, CORE "FlexVolumeSource",
        "a volume of a FlexVolume driver on the node",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    OBJECT(3, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret that holds the credentials"),
    BOOL(4, "readOnly", "true: the volume is mounted read-only"),
    TEXT_MAP(5, "options", "settings for the driver"));

TYPE(TYPE_CINDER_VOLUME_SOURCE, CORE "CinderVolumeSource", "an OpenStack Cinder volume",
    TEXT(1, "volumeID", "the ID of the volume", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"),
    OBJECT(4, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret that holds the credentials"));

TYPE(TYPE_CEPH_FS_VOLUME_SOURCE, CORE "CephFSVolumeSource", "a CephFS directory",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "path", "the path in the file system that is mounted"),
    TEXT(3, "user", "the user name for authentication"),
    TEXT(4, "secretFile", "the file with the key; used if no secret is given"),
    OBJECT(5, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret that holds the credentials"),
    BOOL(6, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_FLOCKER_VOLUME_SOURCE, CORE "FlockerVolumeSource", "a Flocker dataset",
    TEXT(1, "datasetName", "the name of the dataset"),
    TEXT(2, "datasetUUID", "the UUID of the dataset"));

TYPE(TYPE_FC_VOLUME_SOURCE, CORE "FCVolumeSource", "a Fibre Channel disk",
    TEXTS(1, "targetWWNs", "the world wide names of the targets"),
    INT32(2, "lun", "the LUN (logical unit number) of the disk", IF_SET),
    TEXT(3, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(4, "readOnly", "true: the volume is mounted read-only"),
    TEXTS(5, "wwids", "the world wide IDs of the disk; used instead of targetWWNs and lun"));

TYPE(TYPE_AZURE_FILE_VOLUME_SOURCE, CORE "AzureFileVolumeSource", "an Azure file share",
    TEXT(1, "secretName", "the secret with the storage account name and key", REQUIRED, ALWAYS),
    TEXT(2, "shareName", "the name of the share", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, CORE "VsphereVirtualDiskVolumeSource",
        "a vSphere virtual disk",
    TEXT(1, "volumePath", "the path of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    TEXT(3, "storagePolicyName", "the name of the storage policy"),
    TEXT(4, "storagePolicyID", "the ID of the storage policy"));

TYPE(TYPE_QUOBYTE_VOLUME_SOURCE, CORE "QuobyteVolumeSource", "a Quobyte volume",
    TEXT(1, "registry", "addresses of the Quobyte registry", REQUIRED, ALWAYS),
    TEXT(2, "volume", "the name of the volume", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"),
    TEXT(4, "user", "the user that the volume is mounted as"),
    TEXT(5, "group", "the group that the volume is mounted as"),
    TEXT(6, "tenant", "the tenant that owns the volume"));

TYPE(TYPE_AZURE_DISK_VOLUME_SOURCE, CORE "AzureDiskVolumeSource", "an Azure disk",
    TEXT(1, "diskName", "the name of the disk", REQUIRED, ALWAYS),
    TEXT(2, "diskURI", "the URI of the disk", REQUIRED, ALWAYS),
    TEXT(3, "cachingMode", "the caching mode: None, ReadOnly or ReadWrite", IF_SET,
        FALLBACK("\"ReadWrite\"")),
    TEXT(4, "fsType", "the file system type of the volume, such as ext4", IF_SET,
        FALLBACK("\"ext4\"")),
    BOOL(5, "readOnly", "true: the volume is mounted read-only", IF_SET, FALLBACK("false")),
    TEXT(6, "kind", "the kind of the disk: Shared, Dedicated or Managed", IF_SET,
        FALLBACK("\"Shared\"")));

TYPE(TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, CORE "PhotonPersistentDiskVolumeSource",
        "a VMware Photon disk",
    TEXT(1, "pdID", "the ID of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"));

TYPE(TYPE_PORTWORX_VOLUME_SOURCE, CORE "PortworxVolumeSource", "a Portworx volume",
    TEXT(1, "volumeID", "the ID of the volume", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_SCALE_IO_VOLUME_SOURCE, CORE "ScaleIOVolumeSource", "a ScaleIO volume",
    TEXT(1, "gateway", "the address of the gateway", REQUIRED, ALWAYS),
    TEXT(2, "system", "the name of the storage system", REQUIRED, ALWAYS),
    OBJECT(3, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret that holds the credentials",
        REQUIRED),
    BOOL(4, "sslEnabled", "true: connections to the gateway use TLS"),
    TEXT(5, "protectionDomain", "the protection domain of the storage"),
    TEXT(6, "storagePool", "the storage pool of the protection domain"),
    TEXT(7, "storageMode", "the storage mode: ThickProvisioned or ThinProvisioned",
        FALLBACK("\"ThinProvisioned\"")),
    TEXT(8, "volumeName", "the name of the volume"),
    TEXT(9, "fsType", "the file system type of the volume, such as ext4", FALLBACK("\"xfs\"")),
    BOOL(10, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_STORAGE_OS_VOLUME_SOURCE, CORE "StorageOSVolumeSource", "a StorageOS volume",
    TEXT(1, "volumeName", "the name of the volume"),
    TEXT(2, "volumeNamespace", "the namespace of the volume within the storage system"),
    TEXT(3, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(4, "readOnly", "true: the volume is mounted read-only"),
    OBJECT(5, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret that holds the credentials"));

TYPE(TYPE_GLUSTERFS_PERSISTENT_VOLUME_SOURCE, CORE "GlusterfsPersistentVolumeSource",
        "a Gluster volume",
    TEXT(1, "endpoints", "the name of the Endpoints object that lists the Gluster servers",
        REQUIRED, ALWAYS),
    TEXT(2, "path", "the name of the volume", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"),
    TEXT(4, "endpointsNamespace", "the namespace of the Endpoints object; default: the claim's",
        IF_SET));

TYPE(TYPE_RBD_PERSISTENT_VOLUME_SOURCE, CORE "RBDPersistentVolumeSource", "a Ceph RBD image",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "image", "the name of the image", REQUIRED, ALWAYS),
    TEXT(3, "fsType", "the file system type of the volume, such as ext4"),
    TEXT(4, "pool", "the Ceph pool of the image"),
    TEXT(5, "user", "the user name for authentication"),
    TEXT(6, "keyring", "the file with the key; used if no secret is given"),
    OBJECT(7, "secretRef", TYPE_SECRET_REFERENCE, "the secret that holds the credentials"),
    BOOL(8, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_ISCSI_PERSISTENT_VOLUME_SOURCE, CORE "ISCSIPersistentVolumeSource", "an iSCSI disk",
    TEXT(1, "targetPortal", "the address and port of the target", REQUIRED, ALWAYS),
    TEXT(2, "iqn", "the IQN of the target", REQUIRED, ALWAYS),
    INT32(3, "lun", "the LUN (logical unit number) of the disk", REQUIRED, ALWAYS),
    TEXT(4, "iscsiInterface", "the iSCSI interface; default: the TCP transport"),
    TEXT(5, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(6, "readOnly", "true: the volume is mounted read-only"),
    TEXTS(7, "portals", "additional portal addresses of the target"),
    BOOL(8, "chapAuthDiscovery", "true: discovery uses CHAP authentication"),
    BOOL(11, "chapAuthSession", "true: sessions use CHAP authentication"),
    OBJECT(10, "secretRef", TYPE_SECRET_REFERENCE, "the secret that holds the credentials"),
    TEXT(12, "initiatorName", "the IQN of the initiator", IF_SET));

TYPE(TYPE_CINDER_PERSISTENT_VOLUME_SOURCE, CORE "CinderPersistentVolumeSource",
        "an OpenStack Cinder volume",
    TEXT(1, "volumeID", "the ID of the volume", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"),
    OBJECT(4, "secretRef", TYPE_SECRET_REFERENCE, "the secret that holds the credentials"));

TYPE(TYPE_CEPH_FS_PERSISTENT_VOLUME_SOURCE, CORE "CephFSPersistentVolumeSource",
        "a CephFS directory",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "path", "the path in the file system that is mounted"),
    TEXT(3, "user", "the user name for authentication"),
    TEXT(4, "secretFile", "the file with the key; used if no secret is given"),
    OBJECT(5, "secretRef", TYPE_SECRET_REFERENCE, "the secret that holds the credentials"),
    BOOL(6, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_FLEX_PERSISTENT_VOLUME_SOURCE, CORE "FlexPersistentVolumeSource",
        "a volume of a FlexVolume driver on the node",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4"),
    OBJECT(3, "secretRef", TYPE_SECRET_REFERENCE, "the secret that holds the credentials"),
    BOOL(4, "readOnly", "true: the volume is mounted read-only"),
    TEXT_MAP(5, "options", "settings for the driver"));

TYPE(TYPE_AZURE_FILE_PERSISTENT_VOLUME_SOURCE, CORE "AzureFilePersistentVolumeSource",
        "an Azure file share",
    TEXT(1, "secretName", "the secret with the storage account name and key", REQUIRED, ALWAYS),
    TEXT(2, "shareName", "the name of the share", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"),
    TEXT(4, "secretNamespace", "the namespace of the secret; default: the claim's", IF_SET));

TYPE(TYPE_SCALE_IO_PERSISTENT_VOLUME_SOURCE, CORE "ScaleIOPersistentVolumeSource",
        "a ScaleIO volume",
    TEXT(1, "gateway", "the address of the gateway", REQUIRED, ALWAYS),
    TEXT(2, "system", "the name of the storage system", REQUIRED, ALWAYS),
    OBJECT(3, "secretRef", TYPE_SECRET_REFERENCE, "the secret that holds the credentials",
        REQUIRED),
    BOOL(4, "sslEnabled", "true: connections to the gateway use TLS"),
    TEXT(5, "protectionDomain", "the protection domain of the storage"),
    TEXT(6, "storagePool", "the storage pool of the protection domain"),
    TEXT(7, "storageMode", "the storage mode: ThickProvisioned or ThinProvisioned"),
    TEXT(8, "volumeName", "the name of the volume"),
    TEXT(9, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(10, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_STORAGE_OS_PERSISTENT_VOLUME_SOURCE, CORE "StorageOSPersistentVolumeSource",
        "a StorageOS volume",
    TEXT(1, "volumeName", "the name of the volume"),
    TEXT(2, "volumeNamespace", "the namespace of the volume within the storage system"),
    TEXT(3, "fsType", "the file system type of the volume, such as ext4"),
    BOOL(4, "readOnly", "true: the volume is mounted read-only"),
    OBJECT(5, "secretRef", TYPE_OBJECT_REFERENCE, "the secret that holds the credentials"));

TYPE(TYPE_CSI_PERSISTENT_VOLUME_SOURCE, CORE "CSIPersistentVolumeSource",
        "a volume of a CSI driver",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    TEXT(2, "volumeHandle", "the ID of the volume in the driver", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"),
    TEXT(4, "fsType", "the file system type of the volume, such as ext4"),
    TEXT_MAP(5, "volumeAttributes", "settings for the driver"),
    OBJECT(6, "controllerPublishSecretRef", TYPE_SECRET_REFERENCE,
        "the secret for attaching the volume to a node"),
    OBJECT(7, "nodeStageSecretRef", TYPE_SECRET_REFERENCE,
        "the secret for staging the volume on a node"),
    OBJECT(8, "nodePublishSecretRef", TYPE_SECRET_REFERENCE,
        "the secret for mounting the volume for a pod"),
    OBJECT(9, "controllerExpandSecretRef", TYPE_SECRET_REFERENCE,
        "the secret for expanding the volume"),
    OBJECT(10, "nodeExpandSecretRef", TYPE_SECRET_REFERENCE,
        "the secret for expanding the volume on its node"));

TYPE(TYPE_LOCAL_VOLUME_SOURCE, CORE "LocalVolumeSource", "a disk or directory on one node",
    TEXT(1, "path", "the path on the node", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system type of the volume, such as ext4", IF_SET));
