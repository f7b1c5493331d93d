// Exact weighted confusion tables on an NVIDIA GPU: for each cell the number of rows, the sums of w and w^2, the smallest and the
// largest weight. It is compiled by NVRTC for the types of a call (see __init__.py), needs no header, and never talks to the host.
//
// The state is that of wmcc/core/planes.py: sums are digits of base 2^32 in 64-bit integers, a plane of cells for each power. Adding
// integers commutes, so neither the order of atomics nor the grid nor the window of a block (below) changes a bit of the result.
//
// A block has its rows in one piece. It sums them in shared memory, where only 32-bit integer atomics are fast (64-bit and float ones
// are loops), and adds its sums to the state at the end. A weight w within a window of OCTAVES powers of two, chosen from a sample of
// the block's weights, is an integer of two words (three for double), and so is its square of three; atomics return the old word, from
// which follows the carry into the next. Four rows go through this step by step together, so that their atomics overlap.
//   record of a cell: n | words of sum w | words of sum w^2 | carries out of these. An odd number of words, so that neighbouring
//   records begin in different banks. There are `copies` of each record, by lane, and `right` copies of the records of right
//   predictions: in a picture most pixels are right and neighbours are alike, so a whole warp would wait for one word.
// Where the sample has weights in other windows too, the block passes over its rows once more for each of those. Rows that are for no
// pass (bad ones, weights that the sample did not show, void predictions) are added to the state one by one, or counted. In place of a
// row that is not for this pass a weight of 0 goes to a record that nobody reads, so that the steps have no branches.
//
// With MANY cells a block's shared memory holds those of right predictions only. Other rows go to a queue, which `rest` reads: its
// blocks have all cells of some true labels, and each takes the rows of these. Where that would be too many blocks there is no queue,
// and these rows are added to the state one by one.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#ifndef TRUTH  // for nvcc and for editors; NVRTC is told
#define TRUTH u8
#define PRED u8
#define WEIGHT Float32
#define ROWS 4
#define MANY 0
#endif

#define THREADS 1024
#define FULL 0xffffffffu

enum { IGNORED, BAD_TRUTH, BAD_PRED, BAD_WEIGHT };  // places in `counts`
enum { ADDED, DONE, FIRST };                        // and in `scratch`: all but ADDED are zeros between calls

struct Call {
  const TRUTH* truth;
  const PRED* pred;
  const u8* weight;
  u64* digits;        // [items or 1][1 + w_planes + q_planes][K (K + 1)]
  i64 *least, *most;  // [items or 1][K (K + 1)], doubles as bits
  u64* counts;
  i64* first;         // [3][3]: update, row, value of the first bad truth, prediction and weight
  i64* updates;       // how many updates there were before
  u64* scratch;       // additions to a digit, at most; blocks that are done; the first bad row of each kind
  u32* queue;         // MANY: for each block how many rows it has; then their weights, `room` of each block; then their cells
  i64 rows;           // of an item; items lie one after the other
  i64 weight_step;    // rows from the weights of an item to those of the next: 0 if all have the same
  i64 ignore;         // label of rows that do not count
  i64 digits_step, ends_step;  // from an item's state to the next one's; 0 if all are added to one
  i64 row0;           // rows of the update that came in launches before this one
  i64 last;           // whether this is the update's last launch
  u32 per;            // rows of a block: a multiple of THREADS * ROWS
  u32 K;
  u32 room, blocks;   // MANY: rows of a block that the queue has room for, 0 or all, and how many blocks there are; multiples of 4
  u32 span;           // MANY: true labels of which a block of `rest` has the cells
  u32 copies, right;  // records of each cell, and of each cell of right predictions
  u32 per_truth;      // records of all cells of a true label
  u32 w_planes, q_planes, w_shift, q_shift;  // planes of each sum; and where 2^-149 (double: 2^-1074) and its square are in the lowest planes
};
static_assert(sizeof(Call) == 11 * 8 + 7 * 8 + 12 * 4, "as __init__.py packs it");

// ---- numbers ----

struct Float32 { typedef float Value; enum { BYTES = 4 }; static __device__ float value(u32 x) { return __uint_as_float(x); } };
struct Bfloat16 { typedef float Value; enum { BYTES = 2 }; static __device__ float value(u32 x) { return __uint_as_float(x << 16); } };
struct Float16 {
  typedef float Value;
  enum { BYTES = 2 };
  static __device__ float value(u32 x) { float y; asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(y) : "r"(x)); return y; }
};
struct Float64 { typedef double Value; enum { BYTES = 8 }; static __device__ double value(u32) { return 0; } };  // has two words
struct Ones { typedef float Value; enum { BYTES = 0 }; static __device__ float value(u32) { return 1; } };

typedef WEIGHT::Value Value;
enum {
  WEIGHTED = WEIGHT::BYTES != 0,
  DOUBLE = WEIGHT::BYTES == 8,
  OCTAVES = 19,  // of a window: 2^21 rows of a block then overflow neither sum w (43 + 21 bits; double 71 + 21) nor, with carries, sum w^2
  INFINITE = DOUBLE ? 2047 : 255,   // exponent of infinity and NaN: a window ends below
  LOWEST = DOUBLE ? 1 : 24,         // a window begins here or above; for float, 2^(150 - LOWEST) must be one
  W_WORDS = DOUBLE ? 3 : 2,
  WORDS = !WEIGHTED ? 1 : DOUBLE ? 9 : 7,  // n, sum w, sum w^2, carries; double has one word more than it needs, to be odd
  RECORD = 4 * WORDS,
  W = 4, Q = 4 + 4 * W_WORDS, CARRY = Q + 12,  // bytes from a record's begin
  ENDS = !WEIGHTED ? 0 : DOUBLE ? 16 : 8,      // bytes of the smallest and the largest weight of a cell
  PACKED = sizeof(TRUTH) == 1 && sizeof(PRED) == 1 && ROWS == 4,  // four labels are a word
  WASTE = 48,                                  // records of no cell: one per lane for ignored rows, and one per two lanes for others
};

