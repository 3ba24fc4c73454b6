/* Implements cascade_parse() and cascade_read(); see cascade.h. Skips unknown elements. The checks
 * here make checks during evaluation unnecessary: every feature lies in the window, and every path
 * through a tree leads forward and ends at a leaf of the tree. */
#include "train/data/cascade_internal.h"
#include "train/data/cascade_xml.h"

#include "base/system/file.h"

#include <errno.h>
#include <math.h>

/* Reads the nodes of a tree. A node consists of left, right, feature, and a threshold (Haar) or a
 * subset (local binary patterns). */
static int read_nodes(struct cascade_xml *reader, struct cascade *cascade,
                      struct cascade_tree *tree)
{
    double row[3 + CASCADE_SUBSET], value;
    int width = cascade->patterns ? 3 + CASCADE_SUBSET : 4, filled = 0, result;
    while ((result = cascade_xml_next_number(reader, &value)) > 0) {
        row[filled++] = value;
        if (filled < width)
            continue;
        struct cascade_node node = {0};
        for (int i = 0; i < 3; i++)
            if (fabs(row[i]) > CASCADE_PARTS_MAX || row[i] != floor(row[i]))
                return cascade_xml_refuse(reader, "a node has an invalid index");
        node.left = (int)row[0];
        node.right = (int)row[1];
        node.feature = (int)row[2];
        node.threshold = (float)row[3];
        for (int i = 0; cascade->patterns && i < CASCADE_SUBSET; i++)
            node.subset[i] = (uint32_t)(int64_t)row[3 + i];
        if (cascade->nodes.count >= CASCADE_PARTS_MAX)
            return cascade_xml_refuse(reader, "it has too many nodes");
        vec_push(&cascade->nodes, node);
        tree->node_count++;
        filled = 0;
    }
    return result == 0 && filled
               ? cascade_xml_refuse(reader, "the last node of a tree is incomplete")
               : result;
}

static int read_leaves(struct cascade_xml *reader, struct cascade *cascade,
                       struct cascade_tree *tree)
{
    double value;
    int result;
    while ((result = cascade_xml_next_number(reader, &value)) > 0) {
        if (cascade->leaves.count >= CASCADE_PARTS_MAX)
            return cascade_xml_refuse(reader, "it has too many leaves");
        vec_push(&cascade->leaves, (float)value);
        tree->leaf_count++;
    }
    return result;
}

/* Returns whether `child` is a later node than `from`, or a leaf, of the tree. */
static bool child_is_valid(int child, uint32_t from, const struct cascade_tree *tree)
{
    return child > 0 ? (uint32_t)child > from && (uint32_t)child < tree->node_count
                     : (uint32_t)-child < tree->leaf_count;
}

static int read_tree(struct cascade_xml *reader, struct cascade *cascade)
{
    struct cascade_tree tree = {.first_node = (uint32_t)cascade->nodes.count,
                                .first_leaf = (uint32_t)cascade->leaves.count};
    char name[CASCADE_XML_NAME_MAX];
    int result;
    while ((result = cascade_xml_next_element(reader, name)) > 0) {
        if (strcmp(name, "internalNodes") == 0 && tree.node_count == 0)
            result = read_nodes(reader, cascade, &tree);
        else if (strcmp(name, "leafValues") == 0 && tree.leaf_count == 0)
            result = read_leaves(reader, cascade, &tree);
        else
            result = cascade_xml_skip_element(reader, 0);
        if (result < 0)
            return result;
    }
    if (result < 0)
        return result;
    if (tree.node_count == 0 || cascade->trees.count >= CASCADE_PARTS_MAX)
        return cascade_xml_refuse(reader, "a tree has no nodes, or there are too many trees");
    for (uint32_t i = 0; i < tree.node_count; i++) {
        const struct cascade_node *node = &cascade->nodes.items[tree.first_node + i];
        if (!child_is_valid(node->left, i, &tree) || !child_is_valid(node->right, i, &tree))
            return cascade_xml_refuse(reader,
                                      "a node refers to a child that is missing or precedes it");
    }
    vec_push(&cascade->trees, tree);
    return 0;
}

