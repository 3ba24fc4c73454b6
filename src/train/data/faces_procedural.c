/* Implements the drawing of faces; see faces_procedural.h. The colour of each pixel is computed in
 * face coordinates: x to the right, y down, and a face about 1 wide and 1.25 high with its centre
 * at the origin. A shape is a function that returns the approximate distance of a point to the edge
 * of the shape, negative inside. From the distance follows which fraction of a pixel the shape
 * covers, so edges are smooth at any size. */
#include "train/data/faces_procedural.h"

#include "base/rand.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

struct colour {
    float r, g, b;
};

enum hair_style {
    HAIR_NONE,
    HAIR_SHORT,
    HAIR_FRINGE,
    HAIR_LONG,
    HAIR_PARTED,
    HAIR_ROUND,
    HAIR_STYLES
};

/* The traits of a person. Lengths and positions are in face coordinates. */
struct traits {
    struct colour skin, hair, iris, lips;
    /* half axes of the head; `jaw` is a factor of the width at the chin */
    float width, height, jaw;
    enum hair_style style;
    float hair_line, hair_volume;
    float eye_gap, eye_height, eye_width, eye_open, eye_slant;
    float brow_rise, brow_thick, brow_tilt;
    float nose_length, nose_width;
    float mouth_drop, mouth_width, lip_thick;
    float ear_size;
    bool glasses, round_glasses, beard, moustache, mole;
    struct colour frame;
    float mole_x, mole_y;
};

/* The pose, expression, light and background of one picture. */
struct view {
    float angle, scale, shift_x, shift_y; /* rotation, size and position of the face */
    float turn, nod; /* how far the features move to the side, and up or down, in the outline */
    float smile, mouth_open, eyes_open, brows_up, gaze;
    struct colour light, shirt;
    struct colour ground_a, ground_b; /* the two colours of the background */
    float light_x, light_y, brightness, contrast, noise;
    float ground_angle; /* direction in which the background changes its colour */
    bool hidden;        /* an object covers part of the face */
    float hidden_x, hidden_y, hidden_size;
    struct colour hidden_colour;
};

static float draw_between(struct rand *rand, float low, float high)
{
    return low + (high - low) * (float)rand_unit(rand);
}

static bool draw_chance(struct rand *rand, double probability)
{
    return rand_unit(rand) < probability;
}

