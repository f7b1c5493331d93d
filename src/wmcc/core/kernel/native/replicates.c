/* Replicate weights: exact sums of many columns of weights, per cell.

   A cell has a high and a low lane for each column, as in sums.c: within a window of weights [2^E, 2^(E+SPAN)) both parts
   of a weight are integers in a fixed unit, which adding a constant leaves in the low bits of a double. No squares are
   needed, so the window is twice as wide. All columns have the same rows, hence as many constants. A float has 24 bits only,
   and in the upper NARROW octaves of the window it has no low part.

   A block of rows is worked on by groups of columns: their weights are laid out row by row, so that one vector has the
   weights of a row, and its cell's lanes are added to with two loads and two stores, whatever the columns' layout was. Zeros,
   which may be half of the weights, are in every window. */
#include "native.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = WMCC_BLOCK, GROUP = WMCC_GROUP, PAGE = 1 << WMCC_PAGE_LOG2, LINE = 64 };
enum { LIMIT = WMCC_LIMIT, BITS = WMCC_BITS };
/* Octaves of a window: SPAN + 52 = 2 * BITS - 2 binary places. Those above the weights that it is chosen for. */
enum { SPAN = 2 * BITS - 54, ABOVE = 6, NARROW = BITS - 25 };
enum { WORDS = 5 }; /* digits that lanes reach */
enum { JUDGED = 1 << 16 }; /* weights, at least, after which a window is judged */

typedef double v8d __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint64_t v8u __attribute__((vector_size(64), aligned(8), may_alias));
typedef double v4d __attribute__((vector_size(32), aligned(8), may_alias));
typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef float v4f __attribute__((vector_size(16), aligned(4), may_alias));