/* Reads the elements of a list, which are named "_", with `read`. Skips all other elements. */
static int read_list(struct cascade_xml *reader, struct cascade *cascade,
                     int (*read)(struct cascade_xml *, struct cascade *))
{
    char name[CASCADE_XML_NAME_MAX];
    int result;
    while ((result = cascade_xml_next_element(reader, name)) > 0) {
        result =
            strcmp(name, "_") == 0 ? read(reader, cascade) : cascade_xml_skip_element(reader, 0);
        if (result < 0)
            break;
    }
    return result;
}

static int read_stage(struct cascade_xml *reader, struct cascade *cascade)
{
    struct cascade_stage stage = {.first_tree = (uint32_t)cascade->trees.count};
    char name[CASCADE_XML_NAME_MAX];
    double threshold = NAN;
    int result;
    while ((result = cascade_xml_next_element(reader, name)) > 0) {
        if (strcmp(name, "stageThreshold") == 0)
            result = cascade_xml_number(reader, -1e6, 1e6, &threshold);
        else if (strcmp(name, "weakClassifiers") == 0)
            result = read_list(reader, cascade, read_tree);
        else
            result = cascade_xml_skip_element(reader, 0);
        if (result < 0)
            return result;
    }
    if (result < 0)
        return result;
    stage.tree_count = (uint32_t)cascade->trees.count - stage.first_tree;
    stage.threshold = (float)threshold;
    if (isnan(threshold) || stage.tree_count == 0)
        return cascade_xml_refuse(reader, "a stage has no threshold or no trees");
    if (cascade->stages.count >= CASCADE_PARTS_MAX)
        return cascade_xml_refuse(reader, "it has too many stages");
    vec_push(&cascade->stages, stage);
    return 0;
}

/* Reads "x y width height [weight]". check_cascade() checks later whether the rectangle lies in the
 * window. */
static int read_rectangle(struct cascade_xml *reader, struct cascade_feature *feature)
{
    double n[5] = {0};
    int count = cascade_xml_numbers(reader, n, 5);
    if (count < 0)
        return count;
    if (count < 4 || feature->count == CASCADE_RECTANGLES)
        return cascade_xml_refuse(
            reader, "a rectangle has fewer than 4 numbers, or a feature has too many rectangles");
    for (int i = 0; i < 4; i++)
        if (n[i] < 0 || n[i] > CASCADE_WINDOW_MAX || n[i] != floor(n[i]))
            return cascade_xml_refuse(reader, "a rectangle lies outside of the window");
    feature->rectangles[feature->count++] =
        (struct cascade_rectangle){(int)n[0], (int)n[1], (int)n[2], (int)n[3], (float)n[4]};
    return 0;
}

static int read_rectangles(struct cascade_xml *reader, struct cascade_feature *feature)
{
    char name[CASCADE_XML_NAME_MAX];
    int result;
    while ((result = cascade_xml_next_element(reader, name)) > 0) {
        result = read_rectangle(reader, feature);
        if (result < 0)
            break;
    }
    return result;
}

static int read_feature(struct cascade_xml *reader, struct cascade *cascade)
{
    struct cascade_feature feature = {0};
    char name[CASCADE_XML_NAME_MAX];
    int result;
    while ((result = cascade_xml_next_element(reader, name)) > 0) {
        double tilted = 0;
        if (strcmp(name, "rects") == 0)
            result = read_rectangles(reader, &feature);
        else if (strcmp(name, "rect") == 0)
            result = read_rectangle(reader, &feature);
        else if (strcmp(name, "tilted") == 0)
            result = cascade_xml_number(reader, 0, 1, &tilted);
        else
            result = cascade_xml_skip_element(reader, 0);
        if (result == 0 && tilted > 0)
            return err_set(reader->err, ERR_UNSUPPORTED,
                           "this cascade has tilted features, which are not supported: use "
                           "another one, such as haarcascade_frontalface_alt2.xml");
        if (result < 0)
            return result;
    }
    if (result == 0 && (feature.count == 0 || cascade->features.count >= CASCADE_PARTS_MAX))
        result = cascade_xml_refuse(reader, "a feature has no rectangle, or there are too many");
    if (result == 0)
        vec_push(&cascade->features, feature);
    return result;
}

