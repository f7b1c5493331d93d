/* What the sources of wmcc.core.kernel._native share: columns.c reads labels, cells.c has a cell for each key, sums.c adds
   weights to cells exactly, replicates.c adds many columns of them, results.c reads the cells, short.c does all of it for a
   short call, dictionary.c codes labels, module.c shows all that to Python. */
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

#if !defined(__SIZEOF_INT128__)
#error "needs 128-bit integers; without them wmcc uses its NumPy kernel"
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
#define WMCC_UNSIGNED(kind) ((kind) % 2)

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
    const uint32_t *table; /* their codes, or NULL: code = label - low + first */
    uint32_t first;
} wmcc_column;

/* Buffers that are contiguous, aligned and native: anything else is refused here, so that no loop has
   to doubt its pointer. All return -1 with an exception set. Keys are read byte by byte and lie at any address. */
int wmcc_labels(PyObject *object, Py_buffer *view, wmcc_kind *kind, Py_ssize_t *rows);
int wmcc_items(PyObject *object, Py_buffer *view, Py_ssize_t itemsize, Py_ssize_t align, int writable, const char *name);
int wmcc_weights(PyObject *object, Py_buffer *view); /* doubles or floats, by view->itemsize */
/* The format of a buffer, without a byte order that is this machine's own: NumPy may name it ("<i") or not ("i"). */
const char *wmcc_format(const Py_buffer *view);

/* A column from (labels, low, length, first, table or None); every code is checked to be below `size`. */
int wmcc_column_open(PyObject *tuple, wmcc_column *column, uint32_t size);
void wmcc_column_close(wmcc_column *column);
/* key = key * size + code, for n rows; returns all codes or'ed, which says whether there is an ignored or unknown one.
   The keys of such rows mean nothing. */
uint32_t wmcc_column_keys(const wmcc_column *column, Py_ssize_t start, Py_ssize_t n, uint32_t size, uint32_t *key);
uint32_t wmcc_column_wide_keys(const wmcc_column *column, Py_ssize_t start, Py_ssize_t n, uint64_t size, uint64_t *key);

/* Smallest and largest of n > 0 labels, modulo 2^64: their kind says whether they have a sign. */
void wmcc_label_extent(const void *labels, wmcc_kind kind, Py_ssize_t n, uint64_t *low, uint64_t *high);
PyObject *wmcc_extent(PyObject *module, PyObject *labels);
PyObject *wmcc_mark(PyObject *module, PyObject *args);

/* ---- cells.c ---------------------------------------------------------------------------------------- */

enum { WMCC_W_DIGITS = 71, WMCC_Q_DIGITS = 136, WMCC_DIGITS = WMCC_W_DIGITS + WMCC_Q_DIGITS };
/* Exponent of digit 0: multiples of 32 below the last of the 53 bits of every double and every square of one. */
enum { WMCC_W_BASE = -1152, WMCC_Q_BASE = -2208 };
/* Digits of all cells, of the weights or of the squares: as in exact.py, which has the reason. While rows come in, some
   planes may be there that turn out empty; so many more are let pass until the sums are read. */
enum { WMCC_MOST_DIGITS = 136 << 20, WMCC_SPARE_PLANES = 16 };
/* Columns that a key may be made of, and cells of a tally with a place for each key. */
enum { WMCC_MOST_AXES = 16, WMCC_MOST_DENSE = 1 << 24 };
enum { WMCC_BLOCK = 256 }; /* rows that are looked up and added at a time */
/* Rows after which lanes are emptied, and bits of a row in a lane: it has room for twice as many rows. */
enum { WMCC_LIMIT = 1 << 12, WMCC_BITS = 62 - 12 };
enum { WMCC_PAGE_LOG2 = 6 }; /* cells of a page of digits */

/* A cell of a tally without weights, and the head of one with weights. All zeros are an empty cell. */
typedef struct {
    uint64_t rows;
    uint64_t key; /* of a hashed cell; a dense one's is its index */
} wmcc_count;

/* One cache line. The ends are bit patterns, which order like non-negative doubles do: of the largest weight, and
   WMCC_TOP less that of the smallest. So both only grow, from the zeros of an empty cell. */
#define WMCC_TOP 0x7FEFFFFFFFFFFFFFu /* the largest double */
typedef struct {
    wmcc_count count;
    uint64_t ends[2];
    uint64_t lane[4]; /* w high, w*w high, w low, w*w low */
} wmcc_cell;

/* Digits of 2^WMCC_PAGE_LOG2 neighbouring cells, those of w before those of w*w; NULL where no cell has any. */
typedef struct {
    int64_t *digit[WMCC_DIGITS];
} wmcc_page;

