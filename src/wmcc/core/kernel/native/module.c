/* wmcc.core.kernel._native: the Tally type and the module. */
#include "native.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    PyObject_HEAD
    wmcc_sums sums;
    int busy; /* set while a method runs without the GIL */
} Tally;

static PyObject *tally_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"sizes", "weighted", "dense", "part", "room", "large", "replicates", NULL};
    PyObject *object;
    int weighted, dense, part = -1, replicates = 0;
    long long room = INT32_MAX;
    double large = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!pp|iLdi", names, &PyTuple_Type, &object, &weighted, &dense, &part, &room, &large, &replicates))
        return NULL;
    Py_ssize_t axes = PyTuple_Size(object);
    if (axes < 1 || axes > WMCC_MOST_AXES || part < -1 || part >= axes || room < 0 || room > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "expected 1 to 16 sizes, a part that is one of them or -1, and room below 2**31");
        return NULL;
    }
    if (replicates < 0 || replicates > WMCC_MOST_REPLICATES) {
        PyErr_SetString(PyExc_ValueError, "expected 0 to 2**16 replicates");
        return NULL;
    }
    uint32_t sizes[WMCC_MOST_AXES];
    unsigned __int128 cells = 1;
    for (Py_ssize_t k = 0; k < axes; k++) {
        uint64_t size = PyLong_AsUnsignedLongLong(PyTuple_GetItem(object, k));
        if (PyErr_Occurred())
            return NULL;
        cells = size <= WMCC_IGNORED && cells >> 63 == 0 ? cells * size : (unsigned __int128)1 << 63;
        sizes[k] = (uint32_t)size;
    }
    if (cells >> 63 || (dense && cells > WMCC_MOST_DENSE)) {
        PyErr_SetString(PyExc_ValueError, dense ? "at most 2**24 cells, one for each key" : "at most 2**30 codes of an axis, and keys below 2**63");
        return NULL;
    }
    Tally *self = (Tally *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL)
        return NULL;
    if (wmcc_sums_open(&self->sums, sizes, (int)axes, weighted, dense, part, (uint32_t)room) < 0) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    wmcc_sums_expect(&self->sums, large);
    wmcc_replicates_open(&self->sums, replicates, large);
    return (PyObject *)self;
}

static void tally_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    wmcc_sums_close(&((Tally *)object)->sums);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- what may go wrong -------------------------------------------------------------------------------------- */

/* OverflowError(tuple): the caller knows how to say it. */
static void overflow(PyObject *tuple)
{
    if (tuple != NULL)
        PyErr_SetObject(PyExc_OverflowError, tuple);
    Py_XDECREF(tuple);
}

static int too_many_digits(uint64_t planes, uint64_t cells)
{
    if (planes * cells <= WMCC_MOST_DIGITS)
        return 0;
    overflow(Py_BuildValue("((sKK))", "digits", (unsigned long long)planes, (unsigned long long)cells));
    return 1;
}

/* Set the exception that says why there are no sums, if there is a reason. */
static int failed(const wmcc_sums *sums)
{
    uint64_t planes[2] = {0, 0};
    switch (sums->failure) {
    case WMCC_SOUND:
        return 0;
    case WMCC_NO_MEMORY:
        PyErr_NoMemory();
        break;
    case WMCC_TOO_MANY_CELLS:
        overflow(Py_BuildValue("((sI))", "cells", (unsigned int)sums->room));
        break;
    case WMCC_TOO_MANY_DIGITS:
        for (int d = 0; d < WMCC_DIGITS; d++)
            planes[d >= WMCC_W_DIGITS] += sums->used[d];
        if (!too_many_digits(planes[planes[1] > planes[0]], sums->count))
            PyErr_NoMemory();
    }
    return 1;
}

static int in_use(const Tally *tally)
{
    if (tally->busy)
        PyErr_SetString(PyExc_ValueError, "this Tally is in use by another thread");
    return tally->busy;
}

/* ---- rows in -------------------------------------------------------------------------------------------------- */

/* Columns of weights, in vectors of doubles or floats with any stride; returns how many buffers were opened, and sets an
   exception where they are not all that is needed. */
