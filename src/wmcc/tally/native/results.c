/* Reading a tally: the occupied cells in the order of their keys, and the digits of their sums. */
#include "native.h"
#include <stdlib.h>
#include <string.h>

enum { RADIX_LOG2 = 11, RADIX = 1 << RADIX_LOG2 };

/* ---- digits of one cell ------------------------------------------------------------------------------------ */

/* Which digits there are on pages, so that a cell is not asked for all that there might be. */
typedef struct {
    int digit[WMCC_DIGITS], count;
} digit_list;

static digit_list used_digits(const wmcc_sums *self)
{
    digit_list list = {.count = 0};
    for (int d = 0; d < WMCC_DIGITS; d++)
        if (self->used[d])
            list.digit[list.count++] = d;
    return list;
}

static const wmcc_page *page_of(const wmcc_sums *self, uint32_t index)
{
    uint32_t page = index >> WMCC_PAGE_LOG2;
    return page < self->page_count ? self->pages[page] : NULL;
}

/* 32 bits of a number, from this bit on. */
static inline uint32_t bits_from(unsigned __int128 value, int bit)
{
    return bit >= 128 || bit <= -32 ? 0 : (uint32_t)(bit < 0 ? value << -bit : value >> bit);
}

/* All digits of a cell, in [0, 2^32): those of its page and of its lanes. */
static void all_digits(const wmcc_sums *self, uint32_t index, const digit_list *list, int64_t out[WMCC_DIGITS])
{
    const wmcc_page *page = page_of(self, index);
    memset(out, 0, WMCC_DIGITS * sizeof *out);
    for (int k = 0; k < list->count; k++)
        if (page->digit[list->digit[k]] != NULL)
            out[list->digit[k]] = page->digit[list->digit[k]][index & ((1 << WMCC_PAGE_LOG2) - 1)];
    for (int square = 0; square < 2; square++) {
        unsigned __int128 sum = wmcc_lane_sum(self, wmcc_cell_at(self, index), square);
        int64_t position = wmcc_lane_position(self, square);
        for (int j = 0; j < 5; j++)
            out[(position >> 5) + j] += bits_from(sum, 32 * j - (int)(position & 31));
    }
    for (int d = 0; d + 1 < WMCC_DIGITS; d++) {
        out[d + 1] += out[d] >> 32;
        out[d] &= 0xFFFFFFFF;
    }
}

/* ---- order --------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t key;
    uint32_t index;
} entry;

/* Sort by key, `bits` of which count: eleven at a time, the lowest first. Returns where the sorted entries are. */
static entry *sort(entry *from, entry *to, uint64_t n, int bits)
{
    for (int shift = 0; shift < bits; shift += RADIX_LOG2) {
        uint64_t start[RADIX] = {0}, sum = 0;
        for (uint64_t i = 0; i < n; i++)
            start[from[i].key >> shift & (RADIX - 1)]++;
        for (int k = 0; k < RADIX; k++) {
            uint64_t here = start[k];
            start[k] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < n; i++)
            to[start[from[i].key >> shift & (RADIX - 1)]++] = from[i];
        entry *other = from;
        from = to;
        to = other;
    }
    return from;
}

static int order_by_key(const wmcc_sums *self, uint32_t *order)
{
    uint64_t n = self->count, keys = 1;
    entry *entries = malloc((2 * n + 1) * sizeof *entries);
    if (entries == NULL)
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t index = self->first + (uint32_t)i;
        entries[i] = (entry){wmcc_count_at(self, index)->key, index};
    }
    for (int k = 0; k < self->axes; k++)
        keys *= self->sizes[k];
    int bits = 0;
    while (bits < 63 && keys > (uint64_t)1 << bits)
        bits++;
    const entry *sorted = sort(entries, entries + n, n, bits);
    for (uint64_t i = 0; i < n; i++)
        order[i] = sorted[i].index;
    free(entries);
    return 0;
}

/* ---- all cells ---------------------------------------------------------------------------------------------------- */

