/* margins: the short call. A thousand rows take a few microseconds here, and a hundred on the long way through tables.
   What is not the usual case is answered with None, never with an exception: the long way has the rules and the words. */
#include "native.h"
#include <string.h>

enum { SHORT_ROWS = 1 << 16, SHORT_RANGE = 1024, FEW = 32, BLOCK = 256 };

#ifdef __SIZEOF_INT128__

typedef unsigned __int128 wide;

typedef struct {
    Py_buffer view;
    wmcc_kind kind;
    Py_ssize_t rows;
} labels;

/* Sums of one call, in a common unit. Classes are places from the smallest label on, whether they occur or not. */
typedef struct {
    struct {
        wide of_truth[2], alarms; /* rows of this class that are wrong, and right; others that are predicted to be of it */
    } at[SHORT_RANGE];
    uint8_t met[SHORT_RANGE]; /* whether it occurs */
    wide cell[FEW * FEW];     /* of few classes, which are one addition for a row */
    uint32_t places;
} sums;

/* ---- labels ------------------------------------------------------------------------------------------ */

static int same_shape(const Py_buffer *a, const Py_buffer *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

/* Set the smallest label of both columns and the number of places up to the largest; 0 where the long way is needed. */
static int places(const labels *columns, uint64_t *first, uint32_t *number)
{
    __int128 low = 0, high = 0;
    for (int k = 0; k < 2; k++) {
        const labels *column = &columns[k];
        uint64_t a, b;
        wmcc_label_extent(column->view.buf, column->kind, column->rows, &a, &b);
        __int128 least = WMCC_UNSIGNED(column->kind) ? (__int128)a : (int64_t)a;
        __int128 most = WMCC_UNSIGNED(column->kind) ? (__int128)b : (int64_t)b;
        if (most > 1 && *wmcc_format(&column->view) == '?')
            return 0; /* bytes that are no booleans */
        low = k == 0 || least < low ? least : low;
        high = k == 0 || most > high ? most : high;
    }
    if (high - low >= SHORT_RANGE || (columns->view.ndim > 1 && low >= 0 && high <= 1))
        return 0; /* far apart, or maybe one-hot rows */
    *first = (uint64_t)low;
    *number = (uint32_t)(high - low) + 1;
    return 1;
}

/* ---- weights ----------------------------------------------------------------------------------------- */

static const double *block_of(const Py_buffer *weights, Py_ssize_t start, Py_ssize_t n, double *scratch)
{
    if (weights->itemsize == sizeof(double))
        return (const double *)weights->buf + start;
    for (Py_ssize_t i = 0; i < n; i++)
        scratch[i] = ((const float *)weights->buf)[start + i];
    return scratch;
}

static uint64_t bits_from(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* The exponent of a non-negative double's last bit, from 1 on: subnormal numbers share that of the smallest normal ones. */
static uint32_t exponent_of(uint64_t u)
{
    return (uint32_t)(u >> 52) + (u >> 52 == 0);
}

/* Set the smallest exponent of weights that are not zero; 0 where a sum may not fit or a weight is no weight. Patterns of
   non-negative doubles order like the doubles, and those of all others, minus zero included, lie above them. */
WMCC_CLONES static int window(const Py_buffer *weights, Py_ssize_t rows, uint32_t *exponent)
{
    double scratch[BLOCK];
    uint64_t before_least = UINT64_MAX, most = 0; /* one less, so that zero is the largest */
    for (Py_ssize_t start = 0; start < rows; start += BLOCK) {
        const Py_ssize_t n = rows - start < BLOCK ? rows - start : BLOCK;
        const double *w = block_of(weights, start, n, scratch);
        for (Py_ssize_t i = 0; i < n; i++) {
            const uint64_t u = bits_from(w[i]);
            before_least = u - 1 < before_least ? u - 1 : before_least;
            most = u > most ? u : most;
        }
    }
    if (most >= (uint64_t)0x7FF << 52)
        return 0;
    *exponent = exponent_of(most == 0 ? 0 : before_least + 1);
    int bits = 53;
    while (rows >> (bits - 53))
        bits++;
    const int spread = (int)(exponent_of(most) - *exponent);
    return spread < 64 && bits + spread <= 128;
}

/* Mantissas in units of an exponent, in two halves. Shifts of less than 64 lose nothing; zero stays zero. */
WMCC_CLONES static void split(const double *w, Py_ssize_t n, uint32_t exponent, uint64_t *low, uint64_t *high)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        const uint64_t u = bits_from(w[i]), e = u >> 52, normal = e != 0;
        const uint64_t mantissa = (u & (((uint64_t)1 << 52) - 1)) | normal << 52;
        const uint64_t shift = (e + 1 - normal - exponent) & 63;
        low[i] = mantissa << shift;
        high[i] = mantissa >> 1 >> (63 - shift);
    }
}

static inline void add_to_classes(sums *self, uint32_t t, uint32_t p, wide w)
{
    self->at[t].of_truth[t == p] += w;
    self->at[p].alarms += t == p ? 0 : w;
}