static Py_ssize_t open_replicates(PyObject *tuple, Py_ssize_t count, Py_ssize_t rows, Py_buffer *views, wmcc_strided *columns)
{
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of %zd replicates", count);
        return 0;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        Py_buffer *view = &views[k];
        if (PyObject_GetBuffer(PyTuple_GetItem(tuple, k), view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0)
            return k;
        const Py_ssize_t width = view->itemsize;
        if (view->ndim != 1 || view->shape[0] != rows || (width != 8 && width != 4) || strcmp(wmcc_format(view), width == 8 ? "d" : "f") != 0) {
            PyErr_SetString(PyExc_TypeError, "replicates: expected vectors of one native float32 or float64 per row");
            return k + 1;
        }
        columns[k] = (wmcc_strided){view->buf, view->strides[0], width};
    }
    return count;
}

/* add(column, ..., weights[, replicates]): a column per axis (see wmcc_column_open), a buffer of doubles or floats, and a tuple
   of such, if the tally has replicates. */
static PyObject *tally_add(PyObject *object, PyObject *args)
{
    Tally *self = (Tally *)object;
    wmcc_column columns[WMCC_MOST_AXES];
    Py_buffer view;
    PyObject *result = NULL;
    const int axes = self->sums.axes;
    int opened = 0, has_view = 0;
    const Py_ssize_t count = self->sums.replicates.count;
    Py_ssize_t more = 0;
    Py_buffer *views = NULL;
    wmcc_strided *replicates = NULL;
    if (PyTuple_Size(args) != axes + 1 + (count > 0)) {
        PyErr_Format(PyExc_TypeError, "expected %d columns and weights%s", axes, count > 0 ? " and replicates" : "");
        return NULL;
    }
    for (; opened < axes; opened++) {
        PyObject *tuple = PyTuple_GetItem(args, opened);
        if (!PyTuple_Check(tuple)) {
            PyErr_SetString(PyExc_TypeError, "a column is a tuple");
            goto close;
        }
        if (wmcc_column_open(tuple, &columns[opened], self->sums.sizes[opened]) < 0)
            goto close;
    }
    const void *buffer = NULL;
    PyObject *weights = PyTuple_GetItem(args, axes);
    Py_ssize_t width = 0, rows = columns[0].rows;
    if (weights != Py_None) {
        if (PyObject_GetBuffer(weights, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
            goto close;
        has_view = 1;
        buffer = view.buf;
        width = view.itemsize;
        const char *expected = width == 8 ? "d" : "f";
        if ((width != 8 && width != 4) || strcmp(wmcc_format(&view), expected) != 0 ||
            (uintptr_t)buffer % (uintptr_t)width != 0 || view.len / width != rows) {
            PyErr_SetString(PyExc_TypeError, "weights: expected one aligned native float32 or float64 per row");
            goto close;
        }
    }
    if (count > 0) {
        views = malloc((size_t)count * sizeof *views);
        replicates = malloc((size_t)count * sizeof *replicates);
        if (views == NULL || replicates == NULL) {
            PyErr_NoMemory();
            goto close;
        }
        more = open_replicates(PyTuple_GetItem(args, axes + 1), count, rows, views, replicates);
        if (PyErr_Occurred())
            goto close;
    }
    int together = (buffer != NULL) == self->sums.weighted;
    for (int k = 1; k < axes; k++)
        together &= columns[k].rows == rows;
    if (!together)
        PyErr_SetString(PyExc_ValueError, "columns do not belong together");
    if (!together || in_use(self) || failed(&self->sums))
        goto close;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    wmcc_sums_add(&self->sums, columns, buffer, width, replicates, rows);
    Py_END_ALLOW_THREADS
    self->busy = 0;
    result = failed(&self->sums) ? NULL : Py_NewRef(Py_None);
close:
    while (more > 0)
        PyBuffer_Release(&views[--more]);
    free(views);
    free(replicates);
    if (has_view)
        PyBuffer_Release(&view);
    while (opened > 0)
        wmcc_column_close(&columns[--opened]);
    return result;
}

static PyObject *tally_merge(PyObject *object, PyObject *argument)
{
    if (Py_TYPE(argument) != Py_TYPE(object)) {
        PyErr_SetString(PyExc_TypeError, "expected a Tally");
        return NULL;
    }
    Tally *self = (Tally *)object, *other = (Tally *)argument;
    const wmcc_sums *a = &self->sums, *b = &other->sums;
    if (self == other || a->axes != b->axes || memcmp(a->sizes, b->sizes, sizeof a->sizes) != 0 || a->weighted != b->weighted ||
        a->dense != b->dense || a->part != b->part || a->replicates.count != b->replicates.count) {
        PyErr_SetString(PyExc_ValueError, "expected another Tally of the same sizes, weighted, dense, part and replicates");
        return NULL;
    }
    if (in_use(self) || in_use(other) || failed(a) || failed(b))
        return NULL;
    self->busy = other->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    wmcc_sums_merge(&self->sums, &other->sums);
    Py_END_ALLOW_THREADS
    self->busy = other->busy = 0;
    return failed(a) ? NULL : Py_NewRef(Py_None);
}

/* ---- sums out ------------------------------------------------------------------------------------------------- */

enum { KEYS, COUNTS, LEAST, MOST, W, W2, IGNORED, FIELDS };

static PyObject *exponent_and_digits(const wmcc_survey *survey, int square, PyObject *bytes)
{
    int exponent = square ? WMCC_Q_BASE + 32 * (survey->low[1] - WMCC_W_DIGITS) : WMCC_W_BASE + 32 * survey->low[0];
    return Py_BuildValue("iO", survey->low[square] < survey->high[square] ? exponent : 0, bytes);
}

static PyObject *tally_result(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Tally *self = (Tally *)object;
    wmcc_sums *sums = &self->sums;
    PyObject *field[FIELDS] = {NULL}, *w = NULL, *w2 = NULL, *result = NULL;
    int64_t *out[FIELDS] = {NULL};
    wmcc_survey survey = {0};
    int no_memory;
    if (in_use(self) || failed(sums))
        return NULL;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    no_memory = wmcc_sums_survey(sums, &survey) < 0;
    Py_END_ALLOW_THREADS
    if (no_memory)
        PyErr_NoMemory();
    if (no_memory || failed(sums))
        goto done;
    uint64_t planes[FIELDS] = {[KEYS] = 1, [COUNTS] = 1, [LEAST] = 1, [MOST] = 1}, cells = survey.cells;
    for (int square = 0; square < 2; square++)
        if (survey.low[square] < survey.high[square])
            planes[W + square] = (uint64_t)(survey.high[square] - survey.low[square]);
    if (too_many_digits(planes[W], cells) || too_many_digits(planes[W2], cells))
        goto done;
    for (int k = 0; k < FIELDS; k++) {
        if (!sums->weighted && k >= LEAST && k <= W2)
            continue;
        uint64_t items = k == IGNORED ? sums->parts : planes[k] * cells;
        field[k] = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(items * sizeof(int64_t)));
        if (field[k] == NULL)
            goto done;
        out[k] = (int64_t *)PyBytes_AsString(field[k]);
        wmcc_prefer_huge_pages(out[k], items * sizeof(int64_t));
    }
    memcpy(out[IGNORED], sums->ignored, sums->parts * sizeof(int64_t));
    Py_BEGIN_ALLOW_THREADS
    wmcc_sums_write(sums, &survey, out[KEYS], out[COUNTS], (uint64_t *)out[LEAST], (uint64_t *)out[MOST], out[W], out[W2]);
    Py_END_ALLOW_THREADS
    w = sums->weighted ? exponent_and_digits(&survey, 0, field[W]) : Py_NewRef(Py_None);
    w2 = sums->weighted ? exponent_and_digits(&survey, 1, field[W2]) : Py_NewRef(Py_None);
    if (w != NULL && w2 != NULL)
        result = Py_BuildValue("OOOOOOOKK", field[KEYS], field[COUNTS], sums->weighted ? field[LEAST] : Py_None,
                               sums->weighted ? field[MOST] : Py_None, w, w2, field[IGNORED],
                               (unsigned long long)sums->unknown, (unsigned long long)sums->bad_weights);
done:
    self->busy = 0;
    free(survey.order);
    for (int k = 0; k < FIELDS; k++)
        Py_XDECREF(field[k]);
    Py_XDECREF(w);
    Py_XDECREF(w2);
    return result;
}

/* ((exponent, digits) of each column, number of bad weights), of the cells that `result` lists. */
static PyObject *tally_replicates(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Tally *self = (Tally *)object;
    wmcc_sums *sums = &self->sums;
    PyObject *list = NULL, *result = NULL;
    uint32_t *order = NULL;
    uint64_t cells = 0;
    int no_memory;
    if (in_use(self) || failed(sums))
        return NULL;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    no_memory = wmcc_sums_order(sums, &order, &cells) < 0;
    Py_END_ALLOW_THREADS
    if (no_memory)
        PyErr_NoMemory();
    if (no_memory || failed(sums) || (list = PyTuple_New(sums->replicates.count)) == NULL)
        goto done;
    for (int column = 0; column < sums->replicates.count; column++) {
        int low, high;
        Py_BEGIN_ALLOW_THREADS
        wmcc_replicates_survey(sums, order, cells, column, &low, &high);
        Py_END_ALLOW_THREADS
        const uint64_t planes = low < high ? (uint64_t)(high - low) : 0;
        if (too_many_digits(planes, cells))
            goto done;
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(planes * cells * sizeof(int64_t)));
        if (bytes == NULL)
            goto done;
        int64_t *digits = (int64_t *)PyBytes_AsString(bytes);
        Py_BEGIN_ALLOW_THREADS
        wmcc_replicates_write(sums, order, cells, column, low, high, digits);
        Py_END_ALLOW_THREADS
        PyObject *pair = Py_BuildValue("iN", planes > 0 ? WMCC_W_BASE + 32 * low : 0, bytes);
        if (pair == NULL || PyTuple_SetItem(list, column, pair) < 0)
            goto done;
    }
    result = Py_BuildValue("OK", list, (unsigned long long)sums->replicates.bad);
done:
    self->busy = 0;
    free(order);
    Py_XDECREF(list);
    return result;
}

