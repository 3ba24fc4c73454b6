/* One line per kind that needs the engine's state on a write; see hooks.h. */
#include "engine/hooks.h"

#include "engine/api/rest.h"
#include "engine/crd/definition.h"
#include "engine/kinds/service_addresses.h"
#include "kube/kinds/service.h"

static void assign_service(struct engine *engine, struct field_errors *errors, struct json *service,
                           const struct json *old)
{
    kube_service_complete(errors, service, old);
    if (errors->count == 0)
        service_addresses_assign(engine_service_addresses(engine), errors, service, old);
}

const struct registry_hooks ENGINE_HOOKS[] = {
    {&KUBE_NAMESPACE_KIND, .admit = rest_admit_namespace},
    {&KUBE_POD_KIND, .admit = rest_admit_pod},
    {&KUBE_PVC_KIND, .admit = rest_admit_claim},
    {&KUBE_RESOURCEQUOTA_KIND, .admit = rest_admit_quota, .status = rest_recount_quota},
    {&KUBE_SERVICE_KIND, .assign = assign_service},
    {&KUBE_CLUSTERROLE_KIND, .admit = rest_admit_role},
    {&KUBE_ROLE_KIND, .admit = rest_admit_role},
    {&KUBE_CLUSTERROLEBINDING_KIND, .admit = rest_admit_binding},
    {&KUBE_ROLEBINDING_KIND, .admit = rest_admit_binding},
    {&KUBE_PRIORITYCLASS_KIND, .admit = rest_admit_priority_class},
    {&DEFINITION_KIND, .delete_ = definition_mark_deleted, .admit = rest_admit_definition},
    {0},
};
