/* Draws the comparison of probes with a gallery (probe.h): the ROC curve as CSV and SVG, and the
 * distances as a PNG with names and a scale. */
#include "models/face/probe.h"

#include "base/mem.h"
#include "train/data/picture.h"

#include <string.h>

/* ---- The curve */

void face_probe_roc_csv(const struct face_probe *probe, struct buf *buf)
{
    buf_append_str(buf, "threshold,same,different\n");
    for (size_t i = 0; i < probe->point_count; i++)
        buf_printf(buf, "%.6f,%.6f,%.6f\n", probe->points[i].threshold, probe->points[i].same,
                   probe->points[i].different);
}

void face_probe_roc_svg(const struct face_probe *probe, struct buf *buf)
{
    enum { LEFT = 60, TOP = 40, SIDE = 360 };
    buf_printf(buf,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "font-family=\"sans-serif\" font-size=\"13\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
               "<text x=\"%d\" y=\"24\">ROC curve over all distance thresholds; AUC "
               "%.4f</text>\n",
               LEFT + SIDE + 30, TOP + SIDE + 60, LEFT, probe->metrics.auc);
    for (int i = 0; i <= 5; i++) {
        int along = SIDE * i / 5;
        buf_printf(buf,
                   "<path d=\"M%d %dh%dM%d %dv%d\" stroke=\"#ddd\"/>"
                   "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.1f</text>"
                   "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.1f</text>\n",
                   LEFT, TOP + SIDE - along, SIDE, LEFT + along, TOP, SIDE, LEFT + along,
                   TOP + SIDE + 20, i / 5.0, LEFT - 8, TOP + SIDE - along + 4, i / 5.0);
    }
    buf_printf(buf,
               "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">fraction of pairs of two people "
               "taken for one person</text>\n"
               "<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">fraction "
               "of pairs of one person recognised</text>\n"
               "<path d=\"M%d %dL%d %d\" stroke=\"#999\" stroke-dasharray=\"4\"/>\n"
               "<polyline fill=\"none\" stroke=\"#1763b0\" stroke-width=\"2\" points=\"",
               LEFT + SIDE / 2, TOP + SIDE + 42, TOP + SIDE / 2, LEFT, TOP + SIDE, LEFT + SIDE,
               TOP);
    for (size_t i = 0; i < probe->point_count; i++)
        buf_printf(buf, "%s%.1f,%.1f", i ? " " : "", LEFT + SIDE * probe->points[i].different,
                   TOP + SIDE - SIDE * probe->points[i].same);
    buf_append_str(buf, "\"/>\n</svg>\n");
}

/* ---- The distances */

enum {
    /* Wanted number of pixels of the longer side of the matrix, if it has fewer cells. */
    PIXELS_AIM = 900,
    CELL_MAX = 16,
    GLYPH = 2,            /* pixels per dot of a letter; a letter has 3×5 dots */
    LETTER = 4 * GLYPH,   /* width of a letter and the gap after it */
    LINE = 6 * GLYPH + 2, /* height of a line of text and the gap after it */
    LETTERS_MAX = 12,     /* letters per name */
    GAP = 8,
    SCALE_WIDTH = 16,
};

#define DISTANCE_MAX 2.0f /* largest distance between two points on a sphere of radius 1 */

struct canvas {
    size_t width, height;
    uint8_t *pixels;
};

static void put_block(struct canvas *canvas, size_t x, size_t y, size_t width, size_t height,
                      uint8_t grey)
{
    for (size_t v = y; v < y + height && v < canvas->height; v++)
        for (size_t u = x; u < x + width && u < canvas->width; u++)
            canvas->pixels[v * canvas->width + u] = grey;
}

/* Returns the dots of a letter as 15 bits: five rows of three dots from the top, most significant
 * bit first. */
static unsigned glyph_of(char c)
{
    static const uint16_t LETTERS[26] = {0x2bed, 0x6bae, 0x3923, 0x6b6e, 0x79a7, 0x79a4, 0x396b,
                                         0x5bed, 0x7497, 0x126a, 0x5bad, 0x4927, 0x5fed, 0x7b6d,
                                         0x2b6a, 0x6ba4, 0x2b7b, 0x6bad, 0x388e, 0x7492, 0x5b6f,
                                         0x5b6a, 0x5bfd, 0x5aad, 0x5a92, 0x72a7};
    static const uint16_t DIGITS[10] = {0x7b6f, 0x2c97, 0x73e7, 0x73cf, 0x5bc9,
                                        0x79cf, 0x79ef, 0x7252, 0x7bef, 0x7bcf};
    if (c >= '0' && c <= '9')
        return DIGITS[c - '0'];
    if (c >= 'a' && c <= 'z')
        return LETTERS[c - 'a'];
    if (c >= 'A' && c <= 'Z')
        return LETTERS[c - 'A'];
    return c == '.' ? 0x0002 : c == '_' ? 0x0007 : c == ' ' ? 0 : 0x01c0;
}

