/* What the sources of wmcc.tally._native share: columns.c reads labels, sums.c adds weights exactly,
   dictionary.c codes keys, module.c shows all that to Python. */
#ifndef WMCC_NATIVE_H
#define WMCC_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>

#include <float.h>

#if FLT_EVAL_METHOD != 0
#error "needs doubles that round as they are computed; without them wmcc uses its NumPy kernel"
#endif
#if !defined(__GNUC__)
#error "needs gcc or clang (vector types); without them wmcc uses its NumPy kernel"
#endif

/* Let the loader pick the widest vectors the processor has. Every clone computes the same bits: the
   loops hold integer arithmetic and single IEEE operations, and contraction to FMA is switched off. */
#if defined(__x86_64__) && defined(__GLIBC__) && (defined(__clang__) ? __clang_major__ >= 18 : __GNUC__ >= 12) && \
    !defined(__SANITIZE_ADDRESS__)
#define WMCC_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WMCC_CLONES
#endif

/* Every integer type a label column may have. X(C type, type wide enough to subtract any label in). */
#define WMCC_LABEL_TYPES(X) \
    X(int8_t, uint32_t) X(uint8_t, uint32_t) X(int16_t, uint32_t) X(uint16_t, uint32_t) \
    X(int32_t, uint64_t) X(uint32_t, uint64_t) X(int64_t, uint64_t) X(uint64_t, uint64_t)

typedef enum { WMCC_int8_t, WMCC_uint8_t, WMCC_int16_t, WMCC_uint16_t,
               WMCC_int32_t, WMCC_uint32_t, WMCC_int64_t, WMCC_uint64_t } wmcc_kind;

/* ---- columns.c -------------------------------------------------------------------------------------- */

/* Codes a label table may hold beside those of classes. */
#define WMCC_IGNORED ((uint32_t)1 << 30)
#define WMCC_UNKNOWN ((uint32_t)1 << 31)

/* One label column and how to turn a label into a code. */
typedef struct {
    Py_buffer view, table_view;
    wmcc_kind kind;
    Py_ssize_t rows;
    uint64_t low, length;  /* labels low .. low + length - 1 are known */
    const uint32_t *table; /* their codes, or NULL: code = (label - low + first) * scale */
    uint32_t first, scale;
} wmcc_column;

/* Buffers that are contiguous, aligned and native: anything else is refused here, so that no loop has
   to doubt its pointer. Both return -1 with an exception set. Keys are read byte by byte and lie at any address. */
int wmcc_labels(PyObject *object, Py_buffer *view, wmcc_kind *kind, Py_ssize_t *rows);
int wmcc_items(PyObject *object, Py_buffer *view, Py_ssize_t itemsize, Py_ssize_t align, int writable, const char *name);
/* The format of a buffer, without a byte order that is this machine's own: NumPy may name it ("<i") or not ("i"). */
const char *wmcc_format(const Py_buffer *view);

/* A column from (labels, low, length, first, table or None); every code is checked to be below
   `classes` times `scale`. */
int wmcc_column_open(PyObject *tuple, wmcc_column *column, uint32_t classes, uint32_t scale);
void wmcc_column_close(wmcc_column *column);
void wmcc_column_codes(const wmcc_column *column, Py_ssize_t start, Py_ssize_t n, uint32_t *out);

PyObject *wmcc_extent(PyObject *module, PyObject *labels);
PyObject *wmcc_mark(PyObject *module, PyObject *args);

/* ---- sums.c ----------------------------------------------------------------------------------------- */

enum { WMCC_W_DIGITS = 71, WMCC_Q_DIGITS = 136 };
/* Exponent of digit 0: multiples of 32 below the last of the 53 bits of every double and every square of one. */
enum { WMCC_W_BASE = -1152, WMCC_Q_BASE = -2208 };
/* Digits of all cells, of the weights or of the squares: as in exact.py, which has the reason. While rows come in, some
   planes may be there that turn out empty; so many more are let pass until the sums are read. */
enum { WMCC_MOST_DIGITS = 136 << 20, WMCC_SPARE_PLANES = 16 };
/* Label columns that a cell may have. */
enum { WMCC_MOST_AXES = 3 };
/* Cells behind the classes ** axes real ones. */
enum { WMCC_IGNORED_CELL, WMCC_UNKNOWN_CELL, WMCC_SPARE_CELL, WMCC_EXTRA_CELLS };

/* One cache line. min and span are the bit patterns of the smallest weight and of largest - smallest:
   patterns of non-negative doubles order like the doubles, so one unsigned comparison tests both ends. */
typedef struct {
    uint64_t lane[4]; /* w high, w*w high, w low, w*w low */
    uint64_t min, span;
    uint64_t n;     /* rows since the last flush */
    uint64_t total; /* rows before that */
} wmcc_cell;

typedef struct {
    int axes;                 /* label columns: two for a confusion table */
    Py_ssize_t cells, stride; /* stride: cells of one replica, the extra ones included */
    int weighted;
    int replicas, most_replicas; /* copies of a small table, so that equal rows do not wait for each other */
    int bits, limit_log2;     /* of a lane; rows between flushes */
    void *memory;
    wmcc_cell *cell;
    int64_t *w_plane[WMCC_W_DIGITS], *q_plane[WMCC_Q_DIGITS];
    int w_planes, q_planes; /* how many of them there are */
    int too_many_planes;    /* that many, once they are more than there may be */
    int window_set, exponent;
    uint64_t pending, outliers, additions, bad_weights;
    int out_of_memory;
} wmcc_sums;

int wmcc_sums_open(wmcc_sums *sums, Py_ssize_t cells, int axes, int weighted);
void wmcc_sums_close(wmcc_sums *sums);
/* columns: one per axis. weights: double or float by their width in bytes, or NULL for a tally without weights. */
void wmcc_sums_add(wmcc_sums *sums, const wmcc_column *columns, const void *weights, Py_ssize_t width, Py_ssize_t rows);
/* Set the exception that says why there are no sums, if there is a reason. */
int wmcc_sums_failed(const wmcc_sums *sums);
/* Set an exception and return 1 if so many planes are more than there may be. */
int wmcc_sums_too_many(const wmcc_sums *sums, int planes);
/* Move everything into `total` and into planes whose digits lie in [0, 2^32). */
void wmcc_sums_settle(wmcc_sums *sums);

/* ---- dictionary.c ------------------------------------------------------------------------------------------- */

PyObject *wmcc_find_codes(PyObject *module, PyObject *args);
extern PyType_Spec wmcc_dictionary_spec;

#endif
