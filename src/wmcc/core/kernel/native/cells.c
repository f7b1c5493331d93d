/* Cells: one for each key (dense), or one for each key that occurs, found by an open-addressing hash. Behind the cells
   that have left their lanes there are pages of digits. */
#include "native.h"
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { LINE = 64, HUGE = 2 << 20 };

void wmcc_prefer_huge_pages(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t from = ((uintptr_t)memory + HUGE - 1) & ~(uintptr_t)(HUGE - 1), to = ((uintptr_t)memory + size) & ~(uintptr_t)(HUGE - 1);
    if (size >= 2 * HUGE && from < to)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* a wish: nothing depends on it */
#else
    (void)memory, (void)size;
#endif
}

static char *aligned(void *memory)
{
    return (char *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1));
}

/* ---- opening and closing --------------------------------------------------------------------------- */

int wmcc_use_replicas(wmcc_sums *self, int replicas)
{
    size_t before = ((size_t)self->stride << self->cell_log2) * (size_t)self->replicas;
    size_t size = ((size_t)self->stride << self->cell_log2) * (size_t)replicas;
    void *memory = calloc(1, size + LINE - 1);
    if (memory == NULL)
        return -1;
    wmcc_prefer_huge_pages(memory, size);
    if (before > 0)
        memcpy(aligned(memory), self->cells, before);
    free(self->memory);
    self->memory = memory;
    self->cells = aligned(memory);
    self->replicas = replicas;
    return 0;
}

int wmcc_sums_open(wmcc_sums *self, const uint32_t *sizes, int axes, int weighted, int dense, int part, uint32_t room)
{
    memset(self, 0, sizeof *self);
    self->axes = axes;
    self->part = part;
    self->weighted = weighted;
    self->dense = dense;
    self->room = room;
    self->cell_log2 = weighted ? 6 : 4;
    memcpy(self->sizes, sizes, (size_t)axes * sizeof *sizes);
    self->replicas = 0;
    self->parts = part < 0 ? 1 : sizes[part];
    self->ignored = calloc(self->parts ? self->parts : 1, sizeof *self->ignored);
    if (self->ignored == NULL)
        return -1;
    if (!dense) {
        self->first = 1;
        self->replicas = self->most_replicas = 1;
        return 0;
    }
    self->count = 1;
    for (int k = 0; k < axes; k++)
        self->count *= sizes[k];
    self->capacity = self->spare = self->count;
    self->stride = self->count + 1;
    self->most_replicas = self->count <= 512 ? 4 : 1;
    if (self->most_replicas > 1 && self->stride % 64 == 0)
        self->stride++; /* replicas a multiple of 4 KiB apart would fight for the same cache sets */
    return wmcc_use_replicas(self, 1);
}

void wmcc_sums_close(wmcc_sums *self)
{
    for (uint32_t k = 0; k < self->page_count; k++) {
        for (int d = 0; self->pages[k] != NULL && d < WMCC_DIGITS; d++)
            free(self->pages[k]->digit[d]);
        free(self->pages[k]);
    }
    wmcc_replicates_close(self);
    free(self->pages);
    free(self->slots);
    free(self->memory);
    free(self->ignored);
}

/* ---- the hash ----------------------------------------------------------------------------------------- */

/* The upper half of a 64-bit hash. The place of a key is its topmost bits, so that an index of any size is made from
   these 32 without the keys. */
static uint32_t hash_of(uint64_t key)
{
    uint64_t h = key * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32)) * 0xFF51AFD7ED558CCDu;
    return (uint32_t)(h >> 32);
}

static int grow_slots(wmcc_sums *self, int log2)
{
    size_t size = (size_t)1 << log2, mask = size - 1;
    uint64_t *slots = calloc(size, sizeof *slots);
    if (slots == NULL)
        return -1;
    wmcc_prefer_huge_pages(slots, size * sizeof *slots);
    for (size_t i = 0; self->slots != NULL && i < (size_t)1 << self->slots_log2; i++) {
        uint64_t entry = self->slots[i];
        if (entry == 0)
            continue;
        size_t at = (size_t)(entry >> 32 >> (32 - log2));
        while (slots[at] != 0)
            at = (at + 1) & mask;
        slots[at] = entry;
    }
    free(self->slots);
    self->slots = slots;
    self->slots_log2 = log2;
    return 0;
}

int wmcc_reserve(wmcc_sums *self, uint64_t more)
{
    uint64_t wanted = self->count + more < self->room ? self->count + more : self->room;
    if (self->memory != NULL && wanted <= self->capacity)
        return 0;
    int log2 = 9; /* of the slots: at most three of four are taken */
    while (((uint64_t)3 << log2) / 4 < wanted)
        log2++;
    uint32_t capacity = (uint32_t)(((uint64_t)3 << log2) / 4);
    size_t size = ((size_t)capacity + 1) << self->cell_log2, shift = self->memory ? (size_t)(self->cells - (char *)self->memory) : 0;
    void *memory = realloc(self->memory, size + LINE - 1);
    if (memory == NULL)
        return -1;
    wmcc_prefer_huge_pages(memory, size);
    self->cells = aligned(memory);
    if (self->memory == NULL)
        memset(self->cells, 0, (size_t)1 << self->cell_log2); /* the spare cell */
    else if ((char *)memory + shift != self->cells)
        memmove(self->cells, (char *)memory + shift, ((size_t)self->count + 1) << self->cell_log2);
    self->memory = memory;
    if (grow_slots(self, log2) < 0)
        return -1;
    self->capacity = capacity;
    return 0;
}