static uint64_t bits_from(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static int groups_of(const wmcc_sums *self)
{
    return (self->replicates.count + GROUP - 1) / GROUP;
}

static uint64_t *lanes_at(const wmcc_sums *self, uint64_t cell, int column)
{
    return self->replicates.lanes + ((uint64_t)(column / GROUP) * self->replicates.room + cell) * 2 * GROUP + column % GROUP;
}

/* ---- digits ------------------------------------------------------------------------------------------- */

static int64_t *digit_of(wmcc_sums *self, uint32_t cell, int column, int digit)
{
    wmcc_replicates *own = &self->replicates;
    uint32_t page = cell >> WMCC_PAGE_LOG2;
    if (page >= own->page_count) {
        uint32_t count = (uint32_t)((own->room + PAGE - 1) >> WMCC_PAGE_LOG2);
        wmcc_replicate_page **pages = realloc(own->pages, count * sizeof *pages);
        if (pages == NULL)
            goto fail;
        memset(pages + own->page_count, 0, (count - own->page_count) * sizeof *pages);
        own->pages = pages;
        own->page_count = count;
    }
    if (own->pages[page] == NULL && (own->pages[page] = calloc(1, sizeof(wmcc_replicate_page))) == NULL)
        goto fail;
    int64_t **at = &own->pages[page]->digit[digit];
    if (*at == NULL && (*at = calloc((size_t)PAGE * (size_t)own->count, sizeof **at)) == NULL)
        goto fail;
    return *at + (size_t)(cell & (PAGE - 1)) * (size_t)own->count + column;
fail:
    self->failure = WMCC_NO_MEMORY;
    return NULL;
}

/* Add value * 2^position to the digits of a cell in a column, which stay in [0, 2^32). */
static void add_digits(wmcc_sums *self, uint32_t cell, int column, int64_t position, unsigned __int128 value)
{
    int digit = (int)(position >> 5), shift = (int)(position & 31);
    for (uint64_t over = 0; value != 0 || over != 0; digit++, value >>= 32) {
        over += (uint64_t)(uint32_t)value << shift; /* below 2^63 + 2^32 */
        if (over != 0) {
            int64_t *to = digit_of(self, cell, column, digit);
            if (to == NULL)
                return;
            over += (uint64_t)*to;
            *to = (int64_t)(over & 0xFFFFFFFF);
        }
        over >>= 32;
    }
}

/* What the lanes of a cell add up to in a column, in units of 2^position(). */
static unsigned __int128 lane_sum(const wmcc_sums *self, uint32_t cell, int column)
{
    const wmcc_replicates *own = &self->replicates;
    const uint64_t *lane = lanes_at(self, cell, column), constants = own->rows[cell];
    int64_t high = (int64_t)(lane[0] - constants * own->constant_bits);
    return ((unsigned __int128)high << BITS) + (unsigned __int128)(int64_t)lane[GROUP];
}

static int position(const wmcc_sums *self)
{
    return self->replicates.exponent - 52 - WMCC_W_BASE;
}

static void __attribute__((noinline)) empty_lanes(wmcc_sums *self, uint32_t cell)
{
    wmcc_replicates *own = &self->replicates;
    for (int column = 0; column < own->count; column++)
        add_digits(self, cell, column, position(self), lane_sum(self, cell, column));
    for (int column = 0; column < groups_of(self) * GROUP; column += GROUP)
        memset(lanes_at(self, cell, column), 0, 2 * GROUP * sizeof(uint64_t));
    own->rows[cell] = 0;
}

/* ---- room and window -------------------------------------------------------------------------------------- */

void wmcc_replicates_close(wmcc_sums *self)
{
    wmcc_replicates *own = &self->replicates;
    for (uint32_t k = 0; k < own->page_count; k++) {
        for (int d = 0; own->pages[k] != NULL && d < WMCC_W_DIGITS; d++)
            free(own->pages[k]->digit[d]);
        free(own->pages[k]);
    }
    free(own->pages);
    free(own->memory);
    free(own->rows);
}

/* Room for as many cells as the tally has. */
static int reserve(wmcc_sums *self)
{
    wmcc_replicates *own = &self->replicates;
    uint64_t room = (uint64_t)self->first + self->capacity + 1;
    if (room <= own->room)
        return 0;
    const size_t cell = 2 * GROUP * sizeof(uint64_t), size = cell * room * (size_t)groups_of(self);
    void *memory = calloc(1, size + LINE - 1);
    uint32_t *rows = memory == NULL ? NULL : realloc(own->rows, room * sizeof *rows);
    if (rows == NULL) {
        free(memory);
        return -1;
    }
    wmcc_prefer_huge_pages(memory, size);
    memset(rows + own->room, 0, (room - own->room) * sizeof *rows);
    char *lanes = (char *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1));
    for (int group = 0; own->lanes != NULL && group < groups_of(self); group++)
        memcpy(lanes + cell * room * (size_t)group, own->lanes + 2 * GROUP * own->room * (size_t)group, cell * own->room);
    free(own->memory);
    own->memory = memory;
    own->lanes = (uint64_t *)lanes;
    own->rows = rows;
    own->room = room;
    return 0;
}

static void set_window(wmcc_sums *self, int exponent)
{
    wmcc_replicates *own = &self->replicates;
    for (uint64_t cell = 0; cell < own->room; cell++)
        if (own->rows[cell] > 0) {
            if (cell == self->spare)
                own->rows[cell] = 0;
            else
                empty_lanes(self, (uint32_t)cell);
        }
    own->exponent = exponent;
    own->constant[0] = ldexp(1.5, exponent + BITS); /* 1.5 * 2^52 units of each lane */
    own->constant[1] = ldexp(1.5, exponent);
    own->constant_bits = bits_from(own->constant[0]);
}

static void expect(wmcc_sums *self, double large)
{
    int e;
    if (!(large > 0 && large <= DBL_MAX))
        return; /* zeros fit any window */
    frexp(large, &e);
    e += ABOVE - SPAN;
    set_window(self, e < -1022 ? -1022 : e > 973 ? 973 : e); /* units and constants stay normal and finite */
    self->replicates.window_set = 1;
}

void wmcc_replicates_open(wmcc_sums *self, int count, double large)
{
    self->replicates.count = count;
    set_window(self, 0);
    expect(self, large);
}

/* ---- weights into lanes ---------------------------------------------------------------------------------- */

/* Room to lay out the weights of a group, a vector of columns for each row; doubles, or floats if all are. */
typedef struct {
    double w[BLOCK][GROUP] __attribute__((aligned(LINE)));
    float narrow[BLOCK][GROUP] __attribute__((aligned(LINE)));
} tile;