static struct colour mix_colours(struct colour a, struct colour b, float t)
{
    return (struct colour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static struct colour any_colour(struct rand *rand, float low, float high)
{
    return (struct colour){draw_between(rand, low, high), draw_between(rand, low, high),
                           draw_between(rand, low, high)};
}

static struct traits draw_traits(uint64_t seed, uint64_t person)
{
    static const struct colour SKIN_LIGHT = {0.96f, 0.84f, 0.75f},
                               SKIN_DARK = {0.36f, 0.23f, 0.16f};
    static const struct colour HAIRS[] = {{0.09f, 0.07f, 0.06f}, {0.25f, 0.15f, 0.09f},
                                          {0.47f, 0.30f, 0.16f}, {0.80f, 0.65f, 0.36f},
                                          {0.60f, 0.24f, 0.12f}, {0.72f, 0.72f, 0.74f}};
    static const struct colour IRISES[] = {{0.20f, 0.12f, 0.07f},
                                           {0.36f, 0.24f, 0.10f},
                                           {0.25f, 0.40f, 0.60f},
                                           {0.27f, 0.45f, 0.29f},
                                           {0.45f, 0.47f, 0.50f}};
    struct rand r;
    rand_init_keyed(&r, seed, person, 0);
    struct traits t = {0};
    t.skin = mix_colours(SKIN_LIGHT, SKIN_DARK, draw_between(&r, 0, 1));
    t.hair =
        mix_colours(HAIRS[rand_below(&r, 6)], HAIRS[rand_below(&r, 6)], draw_between(&r, 0, 0.35f));
    t.iris = IRISES[rand_below(&r, 5)];
    t.lips =
        mix_colours(t.skin, (struct colour){0.70f, 0.22f, 0.24f}, draw_between(&r, 0.35f, 0.8f));
    t.width = draw_between(&r, 0.40f, 0.56f);
    t.height = draw_between(&r, 0.56f, 0.70f);
    t.jaw = draw_between(&r, 0.62f, 1.05f);
    t.style = (enum hair_style)rand_below(&r, HAIR_STYLES);
    t.hair_line = draw_between(&r, -0.46f, -0.28f);
    t.hair_volume = draw_between(&r, 0.03f, 0.16f);
    t.eye_gap = draw_between(&r, 0.16f, 0.25f);
    t.eye_height = draw_between(&r, -0.16f, -0.02f);
    t.eye_width = draw_between(&r, 0.065f, 0.11f);
    t.eye_open = draw_between(&r, 0.45f, 0.85f);
    t.eye_slant = draw_between(&r, -0.25f, 0.25f);
    t.brow_rise = draw_between(&r, 0.08f, 0.15f);
    t.brow_thick = draw_between(&r, 0.012f, 0.036f);
    t.brow_tilt = draw_between(&r, -0.30f, 0.30f);
    t.nose_length = draw_between(&r, 0.14f, 0.28f);
    t.nose_width = draw_between(&r, 0.045f, 0.10f);
    t.mouth_drop = draw_between(&r, 0.28f, 0.40f);
    t.mouth_width = draw_between(&r, 0.11f, 0.22f);
    t.lip_thick = draw_between(&r, 0.015f, 0.045f);
    t.ear_size = draw_between(&r, 0.06f, 0.13f);
    t.glasses = draw_chance(&r, 0.25);
    t.round_glasses = draw_chance(&r, 0.5);
    t.frame =
        draw_chance(&r, 0.6) ? (struct colour){0.08f, 0.08f, 0.09f} : any_colour(&r, 0.2f, 0.7f);
    t.beard = draw_chance(&r, 0.2);
    t.moustache = t.beard ? draw_chance(&r, 0.8) : draw_chance(&r, 0.12);
    t.mole = draw_chance(&r, 0.3);
    t.mole_x = draw_between(&r, -0.28f, 0.28f);
    t.mole_y = draw_between(&r, 0.05f, 0.42f);
    return t;
}

static struct view draw_view(uint64_t seed, uint64_t person, uint64_t picture)
{
    struct rand r;
    rand_init_keyed(&r, seed, person, picture + 1);
    struct view v = {0};
    v.angle = (float)rand_normal(&r) * 0.09f;
    v.scale = draw_between(&r, 1.08f, 1.32f);
    v.shift_x = draw_between(&r, -0.08f, 0.08f);
    v.shift_y = draw_between(&r, -0.07f, 0.07f);
    v.turn = draw_between(&r, -0.14f, 0.14f);
    v.nod = draw_between(&r, -0.06f, 0.06f);
    v.smile = draw_between(&r, -0.4f, 1.0f);
    v.mouth_open = draw_chance(&r, 0.3) ? draw_between(&r, 0.2f, 1.0f) : 0;
    v.eyes_open = draw_chance(&r, 0.08) ? 0.08f : draw_between(&r, 0.65f, 1.1f);
    v.brows_up = draw_between(&r, -0.03f, 0.03f);
    v.gaze = draw_between(&r, -0.5f, 0.5f);
    v.light = mix_colours((struct colour){1, 1, 1}, any_colour(&r, 0.85f, 1.05f), 0.7f);
    v.light_x = draw_between(&r, -0.55f, 0.55f);
    v.light_y = draw_between(&r, -0.45f, 0.25f);
    v.brightness = draw_between(&r, -0.10f, 0.08f);
    v.contrast = draw_between(&r, 0.80f, 1.10f);
    v.noise = draw_between(&r, 0.005f, 0.025f);
    v.ground_a = any_colour(&r, 0.30f, 0.75f);
    v.ground_b = mix_colours(v.ground_a, any_colour(&r, 0.20f, 0.85f), 0.5f);
    v.ground_angle = draw_between(&r, 0, 6.28f);
    v.shirt = any_colour(&r, 0.05f, 0.9f);
    v.hidden = draw_chance(&r, 0.18);
    v.hidden_x = draw_between(&r, -0.6f, 0.6f);
    v.hidden_y = draw_between(&r, -0.5f, 0.7f);
    v.hidden_size = draw_between(&r, 0.12f, 0.24f);
    v.hidden_colour = any_colour(&r, 0.1f, 0.9f);
    return v;
}

/* ---- Shapes: the distance to the edge, negative inside */

static float ellipse_distance(float x, float y, float a, float b)
{
    float d = sqrtf(x * x / (a * a) + y * y / (b * b));
    return (d - 1) * (a < b ? a : b);
}

static float box_distance(float x, float y, float a, float b)
{
    float dx = fabsf(x) - a, dy = fabsf(y) - b;
    return dx > dy ? dx : dy;
}

/* The head is an ellipse that narrows towards the chin. */
static float head_distance(const struct traits *t, float x, float y)
{
    float narrowing = y > 0 ? 1 - (1 - t->jaw) * (y / t->height) * (y / t->height) : 1;
    return ellipse_distance(x, y, t->width * narrowing, t->height);
}

static float smaller_of(float a, float b)
{
    return a < b ? a : b;
}

static float larger_of(float a, float b)
{
    return a > b ? a : b;
}

/* ---- Painting */

/* The pixel that is being painted. */
struct brush {
    struct colour colour;
    float pixel; /* size of a pixel in face coordinates */
};

/* Paints over the part of the pixel that a shape covers. */
static void paint_shape(struct brush *brush, float distance, struct colour colour, float strength)
{
    float cover = 0.5f - distance / brush->pixel;
    if (cover <= 0)
        return;
    brush->colour = mix_colours(brush->colour, colour, (cover < 1 ? cover : 1) * strength);
}

static float hair_distance(const struct traits *t, float x, float y)
{
    float cap =
        ellipse_distance(x, y + 0.04f, t->width + t->hair_volume, t->height + t->hair_volume);
    float front = y - t->hair_line;
    switch (t->style) {
    case HAIR_SHORT:
        return larger_of(cap, front - 0.25f * x * x / t->width);
    case HAIR_FRINGE:
        return larger_of(cap, front - 0.14f);
    case HAIR_LONG:
        return smaller_of(
            larger_of(cap, front),
            larger_of(box_distance(x, y - 0.15f, t->width + t->hair_volume + 0.05f, 0.65f),
                      t->width - 0.05f - fabsf(x)));
    case HAIR_PARTED:
        return larger_of(cap, front - 0.30f * fabsf(x + 0.15f));
    case HAIR_ROUND:
        return larger_of(ellipse_distance(x, y + 0.2f, t->width + 0.12f + t->hair_volume,
                                          0.52f + t->hair_volume),
                         front);
    case HAIR_NONE:
    case HAIR_STYLES:
        break;
    }
    return 1;
}

/* Paints what is behind the face: shirt, neck, long hair and ears. */
static void paint_behind(struct brush *brush, const struct traits *t, const struct view *v, float x,
                         float y)
{
    struct colour shade = mix_colours(t->skin, (struct colour){0, 0, 0}, 0.25f);
    paint_shape(brush, ellipse_distance(x, y - 1.25f, 0.85f, 0.50f), v->shirt, 1);
    paint_shape(brush, box_distance(x, y - 0.65f, t->width * 0.45f, 0.30f), shade, 1);
    if (t->style == HAIR_LONG || t->style == HAIR_ROUND)
        paint_shape(
            brush,
            ellipse_distance(x, y - 0.02f, t->width + t->hair_volume + 0.06f, t->height + 0.08f),
            mix_colours(t->hair, (struct colour){0, 0, 0}, 0.3f), 1);
    paint_shape(brush,
                ellipse_distance(fabsf(x) - t->width, y - t->eye_height - 0.05f, t->ear_size * 0.6f,
                                 t->ear_size),
                shade, 1);
}

static void paint_eye(struct brush *brush, const struct traits *t, const struct view *v, float x,
                      float y, float side)
{
    static const struct colour WHITE = {0.95f, 0.95f, 0.93f}, BLACK = {0.05f, 0.04f, 0.04f};
    float ex = x - side * t->eye_gap, ey = y - t->eye_height - side * ex * t->eye_slant;
    float half = t->eye_width * t->eye_open * v->eyes_open * 0.6f;
    float lid = ellipse_distance(ex, ey, t->eye_width, half > 0.01f ? half : 0.01f);
    paint_shape(brush, lid - 0.012f, mix_colours(t->skin, BLACK, 0.45f), 1);
    paint_shape(brush, lid, WHITE, 1);
    float gx = ex - v->gaze * t->eye_width * 0.4f, radius = t->eye_width * 0.48f;
    paint_shape(brush, larger_of(lid, ellipse_distance(gx, ey, radius, radius)), t->iris, 1);
    paint_shape(brush, larger_of(lid, ellipse_distance(gx, ey, radius * 0.5f, radius * 0.5f)),
                BLACK, 1);
    float by = y - t->eye_height + t->brow_rise + v->brows_up + side * ex * t->brow_tilt;
    paint_shape(brush, ellipse_distance(ex, by, t->eye_width * 1.25f, t->brow_thick),
                mix_colours(t->hair, BLACK, 0.3f), 0.95f);
}

static void paint_nose_and_mouth(struct brush *brush, const struct traits *t, const struct view *v,
                                 float x, float y)
{
    static const struct colour BLACK = {0, 0, 0}, TEETH = {0.93f, 0.92f, 0.88f};
    float tip = t->eye_height + 0.04f + t->nose_length;
    paint_shape(brush,
                box_distance(x - 0.25f * t->nose_width, y - tip + t->nose_length * 0.5f, 0.012f,
                             t->nose_length * 0.5f),
                mix_colours(t->skin, BLACK, 0.5f), 0.35f);
    paint_shape(brush, ellipse_distance(x, y - tip, t->nose_width, 0.035f),
                mix_colours(t->skin, BLACK, 0.22f), 0.9f);
    paint_shape(
        brush, ellipse_distance(fabsf(x) - t->nose_width * 0.55f, y - tip - 0.008f, 0.016f, 0.011f),
        mix_colours(t->skin, BLACK, 0.7f), 1);

    float curve = v->smile * 0.05f * (1 - x * x / (t->mouth_width * t->mouth_width));
    float my = y - t->mouth_drop - curve;
    float open = v->mouth_open * 0.06f;
    paint_shape(brush, ellipse_distance(x, my, t->mouth_width, t->lip_thick + open), t->lips, 1);
    paint_shape(brush, ellipse_distance(x, my, t->mouth_width * 0.9f, open + 0.006f),
                mix_colours(t->lips, BLACK, 0.75f), 1);
    if (open > 0.02f)
        paint_shape(
            brush,
            larger_of(ellipse_distance(x, my, t->mouth_width * 0.8f, open), my + open * 0.25f),
            TEETH, 1);
}

static void paint_extras(struct brush *brush, const struct traits *t, float x, float y)
{
    if (t->glasses) {
        float gx = fabsf(x) - t->eye_gap, gy = y - t->eye_height;
        float rim = t->eye_width * 1.5f;
        float lens = t->round_glasses ? ellipse_distance(gx, gy, rim, rim)
                                      : box_distance(gx, gy, rim, rim * 0.7f);
        paint_shape(brush, fabsf(lens) - 0.012f, t->frame, 1);
        paint_shape(brush,
                    larger_of(box_distance(gx + t->eye_gap, gy + 0.02f, t->width, 0.01f), -lens),
                    t->frame, fabsf(x) < t->eye_gap ? 1 : 0.7f);
    }
    if (t->mole)
        paint_shape(brush, ellipse_distance(x - t->mole_x, y - t->mole_y, 0.018f, 0.018f),
                    (struct colour){0.2f, 0.1f, 0.07f}, 1);
}

static void paint_face(struct brush *brush, const struct traits *t, const struct view *v, float x,
                       float y)
{
    static const struct colour BLACK = {0, 0, 0};
    float edge = head_distance(t, x, y);
    paint_shape(brush, edge, t->skin, 1);
    /* Darken the side that is away from the light. */
    float lit = (x * v->light_x + (y - 0.1f) * v->light_y) / t->height;
    if (edge < 0)
        brush->colour =
            mix_colours(brush->colour, BLACK, lit > 0 ? smaller_of(0.55f * lit, 0.5f) : 0);
    /* When the head turns, the features move, but the outline hardly does. */
    float fx = x - v->turn * (1 - (x * x) / (t->width * t->width)), fy = y - v->nod;
    struct colour growth = mix_colours(t->hair, BLACK, 0.1f);
    if (t->beard)
        paint_shape(brush,
                    larger_of(edge + 0.01f,
                              larger_of(0.16f - fy, -ellipse_distance(fx, fy - 0.12f,
                                                                      t->width * 0.72f, 0.30f))),
                    growth, 0.85f);
    paint_nose_and_mouth(brush, t, v, fx, fy);
    if (t->moustache)
        paint_shape(
            brush,
            ellipse_distance(fx, fy - t->mouth_drop + 0.055f, t->mouth_width * 0.95f, 0.028f),
            growth, 0.9f);
    paint_eye(brush, t, v, fx, fy, -1);
    paint_eye(brush, t, v, fx, fy, 1);
    paint_extras(brush, t, fx, fy);
    paint_shape(brush, hair_distance(t, x, y), t->hair, 1);
}

static struct colour ground_colour(const struct view *v, float x, float y)
{
    float along =
        0.5f + 0.5f * sinf(2.2f * (x * cosf(v->ground_angle) + y * sinf(v->ground_angle)) +
                           v->ground_angle * 5);
    return mix_colours(v->ground_a, v->ground_b, along);
}

static uint8_t finish_value(const struct view *v, float value, float light, double noise)
{
    float out =
        ((value * light - 0.5f) * v->contrast + 0.5f + v->brightness) + v->noise * (float)noise;
    return (uint8_t)(out <= 0 ? 0 : out >= 1 ? 255 : out * 255 + 0.5f);
}

void faces_draw(uint64_t seed, uint64_t person, uint64_t picture, size_t side, uint8_t *ret_rgb)
{
    struct traits traits = draw_traits(seed, person);
    struct view view = draw_view(seed, person, picture);
    struct rand noise;
    rand_init_keyed(&noise, seed ^ 0x6e6f697365u, person, picture);
    float cosine = cosf(view.angle), sine = sinf(view.angle),
          pixel = 2.0f / (float)side / view.scale;
    for (size_t row = 0; row < side; row++) {
        for (size_t column = 0; column < side; column++) {
            float px = ((float)column + 0.5f) / (float)side * 2 - 1,
                  py = ((float)row + 0.5f) / (float)side * 2 - 1;
            float ux = (px - view.shift_x) / view.scale, uy = (py - view.shift_y) / view.scale;
            float x = ux * cosine + uy * sine, y = uy * cosine - ux * sine;
            struct brush brush = {.colour = ground_colour(&view, px, py), .pixel = pixel};
            paint_behind(&brush, &traits, &view, x, y);
            paint_face(&brush, &traits, &view, x, y);
            if (view.hidden)
                paint_shape(&brush,
                            box_distance(px - view.hidden_x, py - view.hidden_y, view.hidden_size,
                                         view.hidden_size),
                            view.hidden_colour, 1);
            uint8_t *out = ret_rgb + (row * side + column) * 3;
            double grain = rand_unit(&noise) * 3.4 - 1.7; /* uniform, standard deviation near 1 */
            out[0] = finish_value(&view, brush.colour.r, view.light.r, grain);
            out[1] = finish_value(&view, brush.colour.g, view.light.g, grain);
            out[2] = finish_value(&view, brush.colour.b, view.light.b, grain);
        }
    }
}

void faces_name(uint64_t person, char text[FACES_NAME_MAX])
{
    static const char *const NAMES[] = {
        "ada",  "ben",  "cleo", "dora", "emil", "fay",   "gus",   "hana", "ivan",
        "june", "karl", "lena", "milo", "nora", "otto",  "pia",   "quin", "rosa",
        "sam",  "tess", "uma",  "vera", "wes",  "xenia", "yusuf", "zoe",  "amir",
        "bela", "chen", "dina", "eric", "femi", "gita",  "hugo",  "ines", "jon",
    };
    const uint64_t count = sizeof(NAMES) / sizeof(NAMES[0]);
    if (person < count)
        snprintf(text, FACES_NAME_MAX, "%s", NAMES[person]);
    else
        snprintf(text, FACES_NAME_MAX, "%s-%" PRIu64, NAMES[person % count], person / count + 1);
}
