/* First-seen codes for labels that are not small integers.
   Dictionary: fixed-width keys (NumPy strings, integers of a wide range), in one growing array of keys with
   one open-addressing index of codes into it. find_codes: Python objects, looked up in Python dicts. */
#include "native.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    PyObject_HEAD
    Py_ssize_t width;    /* bytes per key */
    uint32_t count;      /* keys known */
    uint32_t room;       /* keys there is memory for; the index has 4 * room slots */
    unsigned char *keys; /* room * width bytes, in order of first appearance */
    uint32_t *index;     /* code + 1, or 0 for a free slot */
    int busy;            /* set while encode() runs without the GIL */
} Dictionary;

static uint64_t hash_key(const unsigned char *key, Py_ssize_t width)
{
    uint64_t h = 0x9E3779B97F4A7C15u, g = 0xC2B2AE3D27D4EB4Fu, word, other;
    for (; width >= 16; key += 16, width -= 16) { /* two chains, so that one multiplication need not wait for another */
        memcpy(&word, key, 8);
        memcpy(&other, key + 8, 8);
        h = (h ^ word) * 0xFF51AFD7ED558CCDu;
        g = (g ^ other) * 0xC4CEB9FE1A85EC53u;
        h ^= h >> 32;
        g ^= g >> 29;
    }
    h ^= g;
    for (; width >= 8; key += 8, width -= 8) {
        memcpy(&word, key, 8);
        h = (h ^ word) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 32;
    }
    if (width > 0) {
        word = 0;
        memcpy(&word, key, (size_t)width);
        h = (h ^ word) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 32;
    }
    return h ^ (h >> 17);
}

static int grow(Dictionary *self)
{
    uint32_t room = self->room ? self->room * 2 : 64;
    unsigned char *keys = realloc(self->keys, (size_t)room * (size_t)self->width);
    if (keys == NULL)
        return -1;
    self->keys = keys;
    uint32_t *index = calloc((size_t)room * 4, sizeof *index);
    if (index == NULL)
        return -1;
    for (uint32_t code = 0; code < self->count; code++) {
        uint64_t slot = hash_key(keys + (size_t)code * (size_t)self->width, self->width) & (room * 4 - 1);
        while (index[slot])
            slot = (slot + 1) & (room * 4 - 1);
        index[slot] = code + 1;
    }
    free(self->index);
    self->index = index;
    self->room = room;
    return 0;
}

/* Code of one key, new if need be; -1 when memory or `limit` is exhausted. */
static int64_t code_of(Dictionary *self, const unsigned char *key, uint32_t limit)
{
    size_t width = (size_t)self->width;
    if (self->count == self->room && grow(self) < 0)
        return -1;
    uint64_t mask = (uint64_t)self->room * 4 - 1, slot = hash_key(key, self->width) & mask;
    for (; self->index[slot]; slot = (slot + 1) & mask)
        if (memcmp(self->keys + (size_t)(self->index[slot] - 1) * width, key, width) == 0)
            return self->index[slot] - 1;
    if (self->count >= limit)
        return -1;
    memcpy(self->keys + (size_t)self->count * width, key, width);
    self->index[slot] = ++self->count;
    return self->count - 1;
}

/* encode(keys, codes, limit) -> rows encoded; fewer than given means that `limit` keys were exceeded. */
static PyObject *encode(PyObject *object, PyObject *args)
{
    Dictionary *self = (Dictionary *)object;
    PyObject *keys_object, *codes_object;
    unsigned int limit;
    if (!PyArg_ParseTuple(args, "OOI", &keys_object, &codes_object, &limit))
        return NULL;
    Py_buffer keys, codes;
    if (wmcc_items(keys_object, &keys, self->width, 1, 0, "keys") < 0)
        return NULL;
    if (wmcc_items(codes_object, &codes, sizeof(int32_t), sizeof(int32_t), 1, "codes") < 0) {
        PyBuffer_Release(&keys);
        return NULL;
    }
    Py_ssize_t n = keys.len / self->width, done = 0;
    if (codes.len / (Py_ssize_t)sizeof(int32_t) < n || self->busy) {
        PyErr_SetString(PyExc_ValueError, self->busy ? "this Dictionary is in use by another thread" : "codes: too short");
        PyBuffer_Release(&keys);
        PyBuffer_Release(&codes);
        return NULL;
    }
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    const unsigned char *key = keys.buf, *previous = NULL;
    int32_t *out = codes.buf;
    int64_t code = 0;
    for (; done < n; done++, key += self->width) {
        if (previous == NULL || memcmp(previous, key, (size_t)self->width) != 0)
            code = code_of(self, key, limit < INT32_MAX ? limit : INT32_MAX);
        if (code < 0)
            break;
        out[done] = (int32_t)code;
        previous = key;
    }
    Py_END_ALLOW_THREADS
    self->busy = 0;
    PyBuffer_Release(&keys);
    PyBuffer_Release(&codes);
    if (done < n && self->count < limit)
        return PyErr_NoMemory();
    return PyLong_FromSsize_t(done);
}

