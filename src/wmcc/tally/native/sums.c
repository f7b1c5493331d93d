/* One pass over labels and weights: exact sums per cell (truth, prediction), or per cell of one or three labels.

   Exactness. While rows come in, a cell holds four 64-bit lanes: a high and a low part of the sum of w
   and of the sum of w*w (rounded to double). Within a window of weights [2^E, 2^(E+span)) both parts are
   integers of at most `bits` bits in a unit that is the same for all rows, so the lanes add without
   carries and without rounding. Adding the constant 1.5 * 2^52 units to a double leaves that integer in
   its low bits: the lanes add those raw bits, and n times the constant is taken off later. Every `limit`
   rows the lanes are moved ("flushed") into planes: per cell, radix 2^32 digits that cover every double.
   Weights outside the window go to the planes one by one. So the result does not depend on the window,
   the order of the rows or the way they were split; the window decides only how fast it is reached. */
#include "native.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };

typedef double v4d __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint64_t v4u __attribute__((vector_size(32), may_alias));
typedef uint64_t bits_of __attribute__((may_alias));

/* ---- opening and closing --------------------------------------------------------------------------- */

/* Grow to a number of replicas: those there are stay, the new ones are empty. */
static int use_replicas(wmcc_sums *self, int replicas)
{
    Py_ssize_t first = self->stride * self->replicas, end = self->stride * replicas;
    void *memory = malloc((size_t)end * sizeof(wmcc_cell) + 63);
    if (memory == NULL)
        return -1;
    wmcc_cell *cell = (wmcc_cell *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    if (first > 0)
        memcpy(cell, self->cell, (size_t)first * sizeof(wmcc_cell));
    memset(cell + first, 0, (size_t)(end - first) * sizeof(wmcc_cell));
    for (Py_ssize_t i = first; i < end; i++)
        cell[i].min = UINT64_MAX;
    free(self->memory);
    self->memory = memory;
    self->cell = cell;
    self->replicas = replicas;
    return 0;
}

int wmcc_sums_open(wmcc_sums *self, Py_ssize_t cells, int axes, int weighted)
{
    memset(self, 0, sizeof *self);
    self->cells = cells;
    self->axes = axes;
    self->weighted = weighted;
    self->stride = self->cells + WMCC_EXTRA_CELLS;
    self->most_replicas = self->cells <= 512 ? 4 : 1;
    if (self->most_replicas > 1 && self->stride % 64 == 0)
        self->stride++; /* replicas a multiple of 4 KiB apart would fight for the same cache sets */
    self->limit_log2 = 12; /* a flush should cost little beside the rows it follows, and the window stay wide */
    while (self->limit_log2 < 22 && (Py_ssize_t)1 << self->limit_log2 < 512 * self->stride)
        self->limit_log2++;
    self->bits = 62 - self->limit_log2;
    return use_replicas(self, 1);
}

void wmcc_sums_close(wmcc_sums *self)
{
    for (int d = 0; d < WMCC_W_DIGITS; d++)
        free(self->w_plane[d]);
    for (int d = 0; d < WMCC_Q_DIGITS; d++)
        free(self->q_plane[d]);
    free(self->memory);
}

/* ---- rows to byte offsets of cells ------------------------------------------------------------------- */

/* Add the codes of one more column; a row that is ignored or unknown in any of them keeps the flags of all. */
WMCC_CLONES static void add_codes(uint32_t *a, const uint32_t *b, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        uint32_t both = a[i] | b[i];
        a[i] = both < WMCC_IGNORED ? a[i] + b[i] : both;
    }
}

WMCC_CLONES static void codes_to_bytes(uint32_t *code, Py_ssize_t n, uint32_t cells)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        uint32_t extra = code[i] & WMCC_IGNORED ? WMCC_IGNORED_CELL : WMCC_UNKNOWN_CELL; /* whatever the other labels are */
        code[i] = (code[i] < WMCC_IGNORED ? code[i] : cells + extra) * (uint32_t)sizeof(wmcc_cell);
    }
}

static void offsets(const wmcc_sums *self, const wmcc_column *columns, Py_ssize_t start, Py_ssize_t n, uint32_t *out)
{
    uint32_t other[BLOCK];
    wmcc_column_codes(&columns[0], start, n, out);
    for (int k = 1; k < self->axes; k++) {
        wmcc_column_codes(&columns[k], start, n, other);
        add_codes(out, other, n);
    }
    codes_to_bytes(out, n, (uint32_t)self->cells);
}

