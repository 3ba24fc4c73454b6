/* Implements the random variations of pictures; see augment.h. Shift, rotation, scale, mirror and
 * reshaping only decide at which point of the source each pixel is sampled, so each pixel is
 * interpolated once. */
#include "train/data/augment.h"

#include <math.h>

static float draw_between(struct rand *rand, float limit)
{
    return limit * (2 * (float)rand_unit(rand) - 1);
}

static int clamp_index(int value, int limit)
{
    return value < 0 ? 0 : value > limit ? limit : value;
}

bool augment_is_sane(const struct augment *augment)
{
    const float values[] = {augment->shift, augment->turn,  augment->scale,   augment->gamma,
                            augment->noise, augment->cover, augment->backdrop};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (!(values[i] >= 0 && values[i] <= 1))
            return false;
    return true;
}

/* Draws an approximately normal number with standard deviation 1. It is accurate enough here and
 * much cheaper than an exact one. */
static float draw_bell(struct rand *rand)
{
    uint64_t bits = rand_next(rand);
    float sum = 0;
    for (int i = 0; i < 4; i++, bits >>= 16)
        sum += (float)(bits & 0xffff) / 65535.0f - 0.5f;
    return sum * 1.7320508f; /* the sum of four uniform numbers has a variance of 1/3 */
}

static void cover_picture(struct rand *rand, float part, int side, int channels, float *to)
{
    int edge = (int)(part * (float)side * (float)rand_unit(rand));
    int top = (int)rand_below(rand, (uint64_t)side), left = (int)rand_below(rand, (uint64_t)side);
    float grey = (float)rand_unit(rand);
    for (int y = top; y < top + edge && y < side; y++)
        for (int x = left; x < left + edge && x < side; x++)
            for (int c = 0; c < channels; c++)
                to[(y * side + x) * channels + c] = grey;
}

/* Changes the brightness outside of an upright oval with a soft edge. The oval is about the size of
 * the face. The area outside of it shows the background, which must not influence the embedding. */
static void change_backdrop(struct rand *rand, float most, int side, int channels, float *to)
{
    const float across = 0.40f, down = 0.52f; /* half axes, as fractions of the side */
    const float edge = 0.9f, softness = 0.25f;
    float tone = draw_between(rand, most), centre = (float)(side - 1) / 2;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            float ex = ((float)x - centre) / (across * (float)side),
                  ey = ((float)y - centre) / (down * (float)side);
            float outside = (sqrtf(ex * ex + ey * ey) - edge) / softness;
            outside = fminf(fmaxf(outside, 0), 1);
            for (int c = 0; c < channels; c++) {
                float *value = &to[(y * side + x) * channels + c];
                *value = fminf(fmaxf(*value + outside * tone, 0), 1);
            }
        }
}

struct augment_shape augment_shape_draw(struct rand *rand, float highest)
{
    struct augment_shape shape;
    for (int i = 0; i < 3; i++)
        shape.across[i] = draw_between(rand, highest);
    for (int i = 0; i < 3; i++)
        shape.down[i] = draw_between(rand, highest);
    return shape;
}

/* Moves the point (x, y) of the source picture at which a pixel is sampled. The movement depends
 * only on this point, so that the reshaping does not depend on shift and rotation. */
static void reshape_point(const struct augment_shape *shape, float side, float *x, float *y)
{
    const float turn = 2 * (float)M_PI;
    float u = *x / side, v = *y / side, wave = sinf(turn * u);
    *x += side * (shape->across[0] * (2 * u - 1) + shape->across[1] * wave +
                  shape->across[2] * wave * cosf(turn * v));
    *y += side * (shape->down[0] * (2 * v - 1) + shape->down[1] * sinf(turn * v) +
                  shape->down[2] * cosf(turn * u));
}

static bool is_identity_shape(const struct augment_shape *shape)
{
    for (int i = 0; shape && i < 3; i++)
        if (shape->across[i] != 0 || shape->down[i] != 0)
            return false;
    return true;
}

void augment_picture(const struct augment *augment, const struct augment_shape *shape,
                     struct rand *rand, const uint8_t *from, int side, int channels, float *to)
{
    bool reshaped = !is_identity_shape(shape);
    float turn = draw_between(rand, augment->turn), zoom = 1 + draw_between(rand, augment->scale);
    float dx = draw_between(rand, augment->shift) * (float)side,
          dy = draw_between(rand, augment->shift) * (float)side;
    float gamma = expf(draw_between(rand, logf(1 + augment->gamma)));
    bool mirrored = augment->mirror && (rand_next(rand) & 1);
    float cosine = cosf(turn) * zoom, sine = sinf(turn) * zoom, centre = (float)(side - 1) / 2;
    float curve[256];
    for (int i = 0; i < 256; i++)
        curve[i] = powf((float)i / 255, gamma);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            float px = (mirrored ? (float)(side - 1 - x) : (float)x) - centre,
                  py = (float)y - centre;
            float sx = cosine * px - sine * py + centre + dx,
                  sy = sine * px + cosine * py + centre + dy;
            if (reshaped)
                reshape_point(shape, (float)side, &sx, &sy);
            float bx = floorf(sx), by = floorf(sy), fx = sx - bx, fy = sy - by;
            int x0 = clamp_index((int)bx, side - 1), x1 = clamp_index((int)bx + 1, side - 1);
            int y0 = clamp_index((int)by, side - 1), y1 = clamp_index((int)by + 1, side - 1);
            for (int c = 0; c < channels; c++) {
                float a = curve[from[(y0 * side + x0) * channels + c]],
                      b = curve[from[(y0 * side + x1) * channels + c]],
                      d = curve[from[(y1 * side + x0) * channels + c]],
                      e = curve[from[(y1 * side + x1) * channels + c]];
                float top = a + (b - a) * fx, bottom = d + (e - d) * fx;
                float value = top + (bottom - top) * fy;
                if (augment->noise > 0)
                    value += augment->noise * draw_bell(rand);
                to[(y * side + x) * channels + c] = value;
            }
        }
    if (augment->backdrop > 0)
        change_backdrop(rand, augment->backdrop, side, channels, to);
    if (augment->cover > 0)
        cover_picture(rand, augment->cover, side, channels, to);
}
