/* Implements the mode install: copies this program into a volume of a pod, where it becomes the
 * wrapper of a pipeline step (step/helper/output.c). If the step is a script, also writes its text,
 * which pipeline/reconcile/pod_build.c puts into $TRAINYARD_SCRIPT. Runs in an init container of
 * the pod, on any cluster. The main container mounts the volume too, so its image need not contain
 * the wrapper. */
#include "node/step/step.h"

#include "base/buf.h"
#include "base/system/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROGRAM_MAX = 64 * 1024 * 1024 };

static int install_copy(const char *program, const char *script, struct err *err)
{
    _cleanup_buf_ struct buf self;
    const char *text = getenv("TRAINYARD_SCRIPT");

    umask(0); /* the command may run as another user */
    buf_init(&self, PROGRAM_MAX);
    int result = file_read("/proc/self/exe", &self, err);
    if (result == 0)
        result = file_write_atomic(program, self.data, self.size, 0755, err);
    if (result == 0 && script)
        result = file_write_atomic(script, text ? text : "", text ? strlen(text) : 0, 0755, err);
    return result;
}

int step_install(int argc, char **argv)
{
    struct err err = ERR_INIT;

    if (argc < 1 || argc > 2) {
        fputs("usage: trainyard-step install PROGRAM [SCRIPT]\n", stderr);
        return 2;
    }
    if (install_copy(argv[0], argc > 1 ? argv[1] : NULL, &err) < 0) {
        fprintf(stderr, "trainyard-step: %s\n", err.message);
        return 1;
    }
    return 0;
}
