/* What a Scale is called and what `kubectl get` shows of it; see scale.h. */
#include "kube/kinds/scale.h"

#include "kube/kinds/row.h"

const struct kube_resource KUBE_SCALES =
    RESOURCE_OF("autoscaling", "v1", "scales", "Scale", NAMESPACED);

static const struct kube_column SCALE_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_INT("Desired", "How many replicas are wanted.", table_scale_desired),
    COLUMN_INT("Available", "How many replicas there are.", table_scale_available),
    COLUMN_AGE,
};

const struct kube_columns KUBE_SCALE_COLUMNS = COLUMNS(SCALE_COLUMNS);