static int check_cascade(struct cascade_xml *reader, const struct cascade *cascade)
{
    if (cascade->width < 4 || cascade->height < 4 || cascade->stages.count == 0)
        return cascade_xml_refuse(reader, "it has no stages, or no window of at least 4×4 pixels");
    int cells = cascade->patterns ? 3 : 1;
    for (size_t i = 0; i < cascade->features.count; i++)
        for (int k = 0; k < cascade->features.items[i].count; k++) {
            const struct cascade_rectangle *r = &cascade->features.items[i].rectangles[k];
            if (r->width < 1 || r->height < 1 || r->x + cells * r->width > cascade->width ||
                r->y + cells * r->height > cascade->height)
                return cascade_xml_refuse(reader, "a rectangle lies outside of the window");
        }
    for (size_t i = 0; i < cascade->nodes.count; i++)
        if (cascade->nodes.items[i].feature < 0 ||
            (size_t)cascade->nodes.items[i].feature >= cascade->features.count)
            return cascade_xml_refuse(reader, "a node refers to a feature that does not exist");
    return 0;
}

static int read_feature_kind(struct cascade_xml *reader, struct cascade *cascade)
{
    char text[CASCADE_XML_NAME_MAX];
    int result = cascade_xml_word(reader, text);
    if (result < 0)
        return result;
    cascade->patterns = strcmp(text, "LBP") == 0;
    if (cascade->nodes.count)
        return cascade_xml_refuse(reader, "its featureType follows its stages");
    if (!cascade->patterns && strcmp(text, "HAAR") != 0)
        return cascade_xml_refuse(reader, "its features are neither HAAR nor LBP");
    return 0;
}

static int read_cascade(struct cascade_xml *reader, struct cascade *cascade)
{
    char name[CASCADE_XML_NAME_MAX];
    double side = 0;
    int result;
    while ((result = cascade_xml_next_element(reader, name)) > 0) {
        if (strcmp(name, "featureType") == 0) {
            result = read_feature_kind(reader, cascade);
        } else if (strcmp(name, "width") == 0 || strcmp(name, "height") == 0) {
            result = cascade_xml_number(reader, 4, CASCADE_WINDOW_MAX, &side);
            *(name[0] == 'w' ? &cascade->width : &cascade->height) = (int)side;
        } else if (strcmp(name, "stages") == 0) {
            result = read_list(reader, cascade, read_stage);
        } else if (strcmp(name, "features") == 0) {
            result = read_list(reader, cascade, read_feature);
        } else {
            result = cascade_xml_skip_element(reader, 0);
        }
        if (result < 0)
            return result;
    }
    return result < 0 ? result : check_cascade(reader, cascade);
}

int cascade_parse(const char *text, size_t size, struct cascade **ret, struct err *err)
{
    _cleanup_(cleanup_cascade) struct cascade *cascade = mem_zalloc(sizeof(*cascade));
    struct cascade_xml reader = {.at = text, .end = text + size, .err = err};
    char name[CASCADE_XML_NAME_MAX];
    for (int depth = 0; depth < 2; depth++) {
        static const char *const WANTED[] = {"opencv_storage", "cascade"};
        int result = cascade_xml_next_element(&reader, name);
        if (result < 0)
            return result;
        if (result == 0 || strcmp(name, WANTED[depth]) != 0)
            return cascade_xml_refuse(&reader, "it has no element 'cascade' in 'opencv_storage'");
    }
    int result = read_cascade(&reader, cascade);
    if (result == 0)
        *ret = TAKE(cascade);
    return result;
}

int cascade_read(const char *path, struct cascade **ret, struct err *err)
{
    _cleanup_buf_ struct buf file;
    buf_init(&file, CASCADE_FILE_MAX);
    int result = file_read(path, &file, err);
    if (result < 0)
        return result;
    result = cascade_parse(file.data, file.size, ret, err);
    return result < 0 ? err_wrap(err, "'%s'", path) : 0;
}
