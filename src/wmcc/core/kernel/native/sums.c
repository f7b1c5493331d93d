/* One pass over labels and weights: exact sums per cell.

   Exactness. While rows come in, a cell holds four 64-bit lanes: a high and a low part of the sum of w
   and of the sum of w*w (rounded to double). Within a window of weights [2^E, 2^(E+SPAN)) both parts are
   integers of at most BITS bits in a unit that is the same for all rows, so the lanes add without
   carries and without rounding. Adding the constant 1.5 * 2^52 units to a double leaves that integer in
   its low bits: the lanes add those raw bits, and a constant for each row is taken off when they are read.
   At every LIMIT-th row of a cell its lanes are moved into its digits: radix 2^32, and they cover every double.
   Weights outside the window go to the digits one by one. So the result does not depend on the window,
   the order of the rows or the way they were split; the window decides only how fast it is reached.

   The lanes of a cell hold as many constants as the cell has rows modulo LIMIT. Where a row does not come through the
   lanes, or the lanes were emptied early, constants alone are put there. So no cell needs a second count. */
#include "native.h"
#include <math.h>
#include <string.h>

enum { BLOCK = WMCC_BLOCK };
enum { LIMIT = WMCC_LIMIT, REST = LIMIT - 1, BITS = WMCC_BITS };
/* Octaves of a window: the squares need 2 * SPAN + 52 = 2 * BITS binary places: both lanes, no more. */
enum { SPAN = BITS - 26 };
/* Bytes of cells that are at hand without being asked for in advance. */
enum { CACHED = 1 << 19 };
/* Weights, at least, after which a window is judged: one that a quarter of them missed is given up. */
enum { JUDGED = 1 << 16 };

typedef double v4d __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint64_t v4u __attribute__((vector_size(32), may_alias));
typedef int64_t v2i __attribute__((vector_size(16), may_alias));
typedef uint64_t bits_of __attribute__((may_alias));

