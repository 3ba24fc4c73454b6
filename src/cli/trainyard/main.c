/* trainyard: the control program. This file has the table of commands, and starts the internal
 * command probe-tls. */
#include "cli/trainyard/commands.h"

#include "base/str.h"
#include "base/system/crash.h"

static const struct command *const COMMANDS[] = {
    &COMMAND_UP,    &COMMAND_DOWN,    &COMMAND_STATUS,   &COMMAND_CHECK,
    &COMMAND_IMAGE, &COMMAND_PROCESS, &COMMAND_OPERATOR, NULL,
};

static const struct program PROGRAM = {
    .name = "trainyard",
    .summary = "run distributed training from the YAML you already have",
    .description = "trainyard runs a Kubernetes API on this machine within a second, without "
                   "containers and without root, "
                   "and runs what you apply to it: TFJobs, PyTorchJobs, Jobs, Workflows, Pods, "
                   "Services and volumes. "
                   "kubectl works against it.\n\n"
                   "Start with 'trainyard up', then use kubectl with the kubeconfig it names.",
    .commands = COMMANDS,
    .companion = "kubectl",
    .companion_commands = "apply|attach|cp|create|delete|describe|edit|exec|explain|get|label|logs|"
                          "patch|port-forward|replace|rollout|scale|top|wait",
};

int main(int argc, char **argv)
{
    crash_log_install("trainyard");
    if (argc == 3 && str_eq(argv[1], "probe-tls"))
        return probe_tls(argv[2]);
    return options_main(&PROGRAM, TRAINYARD_VERSION, argc, argv);
}