/* ---- planes: exact digits per cell ------------------------------------------------------------------ */

static int64_t *plane(wmcc_sums *self, int64_t **planes, int64_t digit)
{
    if (planes[digit] == NULL) {
        int *count = planes == self->w_plane ? &self->w_planes : &self->q_planes;
        if ((*count + 1 - WMCC_SPARE_PLANES) * (int64_t)self->cells > WMCC_MOST_DIGITS)
            self->too_many_planes = *count + 1;
        else
            planes[digit] = calloc((size_t)self->cells, sizeof(int64_t));
        if (planes[digit] == NULL)
            self->out_of_memory = 1;
        else
            ++*count;
    }
    return planes[digit];
}

int wmcc_sums_too_many(const wmcc_sums *self, int planes)
{
    if ((int64_t)planes * self->cells <= WMCC_MOST_DIGITS)
        return 0;
    PyObject *count = PyLong_FromLong(planes); /* the caller knows how to say it */
    if (count != NULL)
        PyErr_SetObject(PyExc_OverflowError, count);
    Py_XDECREF(count);
    return 1;
}

int wmcc_sums_failed(const wmcc_sums *self)
{
    if (self->too_many_planes == 0 || !wmcc_sums_too_many(self, self->too_many_planes))
        if (self->out_of_memory)
            PyErr_NoMemory();
    return self->out_of_memory;
}

/* Where numbers in units of 2^position go: three planes and a shift. */
typedef struct {
    int64_t *plane[3];
    int shift;
} place;

static int find_place(wmcc_sums *self, int64_t **planes, int64_t position, place *out)
{
    for (int i = 0; i < 3; i++) {
        out->plane[i] = plane(self, planes, (position >> 5) + i);
        if (out->plane[i] == NULL)
            return -1;
    }
    out->shift = (int)(position & 31);
    return 0;
}

static void add_digits(const place *to, Py_ssize_t cell, int64_t sign, uint64_t magnitude)
{
    uint64_t low = (magnitude & 0xFFFFFFFFu) << to->shift, high = (magnitude >> 32) << to->shift;
    to->plane[0][cell] += sign * (int64_t)(low & 0xFFFFFFFFu);
    to->plane[1][cell] += sign * (int64_t)((low >> 32) + (high & 0xFFFFFFFFu));
    if (high >> 32) /* mostly not: leave its memory untouched */
        to->plane[2][cell] += sign * (int64_t)(high >> 32);
}

/* Bring every digit into [0, 2^32). The sums are not negative, so no carry is left over at the top. */
static void carry(wmcc_sums *self, int64_t **planes, int count)
{
    for (int d = 0; d + 1 < count; d++) {
        if (planes[d] == NULL)
            continue;
        for (Py_ssize_t i = 0; i < self->cells; i++) {
            int64_t over = planes[d][i] >> 32;
            if (over == 0)
                continue;
            int64_t *next = plane(self, planes, d + 1);
            if (next == NULL)
                return;
            planes[d][i] &= 0xFFFFFFFF;
            next[i] += over;
        }
    }
    self->additions = 0;
}

/* ---- rows into cells ----------------------------------------------------------------------------------- */

