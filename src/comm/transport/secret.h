/* Reads the job secret, and computes proofs (HMAC-SHA-256) that a process knows it. A proof does
 * not reveal the secret. Without a secret, the proofs only separate jobs that connect by mistake;
 * they do not stop an attacker. Called by formation, rendezvous, handshake, shm and ps. */
#ifndef TRAINYARD_COMM_TRANSPORT_SECRET_H
#define TRAINYARD_COMM_TRANSPORT_SECRET_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SECRET_MAC_SIZE = 32, SECRET_MAX = 4096 };

/* Reads TRAINYARD_JOB_SECRET, or else the file named by TRAINYARD_JOB_SECRET_FILE without the line
 * ends at its end. Leaves *ret empty if neither is set. Fails if the file cannot be read, or if the
 * secret is empty or has more than SECRET_MAX bytes. The limit of *ret must be SECRET_MAX. */
int secret_from_environment(struct buf *ret, struct err *err);

/* Computes the SHA-256 of the data. */
void secret_hash(const void *data, size_t size, uint8_t ret[SECRET_MAC_SIZE]);

/* Computes the HMAC of the label and two pieces of data. Each purpose has its own label, so that a
 * proof for one purpose is invalid for another. */
void secret_mac(const char *key, size_t key_size, const char *label, const void *first,
                size_t first_size, const void *second, size_t second_size,
                uint8_t ret[SECRET_MAC_SIZE]);
/* Compares two HMACs in constant time. */
bool secret_mac_equal(const uint8_t a[SECRET_MAC_SIZE], const uint8_t b[SECRET_MAC_SIZE]);

#endif