__device__ __forceinline__ u32 bits(float w) { return __float_as_uint(w); }
__device__ __forceinline__ u64 bits(double w) { return (u64)__double_as_longlong(w); }
__device__ __forceinline__ u32 exponent(float w) { return bits(w) >> 23; }  // with the sign, so that negative ones are out of any window
__device__ __forceinline__ u32 exponent(double w) { return (u32)(bits(w) >> 52); }
__device__ __forceinline__ bool in_window(float w, u32 E) { u32 b = bits(w); return (b == 0) | (b - (E << 23) < (u32)OCTAVES << 23); }
__device__ __forceinline__ bool in_window(double w, u32 E) { return (bits(w) == 0) | (exponent(w) - E < OCTAVES); }

struct Words { u32 v[W_WORDS], q[3]; };

// w in units of the window's lowest bit, and its square.
__device__ __forceinline__ void split(float w, u32 E, Words& x) {
  u64 v = __float2ull_rz(w * __uint_as_float((127 + 150 - E) << 23));
  u32 low = (u32)v, high = (u32)(v >> 32);  // high has 11 bits
  u64 a = (u64)low * low, b = (u64)low * (2 * high) + ((a >> 32) | (u64)(high * high) << 32);
  x.v[0] = low, x.v[1] = high;
  x.q[0] = (u32)a, x.q[1] = (u32)b, x.q[2] = (u32)(b >> 32);
}

__device__ __forceinline__ void shift_left(u64 x, u32 by, u32* out) {  // by < 64, and the result has 96 bits
  u64 low = x << by;
  out[0] = (u32)low, out[1] = (u32)(low >> 32), out[2] = by ? (u32)(x >> (64 - by)) : 0;
}

// w^2 of a double is rounded to 53 bits, as on the CPU.
__device__ __forceinline__ void split(double w, u32 E, Words& x) {
  const u64 mask = (1ull << 52) - 1;
  u64 m = bits(w) & mask;
  u32 by = exponent(w) - E;
  double f = __longlong_as_double(m | 1023ull << 52), s = __dmul_rn(f, f);
  bool zero = bits(w) == 0;
  if (zero) by = 0;
  u32 v[3];
  shift_left(zero ? 0 : m | 1ull << 52, by, v);
  shift_left(zero ? 0 : (bits(s) & mask) | 1ull << 52, 2 * by + exponent(s) - 1023, x.q);
  for (int k = 0; k < W_WORDS; k++) x.v[k] = v[k];
}

// ---- rows as they lie in memory ----

template<int B> struct Raw { u32 r[(B + 3) / 4]; };
template<int B> __device__ __forceinline__ void load(const u8* a, Raw<B>& x) {  // read once: past the first cache
  if constexpr (B == 1) asm volatile("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=r"(x.r[0]) : "l"(a));
  else if constexpr (B == 2) asm volatile("{.reg .u16 h; ld.global.nc.L1::no_allocate.u16 h, [%1]; cvt.u32.u16 %0, h;}" : "=r"(x.r[0]) : "l"(a));
  else if constexpr (B == 4) asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(x.r[0]) : "l"(a));
  else if constexpr (B == 8) asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(x.r[0]), "=r"(x.r[1]) : "l"(a));
  else {
    #pragma unroll
    for (int k = 0; k < B / 16; k++)
      asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x.r[4 * k]), "=r"(x.r[4 * k + 1]), "=r"(x.r[4 * k + 2]), "=r"(x.r[4 * k + 3]) : "l"(a + 16 * k));
  }
}

template<class L, int B> __device__ __forceinline__ i64 label(const Raw<B>& x, int j) {
  if constexpr (sizeof(L) == 1) return x.r[j / 4] >> 8 * (j % 4) & 0xff;
  else if constexpr (sizeof(L) == 4) return (i32)x.r[j];
  else return (i64)((u64)x.r[2 * j + 1] << 32 | x.r[2 * j]);
}
template<class L, int B> __device__ __forceinline__ u32 code(const Raw<B>& x, int j) {  // the label, or more than any K if it is none
  if constexpr (sizeof(L) == 8) return x.r[2 * j + 1] ? FULL : x.r[2 * j];
  else return (u32)label<L>(x, j);
}

struct Rows {  // of a thread
  Raw<ROWS * sizeof(TRUTH)> truth;
  Raw<ROWS * sizeof(PRED)> pred;
  Raw<WEIGHTED ? ROWS * WEIGHT::BYTES : 4> weight;
  __device__ __forceinline__ void from(const TRUTH* t, const PRED* p, const u8* w, u32 at) {
    load((const u8*)(t + at), truth);
    load((const u8*)(p + at), pred);
    if constexpr (WEIGHTED) load(w + (u64)at * WEIGHT::BYTES, weight);
  }
  __device__ __forceinline__ Value w(int j) const {
    if constexpr (!WEIGHTED) return 1;
    else if constexpr (DOUBLE) return __longlong_as_double((i64)((u64)weight.r[2 * j + 1] << 32 | weight.r[2 * j]));
    else if constexpr (WEIGHT::BYTES == 4) return WEIGHT::value(weight.r[j]);
    else return WEIGHT::value(weight.r[j / 2] >> 16 * (j % 2) & 0xffff);
  }
};

