/* Lists the hooks of the engine, one line per kind; see hooks.h. */
#include "engine/hooks.h"

#include "engine/admission/admission.h"
#include "engine/api/handlers.h"
#include "engine/crd/definition.h"
#include "engine/internal.h"
#include "engine/kinds/service_addresses.h"
#include "kube/kinds/service/service.h"

static void assign_service(struct engine *engine, struct field_errors *errors, struct json *service,
                           const struct json *old)
{
    kube_service_complete(errors, service, old);
    if (errors->count == 0)
        service_addresses_assign(engine_service_addresses(engine), errors, service, old);
}

const struct registry_hooks ENGINE_HOOKS[] = {
    {&KUBE_NAMESPACE_KIND, .admit = admission_admit_namespace},
    {&KUBE_POD_KIND, .admit = admission_admit_pod},
    {&KUBE_PVC_KIND, .admit = admission_admit_claim},
    {&KUBE_RESOURCEQUOTA_KIND, .admit = admission_admit_quota, .status = admission_recount_quota},
    {&KUBE_SERVICE_KIND, .assign = assign_service},
    {&KUBE_CLUSTERROLE_KIND, .admit = api_admit_role},
    {&KUBE_ROLE_KIND, .admit = api_admit_role},
    {&KUBE_CLUSTERROLEBINDING_KIND, .admit = api_admit_binding},
    {&KUBE_ROLEBINDING_KIND, .admit = api_admit_binding},
    {&KUBE_PRIORITYCLASS_KIND, .admit = admission_admit_priority_class},
    {&DEFINITION_KIND, .delete_ = definition_mark_deleted, .admit = api_admit_definition},
    {.admit = admission_charge_quotas},
};