static uint64_t bits_from(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* ---- lanes ------------------------------------------------------------------------------------------- */

static void fill_lanes(const wmcc_sums *self, wmcc_cell *cell)
{
    for (int k = 0; k < 4; k++)
        cell->lane[k] = (cell->count.rows & REST) * self->constant_bits[k];
}

/* Move the lanes, which hold so many constants, into the digits. */
static void __attribute__((noinline)) empty_lanes(wmcc_sums *self, wmcc_cell *cell, uint64_t constants)
{
    uint32_t index = (uint32_t)(cell - (wmcc_cell *)self->cells);
    if (self->replicas > 1)
        index %= self->stride;
    for (int square = 0; square < 2 && index != self->spare; square++)
        wmcc_add_digits(self, index, wmcc_lane_position(self, square), wmcc_sum_of_lanes(self, cell, constants, square));
    fill_lanes(self, cell);
}

/* Rows come to a cell, with lanes that hold as many constants as there are rows modulo LIMIT. */
static void add_lanes(wmcc_sums *self, wmcc_cell *cell, const uint64_t lane[4], uint64_t rows)
{
    uint64_t constants = (cell->count.rows & REST) + (rows & REST);
    for (int k = 0; k < 4; k++)
        cell->lane[k] += lane[k];
    cell->count.rows += rows;
    if (constants >= LIMIT)
        empty_lanes(self, cell, constants);
}

static inline void widen(wmcc_cell *cell, uint64_t below, uint64_t most)
{
    cell->ends[0] = below > cell->ends[0] ? below : cell->ends[0];
    cell->ends[1] = most > cell->ends[1] ? most : cell->ends[1];
}

/* ---- the window ----------------------------------------------------------------------------------------- */

static void set_constants(wmcc_sums *self, int exponent)
{
    self->exponent = exponent;
    self->constant[0] = ldexp(1.5, exponent + BITS); /* 1.5 * 2^52 units of each lane */
    self->constant[1] = ldexp(1.5, 2 * exponent + BITS);
    self->constant[2] = ldexp(1.5, exponent);
    self->constant[3] = ldexp(1.5, 2 * exponent);
    for (int k = 0; k < 4; k++)
        self->constant_bits[k] = bits_from(self->constant[k]);
}

static void move_window(wmcc_sums *self, int exponent)
{
    wmcc_cell *cell = (wmcc_cell *)self->cells, *end = cell + (self->dense ? (size_t)self->stride * (size_t)self->replicas : self->count + (size_t)1);
    if (!self->filled)
        end = cell; /* no row has come yet: do not touch the memory of cells */
    for (wmcc_cell *c = cell; c < end; c++)
        if (c->count.rows & REST)
            empty_lanes(self, c, c->count.rows & REST);
    set_constants(self, exponent);
    for (wmcc_cell *c = cell; c < end; c++)
        fill_lanes(self, c);
}

/* A window for weights like these. */
static void choose_window(wmcc_sums *self, const double *w, Py_ssize_t n)
{
    double most = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (w[i] > most && w[i] <= 1.7976931348623157e308)
            most = w[i];
    if (most == 0)
        return; /* zeros fit any window */
    int e;
    frexp(most, &e);
    e += 6 - SPAN; /* six octaves of room above these */
    move_window(self, e < -508 ? -508 : e > 468 ? 468 : e); /* squares and constants stay normal and finite */
    self->window_set = 1;
}

void wmcc_sums_expect(wmcc_sums *self, double large)
{
    if (self->weighted)
        choose_window(self, &large, 1);
}

/* A weight outside the window: zero with a sign, tiny or huge. */
static void add_outlier(wmcc_sums *self, uint32_t index, double w)
{
    wmcc_cell *cell = wmcc_cell_at(self, index);
    uint64_t u = bits_from(w + 0.0); /* -0.0 counts as 0.0 */
    widen(cell, WMCC_TOP - u, u);
    add_lanes(self, cell, self->constant_bits, 1);
    if (w == 0)
        return;
    int e, e2;
    double f = frexp(w, &e), square = frexp(f * f, &e2);
    wmcc_add_digits(self, index, e - 53 - WMCC_W_BASE, (uint64_t)ldexp(f, 53));
    wmcc_add_digits(self, index, 2 * (int64_t)e + e2 - 53 - WMCC_Q_BASE + 32 * WMCC_W_DIGITS, (uint64_t)ldexp(square, 53));
}

/* ---- rows that are in no cell ----------------------------------------------------------------------------- */

/* A block of rows on its way to the cells. Rows that belong to none have the spare cell, or no key. */
typedef struct {
    Py_ssize_t n;
    uint32_t index[BLOCK + 4];
    uint64_t key[BLOCK]; /* of a hash */
    uint32_t hash[BLOCK];
    double w[BLOCK + 4];
} block;

static inline int is_in_a_cell(const wmcc_sums *self, const block *rows, Py_ssize_t i)
{
    return self->dense ? rows->index[i] != self->spare : rows->key[i] != WMCC_NO_KEY;
}

static inline void leave_out(const wmcc_sums *self, block *rows, Py_ssize_t i)
{
    if (self->dense)
        rows->index[i] = self->spare;
    else
        rows->key[i] = WMCC_NO_KEY;
}

/* Count the ignored and unknown rows of a block that has any. The keys are made again, of the codes that were looked at:
   another thread may write to the labels, and no key may leave the table. */
static void __attribute__((noinline)) set_aside(wmcc_sums *self, const wmcc_column *columns, Py_ssize_t start, block *rows)
{
    const uint32_t either = WMCC_IGNORED | WMCC_UNKNOWN;
    uint32_t code[BLOCK], flags[BLOCK] = {0}, part[BLOCK] = {0};
    uint64_t key[BLOCK] = {0};
    for (int k = 0; k < self->axes; k++) {
        memset(code, 0, sizeof code);
        wmcc_column_keys(&columns[k], start, rows->n, 1, code);
        for (Py_ssize_t i = 0; i < rows->n; i++) {
            key[i] = key[i] * self->sizes[k] + code[i];
            *(k == self->part ? &part[i] : &flags[i]) |= code[i];
        }
    }
    for (Py_ssize_t i = 0; i < rows->n; i++) {
        if (self->dense)
            rows->index[i] = (uint32_t)key[i];
        else
            rows->key[i] = key[i];
        if (!((flags[i] | part[i]) & either))
            continue;
        if (flags[i] & WMCC_IGNORED && !(part[i] & either)) /* whatever the other labels are */
            self->ignored[part[i]]++;
        else
            self->unknown++;
        leave_out(self, rows, i);
    }
}

static void read_keys(wmcc_sums *self, const wmcc_column *columns, Py_ssize_t start, block *rows)
{
    uint32_t any = 0;
    if (self->dense)
        memset(rows->index, 0, sizeof rows->index);
    else
        memset(rows->key, 0, sizeof rows->key);
    for (int k = 0; k < self->axes; k++)
        any |= self->dense ? wmcc_column_keys(&columns[k], start, rows->n, self->sizes[k], rows->index)
                           : wmcc_column_wide_keys(&columns[k], start, rows->n, self->sizes[k], rows->key);
    if (any & (WMCC_IGNORED | WMCC_UNKNOWN))
        set_aside(self, columns, start, rows);
    if (!self->dense)
        wmcc_hash_keys(self, rows->key, rows->n, rows->hash);
    else if (self->count << self->cell_log2 > CACHED)
        for (Py_ssize_t i = 0; i < rows->n; i++)
            __builtin_prefetch(wmcc_count_at(self, rows->index[i]), 1);
}

/* ---- rows into cells ----------------------------------------------------------------------------------- */

static void find_cells(wmcc_sums *self, block *rows)
{
    if (!self->dense)
        wmcc_find_cells(self, rows->key, rows->hash, rows->n, rows->index);
}

WMCC_CLONES static uint64_t count_outside(const bits_of *u, Py_ssize_t n, uint64_t low, uint64_t span)
{
    uint64_t outside = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        outside += (u[i] - low >= span) & (u[i] != 0);
    return outside;
}

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#define HALF(a, i) __builtin_shufflevector(a, a, i, i + 1)
#else
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (v4u){i, j, k, l})
#define HALF(a, i) ((v2i){(int64_t)(a)[i], (int64_t)(a)[i + 1]})
#endif

