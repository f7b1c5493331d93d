/* Label columns: buffer checks, smallest and largest label, which labels occur, labels to codes. */
#include "native.h"
#include <string.h>

const char *wmcc_format(const Py_buffer *view)
{
    static const uint16_t one = 1;
    const char *format = view->format ? view->format : "B";
    int native = *format == '@' || *format == '=' || *format == (*(const char *)&one ? '<' : '>');
    return format + native;
}

int wmcc_items(PyObject *object, Py_buffer *view, Py_ssize_t itemsize, Py_ssize_t align, int writable, const char *name)
{
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return -1;
    if (view->itemsize != itemsize || (uintptr_t)view->buf % (uintptr_t)align != 0) {
        PyErr_Format(PyExc_TypeError, "%s: expected aligned items of %zd bytes, got %zd", name, itemsize, view->itemsize);
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

int wmcc_labels(PyObject *object, Py_buffer *view, wmcc_kind *kind, Py_ssize_t *length)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return -1;
    const char *format = wmcc_format(view);
    const char *is_signed = "bhilqn", *is_unsigned = "?BHILQN";
    int known = format[0] && !format[1];
    int sign = known && strchr(is_signed, format[0]) != NULL;
    int ok = known && (sign || strchr(is_unsigned, format[0]));
    switch (view->itemsize) {
    case 1: *kind = sign ? WMCC_int8_t : WMCC_uint8_t; break;
    case 2: *kind = sign ? WMCC_int16_t : WMCC_uint16_t; break;
    case 4: *kind = sign ? WMCC_int32_t : WMCC_uint32_t; break;
    case 8: *kind = sign ? WMCC_int64_t : WMCC_uint64_t; break;
    default: ok = 0;
    }
    if (!ok || (uintptr_t)view->buf % (uintptr_t)view->itemsize != 0) {
        PyErr_Format(PyExc_TypeError, "labels: expected aligned native integers, got format '%s'", view->format ? view->format : "B");
        PyBuffer_Release(view);
        return -1;
    }
    *length = view->len / view->itemsize;
    return 0;
}

int wmcc_weights(PyObject *object, Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return -1;
    const Py_ssize_t width = view->itemsize;
    if ((width != 8 && width != 4) || strcmp(wmcc_format(view), width == 8 ? "d" : "f") != 0 ||
        (uintptr_t)view->buf % (uintptr_t)width != 0) {
        PyErr_SetString(PyExc_TypeError, "weights: expected aligned native float32 or float64");
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

/* ---- extent: smallest and largest label -------------------------------------------------------- */

#define EXTENT(T, U) \
    WMCC_CLONES static void extent_##T(const T *x, Py_ssize_t n, T *low, T *high) \
    { \
        T a = x[0], b = x[0]; \
        for (Py_ssize_t i = 1; i < n; i++) { \
            a = x[i] < a ? x[i] : a; \
            b = x[i] > b ? x[i] : b; \
        } \
        *low = a; \
        *high = b; \
    }
WMCC_LABEL_TYPES(EXTENT)

void wmcc_label_extent(const void *labels, wmcc_kind kind, Py_ssize_t n, uint64_t *low, uint64_t *high)
{
    switch (kind) {
#define CASE(T, U) \
    case WMCC_##T: { \
        T a, b; \
        extent_##T(labels, n, &a, &b); \
        *low = (uint64_t)(int64_t)a; \
        *high = (uint64_t)(int64_t)b; \
        break; \
    }
    WMCC_LABEL_TYPES(CASE)
#undef CASE
    }
}

PyObject *wmcc_extent(PyObject *Py_UNUSED(module), PyObject *object)
{
    Py_buffer view;
    wmcc_kind kind;
    Py_ssize_t n;
    if (wmcc_labels(object, &view, &kind, &n) < 0)
        return NULL;
    if (n == 0) {
        PyBuffer_Release(&view);
        PyErr_SetString(PyExc_ValueError, "extent of no labels");
        return NULL;
    }
    uint64_t low, high;
    Py_BEGIN_ALLOW_THREADS
    wmcc_label_extent(view.buf, kind, n, &low, &high);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    return WMCC_UNSIGNED(kind) ? Py_BuildValue("KK", (unsigned long long)low, (unsigned long long)high)
                               : Py_BuildValue("LL", (long long)low, (long long)high);
}

/* ---- mark: which labels of [low, low + len(flags)) occur ---------------------------------------- */

PyObject *wmcc_mark(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *labels, *flags, *low_object;
    if (!PyArg_ParseTuple(args, "OOO", &labels, &low_object, &flags))
        return NULL;
    uint64_t low = PyLong_AsUnsignedLongLongMask(low_object);
    if (PyErr_Occurred())
        return NULL;
    Py_buffer view, out;
    wmcc_kind kind;
    Py_ssize_t n;
    if (wmcc_labels(labels, &view, &kind, &n) < 0)
        return NULL;
    if (wmcc_items(flags, &out, 1, 1, 1, "flags") < 0) {
        PyBuffer_Release(&view);
        return NULL;
    }
    uint8_t *flag = out.buf;
    uint64_t length = (uint64_t)out.len, outside = 0;
    Py_BEGIN_ALLOW_THREADS
    switch (kind) {
#define CASE(T, U) \
    case WMCC_##T: { \
        const T *x = view.buf; \
        for (Py_ssize_t i = 0; i < n; i++) { \
            uint64_t k = (uint64_t)(int64_t)x[i] - low; \
            if (k >= length) outside++; \
            else if (!__atomic_load_n(&flag[k], __ATOMIC_RELAXED)) /* other threads may mark the same flags */ \
                __atomic_store_n(&flag[k], 1, __ATOMIC_RELAXED); \
        } \
        break; \
    }
    WMCC_LABEL_TYPES(CASE)
#undef CASE
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    PyBuffer_Release(&out);
    return PyLong_FromUnsignedLongLong(outside);
}

/* ---- codes ------------------------------------------------------------------------------------------ */

int wmcc_column_open(PyObject *tuple, wmcc_column *column, uint32_t size)
{
    PyObject *labels, *low, *table;
    unsigned long long length;
    memset(column, 0, sizeof *column);
    if (!PyArg_ParseTuple(tuple, "OOKIO", &labels, &low, &length, &column->first, &table))
        return -1;
    column->low = PyLong_AsUnsignedLongLongMask(low);
    column->length = length;
    if (PyErr_Occurred() || wmcc_labels(labels, &column->view, &column->kind, &column->rows) < 0)
        return -1;
    if (column->view.itemsize <= 2 && column->low + (1u << 30) > 1u << 31)
        column->length = 0; /* no label of 16 bits lies there, and the difference would not fit 32 */
    int sound = 1;
    if (table == Py_None)
        sound = column->first <= size && length <= size - column->first;
    else {
        if (wmcc_items(table, &column->table_view, sizeof(uint32_t), sizeof(uint32_t), 0, "table") < 0) {
            PyBuffer_Release(&column->view);
            return -1;
        }
        column->table = column->table_view.buf;
        sound = column->table_view.len / (Py_ssize_t)sizeof(uint32_t) == (Py_ssize_t)length;
        for (uint64_t i = 0; sound && i < length; i++) {
            uint32_t code = column->table[i];
            sound = code < size || code == WMCC_IGNORED || code == WMCC_UNKNOWN;
        }
    }
    if (!sound) {
        PyErr_SetString(PyExc_ValueError, "a code lies outside the table");
        wmcc_column_close(column);
        return -1;
    }
    return 0;
}

void wmcc_column_close(wmcc_column *column)
{
    PyBuffer_Release(&column->view);
    if (column->table != NULL)
        PyBuffer_Release(&column->table_view);
}

#define CODES(T, U, KEY) \
    WMCC_CLONES static uint32_t codes_##T##_##KEY(const T *x, Py_ssize_t n, const wmcc_column *column, KEY size, KEY *key) \
    { \
        U low = (U)column->low, length = (U)column->length; \
        uint32_t first = column->first, any = 0; \
        for (Py_ssize_t i = 0; i < n; i++) { \
            U k = (U)(int64_t)x[i] - low; \
            uint32_t code = k < length ? (uint32_t)k + first : WMCC_UNKNOWN; \
            any |= code; \
            key[i] = key[i] * size + code; \
        } \
        return any; \
    } \
    static uint32_t lookup_##T##_##KEY(const T *x, Py_ssize_t n, const wmcc_column *column, KEY size, KEY *key) \
    { \
        U low = (U)column->low, length = (U)column->length; \
        uint32_t any = 0; \
        for (Py_ssize_t i = 0; i < n; i++) { \
            U k = (U)(int64_t)x[i] - low; \
            uint32_t code = k < length ? column->table[k] : WMCC_UNKNOWN; \
            any |= code; \
            key[i] = key[i] * size + code; \
        } \
        return any; \
    }
#define BOTH(T, U) CODES(T, U, uint32_t) CODES(T, U, uint64_t)
WMCC_LABEL_TYPES(BOTH)

#define KEYS(KEY) \
    switch (column->kind) { \
        WMCC_LABEL_TYPES(CASE_##KEY) \
    } \
    return 0;
#define CASE(T, KEY) \
    case WMCC_##T: \
        return (column->table ? lookup_##T##_##KEY : codes_##T##_##KEY)((const T *)column->view.buf + start, n, column, size, key);
#define CASE_uint32_t(T, U) CASE(T, uint32_t)
#define CASE_uint64_t(T, U) CASE(T, uint64_t)

uint32_t wmcc_column_keys(const wmcc_column *column, Py_ssize_t start, Py_ssize_t n, uint32_t size, uint32_t *key)
{
    KEYS(uint32_t)
}

uint32_t wmcc_column_wide_keys(const wmcc_column *column, Py_ssize_t start, Py_ssize_t n, uint64_t size, uint64_t *key)
{
    KEYS(uint64_t)
}