__device__ __forceinline__ Value weight_at(const u8* w, i64 i) {
  if constexpr (!WEIGHTED) return 1;
  else if constexpr (WEIGHT::BYTES == 2) return WEIGHT::value(((const unsigned short*)w)[i]);
  else return ((const Value*)w)[i];
}

// ---- the state in global memory ----

// Adds a number of N words, times 2^pos, to the digits of a cell. Digits take 2^30 such additions before `settle` is needed.
template<int N> __device__ __forceinline__ void add_digits(u64* d, i64 cells, u32 pos, const u32* x) {
  d += (pos >> 5) * cells;
  #pragma unroll
  for (int k = 0; k <= N; k++) {
    u32 part = __funnelshift_l(k ? x[k - 1] : 0, k < N ? x[k] : 0, pos & 31);
    if (part) atomicAdd(d + k * cells, (u64)part);
  }
}

// Hands on what a digit has beyond 32 bits to the next one, in all cells of `items` states; the highest digit has none above it.
__device__ __noinline__ void settle(const Call& call, u32 items) {
  const i64 cells = (i64)call.K * (call.K + 1), planes[2] = {call.w_planes, call.q_planes};
  for (u32 item = 0; item < items; item++)
    for (i64 cell = threadIdx.x; cell < cells; cell += THREADS) {
      u64* d = call.digits + item * call.digits_step + cells + cell;
      for (int k = 0; k < 2; k++) {
        for (i64 j = 1; j < planes[k]; j++, d += cells) d[cells] += d[0] >> 32, d[0] &= FULL;
        d += cells;
      }
    }
}

struct State {  // of an item
  u64* digits;
  i64 *least, *most;
  i64 cells;
  u32 w_planes, w_shift, q_shift;
  __device__ __forceinline__ State(const Call& call, i64 item)
      : digits(call.digits + item * call.digits_step), least(call.least + item * call.ends_step), most(call.most + item * call.ends_step),
        cells((i64)call.K * (call.K + 1)), w_planes(call.w_planes), w_shift(call.w_shift), q_shift(call.q_shift) {}
  __device__ __forceinline__ void count(i64 cell, u64 n) const { atomicAdd(digits + cell, n); }
  template<int N> __device__ __forceinline__ void add_w(i64 cell, u32 pos, const u32* x) const {
    add_digits<N>(digits + cells + cell, cells, pos + w_shift, x);
  }
  template<int N> __device__ __forceinline__ void add_q(i64 cell, u32 pos, const u32* x) const {
    add_digits<N>(digits + (1 + w_planes) * cells + cell, cells, pos + q_shift, x);
  }
  __device__ __forceinline__ void ends(i64 cell, double low, double high) const {
    i64 a = __double_as_longlong(low), b = __double_as_longlong(high);  // numbers that are not negative are in the order of their bits
    atomicMin(least + cell, a);
    atomicMax(most + cell, b);
  }
  __device__ __forceinline__ void add_ones(i64 cell, u64 n) const {  // rows of weight one
    u32 x[2] = {(u32)n, (u32)(n >> 32)};
    count(cell, n);
    add_w<2>(cell, DOUBLE ? 1074 : 149, x);
    add_q<2>(cell, DOUBLE ? 2148 : 298, x);
    ends(cell, 1, 1);
  }
  // A row of any weight; false if it is none.
  __device__ __forceinline__ bool add_row(i64 cell, float w) const {
    u32 b = bits(w), e = b >> 23, m = b & 0x7fffff;
    if (b << 1 == 0) return count(cell, 1), ends(cell, 0, 0), true;
    if (e >= INFINITE) return false;
    if (e) m |= 1 << 23; else e = 1;
    u64 square = (u64)m * m;
    u32 q[2] = {(u32)square, (u32)(square >> 32)};
    count(cell, 1);
    add_w<1>(cell, e - 1, &m);
    add_q<2>(cell, 2 * (e - 1), q);
    ends(cell, w, w);
    return true;
  }
  __device__ __forceinline__ bool add_row(i64 cell, double w) const {
    u64 b = bits(w), mask = (1ull << 52) - 1, m = b & mask;
    i32 e = (i32)(b >> 52);
    if (b << 1 == 0) return count(cell, 1), ends(cell, 0, 0), true;
    if (e >= INFINITE) return false;
    if (e) m |= 1ull << 52; else e = 12 - __clzll((i64)m), m <<= 1 - e;  // as if it were normal: m 2^(e - 1), with e below 1
    double f = __longlong_as_double((i64)((m & mask) | 1023ull << 52)), s = __dmul_rn(f, f);
    u64 square = (bits(s) & mask) | 1ull << 52;
    i32 at = 2 * (e - 1) + 52 + (i32)exponent(s) - 1023;
    if (e < 1) m >>= 1 - e;              // these bits are zeros
    if (at < 0) square >>= -at, at = 0;  // and so are these: the square of a number of few bits has few
    u32 v[2] = {(u32)m, (u32)(m >> 32)}, q[2] = {(u32)square, (u32)(square >> 32)};
    count(cell, 1);
    add_w<2>(cell, e < 1 ? 0 : e - 1, v);
    add_q<2>(cell, at, q);
    ends(cell, w, w);
    return true;
  }
};

// ---- shared memory ----