/* Writes from left to right, or from bottom to top if `upward` is set. */
static void put_text(struct canvas *canvas, size_t x, size_t y, const char *text, bool upward)
{
    for (size_t i = 0; i < LETTERS_MAX && text[i]; i++) {
        unsigned bits = glyph_of(text[i]);
        for (size_t dot = 0; dot < 15; dot++) {
            if (!(bits >> (14 - dot) & 1))
                continue;
            size_t along = i * LETTER + dot % 3 * GLYPH, across = dot / 3 * GLYPH;
            put_block(canvas, upward ? x + across : x + along,
                      upward ? y - along - GLYPH : y + across, GLYPH, GLYPH, 0);
        }
    }
}

static size_t longest_name(const struct dataset *people)
{
    size_t longest = 0;
    for (size_t i = 0; i < dataset_persons(people); i++) {
        size_t length = strlen(dataset_person_name(people, i));
        longest = length > longest ? length : longest;
    }
    return longest < LETTERS_MAX ? longest : LETTERS_MAX;
}

/* Returns the pixel positions of the cells of all pictures, followed by the position of the end. A
 * gap of one pixel separates two persons. The caller frees the result. */
static size_t *place_persons(const int *persons, size_t count, size_t start, size_t cell)
{
    size_t *ret = mem_calloc(count + 1, sizeof(*ret)), at = start;
    for (size_t i = 0; i < count; i++, at += cell) {
        if (i && persons[i] != persons[i - 1])
            at++;
        ret[i] = at;
    }
    ret[count] = at;
    return ret;
}

/* Writes the name of each person beside the middle of the person's cells. Leaves out a name that
 * would overlap the previous one. */
static void put_names(struct canvas *canvas, const struct dataset *people, const size_t *at,
                      size_t edge, bool upward)
{
    size_t first = 0, next_free = 0;
    for (size_t person = 0; person < dataset_persons(people); person++) {
        size_t last = first + dataset_pictures(people, person);
        size_t middle = (at[first] + at[last]) / 2, from = middle - 5 * GLYPH / 2;
        first = last;
        if (from < next_free)
            continue;
        next_free = from + LINE;
        const char *name = dataset_person_name(people, person);
        if (upward)
            put_text(canvas, from, edge, name, true);
        else
            put_text(canvas, edge, from, name, false);
    }
}

/* Draws the scale of distances, from black (0) at the top to white (2) at the bottom. */
static void put_scale(struct canvas *canvas, size_t x, size_t y, size_t height)
{
    static const char *const NUMBERS[] = {"0.0", "0.5", "1.0", "1.5", "2.0"};
    for (size_t i = 0; i < height; i++)
        put_block(canvas, x, y + i, SCALE_WIDTH, 1, (uint8_t)(255 * i / height));
    put_block(canvas, x, y + height, SCALE_WIDTH, 1, 0);
    put_block(canvas, x + SCALE_WIDTH, y, 1, height + 1, 0);
    for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++) {
        size_t at = y + height * i / (ARRAY_SIZE(NUMBERS) - 1);
        put_block(canvas, x + SCALE_WIDTH, at, 4, 1, 0);
        put_text(canvas, x + SCALE_WIDTH + 6, at - 5 * GLYPH / 2, NUMBERS[i], false);
    }
}

int face_probe_distances_png(const struct face_probe *probe, struct buf *buf, struct err *err)
{
    size_t longer = probe->rows > probe->columns ? probe->rows : probe->columns;
    size_t cell = longer * CELL_MAX <= PIXELS_AIM ? CELL_MAX
                  : longer < PIXELS_AIM           ? PIXELS_AIM / longer
                                                  : 1;
    size_t left = longest_name(probe->probes) * LETTER + 2 * GAP,
           top = longest_name(probe->gallery) * LETTER + 2 * GAP;
    _cleanup_free_ size_t *rows = place_persons(probe->row_persons, probe->rows, top, cell),
                          *columns =
                              place_persons(probe->column_persons, probe->columns, left, cell);
    size_t right = columns[probe->columns], bottom = rows[probe->rows];
    size_t scale = bottom - top > 10 * LINE ? bottom - top : 10 * LINE;
    struct canvas canvas = {
        .width = right + 2 * GAP + SCALE_WIDTH + 6 + 3 * LETTER + GAP,
        .height = top + scale + 2 * GAP,
    };
    canvas.pixels = mem_alloc(canvas.width * canvas.height);
    memset(canvas.pixels, 255, canvas.width * canvas.height);
    for (size_t y = 0; y < probe->rows; y++)
        for (size_t x = 0; x < probe->columns; x++) {
            float part = probe->distances[y * probe->columns + x] / DISTANCE_MAX;
            put_block(&canvas, columns[x], rows[y], cell, cell,
                      (uint8_t)(255 * (part > 1 ? 1 : part)));
        }
    put_names(&canvas, probe->probes, rows, GAP, false);
    put_names(&canvas, probe->gallery, columns, top - GAP, true);
    put_scale(&canvas, right + 2 * GAP, top, scale);
    int result = picture_encode_png(canvas.pixels, canvas.width, canvas.height, 1, buf, err);
    free(canvas.pixels);
    return result;
}
