/* Volumes on storage of other machines, in a pod and as a PersistentVolume. See kube/types/types.h.
 */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE(TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE, CORE "GCEPersistentDiskVolumeSource", "",
    TEXT(1, "pdName", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    INT32(3, "partition", ""),
    BOOL(4, "readOnly", ""));

TYPE(TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, CORE "AWSElasticBlockStoreVolumeSource", "",
    TEXT(1, "volumeID", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    INT32(3, "partition", ""),
    BOOL(4, "readOnly", ""));

TYPE(TYPE_GIT_REPO_VOLUME_SOURCE, CORE "GitRepoVolumeSource", "",
    TEXT(1, "repository", "", REQUIRED, ALWAYS),
    TEXT(2, "revision", ""),
    TEXT(3, "directory", ""));

TYPE(TYPE_ISCSI_VOLUME_SOURCE, CORE "ISCSIVolumeSource", "",
    TEXT(1, "targetPortal", "", REQUIRED, ALWAYS),
    TEXT(2, "iqn", "", REQUIRED, ALWAYS),
    INT32(3, "lun", "", REQUIRED, ALWAYS),
    TEXT(4, "iscsiInterface", "", FALLBACK("\"default\"")),
    TEXT(5, "fsType", ""),
    BOOL(6, "readOnly", ""),
    TEXTS(7, "portals", ""),
    BOOL(8, "chapAuthDiscovery", ""),
    BOOL(11, "chapAuthSession", ""),
    OBJECT(10, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""),
    TEXT(12, "initiatorName", "", IF_SET));

TYPE(TYPE_GLUSTERFS_VOLUME_SOURCE, CORE "GlusterfsVolumeSource", "",
    TEXT(1, "endpoints", "", REQUIRED, ALWAYS),
    TEXT(2, "path", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""));

TYPE(TYPE_RBD_VOLUME_SOURCE, CORE "RBDVolumeSource", "",
    TEXTS(1, "monitors", "", REQUIRED, ALWAYS),
    TEXT(2, "image", "", REQUIRED, ALWAYS),
    TEXT(3, "fsType", ""),
    TEXT(4, "pool", "", FALLBACK("\"rbd\"")),
    TEXT(5, "user", "", FALLBACK("\"admin\"")),
    TEXT(6, "keyring", "", FALLBACK("\"/etc/ceph/keyring\"")),
    OBJECT(7, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""),
    BOOL(8, "readOnly", ""));

TYPE(TYPE_FLEX_VOLUME_SOURCE, CORE "FlexVolumeSource", "",
    TEXT(1, "driver", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    OBJECT(3, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""),
    BOOL(4, "readOnly", ""),
    TEXT_MAP(5, "options", ""));

TYPE(TYPE_CINDER_VOLUME_SOURCE, CORE "CinderVolumeSource", "",
    TEXT(1, "volumeID", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    BOOL(3, "readOnly", ""),
    OBJECT(4, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""));

TYPE(TYPE_CEPH_FS_VOLUME_SOURCE, CORE "CephFSVolumeSource", "",
    TEXTS(1, "monitors", "", REQUIRED, ALWAYS),
    TEXT(2, "path", ""),
    TEXT(3, "user", ""),
    TEXT(4, "secretFile", ""),
    OBJECT(5, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""),
    BOOL(6, "readOnly", ""));

TYPE(TYPE_FLOCKER_VOLUME_SOURCE, CORE "FlockerVolumeSource", "",
    TEXT(1, "datasetName", ""),
    TEXT(2, "datasetUUID", ""));

TYPE(TYPE_FC_VOLUME_SOURCE, CORE "FCVolumeSource", "",
    TEXTS(1, "targetWWNs", ""),
    INT32(2, "lun", "", IF_SET),
    TEXT(3, "fsType", ""),
    BOOL(4, "readOnly", ""),
    TEXTS(5, "wwids", ""));

TYPE(TYPE_AZURE_FILE_VOLUME_SOURCE, CORE "AzureFileVolumeSource", "",
    TEXT(1, "secretName", "", REQUIRED, ALWAYS),
    TEXT(2, "shareName", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""));

TYPE(TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, CORE "VsphereVirtualDiskVolumeSource", "",
    TEXT(1, "volumePath", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    TEXT(3, "storagePolicyName", ""),
    TEXT(4, "storagePolicyID", ""));

TYPE(TYPE_QUOBYTE_VOLUME_SOURCE, CORE "QuobyteVolumeSource", "",
    TEXT(1, "registry", "", REQUIRED, ALWAYS),
    TEXT(2, "volume", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""),
    TEXT(4, "user", ""),
    TEXT(5, "group", ""),
    TEXT(6, "tenant", ""));

TYPE(TYPE_AZURE_DISK_VOLUME_SOURCE, CORE "AzureDiskVolumeSource", "",
    TEXT(1, "diskName", "", REQUIRED, ALWAYS),
    TEXT(2, "diskURI", "", REQUIRED, ALWAYS),
    TEXT(3, "cachingMode", "", IF_SET, FALLBACK("\"ReadWrite\"")),
    TEXT(4, "fsType", "", IF_SET, FALLBACK("\"ext4\"")),
    BOOL(5, "readOnly", "", IF_SET, FALLBACK("false")),
    TEXT(6, "kind", "", IF_SET, FALLBACK("\"Shared\"")));

TYPE(TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, CORE "PhotonPersistentDiskVolumeSource", "",
    TEXT(1, "pdID", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""));

TYPE(TYPE_PORTWORX_VOLUME_SOURCE, CORE "PortworxVolumeSource", "",
    TEXT(1, "volumeID", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    BOOL(3, "readOnly", ""));

TYPE(TYPE_SCALE_IO_VOLUME_SOURCE, CORE "ScaleIOVolumeSource", "",
    TEXT(1, "gateway", "", REQUIRED, ALWAYS),
    TEXT(2, "system", "", REQUIRED, ALWAYS),
    OBJECT(3, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""),
    BOOL(4, "sslEnabled", ""),
    TEXT(5, "protectionDomain", ""),
    TEXT(6, "storagePool", ""),
    TEXT(7, "storageMode", "", FALLBACK("\"ThinProvisioned\"")),
    TEXT(8, "volumeName", ""),
    TEXT(9, "fsType", "", FALLBACK("\"xfs\"")),
    BOOL(10, "readOnly", ""));

TYPE(TYPE_STORAGE_OS_VOLUME_SOURCE, CORE "StorageOSVolumeSource", "",
    TEXT(1, "volumeName", ""),
    TEXT(2, "volumeNamespace", ""),
    TEXT(3, "fsType", ""),
    BOOL(4, "readOnly", ""),
    OBJECT(5, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""));

TYPE(TYPE_GLUSTERFS_PERSISTENT_VOLUME_SOURCE, CORE "GlusterfsPersistentVolumeSource", "",
    TEXT(1, "endpoints", "", REQUIRED, ALWAYS),
    TEXT(2, "path", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""),
    TEXT(4, "endpointsNamespace", "", IF_SET));

TYPE(TYPE_RBD_PERSISTENT_VOLUME_SOURCE, CORE "RBDPersistentVolumeSource", "",
    TEXTS(1, "monitors", "", REQUIRED, ALWAYS),
    TEXT(2, "image", "", REQUIRED, ALWAYS),
    TEXT(3, "fsType", ""),
    TEXT(4, "pool", ""),
    TEXT(5, "user", ""),
    TEXT(6, "keyring", ""),
    OBJECT(7, "secretRef", TYPE_SECRET_REFERENCE, ""),
    BOOL(8, "readOnly", ""));

TYPE(TYPE_ISCSI_PERSISTENT_VOLUME_SOURCE, CORE "ISCSIPersistentVolumeSource", "",
    TEXT(1, "targetPortal", "", REQUIRED, ALWAYS),
    TEXT(2, "iqn", "", REQUIRED, ALWAYS),
    INT32(3, "lun", "", REQUIRED, ALWAYS),
    TEXT(4, "iscsiInterface", ""),
    TEXT(5, "fsType", ""),
    BOOL(6, "readOnly", ""),
    TEXTS(7, "portals", ""),
    BOOL(8, "chapAuthDiscovery", ""),
    BOOL(11, "chapAuthSession", ""),
    OBJECT(10, "secretRef", TYPE_SECRET_REFERENCE, ""),
    TEXT(12, "initiatorName", "", IF_SET));

TYPE(TYPE_CINDER_PERSISTENT_VOLUME_SOURCE, CORE "CinderPersistentVolumeSource", "",
    TEXT(1, "volumeID", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    BOOL(3, "readOnly", ""),
    OBJECT(4, "secretRef", TYPE_SECRET_REFERENCE, ""));

TYPE(TYPE_CEPH_FS_PERSISTENT_VOLUME_SOURCE, CORE "CephFSPersistentVolumeSource", "",
    TEXTS(1, "monitors", "", REQUIRED, ALWAYS),
    TEXT(2, "path", ""),
    TEXT(3, "user", ""),
    TEXT(4, "secretFile", ""),
    OBJECT(5, "secretRef", TYPE_SECRET_REFERENCE, ""),
    BOOL(6, "readOnly", ""));

TYPE(TYPE_FLEX_PERSISTENT_VOLUME_SOURCE, CORE "FlexPersistentVolumeSource", "",
    TEXT(1, "driver", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", ""),
    OBJECT(3, "secretRef", TYPE_SECRET_REFERENCE, ""),
    BOOL(4, "readOnly", ""),
    TEXT_MAP(5, "options", ""));

TYPE(TYPE_AZURE_FILE_PERSISTENT_VOLUME_SOURCE, CORE "AzureFilePersistentVolumeSource", "",
    TEXT(1, "secretName", "", REQUIRED, ALWAYS),
    TEXT(2, "shareName", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""),
    TEXT(4, "secretNamespace", "", IF_SET));

TYPE(TYPE_SCALE_IO_PERSISTENT_VOLUME_SOURCE, CORE "ScaleIOPersistentVolumeSource", "",
    TEXT(1, "gateway", "", REQUIRED, ALWAYS),
    TEXT(2, "system", "", REQUIRED, ALWAYS),
    OBJECT(3, "secretRef", TYPE_SECRET_REFERENCE, ""),
    BOOL(4, "sslEnabled", ""),
    TEXT(5, "protectionDomain", ""),
    TEXT(6, "storagePool", ""),
    TEXT(7, "storageMode", ""),
    TEXT(8, "volumeName", ""),
    TEXT(9, "fsType", ""),
    BOOL(10, "readOnly", ""));

TYPE(TYPE_STORAGE_OS_PERSISTENT_VOLUME_SOURCE, CORE "StorageOSPersistentVolumeSource", "",
    TEXT(1, "volumeName", ""),
    TEXT(2, "volumeNamespace", ""),
    TEXT(3, "fsType", ""),
    BOOL(4, "readOnly", ""),
    OBJECT(5, "secretRef", TYPE_OBJECT_REFERENCE, ""));

TYPE(TYPE_CSI_PERSISTENT_VOLUME_SOURCE, CORE "CSIPersistentVolumeSource", "",
    TEXT(1, "driver", "", REQUIRED, ALWAYS),
    TEXT(2, "volumeHandle", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""),
    TEXT(4, "fsType", ""),
    TEXT_MAP(5, "volumeAttributes", ""),
    OBJECT(6, "controllerPublishSecretRef", TYPE_SECRET_REFERENCE, ""),
    OBJECT(7, "nodeStageSecretRef", TYPE_SECRET_REFERENCE, ""),
    OBJECT(8, "nodePublishSecretRef", TYPE_SECRET_REFERENCE, ""),
    OBJECT(9, "controllerExpandSecretRef", TYPE_SECRET_REFERENCE, ""),
    OBJECT(10, "nodeExpandSecretRef", TYPE_SECRET_REFERENCE, ""));

TYPE(TYPE_LOCAL_VOLUME_SOURCE, CORE "LocalVolumeSource", "",
    TEXT(1, "path", "", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "", IF_SET));
