/* Builds the objects of a replica; see pod_template.h. A pod is a clone of the template, so that
 * everything that the user wrote is kept, with the fields of the replica added. */
#include "operator/reconcile/pod_template.h"

#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>

/* Returns the restart policy of the pod. With ExitCode the node must not restart the pod, because
 * the operator checks the exit code first. If replicas restart together, the node must not restart
 * a pod either, because the other replicas would not notice. */
static const char *pod_restart_policy(const struct training_job *job,
                                      enum training_replica_type type)
{
    switch (job->replicas[type].restart_policy) {
    case TRAINING_RESTART_ALWAYS:
        return job->restart_together ? "Never" : "Always";
    case TRAINING_RESTART_ON_FAILURE:
        return job->restart_together ? "Never" : "OnFailure";
    case TRAINING_RESTART_NEVER:
    case TRAINING_RESTART_EXIT_CODE:
        break;
    }
    return "Never";
}

static void set_replica_labels(struct arena *arena, struct json *labels,
                               const struct training_job *job, enum training_replica_type type,
                               int index)
{
    json_set_string(arena, labels, TRAINING_OPERATOR_LABEL, job->kind->controller_name);
    json_set_string(arena, labels, TRAINING_NAME_LABEL, job->name);
    json_set_string(arena, labels, TRAINING_TYPE_LABEL, training_replica_type_lower(type));
    json_set(arena, labels, TRAINING_INDEX_LABEL, json_stringf(arena, "%d", index));
}

/* Returns whether the replica is the chief, or worker 0 of a job without a chief. */
static bool is_master_role(const struct training_job *job, enum training_replica_type type,
                           int index)
{
    if (training_job_has_chief(job))
        return type == TRAINING_CHIEF || type == TRAINING_MASTER;
    return type == TRAINING_WORKER && index == 0;
}

static struct json *object_new(struct arena *arena, const struct kube_resource *resource,
                               const struct training_job *job, enum training_replica_type type,
                               int index)
{
    struct json *object = kube_object_make(arena, resource, job->namespace_,
                                           training_replica_name(arena, job, type, index));
    struct json *labels =
        json_ensure_object(arena, json_ensure_object(arena, object, "metadata"), "labels");

    set_replica_labels(arena, labels, job, type, index);
    kube_meta_add_owner(arena, object, kube_owner_reference_new(arena, job->json, true));
    return object;
}

/* Adds the kind's port, on which the replica listens, if the template does not have it. */
static void set_default_port(struct arena *arena, const struct training_kind *kind,
                             struct json *container)
{
    JSON_EACH (given, json_get(container, "ports")) {
        if (str_eq(json_get_string(given, "name", NULL), kind->port_name))
            return;
    }
    struct json *port = json_object(arena);
    json_set_string(arena, port, "name", kind->port_name);
    json_set_int(arena, port, "containerPort", kind->port);
    json_append(json_ensure_array(arena, container, "ports"), port);
}

/* Sets the replica's own port in the network of its node. It is declared as a host port, so that
 * the scheduler respects it too. */
static void set_host_port(struct arena *arena, const struct training_kind *kind,
                          struct json *container, int number)
{
    JSON_EACH (port, json_get(container, "ports")) {
        if (!str_eq(json_get_string(port, "name", NULL), kind->port_name))
            continue;
        json_set_int(arena, port, "containerPort", number);
        json_set_int(arena, port, "hostPort", number);
    }
}

static void set_ports(struct arena *arena, const struct training_job *job,
                      enum training_replica_type type, int index, struct json *container)
{
    set_default_port(arena, job->kind, container);
    if (job->replicas[type].host_network)
        set_host_port(arena, job->kind, container, training_replica_port(job, type, index));
}

static void template_copy_member(struct arena *arena, struct json *target,
                                 const struct json *source, const char *name)
{
    const struct json *value = json_get(source, name);

    if (value && value->type != JSON_NULL)
        json_set(arena, target, name, json_clone(arena, value));
}

struct json *training_pod_new(struct arena *arena, const struct training_job *job,
                              enum training_replica_type type, int index,
                              const char *cluster_domain)
{
    const struct training_replica_spec *replica = &job->replicas[type];
    const struct json *template_metadata = json_get(replica->template, "metadata");
    struct json *pod = object_new(arena, &KUBE_PODS, job, type, index);
    struct json *metadata = json_get(pod, "metadata");
    struct json *spec;

    JSON_EACH (label, json_get(template_metadata, "labels")) {
        if (!kube_meta_label(pod, label->name))
            kube_meta_set_label(arena, pod, label->name, json_text(label));
    }
    if (is_master_role(job, type, index))
        kube_meta_set_label(arena, pod, TRAINING_ROLE_LABEL, "master");
    template_copy_member(arena, metadata, template_metadata, "annotations");
    template_copy_member(arena, metadata, template_metadata, "finalizers");

    template_copy_member(arena, pod, replica->template, "spec");
    spec = json_ensure_object(arena, pod, "spec");
    json_set_string(arena, spec, "restartPolicy", pod_restart_policy(job, type));
    if (job->shared_address)
        json_set_bool(arena, spec, "hostNetwork", true);
    struct json *container = training_job_container(job->kind, spec);
    if (container)
        set_ports(arena, job, type, index, container);
    /* The default of a pod in the node's network is the node's resolver, which does not know the
     * names of services. */
    if (json_get_bool(spec, "hostNetwork", false) &&
        str_is_empty(json_get_string(spec, "dnsPolicy", NULL)))
        json_set_string(arena, spec, "dnsPolicy", "ClusterFirstWithHostNet");
    job->kind->set_environment(arena, job, type, index, cluster_domain, spec);
    return pod;
}

/* Returns the ports of the service: every port of the training container. Each gets a name, because
 * a service with several ports needs names. */
static struct json *service_ports(struct arena *arena, const struct training_job *job,
                                  enum training_replica_type type, int index)
{
    const struct json *template_spec = json_get(job->replicas[type].template, "spec");
    struct json *container = json_clone(arena, training_job_container(job->kind, template_spec));
    struct json *ports = json_array(arena);

    set_ports(arena, job, type, index, container);
    JSON_EACH (given, json_get(container, "ports")) {
        int64_t number = json_get_int(given, "containerPort", 0);
        const char *name = json_get_string(given, "name", "");
        struct json *port = json_object(arena);

        if (str_is_empty(name))
            name = arena_printf(arena, "port-%" PRId64, number);
        json_set_string(arena, port, "name", name);
        template_copy_member(arena, port, given, "protocol");
        json_set_int(arena, port, "port", number);
        json_append(ports, port);
    }
    return ports;
}

struct json *training_service_new(struct arena *arena, const struct training_job *job,
                                  enum training_replica_type type, int index)
{
    struct json *service = object_new(arena, &KUBE_SERVICES, job, type, index);
    struct json *spec = json_ensure_object(arena, service, "spec");

    json_set_string(arena, spec, "clusterIP", "None");
    /* Peers resolve each other while they start: a name must resolve before its pod is ready. */
    json_set_bool(arena, spec, "publishNotReadyAddresses", true);
    set_replica_labels(arena, json_ensure_object(arena, spec, "selector"), job, type, index);
    json_set(arena, spec, "ports", service_ports(arena, job, type, index));
    return service;
}

bool training_template_sets_restart_policy(const struct training_job *job,
                                           enum training_replica_type type)
{
    const struct json *spec = json_get(job->replicas[type].template, "spec");

    return !str_is_empty(json_get_string(spec, "restartPolicy", NULL));
}