static PyMethodDef tally_methods[] = {
    {"add", tally_add, METH_VARARGS, "add(*columns, weights, replicates=...)\n--\n\nCount rows; a column is (labels, low, length, first, table)."},
    {"merge", tally_merge, METH_O, "merge(other, /)\n--\n\nAdd all that another Tally of the same kind holds."},
    {"result", tally_result, METH_NOARGS, "result()\n--\n\nThe occupied cells: (keys, n, least, most, w, w2, ignored, unknown, bad weights)."},
    {"replicates", tally_replicates, METH_NOARGS, "replicates()\n--\n\n(sums of each column of replicate weights, bad ones), of the same cells."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tally_slots[] = {
    {Py_tp_new, tally_new}, {Py_tp_dealloc, tally_dealloc}, {Py_tp_methods, tally_methods},
    {Py_tp_doc, "Tally(sizes, weighted, dense, part=-1, room=2147483647, large=0.0, replicates=0)\n--\n\nExact sums per cell; a key has a code of each axis."}, {0, NULL},
};

static PyType_Spec tally_spec = {"wmcc.core.kernel._native.Tally", sizeof(Tally), 0, Py_TPFLAGS_DEFAULT, tally_slots};

static PyMethodDef methods[] = {
    {"extent", wmcc_extent, METH_O, "extent(labels, /)\n--\n\nSmallest and largest label."},
    {"mark", wmcc_mark, METH_VARARGS, "mark(labels, low, flags, /)\n--\n\nSet flags[label - low]; return how many labels lie outside."},
    {"margins", (PyCFunction)(void (*)(void))wmcc_margins, METH_FASTCALL,
     "margins(y_true, y_pred, weights, /)\n--\n\n(s, r, q, d) of a few rows, or None for what takes the long way."},
    {"find_codes", wmcc_find_codes, METH_VARARGS,
     "find_codes(objects, known, codes, start, /)\n--\n\nWrite codes by type and value; return the first row that is not known."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    PyType_Spec *specs[] = {&tally_spec, &wmcc_dictionary_spec};
    for (int i = 0; i < 2; i++) {
        PyObject *type = PyType_FromSpec(specs[i]);
        if (type == NULL)
            return -1;
        int failed = PyModule_AddType(module, (PyTypeObject *)type);
        Py_DECREF(type);
        if (failed < 0)
            return -1;
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "The compiled kernel; see wmcc.core.kernel for what it computes.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