/* The hot loop: four rows at a time, n a multiple of four. Lanes are made for four rows at once, then
   transposed so that each row's four lanes are added to its cell with one load and one store. */
WMCC_CLONES static void add_weights(wmcc_sums *self, const uint32_t *index, const double *w, Py_ssize_t n)
{
    const double hw = self->constant[0], hq = self->constant[1], lw = self->constant[2], lq = self->constant[3];
    wmcc_cell *const cells = (wmcc_cell *)self->cells;
    const size_t replica = self->replicas > 1 ? self->stride : 0;
#define PUT(i, lanes, own_ends) do { \
        wmcc_cell *cell = cells + (i) * replica + index[r + (i)]; \
        v2i own = (v2i)(own_ends), ends = *(v2i *)cell->ends, wider = own > ends; \
        *(v2i *)cell->ends = (own & wider) | (ends & ~wider); \
        *(v4u *)cell->lane += (lanes); \
        if (__builtin_expect((++cell->count.rows & REST) == 0, 0)) \
            empty_lanes(self, cell, LIMIT); \
    } while (0)
    for (Py_ssize_t r = 0; r < n; r += 4) {
        v4d x = *(const v4d *)(w + r), q = x * x;
        v4d high_x = x + hw, high_q = q + hq;
        v4d low_x = (x - (high_x - hw)) + lw, low_q = (q - (high_q - hq)) + lq;
        v4u high_02 = SHUFFLE((v4u)high_x, (v4u)high_q, 0, 4, 2, 6), high_13 = SHUFFLE((v4u)high_x, (v4u)high_q, 1, 5, 3, 7);
        v4u low_02 = SHUFFLE((v4u)low_x, (v4u)low_q, 0, 4, 2, 6), low_13 = SHUFFLE((v4u)low_x, (v4u)low_q, 1, 5, 3, 7);
        v4u below = WMCC_TOP - (v4u)x;
        v4u ends_02 = SHUFFLE(below, (v4u)x, 0, 4, 2, 6), ends_13 = SHUFFLE(below, (v4u)x, 1, 5, 3, 7);
        PUT(0, SHUFFLE(high_02, low_02, 0, 1, 4, 5), HALF(ends_02, 0));
        PUT(1, SHUFFLE(high_13, low_13, 0, 1, 4, 5), HALF(ends_13, 0));
        PUT(2, SHUFFLE(high_02, low_02, 2, 3, 6, 7), HALF(ends_02, 2));
        PUT(3, SHUFFLE(high_13, low_13, 2, 3, 6, 7), HALF(ends_13, 2));
    }
#undef PUT
}

