/* Compiles the syntax tree of an expression into steps; see program.h. The steps are counted first,
 * to allocate them at once. */
#include "base/pattern/tree.h"

static size_t count_steps(const struct pattern_node *node);

/* Returns the number of steps of a part of a concatenation or repetition. A part without steps
 * counts as one step, because it takes time to compile, too, for example in "((){1000}){1000}". */
static size_t count_part(const struct pattern_node *node)
{
    size_t count = count_steps(node);
    return count > 0 ? count : 1;
}

/* Returns the number of steps of a node, or more if the node has parts without steps. If the number
 * exceeds PATTERN_PROGRAM_MAX, returns any number above that limit. A concatenation is a chain of
 * `left` pointers that may be as long as the expression, so a loop follows it, not a recursion. */
static size_t count_steps(const struct pattern_node *node)
{
    size_t count = 0, inner;
    for (; count <= PATTERN_PROGRAM_MAX; node = node->left) {
        switch (node->type) {
        case NODE_EMPTY:
            return count;
        case NODE_SET:
        case NODE_ASSERTION:
            return count + 1;
        case NODE_CONCATENATION:
            count += count_part(node->right);
            break;
        case NODE_ALTERNATION:
            count += 2 + count_steps(node->right);
            break;
        case NODE_REPEAT:
            inner = count_part(node->left);
            if (inner > PATTERN_PROGRAM_MAX)
                return inner;
            return count + (node->max == PATTERN_UNLIMITED
                                ? (size_t)node->min * inner + inner + 2
                                : (size_t)node->min * inner +
                                      (size_t)(node->max - node->min) * (inner + 1));
        }
    }
    return count;
}

struct emitter {
    struct pattern_step *steps;
    uint32_t count;
};

static void emit_node(struct emitter *emitter, struct arena *scratch,
                      const struct pattern_node *node);

static void emit_repeat(struct emitter *emitter, struct arena *scratch,
                        const struct pattern_node *node)
{
    for (int i = 0; i < node->min; i++)
        emit_node(emitter, scratch, node->left);
    if (node->max == PATTERN_UNLIMITED) {
        uint32_t split = emitter->count++;
        emit_node(emitter, scratch, node->left);
        emitter->steps[emitter->count] = (struct pattern_step){.op = OP_JUMP, .a = split};
        emitter->count++;
        emitter->steps[split] =
            (struct pattern_step){.op = OP_SPLIT, .a = split + 1, .b = emitter->count};
        return;
    }
    /* Each optional repetition starts with a split that can jump to the end. */
    uint32_t first = emitter->count;
    for (int i = node->min; i < node->max; i++) {
        emitter->steps[emitter->count] =
            (struct pattern_step){.op = OP_SPLIT, .a = emitter->count + 1, .b = UINT32_MAX};
        emitter->count++;
        emit_node(emitter, scratch, node->left);
    }
    for (uint32_t i = first; i < emitter->count; i++)
        if (emitter->steps[i].op == OP_SPLIT && emitter->steps[i].b == UINT32_MAX)
            emitter->steps[i].b = emitter->count;
}

static void emit_alternation(struct emitter *emitter, struct arena *scratch,
                             const struct pattern_node *node)
{
    uint32_t split = emitter->count++;
    emit_node(emitter, scratch, node->left);
    uint32_t jump = emitter->count++;
    emitter->steps[split] =
        (struct pattern_step){.op = OP_SPLIT, .a = split + 1, .b = emitter->count};
    emit_node(emitter, scratch, node->right);
    emitter->steps[jump] = (struct pattern_step){.op = OP_JUMP, .a = emitter->count};
}

static void emit_node(struct emitter *emitter, struct arena *scratch,
                      const struct pattern_node *node)
{
    /* A chain of NODE_CONCATENATION has its first part at the far end, so reverse the chain. */
    size_t length = 0;
    for (const struct pattern_node *at = node; at->type == NODE_CONCATENATION; at = at->left)
        length++;
    const struct pattern_node **chain =
        ARENA_ARRAY(scratch, const struct pattern_node *, length + 1);
    for (size_t i = length; i > 0; i--, node = node->left)
        chain[i] = node->right;
    chain[0] = node;
    for (size_t i = 0; i <= length; i++) {
        const struct pattern_node *one = chain[i];
        if (one->type == NODE_CONCATENATION)
            emit_node(emitter, scratch, one);
        else if (one->type == NODE_ALTERNATION)
            emit_alternation(emitter, scratch, one);
        else if (one->type == NODE_REPEAT)
            emit_repeat(emitter, scratch, one);
        else if (one->type != NODE_EMPTY)
            emitter->steps[emitter->count++] = (struct pattern_step){
                .op = one->type == NODE_SET ? OP_SET : one->assertion, .set = one->set};
    }
}

int pattern_compile(struct arena *arena, const char *expression, const struct pattern **ret,
                    struct err *err)
{
    const struct pattern_node *node;
    int result = pattern_parse(arena, expression, &node, err);
    if (result < 0)
        return result;
    size_t count = count_steps(node) + 1;
    if (count > PATTERN_PROGRAM_MAX)
        return err_set(err, ERR_BAD_REQUEST, "error parsing regexp: expression too large: `%.100s`",
                       expression);
    struct emitter emitter = {.steps = ARENA_ARRAY(arena, struct pattern_step, count)};
    emit_node(&emitter, arena, node);
    emitter.steps[emitter.count++].op = OP_FOUND;
    struct pattern *pattern = ARENA_NEW(arena, struct pattern);
    pattern->steps = emitter.steps;
    pattern->count = emitter.count;
    *ret = pattern;
    return 0;
}
