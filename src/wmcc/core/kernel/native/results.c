/* Reading a tally: the occupied cells in the order of their keys, and the digits of their sums. */
#include "native.h"
#include <stdlib.h>
#include <string.h>

/* ---- digits of one cell ------------------------------------------------------------------------------------ */

enum { WORDS = 5 }; /* digits that lanes reach */

/* The digits of a sum of lanes, from the one that its position falls in on. */
static inline void words_of(unsigned __int128 sum, int position, uint32_t word[WORDS])
{
    int shift = position & 31;
    word[0] = (uint32_t)sum << shift;
    sum >>= 32 - shift;
    for (int j = 1; j < WORDS; j++, sum >>= 32)
        word[j] = (uint32_t)sum;
}

/* Digits that a cell may have, of w or of w*w: low .. high - 1. */
typedef struct {
    int low, high, position;
} range;

static range range_of(const wmcc_sums *self, int square)
{
    int position = wmcc_lane_position(self, square);
    range digits = {position >> 5, (position >> 5) + WORDS, position};
    const int end = square ? WMCC_DIGITS : WMCC_W_DIGITS;
    for (int d = square ? WMCC_W_DIGITS : 0; d < end; d++)
        if (self->used[d]) {
            digits.low = d < digits.low ? d : digits.low;
            digits.high = d + 1 > digits.high ? d + 1 : digits.high;
        }
    digits.high += digits.high < end; /* a carry */
    return digits;
}

static inline const wmcc_page *page_of(const wmcc_sums *self, uint32_t index)
{
    uint32_t page = index >> WMCC_PAGE_LOG2;
    return page < self->page_count ? self->pages[page] : NULL;
}

/* The digits of a cell, in [0, 2^32): those on its page and those of its lanes. */
static void all_digits(const wmcc_sums *self, uint32_t index, const wmcc_page *page, const range *digits, int square, int64_t *out)
{
    uint32_t word[WORDS];
    for (int d = digits->low; d < digits->high; d++)
        out[d] = page->digit[d] == NULL ? 0 : page->digit[d][index & ((1 << WMCC_PAGE_LOG2) - 1)];
    words_of(wmcc_lane_sum(self, wmcc_cell_at(self, index), square), digits->position, word);
    for (int j = 0; j < WORDS; j++)
        out[(digits->position >> 5) + j] += word[j];
    for (int d = digits->low; d + 1 < digits->high; d++) {
        out[d + 1] += out[d] >> 32;
        out[d] &= 0xFFFFFFFF;
    }
}

/* ---- order --------------------------------------------------------------------------------------------------- */

enum { MOST_RADIX = 1 << 11 };

/* Keys and the cells they belong to. */
typedef struct {
    uint64_t *key;
    uint32_t *index;
} entries;

/* Sort by key, `bits` of which count: some at a time, the lowest first. The sorted entries are in one or the other. */
static entries sort(entries from, entries to, uint64_t n, int bits)
{
    const int most_log2 = n >> 14 ? 11 : 8, passes = (bits + most_log2 - 1) / most_log2; /* few entries would wait for many counts */
    const int log2 = passes ? (bits + passes - 1) / passes : 0;
    const uint64_t mask = ((uint64_t)1 << log2) - 1;
    for (int shift = 0; shift < bits; shift += log2) {
        uint64_t start[MOST_RADIX], sum = 0;
        memset(start, 0, (mask + 1) * sizeof *start);
        for (uint64_t i = 0; i < n; i++)
            start[from.key[i] >> shift & mask]++;
        for (uint64_t k = 0; k <= mask; k++) {
            uint64_t here = start[k];
            start[k] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = start[from.key[i] >> shift & mask]++;
            to.key[at] = from.key[i];
            to.index[at] = from.index[i];
        }
        entries other = from;
        from = to;
        to = other;
    }
    return from;
}

/* The cells in the order of their keys; two arrays of 64-bit numbers and another of indices are there to work in. */
static const uint32_t *order_by_key(const wmcc_sums *self, const wmcc_survey *survey, uint64_t *keys, uint64_t *more)
{
    uint64_t most = 1;
    int bits = 0;
    for (uint64_t i = 0; i < survey->cells; i++)
        keys[i] = wmcc_count_at(self, survey->order[i])->key;
    for (int k = 0; k < self->axes; k++)
        most *= self->sizes[k];
    while (bits < 63 && most > (uint64_t)1 << bits)
        bits++;
    entries from = {keys, survey->order}, to = {more, survey->order + survey->cells};
    return sort(from, to, survey->cells, bits).index;
}

/* ---- all cells ---------------------------------------------------------------------------------------------------- */

static void reach(wmcc_survey *survey, int square, int digit)
{
    survey->low[square] = digit < survey->low[square] ? digit : survey->low[square];
    survey->high[square] = digit >= survey->high[square] ? digit + 1 : survey->high[square];
}

