/* Generates random numbers; see rand.h. The generator is xoshiro256**, seeded by splitmix64. */
#include "base/rand.h"

#include "base/hash.h"
#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/random.h>

static uint64_t rand_splitmix(uint64_t *state)
{
    return hash_mix(*state += 0x9e3779b97f4a7c15u);
}

void rand_init(struct rand *rand, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rand->state[i] = rand_splitmix(&seed);
}

void rand_init_keyed(struct rand *rand, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t key = a;
    key = rand_splitmix(&key) ^ b;
    key = rand_splitmix(&key) ^ c;
    rand_init(rand, key);
}

static uint64_t rand_rotate(uint64_t value, int by)
{
    return (value << by) | (value >> (64 - by));
}

uint64_t rand_next(struct rand *rand)
{
    uint64_t *s = rand->state, result = rand_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rand_rotate(s[3], 45);
    return result;
}

uint64_t rand_below(struct rand *rand, uint64_t limit)
{
    uint64_t threshold = -limit % limit, value;
    do
        value = rand_next(rand);
    while (value < threshold);
    return value % limit;
}

double rand_unit(struct rand *rand)
{
    return (double)(rand_next(rand) >> 11) * 0x1.0p-53;
}

double rand_normal(struct rand *rand)
{
    double u = 1.0 - rand_unit(rand), v = rand_unit(rand);
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}

void rand_secure(void *data, size_t size)
{
    char *at = data;
    while (size) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            mem_panic("cannot get random bytes from the kernel");
        at += got;
        size -= (size_t)got;
    }
}

void rand_uuid(char text[37])
{
    unsigned char b[16];
    rand_secure(b, sizeof(b));
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(text, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

void rand_suffix(char text[6])
{
    /* Like Kubernetes, use no vowels and no characters that look similar. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char bytes[5];
    rand_secure(bytes, sizeof(bytes));
    for (int i = 0; i < 5; i++)
        text[i] = letters[bytes[i] % (sizeof(letters) - 1)];
    text[5] = '\0';
}