__device__ __forceinline__ u32 fetch_add(u32 a, u32 x) { u32 old; asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(a), "r"(x) : "memory"); return old; }
__device__ __forceinline__ void add(u32 a, u32 x) { asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(a), "r"(x) : "memory"); }
__device__ __forceinline__ void increment(u32 a) { asm volatile("{.reg .u32 t; atom.shared.inc.u32 t, [%0], 0xffffffff;}" :: "r"(a) : "memory"); }  // lanes may share a word
__device__ __forceinline__ u32 plus_carry(u32 old, u32 x, u32 next) { u32 r; asm("{.reg .u32 z; add.cc.u32 z, %1, %2; addc.u32 %0, %3, 0;}" : "=r"(r) : "r"(old), "r"(x), "r"(next)); return r; }
__device__ __forceinline__ void plus_carry(u32 old, u32 x, u32& next, u32& after) {
  u32 a, b;
  asm("{.reg .u32 z; add.cc.u32 z, %2, %3; addc.cc.u32 %0, %4, 0; addc.u32 %1, %5, 0;}" : "=r"(a), "=r"(b) : "r"(old), "r"(x), "r"(next), "r"(after));
  next = a, after = b;
}

// Adds N rows to the records at a[], all of them one step at a time.
template<int N> __device__ __forceinline__ void add_records(const u32* a, Words* x) {
  #pragma unroll
  for (int j = 0; j < N; j++) increment(a[j]);
  if constexpr (WEIGHTED) {
    u32 w[N], q[N];
    #pragma unroll
    for (int j = 0; j < N; j++) w[j] = fetch_add(a[j] + W, x[j].v[0]), q[j] = fetch_add(a[j] + Q, x[j].q[0]);
    #pragma unroll
    for (int j = 0; j < N; j++) {
      if constexpr (DOUBLE) {
        plus_carry(w[j], x[j].v[0], x[j].v[1], x[j].v[2]);
        w[j] = fetch_add(a[j] + W + 4, x[j].v[1]);
      } else add(a[j] + W + 4, plus_carry(w[j], x[j].v[0], x[j].v[1]));
      plus_carry(q[j], x[j].q[0], x[j].q[1], x[j].q[2]);
      q[j] = fetch_add(a[j] + Q + 4, x[j].q[1]);
    }
    #pragma unroll
    for (int j = 0; j < N; j++) {
      if constexpr (DOUBLE) add(a[j] + W + 8, plus_carry(w[j], x[j].v[1], x[j].v[2]));
      x[j].q[2] = plus_carry(q[j], x[j].q[1], x[j].q[2]);
      q[j] = fetch_add(a[j] + Q + 8, x[j].q[2]);
    }
    bool over = false;
    #pragma unroll
    for (int j = 0; j < N; j++) over |= q[j] + x[j].q[2] < q[j];
    if (over) {
      #pragma unroll
      for (int j = 0; j < N; j++) if (q[j] + x[j].q[2] < q[j]) increment(a[j] + CARRY);
    }
  }
}