/* The weights of a group row by row, in a tile or where they are if they lie so. */
typedef struct {
    const char *data;
    Py_ssize_t stride; /* bytes from row to row */
    int wide;          /* doubles, or else floats */
} vectors;

/* How the columns of a group lie in memory. */
typedef enum { ALONG_COLUMNS, ALONG_ROWS, ANYHOW } layout;

static layout layout_of(const wmcc_strided *column)
{
    int alike = column->stride % column->width == 0, along_columns = column->stride == column->width, along_rows = 1;
    for (int k = 0; k < GROUP; k++) {
        alike &= column[k].width == column->width && column[k].stride == column->stride && (uintptr_t)column[k].data % (uintptr_t)column->width == 0;
        along_rows &= column[k].data == column->data + k * column->width;
    }
    return !alike ? ANYHOW : along_columns ? ALONG_COLUMNS : along_rows ? ALONG_ROWS : ANYHOW;
}

/* The columns of a group; where it has fewer, the first again, in lanes that nobody reads. */
static int group_at(const wmcc_sums *self, const wmcc_strided *columns, int first, wmcc_strided group[GROUP])
{
    const int rest = self->replicates.count - first, count = rest < GROUP ? rest : GROUP;
    for (int k = 0; k < GROUP; k++)
        group[k] = columns[first + (k < count ? k : 0)];
    return count;
}

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (__typeof__((a) < (b))){i, j, k, l})
#endif

/* Four rows of four columns at a time; n is a multiple of four. */
#define LAY_OUT(T, V) \
    WMCC_CLONES static void lay_out_##T(const wmcc_strided *column, Py_ssize_t start, Py_ssize_t n, T *out) \
    { \
        for (int half = 0; half < GROUP; half += 4) { \
            const T *x[4]; \
            for (int k = 0; k < 4; k++) \
                x[k] = (const T *)column[half + k].data + start; \
            for (Py_ssize_t i = 0; i < n; i += 4) { \
                V a = *(const V *)(x[0] + i), b = *(const V *)(x[1] + i), c = *(const V *)(x[2] + i), d = *(const V *)(x[3] + i); \
                V ab_02 = SHUFFLE(a, b, 0, 4, 2, 6), ab_13 = SHUFFLE(a, b, 1, 5, 3, 7); \
                V cd_02 = SHUFFLE(c, d, 0, 4, 2, 6), cd_13 = SHUFFLE(c, d, 1, 5, 3, 7); \
                T *row = out + i * GROUP + half; \
                *(V *)row = SHUFFLE(ab_02, cd_02, 0, 1, 4, 5); \
                *(V *)(row + GROUP) = SHUFFLE(ab_13, cd_13, 0, 1, 4, 5); \
                *(V *)(row + 2 * GROUP) = SHUFFLE(ab_02, cd_02, 2, 3, 6, 7); \
                *(V *)(row + 3 * GROUP) = SHUFFLE(ab_13, cd_13, 2, 3, 6, 7); \
            } \
        } \
    }
LAY_OUT(double, v4d)
LAY_OUT(float, v4f)

static double weight_at(const wmcc_strided *column, Py_ssize_t row)
{
    const char *data = column->data + row * column->stride;
    double wide;
    float narrow;
    if (column->width == sizeof wide)
        memcpy(&wide, data, sizeof wide);
    else {
        memcpy(&narrow, data, sizeof narrow);
        wide = narrow;
    }
    return wide;
}

static vectors lay_out(const wmcc_strided *column, Py_ssize_t start, Py_ssize_t n, tile *out)
{
    const layout how = layout_of(column);
    const int wide = how == ANYHOW || column->width == sizeof(double);
    Py_ssize_t done = how == ALONG_COLUMNS ? n & ~(Py_ssize_t)3 : 0;
    if (how == ALONG_ROWS)
        return (vectors){column->data + start * column->stride, column->stride, wide};
    if (wide)
        lay_out_double(column, start, done, out->w[0]);
    else
        lay_out_float(column, start, done, out->narrow[0]);
    for (; done < n; done++)
        for (int k = 0; k < GROUP; k++)
            if (wide)
                out->w[done][k] = weight_at(&column[k], start + done);
            else
                out->narrow[done][k] = (float)weight_at(&column[k], start + done);
    return wide ? (vectors){(const char *)out->w, sizeof out->w[0], 1} : (vectors){(const char *)out->narrow, sizeof out->narrow[0], 0};
}