/* A block of replicate weights, whose cells are found. */
typedef struct {
    const wmcc_strided *columns; /* NULL where there are none */
    Py_ssize_t start, end;
} replicates;

static void add_replicates(wmcc_sums *self, const block *rows, const replicates *more)
{
    if (more->columns != NULL && !self->failure)
        wmcc_replicates_add(self, more->columns, more->start, rows->n, more->end, rows->index);
}

static void add_block(wmcc_sums *self, block *rows, const double *w, const replicates *more)
{
    Py_ssize_t n = rows->n, late[BLOCK], lates = 0; /* good weights outside the window, once their cells are found */
    double far[BLOCK];
    int judged = self->looked_at > JUDGED + (uint64_t)self->count; /* to move the window is to go through all cells */
    if (!self->window_set || (judged && self->outliers > self->looked_at / 4))
        choose_window(self, w, n);
    if (judged)
        self->looked_at = self->outliers = 0;
    const double low = ldexp(1.0, self->exponent), high = ldexp(1.0, self->exponent + SPAN);
    const uint64_t low_bits = bits_from(low), span = bits_from(high) - low_bits;
    int some = count_outside((const bits_of *)w, n, low_bits, span) != 0;
    if ((some || n % 4) && w != rows->w) {
        memcpy(rows->w, w, (size_t)n * sizeof *w);
        w = rows->w;
    }
    for (Py_ssize_t i = 0; some && i < n; i++) {
        uint64_t u = bits_from(w[i]);
        if (u - low_bits < span || u == 0)
            continue;
        if (is_in_a_cell(self, rows, i)) { /* an ignored row's weight is not looked at */
            self->outliers++;
            if (w[i] >= 0 && w[i] <= 1.7976931348623157e308) {
                far[lates] = w[i];
                late[lates++] = i;
            } else {
                self->bad_weights++;
                leave_out(self, rows, i);
            }
        }
        rows->w[i] = low;
    }
    find_cells(self, rows);
    add_replicates(self, rows, more);
    if (self->failure)
        return;
    self->filled = 1;
    for (Py_ssize_t k = 0; k < lates; k++) {
        add_outlier(self, rows->index[late[k]], far[k]);
        rows->index[late[k]] = self->spare;
    }
    for (Py_ssize_t i = n; i % 4; i++) {
        rows->w[i] = low;
        rows->index[i] = self->spare;
    }
    self->looked_at += (uint64_t)n;
    add_weights(self, rows->index, w, (n + 3) & ~(Py_ssize_t)3);
}

static void count_block(wmcc_sums *self, block *rows, const replicates *more)
{
    find_cells(self, rows);
    add_replicates(self, rows, more);
    const size_t replica = self->replicas > 1 ? self->stride : 0;
    for (Py_ssize_t i = 0; i < rows->n && !self->failure; i++)
        ((wmcc_count *)self->cells)[(size_t)(i % 4) * replica + rows->index[i]].rows++;
}

static void add_read(wmcc_sums *self, block *rows, const void *weights, Py_ssize_t width, const replicates *more)
{
    const Py_ssize_t start = more->start;
    if (weights == NULL)
        count_block(self, rows, more);
    else if (width == sizeof(double))
        add_block(self, rows, (const double *)weights + start, more);
    else {
        for (Py_ssize_t i = 0; i < rows->n; i++)
            rows->w[i] = ((const float *)weights)[start + i];
        add_block(self, rows, rows->w, more);
    }
}

void wmcc_sums_add(wmcc_sums *self, const wmcc_column *columns, const void *weights, Py_ssize_t width,
                   const wmcc_strided *more, Py_ssize_t rows)
{
    block blocks[2]; /* while one is added, memory for the next is on its way */
    if (self->dense && self->replicas < self->most_replicas && rows > 16 * (Py_ssize_t)self->stride) /* not before it pays to touch them */
        if (wmcc_use_replicas(self, self->most_replicas) < 0)
            self->failure = WMCC_NO_MEMORY;
    if (!self->dense && wmcc_reserve(self, rows < 1024 ? (uint64_t)rows : 1024) < 0) /* mostly, rows are in cells of their own */
        self->failure = WMCC_NO_MEMORY;
    if (self->constant[0] == 0)
        set_constants(self, 0);
    int turn = 0;
    for (Py_ssize_t start = 0; start - BLOCK < rows && !self->failure; start += BLOCK, turn = !turn) {
        if (start < rows) {
            blocks[turn].n = rows - start < BLOCK ? rows - start : BLOCK;
            read_keys(self, columns, start, &blocks[turn]);
            for (Py_ssize_t i = 0; i < blocks[turn].n * width; i += 64)
                __builtin_prefetch((const char *)weights + start * width + i);
        }
        if (start > 0)
            add_read(self, &blocks[!turn], weights, width, &(replicates){more, start - BLOCK, rows});
    }
}

