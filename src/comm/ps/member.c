/* Implements the data that clients and servers of parameter servers both need; see member.h. */
#include "comm/ps/member.h"

#include "base/mem.h"
#include "comm/cluster/tf_config.h"
#include "comm/transport/secret.h"

#include <stdio.h>
#include <string.h>

/* A cluster description lists chief, workers, ps and evaluators in this order. Evaluators do not
 * take part in training, so this function copies only the tasks before them. */
int ps_member_init(struct ps_member *member, const struct ty_tf_config *config, uint64_t shape,
                   const char *secret, struct err *err)
{
    *member = (struct ps_member){
        .workers = (int)tf_config_workers(config),
        .servers = (int)ty_tf_config_count(config, TY_ROLE_PS),
    };
    buf_init(&member->secret, SECRET_MAX);
    if (config->sparse)
        return err_set(err, ERR_UNSUPPORTED,
                       "this TF_CONFIG has the sparse form of dynamic workers, which does not name "
                       "the other workers, so a server cannot know when all workers have finished: "
                       "set enableDynamicWorker to false");
    int result = 0;
    if (secret)
        buf_append_str(&member->secret, secret);
    else
        result = secret_from_environment(&member->secret, err);
    if (result < 0)
        return result;
    if (member->secret.overflowed)
        return err_set(err, ERR_TOO_LARGE, "the job secret is longer than %d bytes", SECRET_MAX);
    size_t count = (size_t)member->workers + (size_t)member->servers;
    member->tasks = mem_calloc(count, sizeof(*member->tasks));
    memcpy(member->tasks, config->tasks, count * sizeof(*member->tasks));
    member->rendezvous = (struct rendezvous_options){.tasks = member->tasks,
                                                     .rank = (int)config->self,
                                                     .size = (int)count,
                                                     .shape = shape,
                                                     .secret = member->secret.data,
                                                     .secret_size = member->secret.size};
    return 0;
}

void ps_member_release(struct ps_member *member)
{
    free(member->tasks);
    buf_release(&member->secret);
    *member = (struct ps_member){0};
}

void ps_member_describe(const struct ps_member *member, int rank,
                        char text[TF_CONFIG_TASK_TEXT_MAX])
{
    tf_config_task_describe(&member->tasks[rank], text);
}

void ps_member_report(const struct ps_member *member, const char *format, ...)
{
    if (!member->rendezvous.report)
        return;
    char line[ERR_MESSAGE_MAX + TF_CONFIG_TASK_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    member->rendezvous.report(member->rendezvous.context, line);
}
