/* Goes through a Pod and plans its spec; see plan/plan.h. */
#include "node/plan/internal.h"

#include "base/mem.h"
#include "node/plan/masks.h"

int plan_refuse(struct planner *p, const char *reason, const char *container, int result)
{
    *p->refusal = (struct plan_refusal){
        .reason = reason, .container = container, .is_temporary = result == -ERR_NOT_FOUND};
    return result;
}

static int plan_container(struct planner *p, const struct json *container, bool init)
{
    const char *name = json_get_string(container, "name", "");
    if (p->spec->container_count == POD_CONTAINERS_MAX)
        return plan_refuse(p, "CreateContainerConfigError", name,
                           err_set(p->err, ERR_TOO_MANY, "the pod has more than %d containers",
                                   POD_CONTAINERS_MAX));
    struct pod_container *ret = pod_spec_add_container(p->arena, p->spec, name);
    ret->init = init;
    ret->has_stdin = json_get_bool(container, "stdin", false);
    ret->stdin_once = json_get_bool(container, "stdinOnce", false);
    ret->terminal = json_get_bool(container, "tty", false);
    int result = plan_check_image_name(p, container);
    if (result < 0)
        return plan_refuse(p, "InvalidImageName", name, result);
    if ((result = plan_image(p, container, ret)) < 0)
        return plan_refuse(p, "CreateContainerConfigError", name, result);
    if (p->input->plain && (result = plan_check_plain(p, container, ret)) < 0)
        return result;
    if ((result = plan_security(p, container, ret)) < 0)
        return plan_refuse(p, "CreateContainerConfigError", name, result);
    plan_default_environment(p, container, &ret->environment);
    if (!p->input->plain)
        environment_add_services(p->arena, &p->facts, p->input->objects, &ret->environment);
    else if ((result = plan_plain_environment(p, container, ret)) < 0)
        return plan_refuse(p, "CreateContainerConfigError", name, result);
    if ((result = plan_gpus(p, container, ret)) < 0 ||
        (result = environment_build(p->arena, &p->facts, p->input->objects, container,
                                    &ret->environment, p->err)) < 0 ||
        (result = p->input->plain ? 0 : plan_mounts(p, container, ret)) < 0 ||
        (result = plan_life(p, container, ret)) < 0)
        return plan_refuse(p, "CreateContainerConfigError", name, result);
    if (p->input->plain)
        plan_plain_mark(p, container, &ret->environment);
    result = plan_command(p, container, ret);
    if (result == 0 && p->input->plain)
        plan_plain_command(p, container, ret);
    else if (result == 0 && !ret->root)
        plan_tmp_programs(p, ret);
    return result;
}

int plan_pod(struct arena *arena, const struct plan_input *input, struct pod_spec *ret,
             struct plan_refusal *ret_refusal, struct err *err)
{
    const struct json *spec = json_get(input->pod, "spec");
    bool on_machine = input->plain || plan_uses_host_network(input->pod);
    struct planner *p = ARENA_NEW(arena, struct planner);
    *p = (struct planner){.arena = arena,
                          .input = input,
                          .spec = ARENA_NEW(arena, struct pod_spec),
                          .facts = {.pod = input->pod,
                                    .hostname = plan_pod_hostname(arena, input->pod),
                                    .address = input->address,
                                    .host_address = input->host_address,
                                    .capacity = input->capacity,
                                    .api_port = on_machine ? input->api_port : 0},
                          .refusal = ret_refusal,
                          .err = err};
    p->spec->network = on_machine ? NULL : input->network;
    p->spec->address = input->address;
    p->spec->nested = input->nested;
    p->spec->plain = input->plain;
    p->spec->machine_ipc = input->plain || json_get_bool(spec, "hostIPC", false);
    if (!input->plain) {
        p->spec->shares_processes = json_get_bool(spec, "shareProcessNamespace", false);
        p->spec->hosts = plan_hosts(p);
        p->spec->resolv_conf = plan_resolv_conf(p);
        plan_masks_add(arena, input->state_dir, input->home, &p->spec->masks);
        p->spec->secrets = arena_printf(arena, "%s/secrets", input->state_dir);
        for (size_t i = 0; input->shares && input->shares[i]; i++)
            pod_strings_add(arena, &p->spec->shares, input->shares[i]);
    }
    int result = plan_hostname(p);
    if (result < 0)
        return plan_refuse(p, "FailedCreatePodSandBox", NULL, result);
    result = restart_policy_parse(json_get_string(spec, "restartPolicy", "Always"),
                                  &p->spec->restart, err);
    if (result < 0)
        return plan_refuse(p, "CreateContainerConfigError", NULL, result);
    if ((result = plan_pod_security(p)) < 0)
        return plan_refuse(p, "SysctlForbidden", NULL, result);
    plan_pod_life(p);
    if ((result = plan_prepare_volumes(p)) < 0)
        return result;
    const struct json *lists[] = {json_get(spec, "initContainers"), json_get(spec, "containers")};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, lists[i]) {
            if ((result = plan_container(p, container, i == 0)) < 0)
                return result;
        }
    }
    *ret = *p->spec;
    return 0;
}
