/* Creates and frees a team; see team.h. plan.c plans its passes, pass.c runs them, reduce.c sums
 * over all workers, and update.c updates the parameters. */
#include "base/mem.h"
#include "train/team/private.h"

#include <string.h>

void team_need_workspaces(struct team *team, const struct team_plan *plan)
{
    for (int i = 0; plan->count > 1 && i < team->parts && !team->workspaces[i]; i++)
        team->workspaces[i] = network_workspace_new(team->options.network, team->options.part);
}

int team_new(const struct team_options *options, struct team **ret, struct err *err)
{
    if (options->threads < 1 || options->threads > TEAM_THREADS_MAX)
        return err_set(err, ERR_INVALID, "the number of threads is %d, but must be from 1 to %d",
                       options->threads, TEAM_THREADS_MAX);
    struct team *team = mem_zalloc(sizeof(*team));
    struct params *params = options->params;
    team->options = *options;
    exact_sum_init(&team->sum, params);
    team->parts = team_plan_parts(options, options->samples);
    team->threads = options->threads < team->parts ? options->threads : team->parts;
    team->threads = team->threads < 1 ? 1 : team->threads;
    size_t workers = options->reducer ? (size_t)options->reducer->size : 1;
    team->survey = mem_calloc(1 + params->count, sizeof(float));
    team->all_surveys = mem_calloc(workers * (1 + params->count), sizeof(float));
    team->quanta_before = mem_calloc(params->count + 1, sizeof(float));
    team_plan_make(team);
    team->tapes = mem_calloc((size_t)team->parts + 1, sizeof(struct network_tape *));
    team->workspaces = mem_calloc((size_t)team->parts + 1, sizeof(struct network_workspace *));
    for (int i = 0; i < team->parts; i++) {
        team->tapes[i] = network_tape_new(options->network, options->part);
        network_tape_use_totals(team->tapes[i], team->totals);
    }
    team_need_workspaces(team, &team->back);
    team->members = mem_calloc((size_t)team->threads, sizeof(*team->members));
    for (int i = 0; i < team->threads; i++) {
        struct team_member *member = &team->members[i];
        member->team = team;
        member->index = i;
        if (team->back.count == 1)
            member->workspace = network_workspace_new(options->network, options->part);
        member->part = mem_calloc(params->floats, sizeof(float));
        member->largest = mem_calloc(params->count + 1, sizeof(float));
        member->gradients = i ? mem_calloc(params->floats, sizeof(float)) : params->gradients;
    }
    pthread_mutex_init(&team->start, NULL);
    *ret = team;
    return 0;
}

struct team *team_free(struct team *team)
{
    if (!team)
        return NULL;
    for (int i = 0; i < team->parts; i++) {
        network_tape_free(team->tapes[i]);
        network_workspace_free(team->workspaces[i]);
    }
    for (int i = 0; i < team->threads; i++) {
        network_workspace_free(team->members[i].workspace);
        free(team->members[i].part);
        free(team->members[i].largest);
        if (i)
            free(team->members[i].gradients);
    }
    pthread_mutex_destroy(&team->start);
    exact_sum_release(&team->sum);
    free(team->survey);
    free(team->all_surveys);
    free(team->quanta_before);
    free(team->tapes);
    free(team->workspaces);
    free(team->members);
    free(team->forward.stretches);
    free(team->back.stretches);
    free(team->sending.stretches);
    free(team->sums);
    free(team->all_sums);
    free(team->totals);
    free(team);
    return NULL;
}

float *team_learned(struct team *team, size_t *ret_count)
{
    *ret_count = team->options.params->count;
    return team->sum.quantum;
}

/* Creates a new team, because nearly everything in a team depends on its share. */
int team_set_share(struct team **team, int samples, int share_max, struct err *err)
{
    struct team_options options = (*team)->options;
    options.samples = samples;
    options.share_max = share_max;
    struct team *other = NULL;
    int result = team_new(&options, &other, err);
    if (result < 0)
        return result;
    memcpy(other->sum.quantum, (*team)->sum.quantum, options.params->count * sizeof(float));
    team_free(*team);
    *team = other;
    return 0;
}
