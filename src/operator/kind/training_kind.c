/* Lists the kinds of training jobs, and defines the names of replica types and restart policies,
 * which all kinds share; see training_kind.h. */
#include "operator/kind/training_kind.h"

#include "base/mem.h"
#include "base/str.h"

const struct training_kind *const TRAINING_KINDS[TRAINING_KIND_COUNT] = {&TRAINING_TFJOB,
                                                                         &TRAINING_PYTORCHJOB};

static const struct {
    const char *name, *lower;
} TYPE_NAMES[TRAINING_REPLICA_TYPES] = {
    [TRAINING_CHIEF] = {"Chief", "chief"},
    [TRAINING_MASTER] = {"Master", "master"},
    [TRAINING_WORKER] = {"Worker", "worker"},
    [TRAINING_PS] = {"PS", "ps"},
    [TRAINING_EVALUATOR] = {"Evaluator", "evaluator"},
};

const char *training_replica_type_name(enum training_replica_type type)
{
    return TYPE_NAMES[type].name;
}

const char *training_replica_type_lower(enum training_replica_type type)
{
    return TYPE_NAMES[type].lower;
}

bool training_replica_type_parse(const struct training_kind *kind, const char *text,
                                 enum training_replica_type *ret)
{
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        if (!training_kind_supports(kind, (enum training_replica_type)type) ||
            !str_eq_nocase(text, TYPE_NAMES[type].name))
            continue;
        *ret = (enum training_replica_type)type;
        return true;
    }
    return false;
}

bool training_restart_policy_parse(const char *text, enum training_restart_policy *ret)
{
    static const struct {
        const char *name;
        enum training_restart_policy value;
    } ROWS[] = {
        {"Never", TRAINING_RESTART_NEVER},
        {"Always", TRAINING_RESTART_ALWAYS},
        {"OnFailure", TRAINING_RESTART_ON_FAILURE},
        {"ExitCode", TRAINING_RESTART_EXIT_CODE},
    };

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        if (str_eq(text, ROWS[i].name)) {
            *ret = ROWS[i].value;
            return true;
        }
    }
    return false;
}
