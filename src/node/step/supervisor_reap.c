/* Reaps the children of a pod's supervisor; see step/supervisor.h. */
#include "node/step/supervisor.h"

#include "node/step/advice.h"
#include "node/step/sandbox/isolation.h"

#include "base/moment.h"

#include <sys/wait.h>

/* In a pod without namespaces, kills all remaining processes of a container that has ended, but not
 * the supervisor's children for other containers. With namespaces the kernel has killed them, or
 * container_run_reaped() will. */
static void reap_leftovers(const struct supervisor *s, size_t ended)
{
    pid_t others[POD_CONTAINERS_MAX * (1 + LIFE_CHILDREN_MAX) + STEP_CALLS_MAX];
    size_t count = step_server_children(&s->server, &s->runs[ended], others);
    for (size_t i = 0; i < s->state.count; i++) {
        if (i == ended)
            continue;
        if (s->runs[i].pid)
            others[count++] = s->runs[i].pid;
        count += life_children(&s->lives[i], others + count);
    }
    step_isolation_container_ended(&s->spec, s->directory, s->spec.containers[ended].name, others,
                                   count);
}

/* Finds the container that a child ran for, to add its CPU time there. Returns NULL if the child
 * was the first process of a container or of a shared PID namespace. A child that is in no list,
 * such as an orphan or a timed-out probe, is attributed to the only running container; if several
 * run, the result is NULL. */
static struct container_run *reap_find_container(struct supervisor *s, pid_t pid)
{
    struct container_run *only = step_server_run_of(&s->server, pid);
    size_t running = 0;
    if (only || pid == s->share.pid)
        return only;
    for (size_t i = 0; i < s->state.count; i++) {
        pid_t children[LIFE_CHILDREN_MAX];
        size_t count = life_children(&s->lives[i], children);
        if (s->runs[i].pid == pid)
            return NULL;
        while (count > 0)
            if (children[--count] == pid)
                return &s->runs[i];
        only = s->runs[i].pid ? &s->runs[i] : only;
        running += s->runs[i].pid != 0;
    }
    return running == 1 ? only : NULL;
}

void supervisor_reap(struct supervisor *s)
{
    int status;
    struct rusage used;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;) {
        struct container_run *container = reap_find_container(s, pid);
        if (container)
            container_run_add_cpu_time(container, &used);
        if (step_share_reaped(&s->share, pid) || step_server_reaped(&s->server, pid, status))
            continue;
        for (size_t i = 0; i < s->state.count; i++) {
            life_reaped(&s->lives[i], pid, status);
            if (s->runs[i].pid != pid)
                continue;
            reap_leftovers(s, i);
            supervisor_read_container(s,
                                      i); /* a report that the program has started may be unread */
            container_run_reaped(&s->runs[i], status, moment_wall_ms());
            step_server_run_ended(&s->server, &s->runs[i]);
            if (!s->runs[i].is_up)
                pod_state_record_event(&s->state, s->state.containers[i].name, true, "Failed",
                                       "Error: %s", s->state.containers[i].end.message);
            else if (!supervisor_is_stopping(s))
                step_advice_tell(s->directory, &s->spec, i, &s->state);
            life_over(&s->lives[i]);
            supervisor_decide_restart(s, i, false);
        }
    }
}
