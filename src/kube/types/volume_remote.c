/* Types of volumes on remote storage, of pods and of PersistentVolumes. See kube/types/types.h.
 */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE(TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE, CORE "GCEPersistentDiskVolumeSource",
        "a disk of Google's cloud",
    TEXT(1, "pdName", "the name of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    INT32(3, "partition", "which partition of the disk; default: all of it"),
    BOOL(4, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, CORE "AWSElasticBlockStoreVolumeSource",
        "a disk of Amazon's cloud",
    TEXT(1, "volumeID", "the identity of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    INT32(3, "partition", "which partition of the disk; default: all of it"),
    BOOL(4, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_GIT_REPO_VOLUME_SOURCE, CORE "GitRepoVolumeSource",
        "a copy of a git repository; not recommended any more",
    TEXT(1, "repository", "the address of the repository", REQUIRED, ALWAYS),
    TEXT(2, "revision", "the commit, branch or tag"),
    TEXT(3, "directory", "the directory it is put into"));

TYPE(TYPE_ISCSI_VOLUME_SOURCE, CORE "ISCSIVolumeSource", "a disk reached by iSCSI",
    TEXT(1, "targetPortal", "the address and port of the target", REQUIRED, ALWAYS),
    TEXT(2, "iqn", "the name of the target", REQUIRED, ALWAYS),
    INT32(3, "lun", "the number of the disk at the target", REQUIRED, ALWAYS),
    TEXT(4, "iscsiInterface", "the transport, default or the name of another",
        FALLBACK("\"default\"")),
    TEXT(5, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(6, "readOnly", "true: nothing can be written to it"),
    TEXTS(7, "portals", "further addresses of the target"),
    BOOL(8, "chapAuthDiscovery", "true: one must sign in to look for targets"),
    BOOL(11, "chapAuthSession", "true: one must sign in to use the disk"),
    OBJECT(10, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret to sign in with"),
    TEXT(12, "initiatorName", "the name of this end of the connection", IF_SET));

TYPE(TYPE_GLUSTERFS_VOLUME_SOURCE, CORE "GlusterfsVolumeSource", "a Gluster volume",
    TEXT(1, "endpoints", "the endpoints that name the servers", REQUIRED, ALWAYS),
    TEXT(2, "path", "the name of the volume", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_RBD_VOLUME_SOURCE, CORE "RBDVolumeSource", "a block device of Ceph",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "image", "the name of the image", REQUIRED, ALWAYS),
    TEXT(3, "fsType", "the file system the volume is mounted as, such as ext4"),
    TEXT(4, "pool", "the pool the image is in", FALLBACK("\"rbd\"")),
    TEXT(5, "user", "the user to sign in as", FALLBACK("\"admin\"")),
    TEXT(6, "keyring", "the file with the key, where there is no secret",
        FALLBACK("\"/etc/ceph/keyring\"")),
    OBJECT(7, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret to sign in with"),
    BOOL(8, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_FLEX_VOLUME_SOURCE, CORE "FlexVolumeSource",
        "a volume of a plugin that is a program on the node",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    OBJECT(3, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret to sign in with"),
    BOOL(4, "readOnly", "true: nothing can be written to it"),
    TEXT_MAP(5, "options", "settings for the driver"));

TYPE(TYPE_CINDER_VOLUME_SOURCE, CORE "CinderVolumeSource", "a disk of OpenStack",
    TEXT(1, "volumeID", "the identity of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(3, "readOnly", "true: nothing can be written to it"),
    OBJECT(4, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret to sign in with"));

TYPE(TYPE_CEPH_FS_VOLUME_SOURCE, CORE "CephFSVolumeSource", "a directory of Ceph's file system",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "path", "the path that is mounted"),
    TEXT(3, "user", "the user to sign in as"),
    TEXT(4, "secretFile", "the file with the key, where there is no secret"),
    OBJECT(5, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret to sign in with"),
    BOOL(6, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_FLOCKER_VOLUME_SOURCE, CORE "FlockerVolumeSource", "a dataset of Flocker",
    TEXT(1, "datasetName", "the name of the dataset"),
    TEXT(2, "datasetUUID", "the identity of the dataset"));

TYPE(TYPE_FC_VOLUME_SOURCE, CORE "FCVolumeSource", "a disk reached by Fibre Channel",
    TEXTS(1, "targetWWNs", "the names of the targets"),
    INT32(2, "lun", "the number of the disk at the target", IF_SET),
    TEXT(3, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(4, "readOnly", "true: nothing can be written to it"),
    TEXTS(5, "wwids", "the names of the disk, in place of targets and lun"));

TYPE(TYPE_AZURE_FILE_VOLUME_SOURCE, CORE "AzureFileVolumeSource",
        "a file share of Microsoft's cloud",
    TEXT(1, "secretName", "the secret with the account and its key", REQUIRED, ALWAYS),
    TEXT(2, "shareName", "the name of the share", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, CORE "VsphereVirtualDiskVolumeSource",
        "a disk of vSphere",
    TEXT(1, "volumePath", "the path of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    TEXT(3, "storagePolicyName", "the name of its storage policy"),
    TEXT(4, "storagePolicyID", "the identity of its storage policy"));

TYPE(TYPE_QUOBYTE_VOLUME_SOURCE, CORE "QuobyteVolumeSource", "a Quobyte volume",
    TEXT(1, "registry", "addresses of the Quobyte registry", REQUIRED, ALWAYS),
    TEXT(2, "volume", "the name of the volume", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: nothing can be written to it"),
    TEXT(4, "user", "the user to sign in as"),
    TEXT(5, "group", "the group it is mounted as"),
    TEXT(6, "tenant", "the tenant that owns the volume"));

TYPE(TYPE_AZURE_DISK_VOLUME_SOURCE, CORE "AzureDiskVolumeSource", "a disk of Microsoft's cloud",
    TEXT(1, "diskName", "the name of the disk", REQUIRED, ALWAYS),
    TEXT(2, "diskURI", "the address of the disk", REQUIRED, ALWAYS),
    TEXT(3, "cachingMode", "the caching mode: None, ReadOnly or ReadWrite", IF_SET,
        FALLBACK("\"ReadWrite\"")),
    TEXT(4, "fsType", "the file system the volume is mounted as, such as ext4", IF_SET,
        FALLBACK("\"ext4\"")),
    BOOL(5, "readOnly", "true: nothing can be written to it", IF_SET, FALLBACK("false")),
    TEXT(6, "kind", "Shared, Dedicated or Managed", IF_SET, FALLBACK("\"Shared\"")));

TYPE(TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, CORE "PhotonPersistentDiskVolumeSource",
        "a disk of VMware's Photon",
    TEXT(1, "pdID", "the identity of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"));

TYPE(TYPE_PORTWORX_VOLUME_SOURCE, CORE "PortworxVolumeSource", "a Portworx volume",
    TEXT(1, "volumeID", "the identity of the volume", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(3, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_SCALE_IO_VOLUME_SOURCE, CORE "ScaleIOVolumeSource", "a ScaleIO volume",
    TEXT(1, "gateway", "the address of the gateway", REQUIRED, ALWAYS),
    TEXT(2, "system", "the name of the storage system", REQUIRED, ALWAYS),
    OBJECT(3, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret to sign in with", REQUIRED),
    BOOL(4, "sslEnabled", "true: the gateway is spoken to over TLS"),
    TEXT(5, "protectionDomain", "the protection domain of the storage"),
    TEXT(6, "storagePool", "the storage pool of the protection domain"),
    TEXT(7, "storageMode", "ThickProvisioned or ThinProvisioned", FALLBACK("\"ThinProvisioned\"")),
    TEXT(8, "volumeName", "the name of the volume"),
    TEXT(9, "fsType", "the file system the volume is mounted as, such as ext4",
        FALLBACK("\"xfs\"")),
    BOOL(10, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_STORAGE_OS_VOLUME_SOURCE, CORE "StorageOSVolumeSource", "a StorageOS volume",
    TEXT(1, "volumeName", "the name of the volume"),
    TEXT(2, "volumeNamespace", "the namespace of the volume within the storage system"),
    TEXT(3, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(4, "readOnly", "true: nothing can be written to it"),
    OBJECT(5, "secretRef", TYPE_LOCAL_OBJECT_REFERENCE, "the secret to sign in with"));

TYPE(TYPE_GLUSTERFS_PERSISTENT_VOLUME_SOURCE, CORE "GlusterfsPersistentVolumeSource",
        "a Gluster volume",
    TEXT(1, "endpoints", "the endpoints that name the servers", REQUIRED, ALWAYS),
    TEXT(2, "path", "the name of the volume", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: nothing can be written to it"),
    TEXT(4, "endpointsNamespace", "the namespace of the endpoints; default: the claim's",
        IF_SET));

TYPE(TYPE_RBD_PERSISTENT_VOLUME_SOURCE, CORE "RBDPersistentVolumeSource", "a block device of Ceph",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "image", "the name of the image", REQUIRED, ALWAYS),
    TEXT(3, "fsType", "the file system the volume is mounted as, such as ext4"),
    TEXT(4, "pool", "the pool the image is in"),
    TEXT(5, "user", "the user to sign in as"),
    TEXT(6, "keyring", "the file with the key, where there is no secret"),
    OBJECT(7, "secretRef", TYPE_SECRET_REFERENCE, "the secret to sign in with"),
    BOOL(8, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_ISCSI_PERSISTENT_VOLUME_SOURCE, CORE "ISCSIPersistentVolumeSource",
        "a disk reached by iSCSI",
    TEXT(1, "targetPortal", "the address and port of the target", REQUIRED, ALWAYS),
    TEXT(2, "iqn", "the name of the target", REQUIRED, ALWAYS),
    INT32(3, "lun", "the number of the disk at the target", REQUIRED, ALWAYS),
    TEXT(4, "iscsiInterface", "the transport, default or the name of another"),
    TEXT(5, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(6, "readOnly", "true: nothing can be written to it"),
    TEXTS(7, "portals", "further addresses of the target"),
    BOOL(8, "chapAuthDiscovery", "true: one must sign in to look for targets"),
    BOOL(11, "chapAuthSession", "true: one must sign in to use the disk"),
    OBJECT(10, "secretRef", TYPE_SECRET_REFERENCE, "the secret to sign in with"),
    TEXT(12, "initiatorName", "the name of this end of the connection", IF_SET));

TYPE(TYPE_CINDER_PERSISTENT_VOLUME_SOURCE, CORE "CinderPersistentVolumeSource",
        "a disk of OpenStack",
    TEXT(1, "volumeID", "the identity of the disk", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(3, "readOnly", "true: nothing can be written to it"),
    OBJECT(4, "secretRef", TYPE_SECRET_REFERENCE, "the secret to sign in with"));

TYPE(TYPE_CEPH_FS_PERSISTENT_VOLUME_SOURCE, CORE "CephFSPersistentVolumeSource",
        "a directory of Ceph's file system",
    TEXTS(1, "monitors", "addresses of the Ceph monitors", REQUIRED, ALWAYS),
    TEXT(2, "path", "the path that is mounted"),
    TEXT(3, "user", "the user to sign in as"),
    TEXT(4, "secretFile", "the file with the key, where there is no secret"),
    OBJECT(5, "secretRef", TYPE_SECRET_REFERENCE, "the secret to sign in with"),
    BOOL(6, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_FLEX_PERSISTENT_VOLUME_SOURCE, CORE "FlexPersistentVolumeSource",
        "a volume of a plugin that is a program on the node",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4"),
    OBJECT(3, "secretRef", TYPE_SECRET_REFERENCE, "the secret to sign in with"),
    BOOL(4, "readOnly", "true: nothing can be written to it"),
    TEXT_MAP(5, "options", "settings for the driver"));

TYPE(TYPE_AZURE_FILE_PERSISTENT_VOLUME_SOURCE, CORE "AzureFilePersistentVolumeSource",
        "a file share of Microsoft's cloud",
    TEXT(1, "secretName", "the secret with the account and its key", REQUIRED, ALWAYS),
    TEXT(2, "shareName", "the name of the share", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: nothing can be written to it"),
    TEXT(4, "secretNamespace", "the namespace of the secret; default: the claim's", IF_SET));

TYPE(TYPE_SCALE_IO_PERSISTENT_VOLUME_SOURCE, CORE "ScaleIOPersistentVolumeSource",
        "a ScaleIO volume",
    TEXT(1, "gateway", "the address of the gateway", REQUIRED, ALWAYS),
    TEXT(2, "system", "the name of the storage system", REQUIRED, ALWAYS),
    OBJECT(3, "secretRef", TYPE_SECRET_REFERENCE, "the secret to sign in with", REQUIRED),
    BOOL(4, "sslEnabled", "true: the gateway is spoken to over TLS"),
    TEXT(5, "protectionDomain", "the protection domain of the storage"),
    TEXT(6, "storagePool", "the storage pool of the protection domain"),
    TEXT(7, "storageMode", "ThickProvisioned or ThinProvisioned"),
    TEXT(8, "volumeName", "the name of the volume"),
    TEXT(9, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(10, "readOnly", "true: nothing can be written to it"));

TYPE(TYPE_STORAGE_OS_PERSISTENT_VOLUME_SOURCE, CORE "StorageOSPersistentVolumeSource",
        "a StorageOS volume",
    TEXT(1, "volumeName", "the name of the volume"),
    TEXT(2, "volumeNamespace", "the namespace of the volume within the storage system"),
    TEXT(3, "fsType", "the file system the volume is mounted as, such as ext4"),
    BOOL(4, "readOnly", "true: nothing can be written to it"),
    OBJECT(5, "secretRef", TYPE_OBJECT_REFERENCE, "the secret to sign in with"));

TYPE(TYPE_CSI_PERSISTENT_VOLUME_SOURCE, CORE "CSIPersistentVolumeSource",
        "a volume of a storage driver",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    TEXT(2, "volumeHandle", "what the driver calls the volume", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: nothing can be written to it"),
    TEXT(4, "fsType", "the file system the volume is mounted as, such as ext4"),
    TEXT_MAP(5, "volumeAttributes", "settings for the driver"),
    OBJECT(6, "controllerPublishSecretRef", TYPE_SECRET_REFERENCE,
        "a secret to attach the volume to a node"),
    OBJECT(7, "nodeStageSecretRef", TYPE_SECRET_REFERENCE,
        "a secret to prepare the volume on a node"),
    OBJECT(8, "nodePublishSecretRef", TYPE_SECRET_REFERENCE,
        "a secret to mount the volume for a pod"),
    OBJECT(9, "controllerExpandSecretRef", TYPE_SECRET_REFERENCE,
        "a secret to make the volume larger"),
    OBJECT(10, "nodeExpandSecretRef", TYPE_SECRET_REFERENCE,
        "a secret to make the volume larger on its node"));

TYPE(TYPE_LOCAL_VOLUME_SOURCE, CORE "LocalVolumeSource", "a disk or directory of one node",
    TEXT(1, "path", "where it is on the node", REQUIRED, ALWAYS),
    TEXT(2, "fsType", "the file system the volume is mounted as, such as ext4", IF_SET));