// Smallest and largest weight of a cell. Once some rows have come they seldom change, and reading them is cheap.
template<class V> struct Ends;
template<> struct Ends<float> {
  u32 low, high;
  __device__ __forceinline__ void load(u32 a) { asm volatile("ld.relaxed.cta.shared.v2.u32 {%0, %1}, [%2];" : "=r"(low), "=r"(high) : "r"(a)); }
  __device__ __forceinline__ bool moved_by(float w) const { return (bits(w) < low) | (bits(w) > high); }
  __device__ __forceinline__ float smallest() const { return __uint_as_float(low); }
  __device__ __forceinline__ float largest() const { return __uint_as_float(high); }
};
template<> struct Ends<double> {
  u64 low, high;
  __device__ __forceinline__ void load(u32 a) { asm volatile("ld.relaxed.cta.shared.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "r"(a)); }
  __device__ __forceinline__ bool moved_by(double w) const { return (bits(w) < low) | (bits(w) > high); }
  __device__ __forceinline__ double smallest() const { return __longlong_as_double((i64)low); }
  __device__ __forceinline__ double largest() const { return __longlong_as_double((i64)high); }
};
__device__ __forceinline__ void move_ends(u32 a, float w) {
  asm volatile("red.shared.min.u32 [%0], %1; red.shared.max.u32 [%0 + 4], %1;" :: "r"(a), "r"(bits(w)) : "memory");
}
__device__ __forceinline__ void move_ends(u32 a, double w) {
  asm volatile("{.reg .u64 t; atom.shared.min.u64 t, [%0], %1; atom.shared.max.u64 t, [%0 + 8], %1;}" :: "r"(a), "l"(bits(w)) : "memory");
}

// The windows of a block. They are side by side; the first pass takes the one that holds most of a sample of the weights, spread over
// all rows, and what is free of it lies below, two octaves excepted.
struct Windows {
  u32 first;   // lowest exponent of the first pass
  u32 passes;  // bit 16 + k: whether there is a pass for the window k places above
  __device__ __forceinline__ u32 lowest(int k) const { return first + k * OCTAVES; }
  __device__ __forceinline__ bool has_pass(u32 e) const {  // of a weight's exponent
    const i32 from = (i32)(e + 16 * OCTAVES - first), k = from / OCTAVES;
    return e > 0 && e < INFINITE && from >= 0 && k < 32 && passes >> k & 1;
  }
};
template<class F> __device__ __forceinline__ Windows choose_windows(F weight, u32 rows, u32* bins) {  // weight: that of a row
  __shared__ u32 best, passes;
  if (rows == 0) return {LOWEST, 1u << 16};
  for (u32 k = threadIdx.x; k < INFINITE + OCTAVES; k += THREADS) bins[k] = 0;
  if (threadIdx.x == 0) best = 0, passes = 1u << 16;
  __syncthreads();
  for (u32 j = 0; j < 4; j++) {
    u32 i = (j * THREADS + threadIdx.x) * max(rows / (4 * THREADS), 1u);
    if (i < rows) { u32 e = exponent(weight(i)); if (e > 0 && e < INFINITE) atomicAdd(bins + e, 1u); }
  }
  __syncthreads();
  for (u32 e = LOWEST + threadIdx.x; e + OCTAVES <= INFINITE; e += THREADS) {
    u32 sum = 0;
    for (u32 k = 0; k < OCTAVES; k++) sum += bins[e + k];
    if (sum) atomicMax(&best, sum << 11 | e);
  }
  __syncthreads();
  u32 first = best ? best & 2047 : LOWEST, top = first + OCTAVES - 1;
  while (top > first && !bins[top]) top--;
  u32 stop = min(top + 1 + min(first + OCTAVES - 1 - top, 2u), (u32)INFINITE);
  first = stop >= LOWEST + OCTAVES ? stop - OCTAVES : LOWEST;
  if (threadIdx.x < 32 && threadIdx.x != 16) {
    i32 low = (i32)first + ((i32)threadIdx.x - 16) * OCTAVES;
    u32 sum = 0;
    if (low >= LOWEST && low + OCTAVES <= INFINITE) for (u32 k = 0; k < OCTAVES; k++) sum += bins[low + k];
    if (sum >= 8) atomicOr(&passes, 1u << threadIdx.x);  // 8 rows of 4,096 take as long one by one
  }
  __syncthreads();
  return {first, passes};
}

// ---- rows ----

__shared__ u32 odd_rows;      // of a block: those that were added one by one
__shared__ u32 queued;        // those that were put into the queue
__shared__ u32 bad_rows[3];   // and bad ones by kind: truth, prediction, weight
__shared__ u64 first_bad[3];  // and the first of each

// A row of this block that has no record in shared memory, and is not ignored. These are few and registers are short, so this is a
// call that reads the row once more.
__device__ __noinline__ void add_odd_row(const Call& call, u32 at) {
  const u32 K = call.K;
  const i64 item = blockIdx.y, row = (i64)call.per * blockIdx.x + at, t = call.truth[item * call.rows + row], p = call.pred[item * call.rows + row];
  int kind = (u64)t >= K ? 0 : (u64)p >= K && p != call.ignore ? 1 : 2;
  if (kind == 2) {
    const State state(call, item);
    const i64 cell = t * (K + 1) + (p == call.ignore ? K : p);
    atomicAdd(&odd_rows, 1u);
    if constexpr (!WEIGHTED) { state.add_ones(cell, 1); return; }
    else if (state.add_row(cell, weight_at(call.weight, item * call.weight_step + row))) return;
  }
  atomicAdd(bad_rows + kind, 1u);
  atomicMin(first_bad + kind, (u64)(item * call.rows + row));
}

// Shared memory: a record for each place, and the smallest and largest weight of its rows. Places are `copies` for each cell, by lane,
// and `right` more for each cell of right predictions; with MANY only these; in `rest` one for each cell of some true labels. After
// them come 32 for ignored rows, by lane, and 16 for rows that are of no cell.
struct Layout {
  const Call& call;
  const u32 base, places, records, other, right;  // base, records: addresses; other, right: the first place of this lane
  __device__ __forceinline__ Layout(const Call& call, u32 base, u32 held, u32 places)
      : call(call), base(base), places(places), records(base + (places + WASTE) * ENDS), other(threadIdx.x & (call.copies - 1)),
        right(held + (threadIdx.x & (call.right - 1))) {}
  __device__ __forceinline__ u32 find(u32 t, u32 p) const {
    const u32 same = t * call.right + right;
    return MANY || t == p ? same : t * call.per_truth + (p * call.copies + other);
  }
  __device__ __forceinline__ u32 ignored() const { return places + threadIdx.x % 32; }
  __device__ __forceinline__ u32 waste() const { return places + 32 + threadIdx.x % 16; }
  __device__ __forceinline__ u32 ends(u32 place) const { return base + place * ENDS; }
  __device__ __forceinline__ u32 record(u32 place) const { return records + place * RECORD; }
  __device__ __forceinline__ void clear(u32* memory) const {
    __syncthreads();
    u32* const from = memory + (records - base) / 4;
    if constexpr (WEIGHTED)
      for (u32* k = memory + threadIdx.x; k < from; k += THREADS) *k = (u32)(k - memory) & ENDS / 8 ? 0 : FULL;  // largest, smallest
    for (u32* k = from + threadIdx.x; k < from + (places + WASTE) * WORDS; k += THREADS) *k = 0;
    __syncthreads();
  }
};

// What the places of a cell hold, on its way to the state.
struct Sum {
  u64 n, w[3], q[4];
  Ends<Value> ends;
  __device__ __forceinline__ Sum() : n(0), w{}, q{}, ends() {}
  __device__ __forceinline__ void take(const Layout& layout, const u32* memory, u32 place) {
    const u32* record = memory + (layout.record(place) - layout.base) / 4;
    if (!record[0]) return;
    if constexpr (WEIGHTED) {
      Ends<Value> own;
      own.load(layout.ends(place));
      ends.low = n ? min(ends.low, own.low) : own.low, ends.high = n ? max(ends.high, own.high) : own.high;
      for (int j = 0; j < W_WORDS; j++) w[j] += record[W / 4 + j];
      for (int j = 0; j < 4; j++) q[j] += record[Q / 4 + j];
    }
    n += record[0];
  }
  __device__ __forceinline__ void give(const Call& call, i64 item, u32 t, u32 p, u32 E) {
    if (!n) return;
    const State state(call, item);
    const i64 cell = (i64)t * (call.K + 1) + ((i64)p == call.ignore ? call.K : p);
    if constexpr (!WEIGHTED) state.add_ones(cell, n);
    else {
      w[1] += w[0] >> 32, w[2] += w[1] >> 32, q[1] += q[0] >> 32, q[2] += q[1] >> 32, q[3] += q[2] >> 32;
      const u32 v[4] = {(u32)w[0], (u32)w[1], (u32)w[2], (u32)(w[2] >> 32)}, s[4] = {(u32)q[0], (u32)q[1], (u32)q[2], (u32)q[3]};
      state.count(cell, n);
      state.add_w<4>(cell, E - 1, v);
      state.add_q<4>(cell, 2 * (E - 1) + (DOUBLE ? 52 : 0), s);
      state.ends(cell, ends.smallest(), ends.largest());
    }
  }
};

// Of the last of all blocks of a call: looks up the first bad row of each kind, settles digits that could get full, counts the update.
__device__ __forceinline__ void finish(const Call& call) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 0; k < 3; k++) if (bad_rows[k]) {
      atomicAdd(call.counts + BAD_TRUTH + k, (u64)bad_rows[k]);
      atomicMax(call.scratch + FIRST + k, ~first_bad[k]);  // no row yet is 0
    }
    atomicAdd(call.scratch + ADDED, (u64)odd_rows + 32);  // and what the block's passes added
    __threadfence();
    last = atomicAdd(call.scratch + DONE, 1ull) == (u64)gridDim.x * gridDim.y - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x < 3) {
    const u64 found = atomicExch(call.scratch + FIRST + threadIdx.x, 0ull);
    i64* record = call.first + 3 * threadIdx.x;
    if (found && record[0] < 0) {
      const i64 row = (i64)~found, in = row % call.rows, of = row / call.rows;
      record[0] = *call.updates, record[1] = call.row0 + row;
      if (threadIdx.x == 0) record[2] = call.truth[row];
      else if (threadIdx.x == 1) record[2] = call.pred[row];
      else record[2] = __double_as_longlong(weight_at(call.weight, of * call.weight_step + in));
    }
  }
  const bool full = call.scratch[ADDED] >> 30;
  if (full) settle(call, call.digits_step ? gridDim.y : 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    call.scratch[DONE] = 0, *call.updates += call.last;
    if (full) call.scratch[ADDED] = 0;
  }
}

