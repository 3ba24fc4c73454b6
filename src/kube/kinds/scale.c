/* The resource of a Scale and its columns in `kubectl get`; see scale.h. */
#include "kube/kinds/scale.h"

#include "kube/kinds/row.h"

const struct kube_resource KUBE_SCALES =
    RESOURCE_OF("autoscaling", "v1", "scales", "Scale", NAMESPACED);

static const struct kube_column SCALE_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_INT("Desired", "Desired number of replicas.", table_scale_desired),
    COLUMN_INT("Available", "Number of replicas that exist.", table_scale_available),
    COLUMN_AGE,
};

const struct kube_columns KUBE_SCALE_COLUMNS = COLUMNS(SCALE_COLUMNS);