/* The same as doubles in the tile. */
static void widen(const vectors *from, Py_ssize_t n, tile *out)
{
    for (Py_ssize_t i = 0; from->data != (const char *)out->w && i < n; i++)
        for (int k = 0; k < GROUP; k++)
            out->w[i][k] = from->wide ? ((const double *)(from->data + i * from->stride))[k] : ((const float *)(from->data + i * from->stride))[k];
}

/* What will be read next: the lines of so many columns, every 1, 8 or 16 rows. */
typedef struct {
    wmcc_strided column[GROUP];
    int columns;
    Py_ssize_t start, n, mask;
} ahead;

/* The group after this one, or the first of the next rows. */
static void look_ahead(const wmcc_sums *self, const wmcc_strided *columns, int first, Py_ssize_t start, Py_ssize_t n, Py_ssize_t end, ahead *next)
{
    const int last = first + GROUP >= self->replicates.count;
    const Py_ssize_t rest = end - start - n;
    group_at(self, columns, last ? 0 : first + GROUP, next->column);
    const layout how = layout_of(next->column);
    if (how == ALONG_ROWS) /* the first and the last weight of a row: they may be in two lines */
        next->column[1] = next->column[GROUP - 1];
    next->columns = how == ALONG_ROWS ? 2 : GROUP;
    next->mask = how == ALONG_COLUMNS ? LINE / next->column->width - 1 : 0;
    next->start = last ? start + n : start;
    next->n = last && rest < n ? rest : n;
}

/* The hot loops. They return whether a weight is outside the window, neither in it nor zero: what was added is then to be
   taken back. */
#define ADD_GROUP(T, WEIGHTS, ADD_LOW_PART) \
    WMCC_CLONES static int add_group_##T(uint64_t *lanes, const uint32_t *index, const vectors *w, Py_ssize_t n, const double constant[2], \
                                         uint64_t least, uint64_t span, const ahead *next) \
    { \
        const double high = constant[0], low = constant[1]; \
        const uint64_t low_bits = bits_from(low); \
        const Py_ssize_t mask = next->mask, most = next->n; \
        v8u outside = {0}; \
        (void)low_bits; \
        for (Py_ssize_t i = 0; i < n; i++) { \
            v8d x = WEIGHTS(w->data + i * w->stride), top = x + high; \
            v8u *lane = (v8u *)(lanes + (size_t)index[i] * 2 * GROUP), u = (v8u)x; \
            lane[0] += (v8u)top; \
            ADD_LOW_PART; \
            outside |= (v8u)(u - least >= span) & (v8u)(u != 0); \
            if ((i & mask) == 0 && i < most) \
                for (int k = 0; k < next->columns; k++) \
                    __builtin_prefetch(next->column[k].data + (next->start + i) * next->column[k].stride, 0, 3); \
        } \
        uint64_t any = 0; \
        for (int k = 0; k < GROUP; k++) \
            any |= outside[k]; \
        return any != 0; \
    }
#define DOUBLES(at) (*(const v8d *)(at))
#define FLOATS(at) __builtin_convertvector(*(const v8f *)(at), v8d)
ADD_GROUP(double, DOUBLES, lane[1] += (v8u)((x - (top - high)) + low) - low_bits)
ADD_GROUP(float, FLOATS, (void)low)

static void __attribute__((noinline)) take_back(const wmcc_sums *self, uint64_t *lanes, const uint32_t *index, const tile *rows, Py_ssize_t n, int low_part)
{
    const double high = self->replicates.constant[0], low = self->replicates.constant[1];
    for (Py_ssize_t i = 0; i < n; i++) {
        v8d x = *(const v8d *)rows->w[i], top = x + high, rest = (x - (top - high)) + low;
        v8u *lane = (v8u *)(lanes + (size_t)index[i] * 2 * GROUP);
        lane[0] -= (v8u)top;
        if (low_part)
            lane[1] -= (v8u)rest - bits_from(low);
    }
}

