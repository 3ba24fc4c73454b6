/* Tests cascades: a window is accepted or rejected by the rules of the file, and an invalid file is
 * rejected. Also tests the search for a bright square on dark ground, with a cascade for just that.
 * The cascades of Debian's package are read if they are installed. */
#include "train/data/cascade.h"
#include "train/data/face_crop.h"
#include "train/data/face_finder.h"

#include "base/mem.h"
#include "base/system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;

/* A window of 8×8 whose middle is brighter than the whole by more than the standard deviation. */
#define SQUARE_HEAD                                                                                \
    "<?xml version=\"1.0\"?>\n<!-- a <comment> -->\n<opencv_storage>\n"                            \
    "<cascade type_id=\"opencv-cascade-classifier\"><stageType>BOOST</stageType>\n"                \
    "  <featureType>HAAR</featureType><height>8</height><width>8</width>\n"                        \
    "  <stageParams><maxWeakCount>3</maxWeakCount></stageParams><stageNum>1</stageNum>\n"
#define SQUARE_STAGES                                                                              \
    "  <stages><_><maxWeakCount>1</maxWeakCount><stageThreshold>0.5</stageThreshold>\n"            \
    "    <weakClassifiers><_><internalNodes>0 -1 0 2.3e+00</internalNodes>\n"                      \
    "      <leafValues>0. 1.</leafValues></_>\n"                                                   \
    "      <_><internalNodes>1 0 1 1e3 0 -1 0 0</internalNodes><leafValues>0 0</leafValues></_>\n" \
    "    </weakClassifiers></_></stages>\n"
#define SQUARE_FEATURES                                                                            \
    "  <features><_><rects><_>0 0 8 8 -1.</_><_>2 2 4 4 4.</_></rects></_>\n"                      \
    "    <_><rects><_>0 0 4 8 -1.</_><_>4 0 4 8 1.</_></rects><tilted>0</tilted></_></features>\n"
#define SQUARE SQUARE_HEAD SQUARE_STAGES SQUARE_FEATURES "</cascade></opencv_storage>\n"

static void fill_sums(const uint8_t *pixels, int side, struct cascade_sums *sums)
{
    static uint32_t plain[33 * 33];
    static uint64_t squares[33 * 33];
    *sums = (struct cascade_sums){side, side, side + 1, plain, squares};
    memset(plain, 0, sizeof(plain));
    memset(squares, 0, sizeof(squares));
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            int at = (y + 1) * (side + 1) + x + 1, up = at - side - 1;
            uint32_t p = pixels[y * side + x];
            plain[at] = p + plain[at - 1] + plain[up] - plain[up - 1];
            squares[at] = p * p + squares[at - 1] + squares[up] - squares[up - 1];
        }
}

static void haar_features_are_evaluated(void **state)
{
    (void)state;
    _cleanup_(cleanup_cascade) struct cascade *cascade = NULL;
    assert_int_equal(cascade_parse(SQUARE, strlen(SQUARE), &cascade, &err), 0);
    int width, height;
    cascade_window(cascade, &width, &height);
    assert_int_equal(width, 8);
    assert_int_equal(height, 8);
    uint8_t pixels[16 * 16];
    memset(pixels, 20, sizeof(pixels));
    for (int y = 6; y < 10; y++)
        memset(pixels + y * 16 + 6, 220, 4);
    struct cascade_sums sums;
    fill_sums(pixels, 16, &sums);
    _cleanup_(cleanup_cascade_plan) struct cascade_plan *plan = cascade_plan_new(cascade, 17);
    assert_true(cascade_accepts(plan, &sums, 4, 4)); /* the square is in the middle of the window */
    assert_false(cascade_accepts(plan, &sums, 8, 8));
    assert_false(cascade_accepts(plan, &sums, 0, 0));
    memset(pixels, 20, sizeof(pixels));
    for (int y = 6; y < 10; y++)
        memset(pixels + y * 16 + 6, 24, 4);
    fill_sums(pixels, 16, &sums);
    assert_false(cascade_accepts(plan, &sums, 4, 4)); /* the contrast is too small */
}

/* Each cell is one pixel. The code of the eight pixels around the middle decides by its bit in the
 * subset. */
