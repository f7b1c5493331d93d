/* wmcc.tally._native: the Tally type and the module. */
#include "native.h"
#include <string.h>

enum { MOST_CELLS = 1 << 24 }; /* their byte offsets are 32-bit */

typedef struct {
    PyObject_HEAD
    wmcc_sums sums;
    uint32_t classes;
    int busy; /* set while add() runs without the GIL */
} Tally;

static PyObject *tally_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    unsigned int classes;
    int weighted, axes = 2;
    if (!PyArg_ParseTuple(args, "Ip|i", &classes, &weighted, &axes))
        return NULL;
    if (axes < 1 || axes > WMCC_MOST_AXES) {
        PyErr_SetString(PyExc_ValueError, "a cell has one to three labels");
        return NULL;
    }
    uint64_t cells = 1;
    for (int k = 0; k < axes; k++) {
        cells *= classes;
        if (cells > MOST_CELLS) {
            PyErr_SetString(PyExc_ValueError, "at most 4096 * 4096 cells");
            return NULL;
        }
    }
    Tally *self = (Tally *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL)
        return NULL;
    self->classes = classes;
    if (wmcc_sums_open(&self->sums, (Py_ssize_t)cells, axes, weighted) < 0) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void tally_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    wmcc_sums_close(&((Tally *)object)->sums);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* add(column, ..., weights): a column per axis (see wmcc_column_open) and a buffer of doubles or floats. */
static PyObject *tally_add(PyObject *object, PyObject *args)
{
    Tally *self = (Tally *)object;
    wmcc_column columns[WMCC_MOST_AXES];
    Py_buffer view;
    PyObject *result = NULL;
    const int axes = self->sums.axes;
    int opened = 0, has_view = 0;
    if (PyTuple_Size(args) != axes + 1) {
        PyErr_Format(PyExc_TypeError, "expected %d columns and weights", axes);
        return NULL;
    }
    uint32_t scale = 1;
    for (int k = 1; k < axes; k++)
        scale *= self->classes;
    for (; opened < axes; opened++, scale /= self->classes ? self->classes : 1) {
        PyObject *tuple = PyTuple_GetItem(args, opened);
        if (!PyTuple_Check(tuple)) {
            PyErr_SetString(PyExc_TypeError, "a column is a tuple");
            goto close;
        }
        if (wmcc_column_open(tuple, &columns[opened], self->classes, scale ? scale : 1) < 0)
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
    int together = (buffer != NULL) == self->sums.weighted;
    for (int k = 1; k < axes; k++)
        together &= columns[k].rows == rows;
    if (!together || self->busy) {
        PyErr_SetString(PyExc_ValueError, self->busy ? "this Tally is in use by another thread" : "columns do not belong together");
        goto close;
    }
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    wmcc_sums_add(&self->sums, columns, buffer, width, rows);
    Py_END_ALLOW_THREADS
    self->busy = 0;
    result = wmcc_sums_failed(&self->sums) ? NULL : Py_NewRef(Py_None);
close:
    if (has_view)
        PyBuffer_Release(&view);
    while (opened > 0)
        wmcc_column_close(&columns[--opened]);
    return result;
}

/* (exponent of the lowest digit, digits as bytes of int64, lowest plane first), without empty ends. */
static PyObject *digits(const wmcc_sums *sums, int64_t *const *planes, int count, int base)
{
    int low = count, high = -1;
    for (int d = 0; d < count; d++)
        for (Py_ssize_t i = 0; planes[d] != NULL && i < sums->cells; i++)
            if (planes[d][i] != 0) {
                low = d < low ? d : low;
                high = d;
                break;
            }
    if (wmcc_sums_too_many(sums, high - low + 1))
        return NULL;
    Py_ssize_t size = sums->cells * (Py_ssize_t)sizeof(int64_t);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, high < low ? 0 : (high - low + 1) * size);
    if (bytes == NULL)
        return NULL;
    char *out = PyBytes_AsString(bytes);
    for (int d = low; d <= high; d++, out += size) {
        if (planes[d] != NULL)
            memcpy(out, planes[d], (size_t)size);
        else
            memset(out, 0, (size_t)size);
    }
    return Py_BuildValue("iN", high < low ? 0 : base + 32 * low, bytes);
}

