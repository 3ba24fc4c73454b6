/* Logs one line when the process dies of a fault: the signal, the address and the functions that
 * were running. Then the signal takes its default action, so that the exit status shows the signal
 * and a core dump is written where core dumps are enabled. Called by main(). */
#ifndef TRAINYARD_BASE_SYSTEM_CRASH_H
#define TRAINYARD_BASE_SYSTEM_CRASH_H

/* The name of a signal, "SIGSEGV", or "signal" if the number has no name. */
const char *crash_signal_name(int signal);

/* Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. `subject` starts the log line
 * and must live as long as the process. The calling thread gets an alternate stack, so that its
 * stack overflow is reported too; other threads report every fault except a stack overflow. Does
 * nothing in sanitized builds, because the sanitizers report these signals themselves. */
void crash_log_install(const char *subject);

#endif