static uint64_t bits_from(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static void __attribute__((noinline)) widen(wmcc_cell *cell, uint64_t u)
{
    if (cell->min == UINT64_MAX)
        cell->min = u;
    else if (u < cell->min) {
        cell->span += cell->min - u;
        cell->min = u;
    } else if (u - cell->min > cell->span)
        cell->span = u - cell->min;
}

/* A weight outside the window: zero with a sign, tiny, huge, or bad. */
static void add_outlier(wmcc_sums *self, wmcc_cell *cell, double w)
{
    self->outliers++;
    if (!(w >= 0 && w <= 1.7976931348623157e308)) {
        self->bad_weights++;
        return;
    }
    cell->total++;
    widen(cell, bits_from(w + 0.0)); /* -0.0 counts as 0.0 */
    if (w == 0)
        return;
    int e, e2;
    Py_ssize_t index = (cell - self->cell) % self->stride;
    double f = frexp(w, &e), square = frexp(f * f, &e2);
    place w_place, q_place;
    if (find_place(self, self->w_plane, e - 53 - WMCC_W_BASE, &w_place) < 0 ||
        find_place(self, self->q_plane, 2 * (int64_t)e + e2 - 53 - WMCC_Q_BASE, &q_place) < 0)
        return;
    add_digits(&w_place, index, 1, (uint64_t)ldexp(f, 53));
    add_digits(&q_place, index, 1, (uint64_t)ldexp(square, 53));
    self->additions++;
}

static int window_span(const wmcc_sums *self)
{
    return self->bits - 26; /* then the squares need 2 * span + 52 = 2 * bits binary places: both lanes, no more */
}

/* Four magic constants: 1.5 * 2^52 units of each lane, in the order of Cell.lane. */
static void magic(const wmcc_sums *self, double constant[4])
{
    constant[0] = ldexp(1.5, self->exponent + self->bits);
    constant[1] = ldexp(1.5, 2 * self->exponent + self->bits);
    constant[2] = ldexp(1.5, self->exponent);
    constant[3] = ldexp(1.5, 2 * self->exponent);
}

static void flush(wmcc_sums *self)
{
    double constant[4];
    magic(self, constant);
    const int64_t position[4] = {self->exponent - 52 + self->bits - WMCC_W_BASE, 2 * self->exponent - 52 + self->bits - WMCC_Q_BASE,
                                 self->exponent - 52 - WMCC_W_BASE, 2 * self->exponent - 52 - WMCC_Q_BASE};
    place to[4];
    for (int k = 0; k < 4 && self->weighted; k++)
        if (find_place(self, k & 1 ? self->q_plane : self->w_plane, position[k], &to[k]) < 0)
            return;
    for (Py_ssize_t i = 0; i < self->stride; i++) {
        uint64_t n = 0, lane[4] = {0};
        for (int r = 0; r < self->replicas; r++) {
            wmcc_cell *cell = self->cell + r * self->stride + i;
            n += cell->n;
            for (int k = 0; k < 4; k++) {
                lane[k] += cell->lane[k];
                cell->lane[k] = 0;
            }
            cell->total += cell->n;
            cell->n = 0;
        }
        for (int k = 0; k < 4 && n > 0 && self->weighted && i < self->cells; k++) {
            uint64_t sum = lane[k] - n * bits_from(constant[k]); /* of all replicas: `limit` bounds their rows together */
            int64_t sign = sum >> 63 ? -1 : 1;
            add_digits(&to[k], i, sign, sign < 0 ? -sum : sum);
        }
    }
    self->additions++;
    if (self->additions >> 28) {
        carry(self, self->w_plane, WMCC_W_DIGITS);
        carry(self, self->q_plane, WMCC_Q_DIGITS);
    }
    if (self->outliers > self->pending / 4)
        self->window_set = 0; /* the weights have moved: choose again from the next block */
    self->pending = self->outliers = 0;
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
#else
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (v4u){i, j, k, l})
#endif

/* The hot loop: four rows at a time, n a multiple of four. Lanes are made for four rows at once, then
   transposed so that each row's four lanes are added to its cell with one load and one store. */
WMCC_CLONES static void add_weights(char *base, size_t replica, const uint32_t *offset, const double *w, Py_ssize_t n, const double constant[4])
{
    const double hw = constant[0], hq = constant[1], lw = constant[2], lq = constant[3];
#define PUT(i, lanes) do { \
        wmcc_cell *cell = (wmcc_cell *)(base + (i) * replica + offset[r + (i)]); \
        *(v4u *)cell->lane += (lanes); \
        cell->n++; \
        uint64_t u = ((const bits_of *)w)[r + (i)]; \
        if (__builtin_expect(u - cell->min > cell->span, 0)) \
            widen(cell, u); \
    } while (0)
    for (Py_ssize_t r = 0; r < n; r += 4) {
        v4d x = *(const v4d *)(w + r), q = x * x;
        v4d high_x = x + hw, high_q = q + hq;
        v4d low_x = (x - (high_x - hw)) + lw, low_q = (q - (high_q - hq)) + lq;
        v4u high_02 = SHUFFLE((v4u)high_x, (v4u)high_q, 0, 4, 2, 6), high_13 = SHUFFLE((v4u)high_x, (v4u)high_q, 1, 5, 3, 7);
        v4u low_02 = SHUFFLE((v4u)low_x, (v4u)low_q, 0, 4, 2, 6), low_13 = SHUFFLE((v4u)low_x, (v4u)low_q, 1, 5, 3, 7);
        PUT(0, SHUFFLE(high_02, low_02, 0, 1, 4, 5));
        PUT(1, SHUFFLE(high_13, low_13, 0, 1, 4, 5));
        PUT(2, SHUFFLE(high_02, low_02, 2, 3, 6, 7));
        PUT(3, SHUFFLE(high_13, low_13, 2, 3, 6, 7));
    }
#undef PUT
}

