/* Tests the advice for the last lines of a failed program. */
#include "node_test.h"
#include "scratch_directory.h"

#include "base/system/file.h"
#include "node/step/advice.h"

static struct pod_spec spec;
static struct pod_container container;

static void prepare(struct arena *arena)
{
    spec = (struct pod_spec){0};
    container = (struct pod_container){0};
    pod_strings_add(arena, &spec.masks, "/usr/lib");
    pod_strings_add(arena, &container.environment, "PATH=/opt/bin:/bin");
    pod_container_add_mount(arena, &container, "/data", "/srv")->read_only = true;
}

static const char *advise(struct arena *arena, const char *text, int exit_code)
{
    struct step_advice advice;
    return step_advice_find(&spec, &container, text, exit_code, &advice)
               ? arena_printf(arena, "%s: %s", advice.reason, advice.message)
               : "";
}

static void advice_names_the_cause(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const struct {
        const char *text;
        int exit_code;
        const char *advice; /* how the advice begins; "": there is none */
    } CASES[] = {
        {"OSError: [Errno 30] Read-only file system: '/home/me/my out'", 1,
         "ReadOnlyPath: the program cannot write to '/home/me/my out': pods see the files of this "
         "machine read-only; write to the working directory of the pod, to a volume, or"},
        {"/bin/sh: 1: cannot create /usr/x: Read-only file system\n", 2,
         "ReadOnlyPath: the program cannot write to '/usr/x': pods see"},
        {"open /opt/x: read-only file system\nexit status 1\n\n", 1,
         "ReadOnlyPath: the program cannot write to '/opt/x': pods see"},
        {"touch: cannot touch \xe2\x80\x98/opt/x\xe2\x80\x99: Read-only file system", 1,
         "ReadOnlyPath: the program cannot write to '/opt/x': pods see"},
        {"OSError: [Errno 30] Read-only file system: 'out'", 1,
         "ReadOnlyPath: the program writes to a directory of this machine, which pods see"},
        {"touch: cannot touch '/data/x': Read-only file system", 1,
         "ReadOnlyPath: the program cannot write to '/data/x': the volume at '/data' is read-only "
         "in this container"},
        {"cat: /tmp: No such file or directory", 1, ""},
        {"cat: /nowhere/x: No such file or directory", 1, ""},
        {"cat: /usr/lib/os-release: No such file or directory", 1,
         "HiddenPath: the program does not find '/usr/lib/os-release': '/usr/lib' may hold "
         "secrets"},
        {"sh: 1: conda: not found", 127,
         "MissingProgram: there is no program 'conda' in the PATH of the container "
         "(/opt/bin:/bin)"},
        {"bash: line 1: torchrun: command not found", 127,
         "MissingProgram: there is no program 'torchrun' in the PATH"},
        {"/usr/bin/env: \xe2\x80\x98python3.9\xe2\x80\x99: No such file or directory", 127,
         "MissingProgram: there is no program 'python3.9' in the PATH"},
        {"/usr/bin/env: 'python3\\r': No such file or directory\n"
         "/usr/bin/env: use -[v]S to pass options in shebang lines",
         127, "MissingProgram: the lines of a script end with CR LF, as on Windows"},
        {"bash: ./train.sh: /bin/sh^M: bad interpreter: No such file or directory", 126,
         "MissingProgram: the lines of a script end with CR LF, as on Windows"},
        {"bash: line 1: ./train.sh: cannot execute: required file not found", 127,
         "MissingProgram: the interpreter that the first line of './train.sh' names does not"},
        {"page: not found", 1, ""},
        {"bash: ./train.py: /opt/none/python: bad interpreter: No such file or directory", 126,
         "MissingProgram: the interpreter '/opt/none/python', which the first line"},
        {"Traceback (most recent call last):\n  File \"/home/me/train.py\", line 1\n"
         "ModuleNotFoundError: No module named 'torch'\n",
         1, "MissingModule: the Python of the container has no module 'torch': if a virtual"},
        {"Read-only file system: '/usr/a'\nNo module named 'torch'", 1, "MissingModule: "},
        {"", 1, ""},
        {"\n\n", 1, ""},
        {"all is well", 1, ""},
        {"No module named 'torch", 1, ""},
        {": not found", 127, ""},
    };
    prepare(arena);
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        const char *advice = advise(arena, CASES[i].text, CASES[i].exit_code);
        if (!str_has_prefix(advice, CASES[i].advice) || (!CASES[i].advice[0] && advice[0]))
            fail_msg("'%s': '%s'", CASES[i].text, advice);
    }
}

/* The file is below the machine's /tmp, but pods have their own /tmp. */
static void advice_names_files_below_tmp(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *path = arena_printf(arena, "%s/train.py", directory);
    const char *text = arena_printf(
        arena, "python3: can't open file '%s': [Errno 2] No such file or directory\n", path);
    if (!str_has_prefix(directory, "/tmp/") && !str_has_prefix(directory, "/var/tmp/"))
        skip();
    prepare(arena);
    assert_string_equal(advise(arena, text, 2), "");
    assert_int_equal(file_write_atomic(path, "", 0, 0600, NULL), 0);
    assert_true(str_has_prefix(
        advise(arena, text, 2),
        arena_printf(arena, "HiddenPath: the program does not find '%s': pods have a '/", path)));
    /* A volume has other files there, and so has an image. */
    pod_container_add_mount(arena, &container, directory, "/srv");
    assert_string_equal(advise(arena, text, 2), "");
    prepare(arena);
    container.root = "/image";
    assert_string_equal(advise(arena, text, 2), "");
    assert_string_equal(advise(arena, "mkdir: '/x': Read-only file system", 1), "");
}

static void advice_names_a_read_only_root(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    prepare(arena);
    container.read_only = true;
    assert_non_null(strstr(advise(arena, "touch: 'x': Read-only file system", 1),
                           "cannot write to '/': the container has readOnlyRootFilesystem: true"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice_names_the_cause),
        cmocka_unit_test_setup_teardown(advice_names_files_below_tmp, make_directory,
                                        remove_directory),
        cmocka_unit_test(advice_names_a_read_only_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