int wmcc_sums_survey(wmcc_sums *self, wmcc_survey *survey)
{
    wmcc_fold_replicas(self);
    uint64_t n = 0, end = (uint64_t)self->first + self->count;
    size_t size = (self->count * (self->dense ? (size_t)1 : 2) + 1) * sizeof *survey->order;
    survey->order = malloc(size);
    if (survey->order == NULL)
        return -1;
    wmcc_prefer_huge_pages(survey->order, size);
    survey->low[0] = survey->low[1] = WMCC_DIGITS;
    survey->high[0] = survey->high[1] = 0;
    const range digits[2] = {range_of(self, 0), range_of(self, 1)};
    unsigned __int128 bits[2] = {0, 0};
    int64_t digit[WMCC_DIGITS + 1];
    for (uint64_t i = self->first; i < end; i++) {
        uint32_t index = (uint32_t)i;
        if (wmcc_count_at(self, index)->rows == 0)
            continue;
        survey->order[n++] = index;
        const wmcc_page *page = page_of(self, index);
        for (int square = 0; square < 2 && self->weighted; square++)
            if (page == NULL)
                bits[square] |= wmcc_lane_sum(self, wmcc_cell_at(self, index), square);
            else {
                all_digits(self, index, page, &digits[square], square, digit);
                for (int d = digits[square].low; d < digits[square].high; d++)
                    if (digit[d] != 0)
                        reach(survey, square, d);
            }
    }
    for (int square = 0; square < 2; square++) {
        uint32_t word[WORDS];
        words_of(bits[square], digits[square].position, word);
        for (int j = 0; j < WORDS; j++)
            if (word[j] != 0)
                reach(survey, square, (digits[square].position >> 5) + j);
    }
    survey->cells = n;
    return 0;
}

int wmcc_sums_order(wmcc_sums *self, uint32_t **order, uint64_t *cells)
{
    wmcc_survey survey = {0};
    if (wmcc_sums_survey(self, &survey) < 0)
        return -1;
    *order = survey.order;
    *cells = survey.cells;
    if (self->dense)
        return 0;
    uint64_t *keys = malloc((survey.cells + 1) * 2 * sizeof *keys);
    if (keys == NULL) {
        free(survey.order);
        return -1;
    }
    const uint32_t *sorted = order_by_key(self, &survey, keys, keys + survey.cells);
    memmove(survey.order, sorted, survey.cells * sizeof *sorted);
    free(keys);
    return 0;
}

void wmcc_sums_write(const wmcc_sums *self, const wmcc_survey *survey, int64_t *keys, int64_t *n, uint64_t *least,
                     uint64_t *most, int64_t *w, int64_t *w2)
{
    const range digits[2] = {range_of(self, 0), range_of(self, 1)};
    const uint64_t m = survey->cells, ahead = 32;
    int64_t *plane[WMCC_DIGITS + 1] = {NULL}, digit[WMCC_DIGITS + 1];
    for (int square = 0; square < 2; square++)
        for (int d = survey->low[square]; d < survey->high[square]; d++) {
            plane[d] = (square ? w2 : w) + (uint64_t)(d - survey->low[square]) * m;
            int word = d - (digits[square].position >> 5);
            if (word < 0 || word >= WORDS) /* only pages have it */
                memset(plane[d], 0, m * sizeof(int64_t));
        }
    const uint32_t *order = self->dense ? survey->order : order_by_key(self, survey, (uint64_t *)keys, (uint64_t *)n);
    for (uint64_t i = 0; i < m; i++) {
        uint32_t index = order[i];
        if (!self->dense && i + ahead < m)
            __builtin_prefetch(wmcc_count_at(self, order[i + ahead]));
        const wmcc_count *count = wmcc_count_at(self, index);
        keys[i] = self->dense ? (int64_t)index : (int64_t)count->key;
        n[i] = (int64_t)count->rows;
        if (!self->weighted)
            continue;
        const wmcc_cell *cell = wmcc_cell_at(self, index);
        least[i] = WMCC_TOP - cell->ends[0];
        most[i] = cell->ends[1];
        const wmcc_page *page = page_of(self, index);
        for (int square = 0; square < 2; square++) {
            if (page != NULL) {
                all_digits(self, index, page, &digits[square], square, digit);
                for (int d = survey->low[square]; d < survey->high[square]; d++)
                    plane[d][i] = digit[d];
                continue;
            }
            uint32_t word[WORDS];
            words_of(wmcc_lane_sum(self, cell, square), digits[square].position, word);
            for (int j = 0; j < WORDS; j++)
                if (plane[(digits[square].position >> 5) + j] != NULL)
                    plane[(digits[square].position >> 5) + j][i] = word[j];
        }
    }
}