/* ---- tallies into one another ---------------------------------------------------------------------------- */

/* The lanes of both are in the same window. */
static void add_cell(wmcc_sums *self, wmcc_count *to, const wmcc_count *from)
{
    if (!self->weighted) {
        to->rows += from->rows;
        return;
    }
    wmcc_cell *cell = (wmcc_cell *)to;
    const wmcc_cell *other = (const wmcc_cell *)from;
    widen(cell, other->ends[0], other->ends[1]);
    add_lanes(self, cell, other->lane, other->count.rows);
}

void wmcc_fold_replicas(wmcc_sums *self)
{
    for (; self->replicas > 1; self->replicas--)
        for (uint32_t i = 0; i < self->count; i++) {
            const wmcc_count *from = wmcc_count_at(self, (uint32_t)(self->replicas - 1) * self->stride + i);
            if (from->rows > 0)
                add_cell(self, wmcc_count_at(self, i), from);
        }
}

static void find_keys(wmcc_sums *self, const uint64_t *key, uint32_t n, uint32_t *index)
{
    uint32_t hash[BLOCK];
    wmcc_hash_keys(self, key, n, hash);
    wmcc_find_cells(self, key, hash, n, index);
}

/* Add cells of another tally, at most BLOCK, to these. */
static void add_cells(wmcc_sums *self, const wmcc_sums *other, const uint32_t *to, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n && !self->failure; i++) {
        const wmcc_count *count = wmcc_count_at(other, from + i);
        if (count->rows == 0)
            continue;
        if (!self->weighted || self->exponent == other->exponent) {
            add_cell(self, wmcc_count_at(self, to[i]), count);
            continue;
        }
        wmcc_cell moved = *(const wmcc_cell *)count;
        for (int square = 0; square < 2; square++)
            wmcc_add_digits(self, to[i], wmcc_lane_position(other, square), wmcc_lane_sum(other, &moved, square));
        fill_lanes(self, &moved);
        add_cell(self, wmcc_count_at(self, to[i]), &moved.count);
    }
    for (uint32_t i = 0; i < n && !self->failure; i++) {
        uint32_t page = (from + i) >> WMCC_PAGE_LOG2, at = (from + i) & ((1 << WMCC_PAGE_LOG2) - 1);
        for (int d = 0; page < other->page_count && other->pages[page] != NULL && d < WMCC_DIGITS; d++)
            if (other->pages[page]->digit[d] != NULL)
                wmcc_add_digits(self, to[i], 32 * (int64_t)d, (uint64_t)other->pages[page]->digit[d][at]);
    }
}

void wmcc_sums_merge(wmcc_sums *self, wmcc_sums *other)
{
    wmcc_fold_replicas(self);
    wmcc_fold_replicas(other);
    for (uint64_t k = 0; k < self->parts; k++)
        self->ignored[k] += other->ignored[k];
    self->unknown += other->unknown;
    self->bad_weights += other->bad_weights;
    self->replicates.bad += other->replicates.bad;
    if (self->weighted && !other->filled)
        return;
    if (self->weighted && !self->filled) {
        set_constants(self, other->exponent);
        self->window_set = other->window_set;
        self->filled = 1;
    }
    uint64_t key[BLOCK];
    uint32_t index[BLOCK], n;
    for (uint32_t done = 0; done < other->count && !self->failure; done += n) {
        n = other->count - done < BLOCK ? other->count - done : BLOCK;
        for (uint32_t i = 0; i < n; i++) {
            index[i] = done + i;
            key[i] = wmcc_count_at(other, other->first + done + i)->key;
        }
        if (!self->dense)
            find_keys(self, key, n, index);
        if (!self->failure)
            add_cells(self, other, index, other->first + done, n);
        if (!self->failure && self->replicates.count > 0)
            wmcc_replicates_merge(self, other, index, other->first + done, n);
    }
}