static void lbp_features_are_evaluated(void **state)
{
    (void)state;
    uint8_t pixels[16] = {9, 1, 1, 0, 1, 5, 9, 0, 1, 1, 1, 0, 0, 0, 0, 0};
    struct cascade_sums sums;
    fill_sums(pixels, 4, &sums);
    /* The first pixel is not darker than the middle (128), and neither is the right one (16). Code
     * 144 is word 4, bit 16. */
    for (int bit = 15; bit <= 17; bit++) {
        _cleanup_free_ char *text = mem_printf(
            "<opencv_storage><cascade><featureType>LBP</featureType><height>4</height>"
            "<width>4</width><stages><_><stageThreshold>0.5</stageThreshold><weakClassifiers><_>"
            "<internalNodes>0 -1 0 0 0 0 0 %d 0 0 0</internalNodes><leafValues>1 0</leafValues>"
            "</_></weakClassifiers></_></stages><features><_><rect>0 0 1 1</rect></_></features>"
            "</cascade></opencv_storage>",
            1 << bit);
        _cleanup_(cleanup_cascade) struct cascade *cascade = NULL;
        assert_int_equal(cascade_parse(text, strlen(text), &cascade, &err), 0);
        _cleanup_(cleanup_cascade_plan) struct cascade_plan *plan = cascade_plan_new(cascade, 5);
        assert_int_equal(cascade_accepts(plan, &sums, 0, 0), bit == 16);
    }
}

static void expect_rejection(const char *sentence, const char *text)
{
    struct cascade *cascade = NULL;
    err = ERR_INIT;
    assert_true(cascade_parse(text, strlen(text), &cascade, &err) < 0);
    assert_null(cascade);
    if (!strstr(err.message, sentence))
        fail_msg("'%s' does not say '%s'", err.message, sentence);
}

static void invalid_cascades_are_rejected(void **state)
{
    (void)state;
    expect_rejection("cut off", "");
    expect_rejection("text where an element should be", "hello");
    expect_rejection("no element 'cascade'", "<html><body>");
    expect_rejection("cut off", SQUARE_HEAD);
    expect_rejection("no stages, or no window", "<opencv_storage><cascade></cascade>");
    expect_rejection("feature that does not exist", SQUARE_HEAD SQUARE_STAGES "</cascade>");
    expect_rejection("outside of the window", SQUARE_HEAD SQUARE_STAGES
                     "<features><_><rects><_>0 0 9 8 1</_></rects></_></features></cascade>");
    expect_rejection(
        "tilted features", SQUARE_HEAD
        "<features><_><rects><_>0 0 8 8 1</_></rects><tilted>1</tilted></_></features>");
    expect_rejection("a value is not a number", SQUARE_HEAD "<features><_><rects><_>0 0 x");
    expect_rejection("child that is missing or precedes it", SQUARE_HEAD
                     "<stages><_><weakClassifiers><_><internalNodes>0 0 0 1</internalNodes>"
                     "</_></weakClassifiers></_></stages>"); /* the leaf is missing */
    expect_rejection("child that is missing or precedes it",
                     SQUARE_HEAD "<stages><_><weakClassifiers><_><internalNodes>0 1 0 1 1 0 0 1"
                                 "</internalNodes><leafValues>1</leafValues></_>"); /* a cycle */
    expect_rejection("neither HAAR nor LBP",
                     "<opencv_storage><cascade><featureType>HOG</featureType>");
    expect_rejection("out of bounds", "<opencv_storage><cascade><width>100000</width>");
    char deep[4096] = "<opencv_storage><cascade>";
    for (int i = 0; i < 100; i++)
        strcat(deep, "<a>");
    expect_rejection("nested too deep", deep);
    struct cascade *cascade = NULL;
    assert_int_equal(cascade_read("/nonexistent", &cascade, &err), -ERR_NOT_FOUND);
}

static void add_square(struct picture *picture, int x, int y, int side)
{
    for (int v = y; v < y + side; v++)
        memset(picture->pixels + (size_t)v * picture->width + x, 220, (size_t)side);
}

static void draw_square(struct picture *picture, int x, int y, int side)
{
    memset(picture->pixels, 20, picture->width * picture->height);
    add_square(picture, x, y, side);
}

static struct face_finder *new_square_finder(void)
{
    char path[] = "/tmp/trainyard-cascade.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(file_replace(path, SQUARE, strlen(SQUARE), 0600, &err), 0);
    struct face_finder *finder = NULL;
    assert_int_equal(face_finder_new(path, &finder, &err), 0);
    unlink(path);
    return finder;
}