// The highest bit of each of four bytes that are equal to a label.
__device__ __forceinline__ u32 bytes_equal(u32 x, i64 label) {
  const u32 d = x ^ (u32)label * 0x01010101u;
  return (u64)label < 256 ? ~(((d & 0x7f7f7f7fu) + 0x7f7f7f7fu) | d) & 0x80808080u : 0;
}

// The same of four bytes that are K or more; adding to their seven lower bits sets the highest if these are too many.
__device__ __forceinline__ u32 bytes_beyond(u32 x, u32 K) {
  const u32 seven = 0x7f7f7f7fu, ones = 0x01010101u;
  const bool any = MANY || !WEIGHTED;  // otherwise K is below 128
  if (any && K > 255) return 0;
  return (any && K > 128 ? (x & seven) + (256 - K) * ones & x : (x & seven) + (128 - K) * ones | x) & 0x80808080u;
}

__device__ __forceinline__ Value* queued_weights(const Call& call, u32 block) { return (Value*)(call.queue + call.blocks) + (u64)block * call.room; }
__device__ __forceinline__ u32* queued_cells(const Call& call, u32 block) {
  const u64 room = call.room;
  return call.queue + call.blocks + call.blocks * room * (WEIGHTED ? sizeof(Value) / 4 : 0) + block * room;
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) tally(const __grid_constant__ Call call) {
  extern __shared__ __align__(16) u32 memory[];
  const u32 K = call.K, held = MANY ? 0 : K * call.per_truth;
  const Layout layout(call, (u32)__cvta_generic_to_shared(memory), held, held + K * call.right);
  const i64 item = blockIdx.y, begin = (i64)call.per * blockIdx.x;
  const u32 rows = (u32)max(min(call.rows - begin, (i64)call.per), 0ll);
  const TRUTH* const truth = call.truth + item * call.rows + begin;
  const PRED* const pred = call.pred + item * call.rows + begin;
  const u8* const weight = call.weight + (item * call.weight_step + begin) * WEIGHT::BYTES;
  if (threadIdx.x < 3) bad_rows[threadIdx.x] = 0, first_bad[threadIdx.x] = ~0ull;
  if (threadIdx.x == 0) odd_rows = 0, queued = 0;

  const Windows windows = choose_windows([&](u32 i) { return weight_at(weight, i); }, WEIGHTED ? rows : 0, memory);
  for (int pass = 0, k = 16; pass < 32; pass++, k = pass <= 16 ? pass - 1 : pass) {  // the first window, then those below, then those above
    if (!(windows.passes >> k & 1)) continue;
    const u32 E = windows.lowest(k - 16);
    layout.clear(memory);

    auto good = [&](u32 t, u32 p, Value w) {  // whether a row has a place in this pass
      return (t < K) & (p < K) & (!MANY | (t == p)) & (!WEIGHTED || (in_window(w, E) & ((pass == 0) | (bits(w) != 0))));
    };
    auto enqueue = [&](u32 to, u32 t, u32 p, Value w) {
      queued_cells(call, blockIdx.x)[to] = t * K + p;
      if (WEIGHTED) queued_weights(call, blockIdx.x)[to] = w;
    };
    // A row that is neither ignored nor for the queue, and has no place: it is dealt with, or left to another pass.
    auto leave = [&](u32 t, u32 p, Value w, u32 at) {
      if (pass == 0 && (t >= K || p >= K || (MANY && t != p) || !windows.has_pass(exponent(w)))) add_odd_row(call, at);
    };
    u32 at = threadIdx.x * ROWS;
    Rows now;
    if (at + ROWS <= rows) now.from(truth, pred, weight, at);
    for (; at + ROWS <= rows; at += THREADS * ROWS) {
      u32 place[ROWS];
      Value w[ROWS] = {};
      u32 ignored = 0;  // the highest bit of a byte for each row
      if constexpr (PACKED) ignored = bytes_equal(now.truth.r[0], call.ignore);
      else {
        #pragma unroll
        for (int j = 0; j < ROWS; j++) ignored |= (u32)(label<TRUTH>(now.truth, j) == call.ignore) << (8 * j + 7);
      }
      u32 bad = 0, off = 0;  // the same bits: rows whose labels are no classes, and wrong predictions
      if constexpr (PACKED) {
        const u32 x = now.truth.r[0], y = now.pred.r[0];
        bad = (bytes_beyond(x, K) | bytes_beyond(y, K)) & ~ignored;
        if (MANY) off = ~bytes_equal(x ^ y, 0) & 0x80808080u;
      } else if constexpr (MANY) {
        #pragma unroll
        for (int j = 0; j < ROWS; j++) {
          const u32 t = code<TRUTH>(now.truth, j), p = code<PRED>(now.pred, j), bit = 1u << (8 * j + 7);
          if ((t >= K) | (p >= K)) bad |= bit & ~ignored;
          if (t != p) off |= bit;
        }
      }
      u32 many = MANY && pass == 0 && call.room ? off & ~ignored & ~bad : 0;  // rows for the queue
      bool plain = (pass == 0) & (bad == 0) & (!MANY | ((off & ~ignored & ~many) == 0));
      #pragma unroll
      for (int j = 0; j < ROWS; j++) {
        w[j] = now.w(j);
        place[j] = layout.find(code<TRUTH>(now.truth, j), code<PRED>(now.pred, j));
        if (!PACKED && !MANY) plain &= good(code<TRUTH>(now.truth, j), code<PRED>(now.pred, j), w[j]);
        else if (WEIGHTED) plain &= in_window(w[j], E) | (MANY && (many >> (8 * j + 7) & 1) & (exponent(w[j]) < INFINITE));
      }
      if (!plain) {
        #pragma unroll
        for (int j = 0; j < ROWS; j++) {
          const u32 t = code<TRUTH>(now.truth, j), p = code<PRED>(now.pred, j), bit = 1u << (8 * j + 7);
          if (ignored & bit || good(t, p, w[j]) || (many & bit && exponent(w[j]) < INFINITE)) continue;
          leave(t, p, w[j], at + j);
          place[j] = layout.waste(), w[j] = 0, many &= ~bit;
        }
      }
      if constexpr (MANY) {
        // The warp's rows get places one after the other: 32 atomics on one word would take turns.
        const u32 here = __activemask(), below = (1u << (threadIdx.x & 31)) - 1, leader = __ffs((i32)here) - 1;
        u32 of_row[ROWS], all = 0;
        #pragma unroll
        for (int j = 0; j < ROWS; j++) of_row[j] = __ballot_sync(here, many >> (8 * j + 7) & 1), all += __popc(of_row[j]);
        if (all) {
          u32 to = 0;
          if ((threadIdx.x & 31) == leader) to = atomicAdd(&queued, all);
          to = __shfl_sync(here, to, (i32)leader);
          #pragma unroll
          for (int j = 0; j < ROWS; j++) {
            if (many >> (8 * j + 7) & 1) {
              enqueue(to + __popc(of_row[j] & below), code<TRUTH>(now.truth, j), code<PRED>(now.pred, j), w[j]);
              place[j] = layout.waste(), w[j] = 0;
            }
            to += __popc(of_row[j]);
          }
        }
      }
      if (ignored) {
        #pragma unroll
        for (int j = 0; j < ROWS; j++) if (ignored >> (8 * j + 7) & 1) place[j] = pass == 0 ? layout.ignored() : layout.waste(), w[j] = 0;
      }
      Words x[ROWS];
      if constexpr (WEIGHTED) {
        Ends<Value> known[ROWS];
        bool moved = false;
        #pragma unroll
        for (int j = 0; j < ROWS; j++) known[j].load(layout.ends(place[j]));
        #pragma unroll
        for (int j = 0; j < ROWS; j++) moved |= known[j].moved_by(w[j]);
        if (moved) {
          #pragma unroll
          for (int j = 0; j < ROWS; j++) move_ends(layout.ends(place[j]), w[j]);
        }
        #pragma unroll
        for (int j = 0; j < ROWS; j++) split(w[j], E, x[j]);
      }
      // The next rows are on their way meanwhile; earlier they would take registers that are not there.
      if (at + (THREADS + 1) * ROWS <= rows) now.from(truth, pred, weight, at + THREADS * ROWS);
      #pragma unroll
      for (int j = 0; j < ROWS; j++) place[j] = layout.record(place[j]);
      add_records<ROWS>(place, x);
    }
    for (; at < rows; at++) {  // fewer than ROWS, of one thread
      const u32 t = (u64)truth[at] < K ? (u32)truth[at] : FULL, p = (u64)pred[at] < K ? (u32)pred[at] : FULL;
      Value w = weight_at(weight, at);
      u32 place = layout.find(t, p);
      const bool out = truth[at] == call.ignore;
      if (out || !good(t, p, w)) {
        if (MANY && !out && pass == 0 && call.room && t < K && p < K && t != p && exponent(w) < INFINITE) enqueue(atomicAdd(&queued, 1u), t, p, w);
        else if (!out) leave(t, p, w, at);
        place = out && pass == 0 ? layout.ignored() : layout.waste();
        w = 0;
      }
      Words x;
      if constexpr (WEIGHTED) move_ends(layout.ends(place), w), split(w, E, x);
      place = layout.record(place);
      add_records<1>(&place, &x);
    }
    __syncthreads();

    // What the block has, into the state; each begins elsewhere, so that blocks do not wait for each other.
    if (threadIdx.x < 32) {
      const u64 ignored = memory[(layout.record(layout.ignored()) - layout.base) / 4];
      if (ignored) atomicAdd(call.counts + IGNORED, ignored);
    }
    const u32 cells = MANY ? K : K * K;
    for (u32 k = threadIdx.x; k < cells; k += THREADS) {
      const u32 cell = (k + 97 * blockIdx.x) % cells, t = MANY ? cell : cell / K, p = MANY ? cell : cell % K;
      Sum sum;
      if (t != p) for (u32 c = 0; c < call.copies; c++) sum.take(layout, memory, cell * call.copies + ((c + threadIdx.x) & (call.copies - 1)));
      else for (u32 c = 0; c < call.right; c++) sum.take(layout, memory, held + t * call.right + ((c + threadIdx.x) & (call.right - 1)));
      sum.give(call, item, t, p, E);
    }
  }
  if (MANY && threadIdx.x == 0 && call.room) call.queue[blockIdx.x] = queued;
  finish(call);
}

