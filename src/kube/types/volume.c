/* The volumes of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE(TYPE_HOST_PATH_VOLUME_SOURCE, CORE "HostPathVolumeSource", "",
    TEXT(1, "path", "", REQUIRED, ALWAYS),
    TEXT(2, "type", "", IF_SET, FALLBACK("\"\"")));

LOCAL_TYPE(EMPTY_DIR_VOLUME_SOURCE, CORE "EmptyDirVolumeSource", "",
    TEXT(1, "medium", ""),
    QUANTITY(2, "sizeLimit", "", IF_SET, UNSUPPORTED("only the disk limits a volume")));

LOCAL_TYPE(KEY_TO_PATH, CORE "KeyToPath", "",
    TEXT(1, "key", "", REQUIRED, ALWAYS),
    TEXT(2, "path", "", REQUIRED, ALWAYS),
    INT32(3, "mode", "", IF_SET));

LOCAL_TYPE(SECRET_VOLUME_SOURCE, CORE "SecretVolumeSource", "",
    TEXT(1, "secretName", ""),
    LIST(2, "items", KEY_TO_PATH, ""),
    INT32(3, "defaultMode", "", IF_SET, FALLBACK("420")),
    BOOL(4, "optional", "", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE, CORE "PersistentVolumeClaimVolumeSource", "",
    TEXT(1, "claimName", "", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", ""));

LOCAL_TYPE(DOWNWARD_API_VOLUME_FILE, CORE "DownwardAPIVolumeFile", "",
    TEXT(1, "path", "", REQUIRED, ALWAYS),
    OBJECT(2, "fieldRef", TYPE_OBJECT_FIELD_SELECTOR, ""),
    OBJECT(3, "resourceFieldRef", TYPE_RESOURCE_FIELD_SELECTOR, ""),
    INT32(4, "mode", "", IF_SET));

LOCAL_TYPE(DOWNWARD_API_VOLUME_SOURCE, CORE "DownwardAPIVolumeSource", "",
    LIST(1, "items", DOWNWARD_API_VOLUME_FILE, ""),
    INT32(2, "defaultMode", "", IF_SET, FALLBACK("420")));

LOCAL_TYPE(CONFIG_MAP_VOLUME_SOURCE, CORE "ConfigMapVolumeSource", "",
    TEXT(INSIDE(1, 1), "name", ""),
    LIST(2, "items", KEY_TO_PATH, ""),
    INT32(3, "defaultMode", "", IF_SET, FALLBACK("420")),
    BOOL(4, "optional", "", IF_SET));

LOCAL_TYPE(SECRET_PROJECTION, CORE "SecretProjection", "",
    TEXT(INSIDE(1, 1), "name", ""),
    LIST(2, "items", KEY_TO_PATH, ""),
    BOOL(4, "optional", "", IF_SET));

LOCAL_TYPE(DOWNWARD_API_PROJECTION, CORE "DownwardAPIProjection", "",
    LIST(1, "items", DOWNWARD_API_VOLUME_FILE, ""));

LOCAL_TYPE(CONFIG_MAP_PROJECTION, CORE "ConfigMapProjection", "",
    TEXT(INSIDE(1, 1), "name", ""),
    LIST(2, "items", KEY_TO_PATH, ""),
    BOOL(4, "optional", "", IF_SET));

LOCAL_TYPE(SERVICE_ACCOUNT_TOKEN_PROJECTION, CORE "ServiceAccountTokenProjection", "",
    TEXT(1, "audience", ""),
    INT64(2, "expirationSeconds", "", IF_SET, FALLBACK("3600")),
    TEXT(3, "path", "", REQUIRED, ALWAYS));

LOCAL_TYPE(CLUSTER_TRUST_BUNDLE_PROJECTION, CORE "ClusterTrustBundleProjection", "",
    TEXT(1, "name", "", IF_SET),
    TEXT(2, "signerName", "", IF_SET),
    OBJECT(3, "labelSelector", TYPE_LABEL_SELECTOR, ""),
    BOOL(5, "optional", "", IF_SET),
    TEXT(4, "path", "", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_CERTIFICATE_PROJECTION, CORE "PodCertificateProjection", "",
    TEXT(1, "signerName", "", REQUIRED),
    TEXT(2, "keyType", "", REQUIRED),
    INT32(3, "maxExpirationSeconds", "", IF_SET),
    TEXT(4, "credentialBundlePath", ""),
    TEXT(5, "keyPath", ""),
    TEXT(6, "certificateChainPath", ""),
    TEXT_MAP(7, "userAnnotations", ""));

LOCAL_TYPE(VOLUME_PROJECTION, CORE "VolumeProjection", "",
    OBJECT(1, "secret", SECRET_PROJECTION, ""),
    OBJECT(2, "downwardAPI", DOWNWARD_API_PROJECTION, ""),
    OBJECT(3, "configMap", CONFIG_MAP_PROJECTION, ""),
    OBJECT(4, "serviceAccountToken", SERVICE_ACCOUNT_TOKEN_PROJECTION, ""),
    OBJECT(5, "clusterTrustBundle", CLUSTER_TRUST_BUNDLE_PROJECTION, ""),
    OBJECT(6, "podCertificate", POD_CERTIFICATE_PROJECTION, ""));

LOCAL_TYPE(PROJECTED_VOLUME_SOURCE, CORE "ProjectedVolumeSource", "",
    LIST(1, "sources", VOLUME_PROJECTION, "", ALWAYS),
    INT32(2, "defaultMode", "", IF_SET, FALLBACK("420")));

LOCAL_TYPE(CSI_VOLUME_SOURCE, CORE "CSIVolumeSource", "",
    TEXT(1, "driver", "", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", "", IF_SET),
    TEXT(3, "fsType", "", IF_SET),
    TEXT_MAP(4, "volumeAttributes", ""),
    OBJECT(5, "nodePublishSecretRef", TYPE_LOCAL_OBJECT_REFERENCE, ""));

LOCAL_TYPE(EPHEMERAL_VOLUME_SOURCE, CORE "EphemeralVolumeSource", "",
    OBJECT(1, "volumeClaimTemplate", TYPE_PERSISTENT_VOLUME_CLAIM_TEMPLATE, ""));

LOCAL_TYPE(IMAGE_VOLUME_SOURCE, CORE "ImageVolumeSource", "",
    TEXT(1, "reference", ""),
    TEXT(2, "pullPolicy", "", WORDS("Always", "IfNotPresent", "Never")));

TYPE(TYPE_NFS_VOLUME_SOURCE, CORE "NFSVolumeSource", "",
    TEXT(1, "server", "", REQUIRED, ALWAYS),
    TEXT(2, "path", "", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", ""));

TYPE(TYPE_VOLUME, CORE "Volume", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    OBJECT(INSIDE(2, 1), "hostPath", TYPE_HOST_PATH_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 2), "emptyDir", EMPTY_DIR_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 3), "gcePersistentDisk", TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 4), "awsElasticBlockStore", TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 5), "gitRepo", TYPE_GIT_REPO_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 6), "secret", SECRET_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 7), "nfs", TYPE_NFS_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 8), "iscsi", TYPE_ISCSI_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 9), "glusterfs", TYPE_GLUSTERFS_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 10), "persistentVolumeClaim", PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 11), "rbd", TYPE_RBD_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 12), "flexVolume", TYPE_FLEX_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 13), "cinder", TYPE_CINDER_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 14), "cephfs", TYPE_CEPH_FS_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 15), "flocker", TYPE_FLOCKER_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 16), "downwardAPI", DOWNWARD_API_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 17), "fc", TYPE_FC_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 18), "azureFile", TYPE_AZURE_FILE_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 19), "configMap", CONFIG_MAP_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 20), "vsphereVolume", TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 21), "quobyte", TYPE_QUOBYTE_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 22), "azureDisk", TYPE_AZURE_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 23), "photonPersistentDisk", TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 26), "projected", PROJECTED_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 24), "portworxVolume", TYPE_PORTWORX_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 25), "scaleIO", TYPE_SCALE_IO_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 27), "storageos", TYPE_STORAGE_OS_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 28), "csi", CSI_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 29), "ephemeral", EPHEMERAL_VOLUME_SOURCE, ""),
    OBJECT(INSIDE(2, 30), "image", IMAGE_VOLUME_SOURCE, ""));
