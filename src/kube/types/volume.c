/* Types of the volumes of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE(TYPE_HOST_PATH_VOLUME_SOURCE, CORE "HostPathVolumeSource", "a file or directory of the node",
    TEXT(1, "path", "where it is on the node", REQUIRED, ALWAYS),
    TEXT(2, "type",
        "the type that must exist, such as Directory, or is created, such as DirectoryOrCreate",
        IF_SET, FALLBACK("\"\"")));

LOCAL_TYPE(EMPTY_DIR_VOLUME_SOURCE, CORE "EmptyDirVolumeSource",
        "a directory that begins empty and ends with its pod",
    TEXT(1, "medium", "Memory: kept in memory; otherwise on the disk of the node"),
    QUANTITY(2, "sizeLimit", "how large it may grow", IF_SET));

LOCAL_TYPE(KEY_TO_PATH, CORE "KeyToPath", "one key that becomes a file",
    TEXT(1, "key", "which key", REQUIRED, ALWAYS),
    TEXT(2, "path", "the path of the file in the volume", REQUIRED, ALWAYS),
    INT32(3, "mode", "the permissions of this file", IF_SET));

LOCAL_TYPE(SECRET_VOLUME_SOURCE, CORE "SecretVolumeSource", "a secret; its keys become files",
    TEXT(1, "secretName", "the name of the secret"),
    LIST(2, "items", KEY_TO_PATH, "the keys that become files; default: all"),
    INT32(3, "defaultMode", "the permissions of files that name none, 0644 by default", IF_SET,
        FALLBACK("420")),
    BOOL(4, "optional", "true: it may be missing, or lack some of the keys", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE, CORE "PersistentVolumeClaimVolumeSource",
        "storage that was claimed, and outlives the pod",
    TEXT(1, "claimName", "the claim, in the namespace of the pod", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", "true: containers cannot write to it"));

LOCAL_TYPE(DOWNWARD_API_VOLUME_FILE, CORE "DownwardAPIVolumeFile",
        "a file with information about the pod",
    TEXT(1, "path", "the path of the file in the volume", REQUIRED, ALWAYS),
    OBJECT(2, "fieldRef", TYPE_OBJECT_FIELD_SELECTOR, "the field of the pod that is in it"),
    OBJECT(3, "resourceFieldRef", TYPE_RESOURCE_FIELD_SELECTOR,
        "the amount of a container that is in it"),
    INT32(4, "mode", "the permissions of this file", IF_SET));

LOCAL_TYPE(DOWNWARD_API_VOLUME_SOURCE, CORE "DownwardAPIVolumeSource",
        "files with information about the pod",
    LIST(1, "items", DOWNWARD_API_VOLUME_FILE, "the files"),
    INT32(2, "defaultMode", "the permissions of files that name none, 0644 by default", IF_SET,
        FALLBACK("420")));

LOCAL_TYPE(CONFIG_MAP_VOLUME_SOURCE, CORE "ConfigMapVolumeSource",
        "a config map; its keys become files",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    LIST(2, "items", KEY_TO_PATH, "the keys that become files; default: all"),
    INT32(3, "defaultMode", "the permissions of files that name none, 0644 by default", IF_SET,
        FALLBACK("420")),
    BOOL(4, "optional", "true: it may be missing, or lack some of the keys", IF_SET));

LOCAL_TYPE(SECRET_PROJECTION, CORE "SecretProjection", "a secret among other sources",
    TEXT(INSIDE(1, 1), "name", "the name of the secret"),
    LIST(2, "items", KEY_TO_PATH, "the keys that become files; default: all"),
    BOOL(4, "optional", "true: it may be missing, or lack some of the keys", IF_SET));

LOCAL_TYPE(DOWNWARD_API_PROJECTION, CORE "DownwardAPIProjection",
        "information about the pod, among other sources",
    LIST(1, "items", DOWNWARD_API_VOLUME_FILE, "the files"));

LOCAL_TYPE(CONFIG_MAP_PROJECTION, CORE "ConfigMapProjection", "a config map among other sources",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    LIST(2, "items", KEY_TO_PATH, "the keys that become files; default: all"),
    BOOL(4, "optional", "true: it may be missing, or lack some of the keys", IF_SET));

LOCAL_TYPE(SERVICE_ACCOUNT_TOKEN_PROJECTION, CORE "ServiceAccountTokenProjection",
        "a token of the pod's account, renewed before it ends",
    TEXT(1, "audience", "the audience of the token; default: the API server"),
    INT64(2, "expirationSeconds", "how long a token is good for", IF_SET, FALLBACK("3600")),
    TEXT(3, "path", "the path of the file in the volume", REQUIRED, ALWAYS));

LOCAL_TYPE(CLUSTER_TRUST_BUNDLE_PROJECTION, CORE "ClusterTrustBundleProjection",
        "certificates of authorities that are trusted",
    TEXT(1, "name", "one bundle, by its name", IF_SET),
    TEXT(2, "signerName", "all bundles of one signer", IF_SET),
    OBJECT(3, "labelSelector", TYPE_LABEL_SELECTOR,
        "only those bundles of the signer that have such labels"),
    BOOL(5, "optional", "true: it may be missing, or lack some of the keys", IF_SET),
    TEXT(4, "path", "the path of the file in the volume", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_CERTIFICATE_PROJECTION, CORE "PodCertificateProjection",
        "a key and a certificate made for the pod",
    TEXT(1, "signerName", "the signer of the certificate", REQUIRED),
    TEXT(2, "keyType", "the kind of key, such as ECDSAP256", REQUIRED),
    INT32(3, "maxExpirationSeconds", "how long the certificate may be good for at most", IF_SET),
    TEXT(4, "credentialBundlePath", "the file that gets the key and the certificates"),
    TEXT(5, "keyPath", "the file that gets the key alone"),
    TEXT(6, "certificateChainPath", "the file that gets the certificates alone"),
    TEXT_MAP(7, "userAnnotations", "notes passed on to the signer"));

LOCAL_TYPE(VOLUME_PROJECTION, CORE "VolumeProjection",
        "one source of a volume that has many; one of these",
    OBJECT(1, "secret", SECRET_PROJECTION, "keys of a secret"),
    OBJECT(2, "downwardAPI", DOWNWARD_API_PROJECTION, "information about the pod"),
    OBJECT(3, "configMap", CONFIG_MAP_PROJECTION, "keys of a config map"),
    OBJECT(4, "serviceAccountToken", SERVICE_ACCOUNT_TOKEN_PROJECTION,
        "a token of the pod's account"),
    OBJECT(5, "clusterTrustBundle", CLUSTER_TRUST_BUNDLE_PROJECTION, "certificates of authorities"),
    OBJECT(6, "podCertificate", POD_CERTIFICATE_PROJECTION, "a key and a certificate of its own"));

LOCAL_TYPE(PROJECTED_VOLUME_SOURCE, CORE "ProjectedVolumeSource",
        "several sources in one directory",
    LIST(1, "sources", VOLUME_PROJECTION, "the sources of its files", ALWAYS),
    INT32(2, "defaultMode", "the permissions of files that name none, 0644 by default", IF_SET,
        FALLBACK("420")));

LOCAL_TYPE(CSI_VOLUME_SOURCE, CORE "CSIVolumeSource",
        "a volume that a storage driver makes for this pod",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", "true: containers cannot write to it", IF_SET),
    TEXT(3, "fsType", "the file system the volume is mounted as, such as ext4", IF_SET),
    TEXT_MAP(4, "volumeAttributes", "settings for the driver"),
    OBJECT(5, "nodePublishSecretRef", TYPE_LOCAL_OBJECT_REFERENCE,
        "a secret the driver needs to provide it"));

LOCAL_TYPE(EPHEMERAL_VOLUME_SOURCE, CORE "EphemeralVolumeSource",
        "a claim that is made with the pod and ends with it",
    OBJECT(1, "volumeClaimTemplate", TYPE_PERSISTENT_VOLUME_CLAIM_TEMPLATE,
        "the template of the claim"));

LOCAL_TYPE(IMAGE_VOLUME_SOURCE, CORE "ImageVolumeSource", "the files of an image",
    TEXT(1, "reference", "the image"),
    TEXT(2, "pullPolicy",
        "when the image is pulled: Always, Never or IfNotPresent",
        WORDS("Always", "IfNotPresent", "Never")));

TYPE(TYPE_NFS_VOLUME_SOURCE, CORE "NFSVolumeSource", "a directory of an NFS server",
    TEXT(1, "server", "the name or address of the server", REQUIRED, ALWAYS),
    TEXT(2, "path", "the directory it exports", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: containers cannot write to it"));

TYPE(TYPE_VOLUME, CORE "Volume", "storage of a pod, from one of these sources",
    TEXT(1, "name", "its name, which mounts use", REQUIRED, ALWAYS),
    OBJECT(INSIDE(2, 1), "hostPath", TYPE_HOST_PATH_VOLUME_SOURCE,
        "a file or directory of the node"),
    OBJECT(INSIDE(2, 2), "emptyDir", EMPTY_DIR_VOLUME_SOURCE,
        "an empty directory that ends with the pod"),
    OBJECT(INSIDE(2, 3), "gcePersistentDisk", TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE,
        "a disk of Google's cloud"),
    OBJECT(INSIDE(2, 4), "awsElasticBlockStore", TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
        "a disk of Amazon's cloud"),
    OBJECT(INSIDE(2, 5), "gitRepo", TYPE_GIT_REPO_VOLUME_SOURCE, "a copy of a git repository"),
    OBJECT(INSIDE(2, 6), "secret", SECRET_VOLUME_SOURCE, "keys of a secret as files"),
    OBJECT(INSIDE(2, 7), "nfs", TYPE_NFS_VOLUME_SOURCE, "a directory of an NFS server"),
    OBJECT(INSIDE(2, 8), "iscsi", TYPE_ISCSI_VOLUME_SOURCE, "a disk reached by iSCSI"),
    OBJECT(INSIDE(2, 9), "glusterfs", TYPE_GLUSTERFS_VOLUME_SOURCE, "a Gluster volume"),
    OBJECT(INSIDE(2, 10), "persistentVolumeClaim", PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE,
        "storage that was claimed before"),
    OBJECT(INSIDE(2, 11), "rbd", TYPE_RBD_VOLUME_SOURCE, "a block device of Ceph"),
    OBJECT(INSIDE(2, 12), "flexVolume", TYPE_FLEX_VOLUME_SOURCE,
        "a volume of a plugin that is a program on the node"),
    OBJECT(INSIDE(2, 13), "cinder", TYPE_CINDER_VOLUME_SOURCE, "a disk of OpenStack"),
    OBJECT(INSIDE(2, 14), "cephfs", TYPE_CEPH_FS_VOLUME_SOURCE,
        "a directory of Ceph's file system"),
    OBJECT(INSIDE(2, 15), "flocker", TYPE_FLOCKER_VOLUME_SOURCE, "a dataset of Flocker"),
    OBJECT(INSIDE(2, 16), "downwardAPI", DOWNWARD_API_VOLUME_SOURCE,
        "files with information about the pod"),
    OBJECT(INSIDE(2, 17), "fc", TYPE_FC_VOLUME_SOURCE, "a disk reached by Fibre Channel"),
    OBJECT(INSIDE(2, 18), "azureFile", TYPE_AZURE_FILE_VOLUME_SOURCE,
        "a file share of Microsoft's cloud"),
    OBJECT(INSIDE(2, 19), "configMap", CONFIG_MAP_VOLUME_SOURCE, "keys of a config map as files"),
    OBJECT(INSIDE(2, 20), "vsphereVolume", TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
        "a disk of vSphere"),
    OBJECT(INSIDE(2, 21), "quobyte", TYPE_QUOBYTE_VOLUME_SOURCE, "a Quobyte volume"),
    OBJECT(INSIDE(2, 22), "azureDisk", TYPE_AZURE_DISK_VOLUME_SOURCE,
        "a disk of Microsoft's cloud"),
    OBJECT(INSIDE(2, 23), "photonPersistentDisk", TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
        "a disk of VMware's Photon"),
    OBJECT(INSIDE(2, 26), "projected", PROJECTED_VOLUME_SOURCE, "several sources in one directory"),
    OBJECT(INSIDE(2, 24), "portworxVolume", TYPE_PORTWORX_VOLUME_SOURCE, "a Portworx volume"),
    OBJECT(INSIDE(2, 25), "scaleIO", TYPE_SCALE_IO_VOLUME_SOURCE, "a ScaleIO volume"),
    OBJECT(INSIDE(2, 27), "storageos", TYPE_STORAGE_OS_VOLUME_SOURCE, "a StorageOS volume"),
    OBJECT(INSIDE(2, 28), "csi", CSI_VOLUME_SOURCE,
        "a volume that a storage driver makes for this pod"),
    OBJECT(INSIDE(2, 29), "ephemeral", EPHEMERAL_VOLUME_SOURCE,
        "a claim that is made with the pod and ends with it"),
    OBJECT(INSIDE(2, 30), "image", IMAGE_VOLUME_SOURCE, "the files of an image"));