/* Add all rows. Returns 0 if another thread changed a label meanwhile, so that nothing is written elsewhere. */
static int add_rows(sums *self, const labels *columns, uint64_t first, const Py_buffer *weights, uint32_t exponent)
{
    double scratch[BLOCK];
    uint32_t code[2][BLOCK];
    uint64_t low[BLOCK], high[BLOCK];
    const Py_ssize_t rows = columns->rows;
    const uint32_t places = self->places;
    const int few = places <= FEW;
    if (few)
        memset(self->cell, 0, places * places * sizeof *self->cell);
    memset(self->at, 0, places * sizeof *self->at);
    memset(self->met, 0, places);
    for (Py_ssize_t start = 0; start < rows; start += BLOCK) {
        const Py_ssize_t n = rows - start < BLOCK ? rows - start : BLOCK;
        uint32_t codes = 0;
        memset(code, 0, sizeof code);
        for (int k = 0; k < 2; k++) {
            const wmcc_column column = {.view = columns[k].view, .kind = columns[k].kind, .low = first, .length = places};
            codes |= wmcc_column_keys(&column, start, n, 1, code[k]);
        }
        if (codes & WMCC_UNKNOWN)
            return 0;
        if (weights != NULL)
            split(block_of(weights, start, n, scratch), n, exponent, low, high);
        for (Py_ssize_t i = 0; i < n; i++) {
            const uint32_t t = code[0][i], p = code[1][i];
            const wide w = weights == NULL ? 1 : (wide)high[i] << 64 | low[i];
            self->met[t] = self->met[p] = 1;
            if (few)
                self->cell[t * places + p] += w;
            else
                add_to_classes(self, t, p, w);
        }
    }
    for (uint32_t k = 0; few && k < places * places; k++)
        add_to_classes(self, k / places, k % places, self->cell[k]);
    return 1;
}

/* ---- what Python gets -------------------------------------------------------------------------------- */

static PyObject *integer(wide x)
{
    const uint64_t low = (uint64_t)x, high = (uint64_t)(x >> 64);
    if (high == 0)
        return PyLong_FromUnsignedLongLong(low);
    char text[33];
    for (int i = 0; i < 16; i++) {
        text[i] = "0123456789abcdef"[high >> (60 - 4 * i) & 15];
        text[16 + i] = "0123456789abcdef"[low >> (60 - 4 * i) & 15];
    }
    text[32] = 0;
    return PyLong_FromString(text, NULL, 16);
}

static PyObject *margins(const sums *self)
{
    wide total = 0, any = 0;
    Py_ssize_t classes = 0, next = 0;
    for (uint32_t k = 0; k < self->places; k++) {
        total += self->at[k].of_truth[0] + self->at[k].of_truth[1];
        any |= self->at[k].of_truth[0] | self->at[k].of_truth[1] | self->at[k].alarms;
        classes += self->met[k];
    }
    if (total == 0)
        return Py_NewRef(Py_None); /* nothing to score: the long way says so */
    const uint64_t low = (uint64_t)any; /* the largest unit: small numbers for small weights */
    const int zeros = low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(any >> 64));
    PyObject *lists[3], *one = NULL;
    for (int m = 0; m < 3; m++)
        lists[m] = PyList_New(classes);
    int sound = lists[0] != NULL && lists[1] != NULL && lists[2] != NULL;
    for (uint32_t k = 0; sound && k < self->places; k++) {
        if (!self->met[k])
            continue;
        const wide d = self->at[k].of_truth[1], of_class[3] = {self->at[k].of_truth[0] + d, self->at[k].alarms + d, d};
        for (int m = 0; sound && m < 3; m++)
            sound = (one = integer(of_class[m] >> zeros)) != NULL && PyList_SetItem(lists[m], next, one) == 0;
        next++;
    }
    if (sound)
        return Py_BuildValue("NNNN", integer(total >> zeros), lists[0], lists[1], lists[2]);
    for (int m = 0; m < 3; m++)
        Py_XDECREF(lists[m]);
    return NULL;
}

PyObject *wmcc_margins(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "expected y_true, y_pred and weights");
        return NULL;
    }
    labels columns[2];
    Py_buffer weights;
    const int weighted = args[2] != Py_None;
    PyObject *result = NULL;
    if (wmcc_labels(args[0], &columns[0].view, &columns[0].kind, &columns[0].rows) < 0)
        goto none;
    if (wmcc_labels(args[1], &columns[1].view, &columns[1].kind, &columns[1].rows) < 0)
        goto release_truth;
    if (weighted && wmcc_weights(args[2], &weights) < 0)
        goto release_labels;
    const Py_ssize_t rows = columns->rows;
    uint64_t first;
    uint32_t exponent = 0;
    sums all; /* the GIL is kept: a short call would wait longer for it than it takes */
    if (rows > 0 && rows <= SHORT_ROWS && columns->view.ndim > 0 && same_shape(&columns[0].view, &columns[1].view) &&
        (!weighted || (same_shape(&columns[0].view, &weights) && window(&weights, rows, &exponent))) &&
        places(columns, &first, &all.places)) {
        if (add_rows(&all, columns, first, weighted ? &weights : NULL, exponent))
            result = margins(&all);
    }
    if (weighted)
        PyBuffer_Release(&weights);
release_labels:
    PyBuffer_Release(&columns[1].view);
release_truth:
    PyBuffer_Release(&columns[0].view);
none:
    if (result != NULL)
        return result;
    PyErr_Clear();
    return Py_NewRef(Py_None);
}

#else

PyObject *wmcc_margins(PyObject *Py_UNUSED(module), PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    return Py_NewRef(Py_None);
}

#endif