static void widen(wmcc_survey *survey, int square, int low, int high)
{
    if (low < high) {
        survey->low[square] = low < survey->low[square] ? low : survey->low[square];
        survey->high[square] = high > survey->high[square] ? high : survey->high[square];
    }
}

/* Digits that these bits of a number in units of 2^position reach. */
static void widen_by_bits(wmcc_survey *survey, int square, int64_t position, unsigned __int128 bits)
{
    for (int j = 0; j < 5; j++)
        if (bits_from(bits, 32 * j - (int)(position & 31)) != 0)
            widen(survey, square, (int)(position >> 5) + j, (int)(position >> 5) + j + 1);
}

int wmcc_sums_survey(wmcc_sums *self, wmcc_survey *survey)
{
    wmcc_fold_replicas(self);
    uint64_t n = 0, end = (uint64_t)self->first + self->count;
    survey->order = malloc((self->count + (size_t)1) * sizeof *survey->order);
    if (survey->order == NULL)
        return -1;
    survey->low[0] = survey->low[1] = WMCC_DIGITS;
    survey->high[0] = survey->high[1] = 0;
    const digit_list list = used_digits(self);
    unsigned __int128 bits[2] = {0, 0};
    for (uint64_t i = self->first; i < end; i++) {
        uint32_t index = (uint32_t)i;
        if (wmcc_count_at(self, index)->rows == 0)
            continue;
        survey->order[n++] = index;
        if (!self->weighted)
            continue;
        if (page_of(self, index) == NULL) {
            bits[0] |= wmcc_lane_sum(self, wmcc_cell_at(self, index), 0);
            bits[1] |= wmcc_lane_sum(self, wmcc_cell_at(self, index), 1);
            continue;
        }
        int64_t digit[WMCC_DIGITS];
        all_digits(self, index, &list, digit);
        for (int d = 0; d < WMCC_DIGITS; d++)
            if (digit[d] != 0)
                widen(survey, d >= WMCC_W_DIGITS, d, d + 1);
    }
    for (int square = 0; square < 2; square++)
        widen_by_bits(survey, square, wmcc_lane_position(self, square), bits[square]);
    survey->cells = n;
    return self->dense ? 0 : order_by_key(self, survey->order);
}

void wmcc_sums_write(const wmcc_sums *self, const wmcc_survey *survey, int64_t *keys, int64_t *n, uint64_t *least,
                     uint64_t *most, int64_t *w, int64_t *w2)
{
    const digit_list list = used_digits(self);
    int64_t *const out[2] = {w, w2};
    const uint64_t m = survey->cells, ahead = 16;
    for (uint64_t i = 0; i < m; i++) {
        uint32_t index = survey->order[i];
        if (!self->dense && i + ahead < m)
            __builtin_prefetch(wmcc_count_at(self, survey->order[i + ahead]));
        const wmcc_count *count = wmcc_count_at(self, index);
        keys[i] = self->dense ? (int64_t)index : (int64_t)count->key;
        n[i] = (int64_t)count->rows;
        if (!self->weighted)
            continue;
        const wmcc_cell *cell = wmcc_cell_at(self, index);
        least[i] = cell->least;
        most[i] = cell->least + cell->span;
        if (page_of(self, index) != NULL) {
            int64_t digit[WMCC_DIGITS];
            all_digits(self, index, &list, digit);
            for (int square = 0; square < 2; square++)
                for (int d = survey->low[square]; d < survey->high[square]; d++)
                    out[square][(uint64_t)(d - survey->low[square]) * m + i] = digit[d];
            continue;
        }
        for (int square = 0; square < 2; square++) {
            unsigned __int128 sum = wmcc_lane_sum(self, cell, square);
            int position = (int)wmcc_lane_position(self, square);
            for (int d = survey->low[square]; d < survey->high[square]; d++)
                out[square][(uint64_t)(d - survey->low[square]) * m + i] = bits_from(sum, 32 * d - position);
        }
    }
}