#if MANY
// The rows of the queue. A warp reads 128 at a time, keeps those of its true labels, and adds them when it has 32.
extern "C" __global__ void __launch_bounds__(THREADS, 1) rest(const __grid_constant__ Call call) {
  extern __shared__ __align__(16) u32 memory[];
  __shared__ u32 kept_cells[THREADS / 32][64];
  __shared__ Value kept_weights[THREADS / 32][64];
  const u32 K = call.K, low = blockIdx.y * call.span * K, cells = (min((blockIdx.y + 1) * call.span, K) - blockIdx.y * call.span) * K;
  const Layout layout(call, (u32)__cvta_generic_to_shared(memory), 0, cells);
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, mine = min(blockIdx.x, call.blocks - 1);
  if (threadIdx.x < 3) bad_rows[threadIdx.x] = 0;
  if (threadIdx.x == 0) odd_rows = 0;
  const u32 E = choose_windows([&](u32 i) { return queued_weights(call, mine)[i]; }, WEIGHTED ? call.queue[mine] : 0, memory).first;
  layout.clear(memory);

  u32 kept = 0, first = 0;
  auto add_kept = [&](u32 many) {
    __syncwarp();
    if (lane < many) {
      const u32 cell = kept_cells[warp][(first + lane) & 63];
      u32 place = cell - low;
      Words x;
      if constexpr (WEIGHTED) {
        Value w = kept_weights[warp][(first + lane) & 63];
        if (!in_window(w, E)) {
          const u32 t = cell / K, p = cell % K;
          atomicAdd(&odd_rows, 1u);
          State(call, 0).add_row((i64)t * (K + 1) + ((i64)p == call.ignore ? K : p), w);
          place = layout.waste(), w = 0;
        }
        Ends<Value> known;
        known.load(layout.ends(place));
        if (known.moved_by(w)) move_ends(layout.ends(place), w);
        split(w, E, x);
      }
      place = layout.record(place);
      add_records<1>(&place, &x);
    }
    __syncwarp();
    first += many, kept -= many;
  };
  for (u32 block = blockIdx.x; block < call.blocks; block += gridDim.x) {
    const u32 rows = call.queue[block];
    for (u32 from = 128 * warp; from < rows; from += 4 * THREADS) {
      const u32 at = from + 4 * lane;  // there is room for multiples of 4
      Raw<16> cell;
      Raw<WEIGHTED ? 4 * sizeof(Value) : 16> w;
      if (at < rows) {
        load((const u8*)(queued_cells(call, block) + at), cell);
        if constexpr (WEIGHTED) load((const u8*)(queued_weights(call, block) + at), w);
      }
      #pragma unroll
      for (int j = 0; j < 4; j++) {
        const bool keep = at + j < rows && cell.r[j] - low < cells;
        const u32 mask = __ballot_sync(FULL, keep), to = (first + kept + __popc(mask & ((1u << lane) - 1))) & 63;
        if (keep) {
          kept_cells[warp][to] = cell.r[j];
          if constexpr (DOUBLE) kept_weights[warp][to] = __longlong_as_double((i64)((u64)w.r[2 * j + 1] << 32 | w.r[2 * j]));
          else if constexpr (WEIGHTED) kept_weights[warp][to] = __uint_as_float(w.r[j]);
        }
        kept += __popc(mask);
        if (kept >= 32) add_kept(32);
      }
    }
  }
  add_kept(kept);
  __syncthreads();
  for (u32 k = threadIdx.x; k < cells; k += THREADS) {
    const u32 place = (k + 97 * blockIdx.x) % cells;
    Sum sum;
    sum.take(layout, memory, place);
    sum.give(call, 0, (low + place) / K, (low + place) % K, E);
  }
  finish(call);
}
#endif
