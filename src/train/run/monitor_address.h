/* Parses the value of --monitor: the address and port at which a run answers requests about its
 * progress. The option table of `trainer fit` checks the value, and the command parses it again to
 * open the listener. */
#ifndef TRAINYARD_TRAIN_RUN_MONITOR_ADDRESS_H
#define TRAINYARD_TRAIN_RUN_MONITOR_ADDRESS_H

#include "base/err.h"

enum { MONITOR_ADDRESS_MAX = 64 };

/* Parses "9100", ":9100", "127.0.0.1:9100", "[::1]:9100" or "off". For "off", "false" and an empty
 * text the port is -1. An empty address means all addresses, IPv4 and IPv6. "localhost" becomes
 * 127.0.0.1. Returns -ERR_USAGE if the port is not a number from 0 to 65535, or if the address is
 * too long; then `address` is empty. Does not check whether the address is valid. */
int monitor_address_parse(const char *text, char address[MONITOR_ADDRESS_MAX], int *ret_port,
                          struct err *err);

/* The `check` function of the option --monitor. Fails like monitor_address_parse(). */
int monitor_address_check(const char *text, struct err *err);

#endif