/* Weights outside the window go to the digits one by one, and a zero takes their place. */
static void __attribute__((noinline)) set_outliers_aside(wmcc_sums *self, int first, int columns, const uint32_t *index, Py_ssize_t n,
                                                         uint64_t low, uint64_t span, tile *out)
{
    wmcc_replicates *own = &self->replicates;
    for (Py_ssize_t i = 0; i < n; i++)
        for (int k = 0; k < columns; k++) {
            double w = out->w[i][k];
            uint64_t u = bits_from(w);
            if (u - low < span || u == 0)
                continue;
            out->w[i][k] = 0;
            if (index[i] == self->spare) /* an ignored row's weights are not looked at */
                continue;
            own->outliers++;
            if (!(w >= 0 && w <= DBL_MAX))
                own->bad++;
            else if (w > 0) {
                int e;
                double f = frexp(w, &e);
                add_digits(self, index[i], first + k, e - 53 - WMCC_W_BASE, (uint64_t)ldexp(f, 53));
            }
        }
}

/* Choose a window for these rows, where there is none or most weights were outside of it. */
static void judge_window(wmcc_sums *self, const wmcc_strided *columns, Py_ssize_t start, Py_ssize_t n)
{
    wmcc_replicates *own = &self->replicates;
    const int judged = own->looked_at > JUDGED + own->room * (uint64_t)own->count; /* to move it is to go through all lanes */
    const int moved = !own->window_set || (judged && own->outliers > own->looked_at / 4);
    double most = 0;
    for (int first = 0; moved && most == 0 && first < own->count; first += GROUP) {
        wmcc_strided group[GROUP];
        tile rows;
        group_at(self, columns, first, group);
        vectors w = lay_out(group, start, n, &rows);
        widen(&w, n, &rows);
        for (Py_ssize_t i = 0; i < n; i++)
            for (int k = 0; k < GROUP; k++)
                most = rows.w[i][k] > most && rows.w[i][k] <= DBL_MAX ? rows.w[i][k] : most;
    }
    if (moved)
        expect(self, most);
    if (judged)
        own->looked_at = own->outliers = 0;
    own->looked_at += (uint64_t)(n * own->count);
}

void wmcc_replicates_add(wmcc_sums *self, const wmcc_strided *columns, Py_ssize_t start, Py_ssize_t n, Py_ssize_t end, const uint32_t *index)
{
    wmcc_replicates *own = &self->replicates;
    if (reserve(self) < 0) {
        self->failure = WMCC_NO_MEMORY;
        return;
    }
    judge_window(self, columns, start, n);
    const uint64_t top = bits_from(ldexp(1.0, own->exponent + SPAN)), low = bits_from(ldexp(1.0, own->exponent));
    const uint64_t narrow = bits_from(ldexp(1.0, own->exponent + SPAN - NARROW));
    for (int first = 0; first < own->count && !self->failure; first += GROUP) {
        wmcc_strided group[GROUP];
        tile rows;
        ahead next;
        const int count = group_at(self, columns, first, group);
        vectors w = lay_out(group, start, n, &rows);
        uint64_t *lanes = lanes_at(self, 0, first);
        look_ahead(self, columns, first, start, n, end, &next);
        if (!w.wide) {
            if (!add_group_float(lanes, index, &w, n, own->constant, narrow, top - narrow, &next))
                continue;
            widen(&w, n, &rows);
            take_back(self, lanes, index, &rows, n, 0);
            w = (vectors){(const char *)rows.w, sizeof rows.w[0], 1};
        }
        if (add_group_double(lanes, index, &w, n, own->constant, low, top - low, &next)) {
            widen(&w, n, &rows);
            take_back(self, lanes, index, &rows, n, 1);
            set_outliers_aside(self, first, count, index, n, low, top - low, &rows);
            add_group_double(lanes, index, &(vectors){(const char *)rows.w, sizeof rows.w[0], 1}, n, own->constant, low, top - low, &next);
        }
    }
    for (Py_ssize_t i = 0; i < n; i++)
        own->rows[index[i]]++;
    own->rows[self->spare] = 0; /* nobody reads its lanes */
    for (Py_ssize_t i = 0; i < n && !self->failure; i++)
        if (own->rows[index[i]] >= LIMIT)
            empty_lanes(self, index[i]);
}

