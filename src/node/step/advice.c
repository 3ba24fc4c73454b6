/* Finds advice for a program that failed; see step/advice.h. The program controls the text of its
 * log: the text selects the advice and is quoted in it, but has no other effect. */
#include "node/step/advice.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/image/tmp_program.h"
#include "node/step/message.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024, EXIT_NOT_FOUND = 127 };

#define WHERE_TO_WRITE                                                                             \
    "write to the working directory of the pod, to a volume, or to a directory that 'trainyard "   \
    "up "                                                                                          \
    "--share DIR' shares with pods"

struct advice_case {
    const struct pod_spec *spec;
    const struct pod_container *container;
    const char *line;  /* one line of the log */
    const char *found; /* the position in the line of the words of the row of TABLE */
    struct step_advice *ret;
};

static bool advice_lies_in(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static const struct pod_mount *mount_at(const struct pod_container *container, const char *path)
{
    const struct pod_mount *found = NULL; /* the longest one, because mounts are sorted by length */
    for (size_t i = 0; i < container->mount_count; i++)
        if (advice_lies_in(path, container->mounts[i].target))
            found = &container->mounts[i];
    return found;
}

/* ---- reading a line -------------------------------------------------------------------------- */

static bool ends_path(const char *at)
{
    if (*at == ':')
        return at[1] == '\0' || isspace((unsigned char)at[1]);
    return *at == '\0' || isspace((unsigned char)*at) || strchr("'\"`,;)]}", *at) ||
           (unsigned char)*at >= 0x80; /* part of a quotation mark in UTF-8 */
}

/* Finds the last absolute path in the line. Returns false if it has none. */
static bool find_path(const char *line, char ret[PATH_MAX])
{
    bool found = false;
    for (const char *at = line; *at;) {
        bool begins = *at == '/' && (at == line || isspace((unsigned char)at[-1]) ||
                                     strchr("'\"`(=[:", at[-1]) || (unsigned char)at[-1] >= 0x80);
        if (!begins) {
            at++;
            continue;
        }
        const char *end = at;
        const char quote = at > line && strchr("'\"", at[-1]) ? at[-1] : '\0';
        if (quote && strchr(at, quote))
            end = strchr(at, quote);
        while (!quote && !ends_path(end))
            end++;
        if (end - at < PATH_MAX && end > at) {
            memcpy(ret, at, (size_t)(end - at));
            ret[end - at] = '\0';
            found = true;
        }
        at = end > at ? end : at + 1;
    }
    return found;
}

/* Finds the word that ends at `end`, without quotation marks. */
static bool find_word_before(const char *line, const char *end, char ret[PATH_MAX])
{
    while (end > line && (strchr("'\"`: ", end[-1]) || (unsigned char)end[-1] >= 0x80))
        end--;
    const char *start = end;
    while (start > line && !strchr("'\"`: ", start[-1]) && (unsigned char)start[-1] < 0x80)
        start--;
    if (start == end || end - start >= PATH_MAX)
        return false;
    memcpy(ret, start, (size_t)(end - start));
    ret[end - start] = '\0';
    return true;
}

/* ---- causes ---------------------------------------------------------------------------------- */

static bool advice_give(const struct advice_case *c, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool advice_give(const struct advice_case *c, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    str_copy(c->ret->reason, sizeof(c->ret->reason), reason);
    vsnprintf(c->ret->message, sizeof(c->ret->message), format, args);
    va_end(args);
    return true;
}

static bool explain_read_only(const struct advice_case *c)
{
    char path[PATH_MAX];
    const bool has_path = find_path(c->line, path);
    const struct pod_mount *mount = has_path ? mount_at(c->container, path) : NULL;
    if (mount && mount->read_only)
        return advice_give(
            c, "ReadOnlyPath",
            "the program cannot write to '%s': the volume at '%s' is read-only in this "
            "container",
            path, mount->target);
    if (c->container->read_only)
        return advice_give(
            c, "ReadOnlyPath",
            "the program cannot write to '%s': the container has readOnlyRootFilesystem: "
            "true; write to a volume",
            has_path                  ? path
            : c->container->directory ? c->container->directory
                                      : "/");
    if (c->container->root || c->spec->plain)
        return false;
    return has_path
               ? advice_give(c, "ReadOnlyPath",
                             "the program cannot write to '%s': pods see the files of this machine "
                             "read-only; " WHERE_TO_WRITE,
                             path)
               : advice_give(c, "ReadOnlyPath",
                             "the program writes to a directory of this machine, which pods see "
                             "read-only; " WHERE_TO_WRITE);
}

/* Explains a file that exists on the machine but not in the pod. */
static bool explain_hidden(const struct advice_case *c)
{
    char path[PATH_MAX];
    if (c->spec->plain || c->container->root || !find_path(c->line, path) ||
        mount_at(c->container, path) || access(path, F_OK) < 0)
        return false;
    const char *hidden = image_hidden_in(path);
    if (hidden)
        return advice_give(
            c, "HiddenPath",
            "the program does not find '%s': pods have a '%s' of their own; keep the file "
            "in your home or in /opt, or share its directory with 'trainyard up --share "
            "DIR'",
            path, hidden);
    for (size_t i = 0; i < c->spec->masks.count; i++)
        if (advice_lies_in(path, c->spec->masks.items[i]))
            return advice_give(
                c, "HiddenPath",
                "the program does not find '%s': '%s' may hold secrets and is hidden from "
                "pods; keep the file elsewhere, or give it to the pod as a Secret",
                path, c->spec->masks.items[i]);
    return false;
}

/* Explains a script whose lines end with CR LF. The kernel takes the CR as a part of the
 * interpreter's name, which bash prints as "sh^M" and env as "sh\r". */
static bool explain_line_ends(const struct advice_case *c, const char *name)
{
    return (str_has_suffix(name, "^M") || str_has_suffix(name, "\\r") ||
            str_has_suffix(name, "\r")) &&
           advice_give(
               c, "MissingProgram",
               "the lines of a script end with CR LF, as on Windows, and the CR counts as a part "
               "of the interpreter's name: save it with LF alone, as 'dos2unix FILE' does");
}

static bool explain_interpreter(const struct advice_case *c)
{
    char path[PATH_MAX];
    if (!find_word_before(c->line, c->found, path))
        return false;
    return explain_line_ends(c, path) ||
           advice_give(
               c, "MissingProgram",
               "the interpreter '%s', which the first line of a script names, does not exist in "
               "the pod: correct that line, or call the script by an interpreter, as in 'python3 "
               "SCRIPT'",
               path);
}

/* Explains the message that bash 5.2 prints for a script whose interpreter is missing. */
static bool explain_script(const struct advice_case *c)
{
    char path[PATH_MAX];
    return find_word_before(c->line, c->found, path) &&
           advice_give(
               c, "MissingProgram",
               "the interpreter that the first line of '%s' names does not exist in the pod: "
               "correct that line, which must end with LF, not CR LF, or call the script by an "
               "interpreter, as in 'python3 SCRIPT'",
               path);
}

static const char *path_variable(const struct pod_container *container)
{
    for (size_t i = 0; i < container->environment.count; i++)
        if (str_has_prefix(container->environment.items[i], "PATH="))
            return container->environment.items[i] + strlen("PATH=");
    return "which is not set";
}

static bool explain_program(const struct advice_case *c)
{
    char name[PATH_MAX];
    if (!find_word_before(c->line, c->found, name) || strchr(name, '/') ||
        isdigit((unsigned char)name[0]))
        return false;
    return explain_line_ends(c, name) ||
           advice_give(
               c, "MissingProgram",
               "there is no program '%s' in the PATH of the container (%s): install it, or write "
               "its whole path, such as that in a virtual environment",
               name, path_variable(c->container));
}

static bool explain_module(const struct advice_case *c)
{
    char name[PATH_MAX];
    const char *end = strchr(c->found + strlen("No module named '"), '\'');
    if (!end || !find_word_before(c->line, end, name) || c->container->root)
        return false;
    return advice_give(
        c, "MissingModule",
        "the Python of the container has no module '%s': if a virtual environment has it, "
        "write the path of its interpreter into the command, such as "
        "/home/me/venv/bin/python3",
        name);
}

/* The first row that explains a line gives the advice. */
static const struct {
    const char *words;
    int exit_code; /* 0 matches every exit code */
    bool (*explain)(const struct advice_case *c);
} TABLE[] = {
    {"read-only file system", 0, explain_read_only},
    {": bad interpreter", 0, explain_interpreter},
    {": cannot execute: required file not found", 0, explain_script},
    {"no such file or directory", 0, explain_hidden},
    {": not found", 0, explain_hidden},
    {": command not found", EXIT_NOT_FOUND, explain_program},
    {": not found", EXIT_NOT_FOUND, explain_program},
    {": no such file or directory", EXIT_NOT_FOUND, explain_program},
    {"No module named '", 0, explain_module},
};

static bool explain_line(struct advice_case *c, int exit_code)
{
    for (size_t i = 0; i < ARRAY_SIZE(TABLE); i++) {
        c->found = strcasestr(c->line, TABLE[i].words);
        if (c->found && (!TABLE[i].exit_code || TABLE[i].exit_code == exit_code) &&
            TABLE[i].explain(c))
            return true;
    }
    return false;
}

/* Starts at the last line, because a program prints its fatal error last. */
bool step_advice_find(const struct pod_spec *spec, const struct pod_container *container,
                      const char *text, int exit_code, struct step_advice *ret)
{
    struct advice_case c = {.spec = spec, .container = container, .ret = ret};
    for (const char *end = text + strlen(text); end > text;) {
        const char *start = end;
        while (start > text && start[-1] != '\n')
            start--;
        char line[LINE_MAX_BYTES];
        size_t size = (size_t)(end - start);
        str_copy(line, size < sizeof(line) ? size + 1 : sizeof(line), start);
        c.line = line;
        if (explain_line(&c, exit_code))
            return true;
        end = start > text ? start - 1 : text;
    }
    return false;
}

void step_advice_tell(const char *directory, const struct pod_spec *spec, size_t i,
                      struct pod_state *state)
{
    const struct container_state *ended = &state->containers[i];
    struct step_advice advice;
    char text[POD_TERMINATION_MESSAGE_MAX + 1];
    if (!ended->end.exit_code || ended->end.signal)
        return;
    step_message_read_log(directory, ended->name, ended->restarts, text);
    if (step_advice_find(spec, &spec->containers[i], text, ended->end.exit_code, &advice))
        pod_state_record_event(state, ended->name, true, advice.reason, "%s", advice.message);
}