/* Replicate weights: many columns of weights for the same rows, of which only sums are wanted. (Replicas, above and below,
   are something else: copies of the cells of a small table.) They are added in groups of columns that make a vector.
   See replicates.c for what lanes are. */
enum { WMCC_GROUP = 8, WMCC_MOST_REPLICATES = 1 << 16 };
typedef struct {
    const char *data;
    Py_ssize_t stride, width; /* bytes from row to row, and of a weight: a double or a float, at any address */
} wmcc_strided;

typedef struct {
    int64_t *digit[WMCC_W_DIGITS]; /* of all columns of one cell after those of another; NULL where there are none */
} wmcc_replicate_page;

typedef struct {
    int count;             /* columns */
    uint64_t room;         /* cells there is memory for */
    void *memory;          /* where the lanes are, and where they begin in it: group, cell, high or low part, column */
    uint64_t *lanes;
    uint32_t *rows;        /* of a cell, since its lanes were emptied: so many constants its high ones hold */
    wmcc_replicate_page **pages;
    uint32_t page_count;
    int window_set, exponent;
    double constant[2];
    uint64_t constant_bits; /* that each row leaves in a high lane */
    uint64_t looked_at, outliers; /* weights since the window was last judged, and those outside of it */
    uint64_t bad;
} wmcc_replicates;

typedef enum { WMCC_SOUND, WMCC_NO_MEMORY, WMCC_TOO_MANY_CELLS, WMCC_TOO_MANY_DIGITS } wmcc_failure;

typedef struct {
    int axes, part;          /* part: the axis whose code says whose row it is, or -1 */
    uint32_t sizes[WMCC_MOST_AXES];
    int weighted, dense;
    uint32_t room;           /* cells there may be, of a hash */
    void *memory;            /* where the cells are, and where they begin in it */
    char *cells;
    int cell_log2;           /* bytes of a cell */
    uint32_t first, spare;   /* the first cell that is one, and a place for rows that belong to none */
    uint32_t count, capacity; /* cells there are (dense: one for each key), and cells there is memory for */
    uint32_t stride;         /* cells of one replica, the spare one included */
    int replicas, most_replicas; /* copies of a small table, so that equal rows do not wait for each other */
    uint64_t *slots;         /* of a hash: upper half of the hash of a key, index of its cell; 0 where free */
    int slots_log2;
    wmcc_page **pages;
    uint32_t page_count;
    uint8_t used[WMCC_DIGITS]; /* whether a page has this digit */
    int64_t digits[2];       /* that there is memory for: of weights, of squares */
    int filled;              /* whether a row with a weight has come */
    int window_set, exponent; /* weights from 2^exponent on are added in the lanes */
    double constant[4];      /* see sums.c */
    uint64_t constant_bits[4];
    uint64_t looked_at, outliers; /* weights since the window was last judged, and those outside of it */
    uint64_t additions;      /* to digits, since they were last carried */
    int64_t *ignored;        /* rows, by part */
    uint64_t parts, unknown, bad_weights;
    wmcc_replicates replicates;
    wmcc_failure failure;
} wmcc_sums;

/* Ask for large pages of memory: otherwise there is a fault for each small one, and rows that fall on cells at random
   miss in the table of pages. */
void wmcc_prefer_huge_pages(void *memory, size_t size);
int wmcc_sums_open(wmcc_sums *sums, const uint32_t *sizes, int axes, int weighted, int dense, int part, uint32_t room);
void wmcc_sums_close(wmcc_sums *sums);
/* The cells of some keys, new ones where need be; a key of WMCC_NO_KEY has the spare one. At most WMCC_BLOCK. */
#define WMCC_NO_KEY UINT64_MAX
void wmcc_find_cells(wmcc_sums *sums, const uint64_t *key, const uint32_t *hash, Py_ssize_t n, uint32_t *index);
/* The hashes of keys; what finding their cells needs first is fetched in the meantime. */
void wmcc_hash_keys(const wmcc_sums *sums, const uint64_t *key, Py_ssize_t n, uint32_t *hash);
/* Memory for so many more hashed cells. */
int wmcc_reserve(wmcc_sums *sums, uint64_t more);
int wmcc_use_replicas(wmcc_sums *sums, int replicas);
/* Add value * 2^position to the digits of a cell. Bits of w are counted from digit 0, bits of w*w from the one after the
   last of w. */
void wmcc_add_digits(wmcc_sums *sums, uint32_t index, int64_t position, unsigned __int128 value);

static inline wmcc_count *wmcc_count_at(const wmcc_sums *sums, uint32_t index)
{
    return (wmcc_count *)(sums->cells + ((size_t)index << sums->cell_log2));
}

