/* Implements the output of the path of a report; see fit_report.h. */
#include "cli/trainer/fit_report.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/run_report.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns the path of the report, or NULL if no report was written. The caller frees the path. */
static char *report_path(const char *model_dir)
{
    char *path = model_dir ? mem_printf("%s/" RUN_REPORT_PAGE, model_dir) : NULL;
    if (path && !file_exists(path))
        free(TAKE(path));
    return path;
}

void fit_report_print(const char *model_dir)
{
    _cleanup_free_ char *path = report_path(model_dir);
    if (path)
        printf("report: %s\n", path);
}

void fit_report_set(struct arena *arena, struct json *line, const char *model_dir)
{
    _cleanup_free_ char *path = report_path(model_dir);
    if (path)
        json_set_string(arena, line, "report", path);
}
