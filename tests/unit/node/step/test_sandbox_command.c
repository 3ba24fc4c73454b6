/* Tests which programs a container can run, and the messages for those that it cannot: a missing
 * program, a file that is no program, a command that is too long. */
#include "sandbox_pod.h"

#include "base/system/file.h"
#include "node/image/table.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void missing_program_is_reported(void **state)
{
    struct pod pod = pod_make("wrong", "10.244.1.1", "");
    pod.main->arguments.items[0] = "no-such-program";
    pod_start(&pod);
    const struct container_end *end = pod_finish(&pod);
    assert_int_equal(end->exit_code, 128);
    assert_string_equal(end->reason, "StartError");
    assert_non_null(strstr(end->message,
                           "cannot run 'no-such-program': executable file not found in $PATH (/"));
    pod_drop(&pod);

    static const char *const COMMANDS[][2] = {
        {"sleep 5",
         ": the whole command is one word; give each of its words as an item of its own"},
        {"/bin/sleep 5", "No such file or directory: the whole command is one word"},
        {"/tmp/mine", "No such file or directory: pods do not see this directory of the machine"},
    };
    for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(*COMMANDS); i++) {
        pod = pod_make("wrong", "10.244.1.1", "");
        pod.main->arguments.items[0] = COMMANDS[i][0];
        pod_start(&pod);
        end = pod_finish(&pod);
        if (!strstr(end->message, COMMANDS[i][1]))
            fail_msg("%s: %s", COMMANDS[i][0], end->message);
        pod_drop(&pod);
    }

    pod = pod_make("wrong", "10.244.1.1", "");
    pod.main->arguments.items[0] = "./mine";
    pod.main->directory = "/tmp/project";
    pod_start(&pod);
    assert_non_null(strstr(pod_finish(&pod)->message,
                           "cannot run './mine': No such file or directory: pods do not see this "
                           "directory of the machine"));
    pod_drop(&pod);

    pod = pod_make("wrong", "10.244.1.1", "true");
    pod.main->directory = "/usr/nowhere";
    pod_start(&pod);
    assert_string_equal(
        pod_finish(&pod)->message,
        "cannot change to working directory '/usr/nowhere': No such file or directory");
    pod_drop(&pod);
}

/* Programs written for images call `python`, but Debian has only python3. */
void python_runs_python3(void **state)
{
    struct pod pod = pod_make("python", "10.244.1.1",
                              "PATH=$PATH:" IMAGE_TOOLS_DIRECTORY
                              "; python -c 'import sys, os; print(sys.version_info[0])'"
                              "; readlink -f " IMAGE_TOOLS_DIRECTORY "/python | grep -c python3");
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "3\n1\n");
    pod_drop(&pod);
}

/* Reads the ELF header of this test, and makes the same header for another architecture. */
static void read_elf_headers(Elf64_Ehdr *ret_own, Elf64_Ehdr *ret_foreign)
{
    FILE *self = fopen("/proc/self/exe", "r");
    assert_non_null(self);
    assert_int_equal(fread(ret_own, sizeof(*ret_own), 1, self), 1);
    assert_int_equal(fclose(self), 0);
    *ret_foreign = *ret_own;
    ret_foreign->e_machine = ret_own->e_machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
}

/* A file that the kernel cannot execute is not passed to a shell. A program for another machine is
 * no script, and a script without "#!" does not run in any cluster. */
void invalid_program_files_are_reported(void **state)
{
    Elf64_Ehdr own, foreign;
    read_elf_headers(&own, &foreign);
    Elf64_Ehdr object = own;
    object.e_type = ET_REL;
    Elf32_Ehdr small = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB},
                        .e_type = ET_EXEC,
                        .e_machine = EM_ARM};
    static const char SCRIPT[] = "echo ran\n", NO_SHELL[] = "#!/no/such/shell\n",
                      WINDOWS[] = "#!/bin/sh\r\necho ran\r\n", NAMELESS[] = "#!\n",
                      GZIP[] = "\037\213\010\000\000\000\000\000\000\003";
    const struct {
        const void *content;
        size_t size;
        const char *cause;
    } CASES[] = {
        {SCRIPT, strlen(SCRIPT),
         "Exec format error: it is a script without a first line such as '#!/bin/sh'"},
        {NAMELESS, strlen(NAMELESS),
         "Exec format error: its first line names no interpreter that can be run"},
        {NO_SHELL, strlen(NO_SHELL),
         "No such file or directory: its first line names the interpreter '/no/such/shell', which "
         "does not exist in the pod; correct that line, or name an interpreter in the command, as "
         "in [\"python3\", \"/v/program\"]"},
        {WINDOWS, strlen(WINDOWS),
         "No such file or directory: its lines end with CR LF, as on Windows, and the CR counts as "
         "a part of the interpreter's name; save it with LF alone, as 'dos2unix FILE' does"},
        {"", 0, "Exec format error: it is empty"},
        {GZIP, sizeof(GZIP), "Exec format error: it is neither a program for Linux nor a script"},
        {&foreign, sizeof(foreign), "Exec format error: it was built for another kind of machine"},
        {&small, sizeof(small), "Exec format error: it was built for another kind of machine"},
        {&own, sizeof(own),
         "Exec format error: it is damaged, or a part of a program such as an object file"},
        {&own, EI_NIDENT,
         "Exec format error: it is damaged, or a part of a program such as an object file"},
        {&object, sizeof(object),
         "Exec format error: it is damaged, or a part of a program such as an object file"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct pod pod = pod_make("format", "10.244.1.1", "");
        pod_add_kept(&pod);
        char *program = pod_keep(&pod, "program");
        FILE *file = fopen(program, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(CASES[i].content, 1, CASES[i].size, file), CASES[i].size);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(chmod(program, 0755), 0);
        pod.main->arguments.items[0] = "/v/program";
        pod_start(&pod);
        const struct container_end *end = pod_finish(&pod);
        assert_int_equal(end->exit_code, 128);
        assert_string_equal(end->reason, "StartError");
        assert_true(str_has_prefix(end->message, "cannot run '/v/program': "));
        assert_string_equal(end->message + strlen("cannot run '/v/program': "), CASES[i].cause);
        pod_expect_log(&pod, "");
        pod_drop(&pod);
    }
}

/* The kernel would only report "Argument list too long". */
void too_long_variable_is_named(void **state)
{
    struct pod pod = pod_make("large", "10.244.1.1", "true");
    size_t size = 32 * (size_t)sysconf(_SC_PAGESIZE);
    char *variable = mem_zalloc(size + 1);
    memset(variable, 'x', size);
    memcpy(variable, "TF_CONFIG=", strlen("TF_CONFIG="));
    pod_strings_add(pod.arena, &pod.main->environment, variable);
    pod_start(&pod);
    const struct container_end *end = pod_finish(&pod);
    assert_string_equal(end->reason, "StartError");
    char *wanted = arena_printf(pod.arena,
                                "cannot run '/bin/sh': 'TF_CONFIG' has %zu bytes, but the limit "
                                "for one argument or variable is %zu",
                                size + 1, size);
    assert_string_equal(end->message, wanted);
    free(variable);
    pod_drop(&pod);
}