static PyObject *tally_result(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Tally *self = (Tally *)object;
    wmcc_sums *sums = &self->sums;
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError, "this Tally is in use by another thread");
        return NULL;
    }
    wmcc_sums_settle(sums);
    if (wmcc_sums_failed(sums))
        return NULL;
    Py_ssize_t size = sums->cells * (Py_ssize_t)sizeof(int64_t);
    PyObject *n = PyBytes_FromStringAndSize(NULL, size), *low = PyBytes_FromStringAndSize(NULL, size),
             *high = PyBytes_FromStringAndSize(NULL, size), *w = NULL, *q = NULL;
    if (n == NULL || low == NULL || high == NULL)
        goto fail;
    char *n_out = PyBytes_AsString(n), *low_out = PyBytes_AsString(low), *high_out = PyBytes_AsString(high);
    uint64_t extra[WMCC_EXTRA_CELLS] = {0};
    for (Py_ssize_t i = 0; i < sums->cells + WMCC_EXTRA_CELLS; i++) {
        uint64_t total = 0, least = UINT64_MAX, most = 0;
        for (int r = 0; r < sums->replicas; r++) {
            const wmcc_cell *cell = sums->cell + r * sums->stride + i;
            total += cell->total;
            if (cell->min == UINT64_MAX)
                continue;
            least = cell->min < least ? cell->min : least;
            most = cell->min + cell->span > most ? cell->min + cell->span : most;
        }
        if (i >= sums->cells) {
            extra[i - sums->cells] = total;
            continue;
        }
        const uint64_t nan = 0x7FF8000000000000u; /* no weight was seen */
        memcpy(n_out + i * 8, &total, 8);
        memcpy(low_out + i * 8, least == UINT64_MAX ? &nan : &least, 8);
        memcpy(high_out + i * 8, least == UINT64_MAX ? &nan : &most, 8);
    }
    w = digits(sums, sums->w_plane, WMCC_W_DIGITS, WMCC_W_BASE);
    q = digits(sums, sums->q_plane, WMCC_Q_DIGITS, WMCC_Q_BASE);
    if (w == NULL || q == NULL)
        goto fail;
    return Py_BuildValue("NNNNNKKK", n, low, high, w, q, (unsigned long long)extra[WMCC_IGNORED_CELL],
                         (unsigned long long)extra[WMCC_UNKNOWN_CELL], (unsigned long long)sums->bad_weights);
fail:
    Py_XDECREF(n);
    Py_XDECREF(low);
    Py_XDECREF(high);
    Py_XDECREF(w);
    Py_XDECREF(q);
    return NULL;
}

static PyMethodDef tally_methods[] = {
    {"add", tally_add, METH_VARARGS, "add(*columns, weights)\n--\n\nCount rows; a column is (labels, low, length, first, table)."},
    {"result", tally_result, METH_NOARGS, "result()\n--\n\n(n, least, most, w, w2, ignored, unknown, bad weights)."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tally_slots[] = {
    {Py_tp_new, tally_new}, {Py_tp_dealloc, tally_dealloc}, {Py_tp_methods, tally_methods},
    {Py_tp_doc, "Tally(classes, weighted, axes=2, /)\n--\n\nExact sums per cell of a table of classes ** axes."}, {0, NULL},
};

static PyType_Spec tally_spec = {"wmcc.tally._native.Tally", sizeof(Tally), 0, Py_TPFLAGS_DEFAULT, tally_slots};

static PyMethodDef methods[] = {
    {"extent", wmcc_extent, METH_O, "extent(labels, /)\n--\n\nSmallest and largest label."},
    {"mark", wmcc_mark, METH_VARARGS, "mark(labels, low, flags, /)\n--\n\nSet flags[label - low]; return how many labels lie outside."},
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
    PyModuleDef_HEAD_INIT, "_native", "The compiled kernel; see wmcc.tally for what it computes.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