static void face_is_found_with_its_position_and_size(void **state)
{
    (void)state;
    _cleanup_(cleanup_face_finder) struct face_finder *finder = new_square_finder();

    uint8_t *pixels = mem_alloc(1200 * 900);
    static const int CASES[][5] = {{120, 90, 40, 30, 20},
                                   {120, 90, 80, 50, 12},
                                   {1200, 900, 500, 300, 200},
                                   {60, 90, 18, 40, 24}};
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        const int *c = CASES[i];
        struct picture picture = {(size_t)c[0], (size_t)c[1], 1, pixels};
        draw_square(&picture, c[2], c[3], c[4]);
        struct picture_square found = {0};
        assert_int_equal(face_finder_find(finder, &picture, &found), 1);
        double want = 2.0 * c[4]; /* the window is twice as large as the square */
        assert_float_equal(found.x + found.side / 2, c[2] + c[4] / 2.0, want * 0.15);
        assert_float_equal(found.y + found.side / 2, c[3] + c[4] / 2.0, want * 0.15);
        assert_true(found.side > want * 0.7 && found.side < want * 1.4);

        struct picture_square cut;
        size_t seen = 0;
        assert_int_equal(face_crop_choose(FACE_CROP_CASCADE, finder, &picture, &cut, &seen, &err),
                         0);
        assert_int_equal(seen, 1);
        assert_true(cut.side > found.side && cut.x < found.x && cut.y < found.y);
        memset(pixels, 20, picture.width * picture.height);
        assert_int_equal(face_finder_find(finder, &picture, &found), 0);
        assert_int_equal(face_crop_choose(FACE_CROP_AUTO, finder, &picture, &cut, &seen, &err), 0);
        assert_int_equal(seen, 0);
        assert_float_equal(cut.side, c[0] < c[1] ? c[0] : c[1], 1e-9);
        assert_int_equal(face_crop_choose(FACE_CROP_WHOLE, NULL, &picture, &cut, &seen, &err), 0);
        assert_int_equal(seen, 0);
        assert_float_equal(cut.side, c[0] > c[1] ? c[0] : c[1], 1e-9);
        assert_float_equal(cut.x + cut.side / 2, c[0] / 2.0, 1e-9);
        assert_float_equal(cut.y + cut.side / 2, c[1] / 2.0, 1e-9);
        assert_int_equal(face_crop_choose(FACE_CROP_CASCADE, finder, &picture, &cut, NULL, &err),
                         -ERR_INVALID);
        assert_non_null(strstr(err.message, "no face was found"));
    }
    struct picture dot = {1, 1, 1, pixels};
    struct picture_square found;
    assert_int_equal(face_finder_find(finder, &dot, &found), 0);
    free(pixels);
}

static void several_faces_are_counted(void **state)
{
    (void)state;
    _cleanup_(cleanup_face_finder) struct face_finder *finder = new_square_finder();
    uint8_t pixels[240 * 90];
    struct picture picture = {240, 90, 1, pixels};
    struct picture_square found;
    draw_square(&picture, 30, 30, 20);
    assert_int_equal(face_finder_find(finder, &picture, &found), 1);
    add_square(&picture, 110, 35, 24);
    assert_int_equal(face_finder_find(finder, &picture, &found), 2);
    add_square(&picture, 190, 40, 20);
    assert_int_equal(face_finder_find(finder, &picture, &found), 3);
}

static void crop_names_round_trip(void **state)
{
    (void)state;
    enum face_crop crop;
    for (int i = FACE_CROP_OFF; i <= FACE_CROP_CASCADE; i++) {
        assert_int_equal(face_crop_from_name(face_crop_name((enum face_crop)i), &crop, &err), 0);
        assert_int_equal(crop, i);
    }
    assert_int_equal(face_crop_from_name("haar", &crop, &err), -ERR_INVALID);
    struct face_finder *finder = NULL;
    assert_int_equal(face_finder_new("/nonexistent", &finder, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "opencv-data"));
}

static void installed_cascade_is_parsed(void **state)
{
    (void)state;
    if (!file_exists(FACE_FINDER_CASCADE))
        skip();
    _cleanup_(cleanup_cascade) struct cascade *cascade = NULL;
    assert_int_equal(cascade_read(FACE_FINDER_CASCADE, &cascade, &err), 0);
    int width, height;
    cascade_window(cascade, &width, &height);
    assert_int_equal(width, 20);
    assert_int_equal(height, 20);
}

#define FEATURE    "<_><rects><_>0 0 1 1 1</_></rects></_>"
#define STAGE_HEAD "<_><stageThreshold>1</stageThreshold><weakClassifiers>"
#define TREE       "<_><internalNodes>0 0 0 1</internalNodes><leafValues>1</leafValues></_>"
#define STAGE_TAIL "</weakClassifiers></_>"

