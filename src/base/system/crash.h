/* Logs one line when the process crashes: the signal, the functions on the call stack, and except
 * for SIGABRT the address or the process that sent the signal. Then the signal takes its default
 * action, so that the exit status shows the signal and a core dump is written if core dumps are
 * enabled. Called by main(). */
#ifndef TRAINYARD_BASE_SYSTEM_CRASH_H
#define TRAINYARD_BASE_SYSTEM_CRASH_H

/* Returns the name of a signal, such as "SIGSEGV", or "signal" if the number is unknown. */
const char *crash_signal_name(int signal);

/* Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. `subject` is the subject of
 * the log line and must live as long as the process. The calling thread gets an alternate signal
 * stack, so that its stack overflow is reported too. In other threads, every fault except a stack
 * overflow is reported. Does nothing in sanitized builds, because the sanitizers report these
 * signals themselves. */
void crash_log_install(const char *subject);

#endif