static PyObject *keys(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Dictionary *self = (Dictionary *)object;
    if (self->busy) {
        PyErr_SetString(PyExc_ValueError, "this Dictionary is in use by another thread");
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)self->keys, (Py_ssize_t)self->count * self->width);
}

/* An object that was looked up, which is kept meanwhile, and its code. Mostly, rows share few objects. */
enum { SEEN = 256 };
typedef struct {
    PyObject *object;
    int32_t code;
} seen;

/* find_codes(objects, known, codes, start) -> the first row from `start` on whose object is not known (or cannot
   be), or the number of rows. Codes of the rows before it are written. `known` has a dict for each type of object:
   True, 1 and 1+0j are equal, and only one of them may be an integer label. */
PyObject *wmcc_find_codes(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *objects, *known, *codes_object, *result = NULL;
    Py_ssize_t row;
    if (!PyArg_ParseTuple(args, "OO!On", &objects, &PyDict_Type, &known, &codes_object, &row))
        return NULL;
    Py_buffer items, codes;
    if (wmcc_items(objects, &items, sizeof(PyObject *), sizeof(PyObject *), 0, "objects") < 0)
        return NULL;
    if (wmcc_items(codes_object, &codes, sizeof(int32_t), sizeof(int32_t), 1, "codes") < 0) {
        PyBuffer_Release(&items);
        return NULL;
    }
    Py_ssize_t n = items.len / (Py_ssize_t)sizeof(PyObject *);
    PyObject *const *item = items.buf;
    if (items.format == NULL || strcmp(items.format, "O") != 0 || row < 0 || codes.len / (Py_ssize_t)sizeof(int32_t) < n) {
        PyErr_SetString(PyExc_TypeError, "expected an array of objects and a code for each");
        goto done;
    }
    PyObject *type = NULL, *same = NULL; /* of the row before, and the dict of this type; `known` keeps both */
    seen last[SEEN] = {{NULL, 0}};
    for (; row < n; row++) {
        PyObject *key = item[row] ? Py_NewRef(item[row]) : Py_NewRef(Py_None); /* NumPy keeps NULL for None */
        seen *here = &last[((uintptr_t)key >> 4 ^ (uintptr_t)key >> 12) % SEEN];
        if (here->object == key) {
            Py_DECREF(key);
            ((int32_t *)codes.buf)[row] = here->code;
            continue;
        }
        if ((PyObject *)Py_TYPE(key) != type) {
            type = (PyObject *)Py_TYPE(key);
            same = PyDict_GetItemWithError(known, type);
            if (same != NULL && !PyDict_Check(same))
                same = NULL;
        }
        PyObject *code = same != NULL ? PyDict_GetItemWithError(same, key) : NULL;
        if (code == NULL) {
            Py_DECREF(key);
            PyErr_Clear(); /* not hashable: the caller says so better */
            break;
        }
        ((int32_t *)codes.buf)[row] = (int32_t)PyLong_AsLong(code);
        if (Py_REFCNT(key) > 2) { /* somebody has it beside this row and us: another row, maybe */
            Py_XDECREF(here->object);
            here->object = Py_NewRef(key);
            here->code = ((int32_t *)codes.buf)[row];
        }
        Py_DECREF(key);
    }
    for (int k = 0; k < SEEN; k++)
        Py_XDECREF(last[k].object);
    result = PyLong_FromSsize_t(row);
done:
    PyBuffer_Release(&items);
    PyBuffer_Release(&codes);
    return result;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    Py_ssize_t width;
    if (!PyArg_ParseTuple(args, "n", &width))
        return NULL;
    if (width < 1 || width > (1 << 24)) {
        PyErr_SetString(PyExc_ValueError, "width must be between 1 and 16777216 bytes");
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Dictionary *self = (Dictionary *)alloc(type, 0);
    if (self != NULL)
        self->width = width;
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    Dictionary *self = (Dictionary *)object;
    PyTypeObject *type = Py_TYPE(object);
    free(self->keys);
    free(self->index);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"encode", encode, METH_VARARGS, "encode(keys, codes, limit, /)\n--\n\nWrite a code per key; return how many were written."},
    {"keys", keys, METH_NOARGS, "keys()\n--\n\nThe keys in the order of their codes, as bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, create}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods},
    {Py_tp_doc, "Dictionary(width, /)\n--\n\nFirst-seen codes for keys of `width` bytes."}, {0, NULL},
};

PyType_Spec wmcc_dictionary_spec = {
    "wmcc.core.kernel._native.Dictionary", sizeof(Dictionary), 0, Py_TPFLAGS_DEFAULT, slots,
};