/* Whether `before`, then `count` times `part`, then `after` is accepted as a cascade. */
static bool is_accepted(const char *before, const char *part, size_t count, const char *after)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 64 << 20);
    buf_append_str(&text, "<opencv_storage><cascade>");
    buf_append_str(&text, before);
    for (size_t i = 0; i < count; i++)
        buf_append_str(&text, part);
    buf_append_str(&text, after);
    buf_append_str(&text, "</cascade></opencv_storage>");
    _cleanup_(cleanup_cascade) struct cascade *cascade = NULL;
    err = ERR_INIT;
    return cascade_parse(text.data, text.size, &cascade, &err) == 0;
}

/* Every tree has a node and every stage a tree, so the limit of nodes is reached first. */
static void number_of_parts_is_limited(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part, *after, *complaint;
        size_t there; /* number of such parts in `before` and `after` */
    } rows[] = {
        {"<height>8</height><width>8</width><stages>" STAGE_HEAD TREE STAGE_TAIL
         "</stages><features>",
         FEATURE, "</features>", "a feature has no rectangle, or there are too many", 0},
        {"<height>8</height><width>8</width><features>" FEATURE "</features><stages>",
         STAGE_HEAD TREE STAGE_TAIL, "</stages>", "it has too many nodes", 0},
        {"<height>8</height><width>8</width><features>" FEATURE
         "</features><stages>" STAGE_HEAD TREE
         "<_><internalNodes>0 0 0 1</internalNodes><leafValues>",
         " 1", "</leafValues></_>" STAGE_TAIL "</stages>", "it has too many leaves", 1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        size_t most = CASCADE_PARTS_MAX - rows[i].there;
        if (!is_accepted(rows[i].before, rows[i].part, most, rows[i].after))
            fail_msg("row %zu: %s", i, err.message);
        assert_false(is_accepted(rows[i].before, rows[i].part, most + 1, rows[i].after));
        if (!strstr(err.message, rows[i].complaint))
            fail_msg("row %zu: %s", i, err.message);
    }
}

/* The longest word, the deepest nesting and the widest list, and one more. */
static void sizes_of_xml_elements_are_limited(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part, *after, *complaint;
        size_t most;
    } rows[] = {
        {"<", "x", ">1</x>" SQUARE_STAGES SQUARE_FEATURES, "the name of an element is too long",
         31},
        {"<stages><_><stageThreshold>0.", "0",
         "</stageThreshold><weakClassifiers>" TREE STAGE_TAIL "</stages>" SQUARE_FEATURES,
         "a number is too long", 37},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        static const char window[] = "<height>8</height><width>8</width>";
        _cleanup_free_ char *after = mem_printf("%s%s", rows[i].after, window);
        if (!is_accepted(rows[i].before, rows[i].part, rows[i].most, after))
            fail_msg("row %zu: %s", i, err.message);
        assert_false(is_accepted(rows[i].before, rows[i].part, rows[i].most + 1, after));
        assert_non_null(strstr(err.message, rows[i].complaint));
    }
    for (size_t over = 0; over < 2; over++) { /* an element that is not closed is truncated */
        assert_false(is_accepted("<other>", "<o>", 16 + over, ""));
        assert_int_equal(strstr(err.message, "nested too deep") != NULL, over == 1);
    }
    for (int side = CASCADE_WINDOW_MAX; side <= CASCADE_WINDOW_MAX + 1; side++) {
        _cleanup_free_ char *window =
            mem_printf("<height>%d</height><width>%d</width>", side, side);
        assert_int_equal(is_accepted(window, SQUARE_STAGES SQUARE_FEATURES, 1, ""),
                         side == CASCADE_WINDOW_MAX);
    }
}

static void size_of_cascade_files_is_limited(void **state)
{
    (void)state;
    char path[] = "/tmp/test_cascade.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (off_t over = 0; over < 2; over++) { /* bytes after a cascade are ignored */
        struct cascade *cascade = NULL;
        assert_int_equal(pwrite(fd, SQUARE, strlen(SQUARE), 0), strlen(SQUARE));
        assert_int_equal(ftruncate(fd, CASCADE_FILE_MAX + over), 0);
        assert_int_equal(cascade_read(path, &cascade, &err) == 0, over == 0);
        cascade_free(cascade);
    }
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(haar_features_are_evaluated),
        cmocka_unit_test(lbp_features_are_evaluated),
        cmocka_unit_test(invalid_cascades_are_rejected),
        cmocka_unit_test(number_of_parts_is_limited),
        cmocka_unit_test(sizes_of_xml_elements_are_limited),
        cmocka_unit_test(size_of_cascade_files_is_limited),
        cmocka_unit_test(face_is_found_with_its_position_and_size),
        cmocka_unit_test(several_faces_are_counted),
        cmocka_unit_test(crop_names_round_trip),
        cmocka_unit_test(installed_cascade_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
