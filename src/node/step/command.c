/* Runs a command and searches PATH for it, as container runtimes do; see step/command.h. */
#include "node/step/command.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ADVICE_MAX = 400 }; /* bytes of an explanation that contains a path */

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#else
#error "name the machine as ELF does"
#endif

static bool is_native(const Elf64_Ehdr *header)
{
    return header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_machine == NATIVE_MACHINE;
}

/* Returns false if there are control characters other than white space, as in archives, pictures
 * and data. */
static bool is_text(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (iscntrl((unsigned char)bytes[i]) && !isspace((unsigned char)bytes[i]))
            return false;
    return true;
}

/* Explains from the first bytes of a file why the kernel cannot run it. */
static const char *explain_format(const char *path)
{
    union {
        Elf64_Ehdr header; /* e_machine has the same offset in 32-bit files */
        char bytes[512];
    } first;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, first.bytes, sizeof(first.bytes));
    if (file >= 0)
        close(file);
    if (got < 0)
        return "";
    if (got == 0)
        return ": it is empty";
    if (got >= SELFMAG && memcmp(first.bytes, ELFMAG, SELFMAG) == 0) {
        if (got >= (ssize_t)offsetof(Elf64_Ehdr, e_version) && !is_native(&first.header))
            return ": it was built for another kind of machine";
        return ": it is damaged, or a part of a program such as an object file";
    }
    if (got >= 2 && memcmp(first.bytes, "#!", 2) == 0)
        return ": its first line names no interpreter that can be run";
    if (is_text(first.bytes, (size_t)got))
        return ": it is a script without a first line such as '#!/bin/sh'";
    return ": it is neither a program for Linux nor a script";
}

/* Writes the path of `program` in the next directory of PATH to `ret`, which has room for PATH_MAX
 * bytes, and advances `at`. Returns false at the end of PATH. Skips a path that is too long. */
static bool next_in_path(const char **at, const char *program, char *ret)
{
    while (*at) {
        const char *colon = strchrnul(*at, ':');
        int length = snprintf(ret, PATH_MAX, "%.*s/%s", colon > *at ? (int)(colon - *at) : 1,
                              colon > *at ? *at : ".", program);
        *at = *colon ? colon + 1 : NULL;
        if (length < PATH_MAX)
            return true;
    }
    return false;
}

static bool is_in_path(const char *program)
{
    char path[PATH_MAX];
    for (const char *at = getenv("PATH"); next_in_path(&at, program, path);)
        if (access(path, X_OK) == 0)
            return true;
    return false;
}

/* Explains a missing program by common mistakes. */
static const char *explain_missing(const char *program)
{
    if (strpbrk(program, " \t"))
        return ": the whole command is one word; give each of its words as an item of its own, as "
               "in [\"sleep\", \"5\"]";
    if (strcmp(program, "python") == 0 && is_in_path("python3"))
        return ": use 'python3', which exists";
    return "";
}

/* Explains why an existing file cannot be run: the interpreter of the script or the loader of the
 * program is missing. */
static const char *explain_interpreter(const char *path, char text[ADVICE_MAX])
{
    char line[256] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, line, sizeof(line) - 1);
    if (file >= 0)
        close(file);
    if (got < 2 || memcmp(line, "#!", 2) != 0)
        return ": the file exists, but its interpreter or dynamic loader does not";
    const char *name = line + 2 + strspn(line + 2, " \t");
    size_t size = strcspn(name, " \t\r\n");
    if (name[size] == '\r')
        return ": its lines end with CR LF, as on Windows, and the CR counts as a part of the "
               "interpreter's name; save it with LF alone, as 'dos2unix FILE' does";
    snprintf(
        text, ADVICE_MAX,
        ": its first line names the interpreter '%.*s', which does not exist in the pod; "
        "correct that line, or name an interpreter in the command, as in [\"python3\", \"%s\"]",
        (int)size, name, path);
    return text;
}

/* Explains a link whose target is missing. An example is the python of a virtual environment: it is
 * a link into a home directory that pods do not see. */
static const char *explain_link(const char *path, char text[ADVICE_MAX])
{
    char target[ADVICE_MAX / 2];
    ssize_t size = readlink(path, target, sizeof(target) - 1);
    if (size < 0)
        return explain_missing(path);
    target[size] = '\0';
    snprintf(text, ADVICE_MAX,
             ": it is a link to '%s', which the pod does not see; keep it in your home or in /opt",
             target);
    return text;
}

static int become_file(const char *const *arguments, const char *path, struct err *err)
{
    const char *advice = "";
    char text[ADVICE_MAX];
    execve(path, (char *const *)arguments, environ);
    const int cause = errno;
    if (cause == ENOEXEC)
        advice = explain_format(path);
    else if (cause == ENOENT && access(path, F_OK) == 0)
        advice = explain_interpreter(path, text);
    else if (cause == ENOENT)
        advice = explain_link(path, text);
    else if (cause == EACCES && access(path, R_OK) == 0 && access(path, X_OK) < 0)
        advice = ": it is not executable; run 'chmod +x' on it, or name an interpreter before it, "
                 "as in [\"python3\", \"train.py\"]";
    const int result = err_set_errno(err, cause, "cannot run '%s'", arguments[0]);
    strncat(err->message, advice, sizeof(err->message) - strlen(err->message) - 1);
    return result;
}

int step_command_become(const char *const *arguments, struct err *err)
{
    const char *program = arguments[0];
    const char *directories = getenv("PATH");
    int denied = 0;

    if (strchr(program, '/'))
        return become_file(arguments, program, err);
    const char *at = program[0] ? directories : NULL;
    for (char path[PATH_MAX]; next_in_path(&at, program, path);) {
        if (access(path, F_OK) < 0)
            continue;
        const int result = become_file(arguments, path, err);
        if (err->sys != EACCES)
            return result;
        denied = result; /* a later directory may have an executable file */
    }
    if (denied)
        return denied;
    err_set(err, ERR_NOT_FOUND, "cannot run '%s': executable file not found in $PATH (%s)%s",
            program, directories ? directories : "which is not set", explain_missing(program));
    err->sys = ENOENT;
    return -ERR_NOT_FOUND;
}
