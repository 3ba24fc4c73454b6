/* What the members of a job know and others do not: the job secret, and proofs of knowing it that
 * do not give it away (HMAC-SHA-256). Without a secret the proofs only guard against mistakes, not
 * against people. Called by rendezvous. */
#ifndef TRAINYARD_COMM_SECRET_H
#define TRAINYARD_COMM_SECRET_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SECRET_MAC_SIZE = 32, SECRET_MAX = 4096 };

/* TRAINYARD_JOB_SECRET, else the file that TRAINYARD_JOB_SECRET_FILE names (its last line end is
 * not part of it), else nothing. One that is set and empty is refused. */
int secret_from_environment(struct buf *ret, struct err *err);

void secret_hash(const void *data, size_t size, uint8_t ret[SECRET_MAC_SIZE]);

/* Over the label and two pieces; the label keeps one proof from being used as another. */
void secret_mac(const char *key, size_t key_size, const char *label, const void *first,
                size_t first_size, const void *second, size_t second_size,
                uint8_t ret[SECRET_MAC_SIZE]);
bool secret_mac_equal(const uint8_t a[SECRET_MAC_SIZE], const uint8_t b[SECRET_MAC_SIZE]);

#endif
