/* The main function of trainyard-step and the table of its modes. Only trainyard and the pods of
 * pipelines start this program; a user who starts it without a mode gets a message that says so. */
#include "node/step/step.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} MODES[] = {
    {"hold", step_hold},      {"install", step_install}, {"names", step_names},
    {"output", step_output},  {"pod", step_pod},         {"proxy", step_proxy},
    {"way-out", step_egress},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(MODES); i++)
        if (str_eq(argv[1], MODES[i].name))
            return MODES[i].run(argc - 2, argv + 2);
    fputs("trainyard-step: trainyard starts this program for each pod; it is not meant to be run "
          "by hand\n",
          stderr);
    return 2;
}
