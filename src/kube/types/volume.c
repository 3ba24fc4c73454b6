/* Types of the volumes of a pod. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE(TYPE_HOST_PATH_VOLUME_SOURCE, CORE "HostPathVolumeSource", "a file or directory on the node",
    TEXT(1, "path", "the path on the node", REQUIRED, ALWAYS),
    TEXT(2, "type",
        "the type that must exist, such as Directory, or is created, such as DirectoryOrCreate",
        IF_SET, FALLBACK("\"\"")));

LOCAL_TYPE(EMPTY_DIR_VOLUME_SOURCE, CORE "EmptyDirVolumeSource",
        "a directory that is empty at first and deleted with the pod",
    TEXT(1, "medium", "Memory: stored in RAM; default: stored on the node's disk"),
    QUANTITY(2, "sizeLimit", "the maximum size of the directory", IF_SET));

LOCAL_TYPE(KEY_TO_PATH, CORE "KeyToPath", "maps a key to a file",
    TEXT(1, "key", "the key", REQUIRED, ALWAYS),
    TEXT(2, "path", "the relative path of the file in the volume", REQUIRED, ALWAYS),
    INT32(3, "mode", "the permission bits of this file", IF_SET));

LOCAL_TYPE(SECRET_VOLUME_SOURCE, CORE "SecretVolumeSource",
        "a secret whose keys are mounted as files",
    TEXT(1, "secretName", "the name of the secret"),
    LIST(2, "items", KEY_TO_PATH, "the keys that are written as files; default: all keys"),
    INT32(3, "defaultMode", "the permission bits of files that set no mode; default: 0644", IF_SET,
        FALLBACK("420")),
    BOOL(4, "optional", "true: the pod starts even if the object or a key is missing", IF_SET));

LOCAL_TYPE(PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE, CORE "PersistentVolumeClaimVolumeSource",
        "a PersistentVolumeClaim, whose storage outlives the pod",
    TEXT(1, "claimName", "the name of a claim in the pod's namespace", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", "true: the volume is mounted read-only"));

LOCAL_TYPE(DOWNWARD_API_VOLUME_FILE, CORE "DownwardAPIVolumeFile",
        "a file with information about the pod",
    TEXT(1, "path", "the relative path of the file in the volume", REQUIRED, ALWAYS),
    OBJECT(2, "fieldRef", TYPE_OBJECT_FIELD_SELECTOR,
        "the field of the pod to write into the file"),
    OBJECT(3, "resourceFieldRef", TYPE_RESOURCE_FIELD_SELECTOR,
        "the resource request or limit to write into the file"),
    INT32(4, "mode", "the permission bits of this file", IF_SET));

LOCAL_TYPE(DOWNWARD_API_VOLUME_SOURCE, CORE "DownwardAPIVolumeSource",
        "files with information about the pod",
    LIST(1, "items", DOWNWARD_API_VOLUME_FILE, "the files"),
    INT32(2, "defaultMode", "the permission bits of files that set no mode; default: 0644", IF_SET,
        FALLBACK("420")));

LOCAL_TYPE(CONFIG_MAP_VOLUME_SOURCE, CORE "ConfigMapVolumeSource",
        "a config map whose keys are mounted as files",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    LIST(2, "items", KEY_TO_PATH, "the keys that are written as files; default: all keys"),
    INT32(3, "defaultMode", "the permission bits of files that set no mode; default: 0644", IF_SET,
        FALLBACK("420")),
    BOOL(4, "optional", "true: the pod starts even if the object or a key is missing", IF_SET));

LOCAL_TYPE(SECRET_PROJECTION, CORE "SecretProjection", "a secret in a projected volume",
    TEXT(INSIDE(1, 1), "name", "the name of the secret"),
    LIST(2, "items", KEY_TO_PATH, "the keys that are written as files; default: all keys"),
    BOOL(4, "optional", "true: the pod starts even if the object or a key is missing", IF_SET));

LOCAL_TYPE(DOWNWARD_API_PROJECTION, CORE "DownwardAPIProjection",
        "information about the pod in a projected volume",
    LIST(1, "items", DOWNWARD_API_VOLUME_FILE, "the files"));

LOCAL_TYPE(CONFIG_MAP_PROJECTION, CORE "ConfigMapProjection", "a config map in a projected volume",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    LIST(2, "items", KEY_TO_PATH, "the keys that are written as files; default: all keys"),
    BOOL(4, "optional", "true: the pod starts even if the object or a key is missing", IF_SET));

LOCAL_TYPE(SERVICE_ACCOUNT_TOKEN_PROJECTION, CORE "ServiceAccountTokenProjection",
        "a service account token, renewed before it expires",
    TEXT(1, "audience", "the audience of the token; default: the API server"),
    INT64(2, "expirationSeconds", "the lifetime of the token in seconds", IF_SET, FALLBACK("3600")),
    TEXT(3, "path", "the relative path of the file in the volume", REQUIRED, ALWAYS));

LOCAL_TYPE(CLUSTER_TRUST_BUNDLE_PROJECTION, CORE "ClusterTrustBundleProjection",
        "trusted CA certificates from ClusterTrustBundles",
    TEXT(1, "name", "the name of one ClusterTrustBundle", IF_SET),
    TEXT(2, "signerName", "the signer whose ClusterTrustBundles are used", IF_SET),
    OBJECT(3, "labelSelector", TYPE_LABEL_SELECTOR,
        "the label selector of the signer's ClusterTrustBundles"),
    BOOL(5, "optional", "true: the pod starts even if no bundle is found", IF_SET),
    TEXT(4, "path", "the relative path of the file in the volume", REQUIRED, ALWAYS));

LOCAL_TYPE(POD_CERTIFICATE_PROJECTION, CORE "PodCertificateProjection",
        "a private key and a certificate that are issued for the pod",
    TEXT(1, "signerName", "the signer of the certificate", REQUIRED),
    TEXT(2, "keyType", "the type of the key, such as ECDSAP256", REQUIRED),
    INT32(3, "maxExpirationSeconds", "the maximum lifetime of the certificate in seconds", IF_SET),
    TEXT(4, "credentialBundlePath", "the file for the key and the certificate chain"),
    TEXT(5, "keyPath", "the file for the key"),
    TEXT(6, "certificateChainPath", "the file for the certificate chain"),
    TEXT_MAP(7, "userAnnotations", "additional data for the signer"));

LOCAL_TYPE(VOLUME_PROJECTION, CORE "VolumeProjection",
        "one source of a projected volume; exactly one field is set",
    OBJECT(1, "secret", SECRET_PROJECTION, "keys of a secret"),
    OBJECT(2, "downwardAPI", DOWNWARD_API_PROJECTION, "information about the pod"),
    OBJECT(3, "configMap", CONFIG_MAP_PROJECTION, "keys of a config map"),
    OBJECT(4, "serviceAccountToken", SERVICE_ACCOUNT_TOKEN_PROJECTION,
        "a token of the pod's service account"),
    OBJECT(5, "clusterTrustBundle", CLUSTER_TRUST_BUNDLE_PROJECTION,
        "trusted CA certificates from ClusterTrustBundles"),
    OBJECT(6, "podCertificate", POD_CERTIFICATE_PROJECTION,
        "a private key and a certificate that are issued for the pod"));

LOCAL_TYPE(PROJECTED_VOLUME_SOURCE, CORE "ProjectedVolumeSource",
        "several sources in one directory",
    LIST(1, "sources", VOLUME_PROJECTION, "the sources of the files", ALWAYS),
    INT32(2, "defaultMode", "the permission bits of files that set no mode; default: 0644", IF_SET,
        FALLBACK("420")));

LOCAL_TYPE(CSI_VOLUME_SOURCE, CORE "CSIVolumeSource",
        "a volume that a CSI driver provides for the pod",
    TEXT(1, "driver", "the name of the driver", REQUIRED, ALWAYS),
    BOOL(2, "readOnly", "true: the volume is mounted read-only", IF_SET),
    TEXT(3, "fsType", "the file system type of the volume, such as ext4", IF_SET),
    TEXT_MAP(4, "volumeAttributes", "settings for the driver"),
    OBJECT(5, "nodePublishSecretRef", TYPE_LOCAL_OBJECT_REFERENCE,
        "the secret that the driver needs to mount the volume"));

LOCAL_TYPE(EPHEMERAL_VOLUME_SOURCE, CORE "EphemeralVolumeSource",
        "a claim that is created and deleted with the pod",
    OBJECT(1, "volumeClaimTemplate", TYPE_PERSISTENT_VOLUME_CLAIM_TEMPLATE,
        "the template of the claim"));

LOCAL_TYPE(IMAGE_VOLUME_SOURCE, CORE "ImageVolumeSource", "the files of a container image",
    TEXT(1, "reference", "the name of the image"),
    TEXT(2, "pullPolicy",
        "when the image is pulled: Always, Never or IfNotPresent",
        WORDS("Always", "IfNotPresent", "Never")));

TYPE(TYPE_NFS_VOLUME_SOURCE, CORE "NFSVolumeSource", "a directory of an NFS server",
    TEXT(1, "server", "the host name or IP address of the server", REQUIRED, ALWAYS),
    TEXT(2, "path", "the path that the server exports", REQUIRED, ALWAYS),
    BOOL(3, "readOnly", "true: the volume is mounted read-only"));

TYPE(TYPE_VOLUME, CORE "Volume", "a volume of a pod; exactly one source is set",
    TEXT(1, "name", "the name of the volume, which volumeMounts refer to", REQUIRED, ALWAYS),
    OBJECT(INSIDE(2, 1), "hostPath", TYPE_HOST_PATH_VOLUME_SOURCE,
        "a file or directory on the node"),
    OBJECT(INSIDE(2, 2), "emptyDir", EMPTY_DIR_VOLUME_SOURCE,
        "a directory that is empty at first and deleted with the pod"),
    OBJECT(INSIDE(2, 3), "gcePersistentDisk", TYPE_GCE_PERSISTENT_DISK_VOLUME_SOURCE,
        "a Google Compute Engine persistent disk"),
    OBJECT(INSIDE(2, 4), "awsElasticBlockStore", TYPE_AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
        "an Amazon Elastic Block Store volume"),
    OBJECT(INSIDE(2, 5), "gitRepo", TYPE_GIT_REPO_VOLUME_SOURCE,
        "deprecated: a copy of a git repository"),
    OBJECT(INSIDE(2, 6), "secret", SECRET_VOLUME_SOURCE, "keys of a secret as files"),
    OBJECT(INSIDE(2, 7), "nfs", TYPE_NFS_VOLUME_SOURCE, "a directory of an NFS server"),
    OBJECT(INSIDE(2, 8), "iscsi", TYPE_ISCSI_VOLUME_SOURCE, "an iSCSI disk"),
    OBJECT(INSIDE(2, 9), "glusterfs", TYPE_GLUSTERFS_VOLUME_SOURCE, "a Gluster volume"),
    OBJECT(INSIDE(2, 10), "persistentVolumeClaim", PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE,
        "the storage of a PersistentVolumeClaim"),
    OBJECT(INSIDE(2, 11), "rbd", TYPE_RBD_VOLUME_SOURCE, "a Ceph RBD image"),
    OBJECT(INSIDE(2, 12), "flexVolume", TYPE_FLEX_VOLUME_SOURCE,
        "a volume of a FlexVolume driver on the node"),
    OBJECT(INSIDE(2, 13), "cinder", TYPE_CINDER_VOLUME_SOURCE, "an OpenStack Cinder volume"),
    OBJECT(INSIDE(2, 14), "cephfs", TYPE_CEPH_FS_VOLUME_SOURCE, "a CephFS directory"),
    OBJECT(INSIDE(2, 15), "flocker", TYPE_FLOCKER_VOLUME_SOURCE, "a Flocker dataset"),
    OBJECT(INSIDE(2, 16), "downwardAPI", DOWNWARD_API_VOLUME_SOURCE,
        "files with information about the pod"),
    OBJECT(INSIDE(2, 17), "fc", TYPE_FC_VOLUME_SOURCE, "a Fibre Channel disk"),
    OBJECT(INSIDE(2, 18), "azureFile", TYPE_AZURE_FILE_VOLUME_SOURCE, "an Azure file share"),
    OBJECT(INSIDE(2, 19), "configMap", CONFIG_MAP_VOLUME_SOURCE, "keys of a config map as files"),
    OBJECT(INSIDE(2, 20), "vsphereVolume", TYPE_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
        "a vSphere virtual disk"),
    OBJECT(INSIDE(2, 21), "quobyte", TYPE_QUOBYTE_VOLUME_SOURCE, "a Quobyte volume"),
    OBJECT(INSIDE(2, 22), "azureDisk", TYPE_AZURE_DISK_VOLUME_SOURCE, "an Azure disk"),
    OBJECT(INSIDE(2, 23), "photonPersistentDisk", TYPE_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
        "a VMware Photon disk"),
    OBJECT(INSIDE(2, 26), "projected", PROJECTED_VOLUME_SOURCE, "several sources in one directory"),
    OBJECT(INSIDE(2, 24), "portworxVolume", TYPE_PORTWORX_VOLUME_SOURCE, "a Portworx volume"),
    OBJECT(INSIDE(2, 25), "scaleIO", TYPE_SCALE_IO_VOLUME_SOURCE, "a ScaleIO volume"),
    OBJECT(INSIDE(2, 27), "storageos", TYPE_STORAGE_OS_VOLUME_SOURCE, "a StorageOS volume"),
    OBJECT(INSIDE(2, 28), "csi", CSI_VOLUME_SOURCE,
        "a volume that a CSI driver provides for the pod"),
    OBJECT(INSIDE(2, 29), "ephemeral", EPHEMERAL_VOLUME_SOURCE,
        "a claim that is created and deleted with the pod"),
    OBJECT(INSIDE(2, 30), "image", IMAGE_VOLUME_SOURCE, "the files of a container image"));
