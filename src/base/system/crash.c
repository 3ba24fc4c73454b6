/* Logs the crash of the process; see crash.h. The handler allocates nothing and calls only
 * functions that are safe in a signal handler, with two exceptions: backtrace(), which is safe
 * after its library has been loaded, and dladdr(), which takes a lock of the dynamic linker. If
 * that lock is never released, an alarm ends the process. */
#include "base/system/crash.h"

#include "base/log.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum {
    FRAMES_MAX = 48,
    HANDLER_FRAMES = 2, /* the handler itself, and the kernel's signal trampoline */
    LINE_MAX_BYTES = 6 * 1024,
    STACK_BYTES = 64 * 1024,
    REPORT_MAX_S = 10, /* time limit of the handler; then SIGALRM ends the process */
};

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static const char *log_subject = "crash";

const char *crash_signal_name(int signal)
{
    static const char *const NAMES[] = {
        [SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
        [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
        [SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
        [SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM", [SIGXCPU] = "SIGXCPU",
        [SIGXFSZ] = "SIGXFSZ", [SIGSYS] = "SIGSYS",
    };
    bool known = signal > 0 && (size_t)signal < ARRAY_SIZE(NAMES) && NAMES[signal];
    return known ? NAMES[signal] : "signal";
}

/* ---- The log line, formatted without snprintf() ---------------------------------------------- */

struct crash_line {
    char text[LINE_MAX_BYTES];
    size_t size;
};

static void line_add(struct crash_line *line, const char *text)
{
    size_t size = strlen(text);
    if (size > sizeof(line->text) - 1 - line->size)
        size = sizeof(line->text) - 1 - line->size;
    memcpy(line->text + line->size, text, size);
    line->size += size;
    line->text[line->size] = '\0';
}

static void line_add_number(struct crash_line *line, uint64_t value, unsigned base)
{
    char digits[24];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    line_add(line, digits + at);
}

static void line_add_hex(struct crash_line *line, uint64_t value)
{
    line_add(line, "0x");
    line_add_number(line, value, 16);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Appends a frame: "loop_run (trainyard+0x1f3a2)". addr2line can read the part in parentheses. */
static void line_add_frame(struct crash_line *line, void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fbase) {
        line_add_hex(line, (uintptr_t)address);
        return;
    }
    if (info.dli_sname) {
        line_add(line, info.dli_sname);
        line_add(line, " ");
    }
    line_add(line, "(");
    line_add(line, file_name(info.dli_fname));
    line_add(line, "+");
    line_add_hex(line, (uintptr_t)address - (uintptr_t)info.dli_fbase);
    line_add(line, ")");
}

static void line_add_cause(struct crash_line *line, int signal, const siginfo_t *info)
{
    line_add(line, "crashed with signal ");
    line_add_number(line, (unsigned)signal, 10);
    line_add(line, " (");
    line_add(line, crash_signal_name(signal));
    line_add(line, ")");
    if (info->si_code <= 0 && signal != SIGABRT) {
        line_add(line, ", sent by process ");
        line_add_number(line, (unsigned)info->si_pid, 10);
    } else if (signal != SIGABRT) {
        line_add(line, " at address ");
        line_add_hex(line, (uintptr_t)info->si_addr);
    }
}

static void on_crash(int signal, siginfo_t *info, void *context)
{
    (void)context;
    static atomic_int reporter; /* the id of the thread that writes the line; 0: none yet */
    static struct crash_line line;
    int reporter_id = 0, this_thread = gettid();
    if (!atomic_compare_exchange_strong(&reporter, &reporter_id, this_thread)) {
        if (reporter_id == this_thread) /* this handler faulted: the default action follows */
            return;
        for (;;) /* wait until the other thread ends the process */
            pause();
    }
    alarm(REPORT_MAX_S);
    void *frames[FRAMES_MAX];
    int count = backtrace(frames, FRAMES_MAX);
    line_add_cause(&line, signal, info);
    for (int i = HANDLER_FRAMES; i < count; i++) {
        line_add(&line, i == HANDLER_FRAMES ? " in " : " < ");
        /* A frame of a caller has the return address, which may already belong to the next
         * function. The call instruction is before it. */
        line_add_frame(&line, (char *)frames[i] - (i > HANDLER_FRAMES));
    }
    log_write_crash(log_subject, line.text);
    /* SA_RESETHAND has restored the default action. This raise() triggers it when the handler
     * returns, if the faulting instruction does not trigger it again. */
    raise(signal);
}

#ifdef SANITIZED
enum { HAS_OWN_REPORT = true };
#else
enum { HAS_OWN_REPORT = false };
#endif

void crash_log_install(const char *subject)
{
    static char stack[STACK_BYTES];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
    void *frame;
    if (HAS_OWN_REPORT)
        return;
    log_subject = subject;
    (void)backtrace(&frame, 1); /* loads the library of backtrace() now instead of in the handler */
    signal(SIGALRM, SIG_DFL);
    (void)sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(SIGNALS); i++)
        (void)sigaction(SIGNALS[i], &action, NULL);
}