/* ---- sums out, and into one another ------------------------------------------------------------------------- */

/* The digits of a cell in a column, in [0, 2^32); those from low to high - 1 are set, and others are zero. */
static void all_digits(const wmcc_sums *self, uint32_t cell, int column, int64_t digit[WMCC_W_DIGITS], int *low, int *high)
{
    const wmcc_replicates *own = &self->replicates;
    const uint32_t page = cell >> WMCC_PAGE_LOG2;
    const wmcc_replicate_page *paged = page < own->page_count ? own->pages[page] : NULL;
    const int first = position(self) >> 5, shift = position(self) & 31;
    int d = first;
    *low = paged == NULL ? first : 0;
    *high = paged == NULL ? (first + WORDS < WMCC_W_DIGITS ? first + WORDS : WMCC_W_DIGITS) : WMCC_W_DIGITS;
    for (int k = *low; k < *high; k++)
        digit[k] = paged == NULL || paged->digit[k] == NULL ? 0 : paged->digit[k][(size_t)(cell & (PAGE - 1)) * (size_t)own->count + column];
    uint64_t over = 0;
    for (unsigned __int128 sum = lane_sum(self, cell, column); sum != 0 || over != 0; d++, sum >>= 32) {
        over += ((uint64_t)(uint32_t)sum << shift) + (uint64_t)digit[d];
        digit[d] = (int64_t)(over & 0xFFFFFFFF);
        over >>= 32;
    }
}

void wmcc_replicates_merge(wmcc_sums *self, const wmcc_sums *other, const uint32_t *to, uint32_t from, uint32_t n)
{
    wmcc_replicates *own = &self->replicates;
    const wmcc_replicates *more = &other->replicates;
    if (reserve(self) < 0)
        self->failure = WMCC_NO_MEMORY;
    for (uint32_t i = 0; i < n && from + i < more->room && !self->failure; i++) {
        const uint32_t cell = from + i, page = cell >> WMCC_PAGE_LOG2;
        const int alike = own->exponent == more->exponent; /* lanes are then in the same unit */
        for (int column = 0; alike && column < groups_of(self) * GROUP; column += GROUP)
            for (int k = 0; k < 2 * GROUP; k++)
                lanes_at(self, to[i], column)[k] += lanes_at(other, cell, column)[k];
        own->rows[to[i]] += alike ? more->rows[cell] : 0;
        if (own->rows[to[i]] >= LIMIT)
            empty_lanes(self, to[i]);
        for (int column = 0; !alike && column < own->count; column++)
            add_digits(self, to[i], column, position(other), lane_sum(other, cell, column));
        for (int d = 0; page < more->page_count && more->pages[page] != NULL && d < WMCC_W_DIGITS; d++)
            for (int column = 0; more->pages[page]->digit[d] != NULL && column < own->count; column++)
                add_digits(self, to[i], column, 32 * (int64_t)d,
                           (uint64_t)more->pages[page]->digit[d][(size_t)(cell & (PAGE - 1)) * (size_t)own->count + (size_t)column]);
    }
}

void wmcc_replicates_survey(const wmcc_sums *self, const uint32_t *order, uint64_t cells, int column, int *low, int *high)
{
    *low = WMCC_W_DIGITS;
    *high = 0;
    for (uint64_t i = 0; i < cells; i++) {
        int64_t digit[WMCC_W_DIGITS];
        int from, to;
        all_digits(self, order[i], column, digit, &from, &to);
        for (int d = from; d < to; d++)
            if (digit[d] != 0) {
                *low = d < *low ? d : *low;
                *high = d >= *high ? d + 1 : *high;
            }
    }
}

void wmcc_replicates_write(const wmcc_sums *self, const uint32_t *order, uint64_t cells, int column, int low, int high, int64_t *digits)
{
    for (uint64_t i = 0; i < cells; i++) {
        int64_t digit[WMCC_W_DIGITS];
        int from, to;
        all_digits(self, order[i], column, digit, &from, &to);
        for (int d = low; d < high; d++)
            digits[(uint64_t)(d - low) * cells + i] = d >= from && d < to ? digit[d] : 0;
    }
}
