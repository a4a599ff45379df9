/* Compares CRCs of shortened messages with those of the whole messages, bit by bit, for every width of the CPU and for lengths
 * around the limits of each. In C, so that it runs where there is no Swift: scripts/lab arm64 runs it under an emulator. */

#include "folding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 2500 };

static uint64_t updated(uint64_t state, const uint8_t *bytes, size_t count, uint64_t polynomial) {
    for (size_t place = 0; place < count; place++) {
        state ^= bytes[place];
        for (int bit = 0; bit < 8; bit++)
            state = state >> 1 ^ (state & 1 ? polynomial : 0);
    }
    return state;
}

typedef size_t (*shortening)(const uint8_t *, size_t, uint64_t, int, uint8_t[16]);

static size_t shorten32(const uint8_t *bytes, size_t count, uint64_t state, int width, uint8_t shortened[16]) {
    return folding_crc32(bytes, count, (uint32_t)state, width, shortened);
}

static int faults(const char *name, shortening shorten, uint64_t polynomial, uint64_t mask, int width) {
    uint8_t bytes[LONGEST];
    uint64_t random = 0x9e3779b97f4a7c15;
    for (size_t place = 0; place < LONGEST; place++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        bytes[place] = (uint8_t)(random >> 56);
    }
    int found = 0;
    size_t folded = 0;
    for (size_t count = 0; count <= LONGEST; count++) {
        uint64_t state = (random ^ count * 0x2545f4914f6cdd1d) & mask;
        uint64_t expected = updated(state, bytes, count, polynomial);
        uint8_t shortened[16];
        size_t used = shorten(bytes, count, state, width, shortened);
        if (used > 0)
            state = updated(0, shortened, 16, polynomial);
        folded += used;
        uint64_t result = updated(state, bytes + used, count - used, polynomial);
        if (result != expected) {
            printf("%s, width %d: %zu bytes have %" PRIx64 " instead of %" PRIx64 "\n", name, width, count, result, expected);
            found++;
        }
    }
    if (width > 0 && folded == 0) {
        printf("%s, width %d: no message was shortened\n", name, width);
        found++;
    }
    return found;
}

int main(void) {
    int found = 0;
    for (int width = 0; width <= folding_width(); width = width == 0 ? 128 : width * 4) {
        found += faults("CRC-32", shorten32, 0xedb88320, UINT32_MAX, width);
        found += faults("CRC-64", folding_crc64, 0xc96c5795d7870f42, UINT64_MAX, width);
    }
    printf("folding_width is %d; faults: %d\n", folding_width(), found);
    return found > 0;
}