/* The slot of a key: the one that has it, or the free one where it belongs. */
static inline size_t slot_of(const wmcc_sums *self, uint64_t key, uint32_t hash)
{
    size_t mask = ((size_t)1 << self->slots_log2) - 1, at = hash >> (32 - self->slots_log2);
    for (;; at = (at + 1) & mask) {
        uint64_t entry = self->slots[at];
        if (entry == 0 || (entry >> 32 == hash && wmcc_count_at(self, (uint32_t)entry)->key == key))
            return at;
    }
}

void wmcc_hash_keys(const wmcc_sums *self, const uint64_t *key, Py_ssize_t n, uint32_t *hash)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        hash[i] = hash_of(key[i]);
        if (self->slots != NULL)
            __builtin_prefetch(&self->slots[hash[i] >> (32 - self->slots_log2)]);
    }
}

void wmcc_find_cells(wmcc_sums *self, const uint64_t *key, const uint32_t *hash, Py_ssize_t n, uint32_t *index)
{
    if (wmcc_reserve(self, (uint64_t)n) < 0) {
        self->failure = WMCC_NO_MEMORY;
        return;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (key[i] == WMCC_NO_KEY) {
            index[i] = self->spare;
            continue;
        }
        size_t at = slot_of(self, key[i], hash[i]);
        if (self->slots[at] == 0) {
            if (self->count == self->room) {
                self->failure = WMCC_TOO_MANY_CELLS;
                return;
            }
            uint32_t cell = self->first + self->count++;
            wmcc_count *new = wmcc_count_at(self, cell);
            memset(new, 0, (size_t)1 << self->cell_log2);
            new->key = key[i];
            self->slots[at] = (uint64_t)hash[i] << 32 | cell;
        }
        index[i] = (uint32_t)self->slots[at];
    }
}

/* ---- digits -------------------------------------------------------------------------------------------- */

static int grow_pages(wmcc_sums *self, uint32_t page)
{
    uint64_t count = ((uint64_t)self->first + self->capacity + (1 << WMCC_PAGE_LOG2) - 1) >> WMCC_PAGE_LOG2;
    if (page < self->page_count)
        return 0;
    wmcc_page **pages = realloc(self->pages, count * sizeof *pages);
    if (pages == NULL)
        return -1;
    memset(pages + self->page_count, 0, (count - self->page_count) * sizeof *pages);
    self->pages = pages;
    self->page_count = (uint32_t)count;
    return 0;
}

static int64_t *digit_of(wmcc_sums *self, uint32_t index, int digit)
{
    uint32_t page = index >> WMCC_PAGE_LOG2, size = 1 << WMCC_PAGE_LOG2;
    if (grow_pages(self, page) < 0)
        goto fail;
    if (self->pages[page] == NULL && (self->pages[page] = calloc(1, sizeof(wmcc_page))) == NULL)
        goto fail;
    int64_t **at = &self->pages[page]->digit[digit];
    if (*at == NULL) {
        int square = digit >= WMCC_W_DIGITS;
        if (self->digits[square] - WMCC_SPARE_PLANES * (int64_t)self->count > WMCC_MOST_DIGITS) {
            self->failure = WMCC_TOO_MANY_DIGITS;
            return NULL;
        }
        if (self->dense && self->count < size)
            size = self->count;
        if ((*at = calloc(size, sizeof **at)) == NULL)
            goto fail;
        self->digits[square] += size;
        self->used[digit] = 1;
    }
    return *at + (index & ((1 << WMCC_PAGE_LOG2) - 1));
fail:
    self->failure = WMCC_NO_MEMORY;
    return NULL;
}

/* Bring every digit into [0, 2^32). No carry is left over at the top of w or of w*w. */
static void carry(wmcc_sums *self)
{
    for (uint32_t page = 0; page < self->page_count; page++)
        for (int d = 0; self->pages[page] != NULL && d < WMCC_DIGITS; d++) {
            int64_t *digit = self->pages[page]->digit[d];
            for (uint32_t i = 0; digit != NULL && i < 1 << WMCC_PAGE_LOG2 && (page << WMCC_PAGE_LOG2) + i < self->first + self->count; i++)
                if (digit[i] >> 32) {
                    int64_t *next = digit_of(self, (page << WMCC_PAGE_LOG2) + i, d + 1);
                    if (next == NULL)
                        return;
                    *next += digit[i] >> 32;
                    digit[i] &= 0xFFFFFFFF;
                }
        }
    self->additions = 0;
}

void wmcc_add_digits(wmcc_sums *self, uint32_t index, int64_t position, unsigned __int128 value)
{
    int digit = (int)(position >> 5), shift = (int)(position & 31);
    for (uint64_t over = 0; value != 0 || over != 0; digit++, value >>= 32) {
        over |= (uint64_t)(uint32_t)value << shift;
        if ((uint32_t)over != 0) {
            int64_t *to = digit_of(self, index, digit);
            if (to == NULL)
                return;
            *to += (uint32_t)over;
        }
        over >>= 32;
    }
    if (++self->additions >> 28)
        carry(self);
}
