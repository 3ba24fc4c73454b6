/* A process that dies of a fault logs one line first: the signal, the address and the functions
 * that were running. Then the signal takes its default action, so that the exit status tells the
 * signal and a core dump is written where those are enabled. main() calls this. */
#ifndef TRAINYARD_BASE_CRASH_H
#define TRAINYARD_BASE_CRASH_H

/* "SIGSEGV"; "signal" if the number has no name. */
const char *crash_signal_name(int signal);

/* Install the handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. `subject` starts the log
 * line and must live as long as the process. Does nothing in sanitized builds: the sanitizers
 * report these signals themselves. The calling thread gets an alternate stack, so that a stack
 * overflow is reported, too; other threads report every fault but that one. */
void crash_log_install(const char *subject);

#endif