static void choose_window(wmcc_sums *self, const double *w, Py_ssize_t n)
{
    double most = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (w[i] > most && w[i] <= 1.7976931348623157e308)
            most = w[i];
    if (most == 0)
        return; /* zeros fit any window */
    if (self->pending > 0)
        flush(self); /* rows of weight zero wait there, added with the constants of the window they found */
    int e;
    frexp(most, &e);
    e += 4 - window_span(self); /* four octaves of room above this block's largest */
    self->exponent = e < -511 ? -511 : e > 470 ? 470 : e; /* squares and constants stay normal and finite */
    self->window_set = 1;
}

static void add_block(wmcc_sums *self, uint32_t *offset, const double *w, Py_ssize_t n)
{
    double scratch[BLOCK];
    if (!self->window_set)
        choose_window(self, w, n);
    double low = ldexp(1.0, self->exponent), high = ldexp(1.0, self->exponent + window_span(self));
    uint64_t low_bits = bits_from(low), span = bits_from(high) - low_bits;
    int outside = count_outside((const bits_of *)w, n, low_bits, span) != 0;
    if (outside || n % 4) {
        memcpy(scratch, w, (size_t)n * sizeof *w);
        for (Py_ssize_t i = 0; outside && i < n; i++) {
            uint64_t u = bits_from(w[i]);
            if (u - low_bits < span || u == 0)
                continue;
            scratch[i] = low;
            if (offset[i] < (uint32_t)self->cells * sizeof(wmcc_cell)) { /* an ignored row's weight is not looked at */
                add_outlier(self, (wmcc_cell *)((char *)self->cell + offset[i]), w[i]);
                offset[i] = (uint32_t)((self->cells + WMCC_SPARE_CELL) * (Py_ssize_t)sizeof(wmcc_cell));
            }
        }
        for (; n % 4; n++) {
            scratch[n] = low;
            offset[n] = (uint32_t)((self->cells + WMCC_SPARE_CELL) * (Py_ssize_t)sizeof(wmcc_cell));
        }
        w = scratch;
    }
    double constant[4];
    magic(self, constant);
    size_t replica = self->replicas > 1 ? (size_t)self->stride * sizeof(wmcc_cell) : 0;
    add_weights((char *)self->cell, replica, offset, w, n, constant);
}

void wmcc_sums_add(wmcc_sums *self, const wmcc_column *columns, const void *weights, Py_ssize_t width, Py_ssize_t rows)
{
    uint32_t offset[BLOCK + 4];
    double scratch[BLOCK];
    if (self->replicas < self->most_replicas && rows > 16 * self->stride) /* not before it pays to touch them */
        self->out_of_memory |= use_replicas(self, self->most_replicas) < 0;
    size_t replica = self->replicas > 1 ? (size_t)self->stride * sizeof(wmcc_cell) : 0;
    for (Py_ssize_t start = 0; start < rows && !self->out_of_memory; start += BLOCK) {
        Py_ssize_t n = rows - start < BLOCK ? rows - start : BLOCK;
        offsets(self, columns, start, n, offset);
        if (weights == NULL) {
            for (Py_ssize_t i = 0; i < n; i++)
                ((wmcc_cell *)((char *)self->cell + (size_t)(i % 4) * replica + offset[i]))->n++;
        } else if (width == sizeof(double))
            add_block(self, offset, (const double *)weights + start, n);
        else {
            for (Py_ssize_t i = 0; i < n; i++)
                scratch[i] = ((const float *)weights)[start + i];
            add_block(self, offset, scratch, n);
        }
        self->pending += (uint64_t)n;
        if (self->pending >> self->limit_log2)
            flush(self);
    }
}

void wmcc_sums_settle(wmcc_sums *self)
{
    flush(self);
    carry(self, self->w_plane, WMCC_W_DIGITS);
    carry(self, self->q_plane, WMCC_Q_DIGITS);
}