static inline wmcc_cell *wmcc_cell_at(const wmcc_sums *sums, uint32_t index)
{
    return (wmcc_cell *)sums->cells + index;
}

/* ---- sums.c ----------------------------------------------------------------------------------------- */

/* columns: one per axis. weights: double or float by their width in bytes, or NULL for a tally without weights.
   replicates: as many as the tally has, or NULL where it has none. */
void wmcc_sums_add(wmcc_sums *sums, const wmcc_column *columns, const void *weights, Py_ssize_t width,
                   const wmcc_strided *replicates, Py_ssize_t rows);
/* Choose the window for weights of this size, before any come; threads that expect the same have lanes that add up.
   Nothing is chosen if it is no weight above 0. */
void wmcc_sums_expect(wmcc_sums *sums, double large);
/* Add all that another tally of the same kind holds. The other one's sums stay what they are. */
void wmcc_sums_merge(wmcc_sums *sums, wmcc_sums *other);
/* Add the replicas of a small table up in the first. */
void wmcc_fold_replicas(wmcc_sums *sums);

/* What the lanes of a cell, which hold so many constants, add up to: w or w*w, in units of 2^wmcc_lane_position. */
static inline unsigned __int128 wmcc_sum_of_lanes(const wmcc_sums *sums, const wmcc_cell *cell, uint64_t constants, int square)
{
    int64_t high = (int64_t)(cell->lane[square] - constants * sums->constant_bits[square]);
    int64_t low = (int64_t)(cell->lane[2 + square] - constants * sums->constant_bits[2 + square]);
    return ((unsigned __int128)high << WMCC_BITS) + (unsigned __int128)low;
}

static inline unsigned __int128 wmcc_lane_sum(const wmcc_sums *sums, const wmcc_cell *cell, int square)
{
    return wmcc_sum_of_lanes(sums, cell, cell->count.rows & (WMCC_LIMIT - 1), square);
}

static inline int wmcc_lane_position(const wmcc_sums *sums, int square)
{
    return square ? 2 * sums->exponent - 52 - WMCC_Q_BASE + 32 * WMCC_W_DIGITS : sums->exponent - 52 - WMCC_W_BASE;
}

/* ---- results.c -------------------------------------------------------------------------------------- */

/* The occupied cells (and as much memory again, where they are still to be put in the order of their keys), and which
   digits they have: low .. high - 1, of w and of w*w. */
typedef struct {
    uint64_t cells;
    uint32_t *order;
    int low[2], high[2];
} wmcc_survey;

/* 0, or -1 where memory is exhausted; `order` belongs to the caller. */
int wmcc_sums_survey(wmcc_sums *sums, wmcc_survey *survey);
/* All but keys and n may be NULL together. */
void wmcc_sums_write(const wmcc_sums *sums, const wmcc_survey *survey, int64_t *keys, int64_t *n, uint64_t *least,
                     uint64_t *most, int64_t *w, int64_t *w2);

/* The occupied cells in the order of their keys; 0, or -1 where memory is exhausted. The order belongs to the caller. */
int wmcc_sums_order(wmcc_sums *sums, uint32_t **order, uint64_t *cells);

/* ---- replicates.c ----------------------------------------------------------------------------------- */

/* So many columns, of weights about as large as this one, if it is above 0. */
void wmcc_replicates_open(wmcc_sums *sums, int count, double large);
void wmcc_replicates_close(wmcc_sums *sums);
/* Add rows start .. start + n - 1 of all columns to the cells they have; the next rows are asked for meanwhile, up to `end`. */
void wmcc_replicates_add(wmcc_sums *sums, const wmcc_strided *columns, Py_ssize_t start, Py_ssize_t n, Py_ssize_t end, const uint32_t *index);
/* Add cells from .. from + n - 1 of another tally to cells `to` of this one. */
void wmcc_replicates_merge(wmcc_sums *sums, const wmcc_sums *other, const uint32_t *to, uint32_t from, uint32_t n);
/* The digits that some cells have in a column, low .. high - 1; and these, a plane after the other. */
void wmcc_replicates_survey(const wmcc_sums *sums, const uint32_t *order, uint64_t cells, int column, int *low, int *high);
void wmcc_replicates_write(const wmcc_sums *sums, const uint32_t *order, uint64_t cells, int column, int low, int high, int64_t *digits);

/* ---- short.c ---------------------------------------------------------------------------------------- */

PyObject *wmcc_margins(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* ---- dictionary.c ------------------------------------------------------------------------------------------- */

PyObject *wmcc_find_codes(PyObject *module, PyObject *args);
extern PyType_Spec wmcc_dictionary_spec;

#endif
