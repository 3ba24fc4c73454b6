/* Converts between float32 and bf16, which is the upper half of a float32. Rounds to the nearest
 * value, and ties to even. NaN stays NaN. Called by the reference and by channels.c. */
#ifndef TRAINYARD_TRAIN_KERNELS_BF16_H
#define TRAINYARD_TRAIN_KERNELS_BF16_H

#include <stdint.h>
#include <string.h>

static inline uint16_t bf16_round(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return (uint16_t)((value != value ? bits | 0x400000 : rounded) >> 16);
}

static inline float bf16_value(uint16_t rounded)
{
    uint32_t bits = (uint32_t)rounded << 16;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

#endif
