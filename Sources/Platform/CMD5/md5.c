#include "md5.h"

#include <string.h>

#include "steps.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "MD5's words are little-endian, and are loaded as they are."
#endif

enum { BLOCK = 64, MOST_MESSAGES = 32 };

/// Whole blocks of a message.
struct lane {
    struct cmd5_message *message;
    const uint8_t *bytes;
    size_t blocks;
};

// Without vectors.

static inline uint32_t loaded1(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline void transposed1(const struct lane *lane, size_t offset, uint32_t block[16]) {
    memcpy(block, lane->bytes + offset, BLOCK);
}

#define ROTATED(words, bits) ((words) << (bits) | (words) >> (32 - (bits)))
#define F_EARLY(c, d) 0
#define F_LATE(b, c, d) ((((c) ^ (d)) & (b)) ^ (d))
// The two parts have no bit in common.
#define G_EARLY(c, d) (~(d) & (c))
#define G_LATE(b, c, d) ((d) & (b))
#define H_EARLY(c, d) 0
#define H_LATE(b, c, d) (((c) ^ (d)) ^ (b))
#define I_EARLY(c, d) 0
#define I_LATE(b, c, d) ((~(d) | (b)) ^ (c))
#define EARLY(FUNCTION, c, d) FUNCTION##_EARLY(c, d)
#define LATE(FUNCTION, b, c, d) FUNCTION##_LATE(b, c, d)

#define WORDS uint32_t
#define LANES 1
#define TRANSPOSED transposed1
#define REGISTER "r"
#define TARGET
#define KERNEL plain1
#define VECTORS 1
#include "kernel.h"
#define KERNEL plain2
#define VECTORS 2
#include "kernel.h"
#define KERNEL plain3
#define VECTORS 3
#include "kernel.h"
#undef WORDS
#undef LANES
#undef TRANSPOSED
#undef REGISTER
#undef TARGET

#if defined(__x86_64__) || defined(__aarch64__)

// With SSE2 or NEON, which each machine of these architectures has.

typedef uint32_t words4 __attribute__((vector_size(16)));

static inline words4 loaded4(const uint8_t *bytes) {
    words4 words;
    memcpy(&words, bytes, sizeof words);
    return words;
}

static inline void transposed4(const struct lane *lanes, size_t offset, words4 block[16]) {
    for (int word = 0; word < 16; word += 4) {
        words4 rows[4];
        for (int row = 0; row < 4; row++)
            rows[row] = loaded4(lanes[row].bytes + offset + 4 * word);
        words4 low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
        words4 high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
        words4 low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
        words4 high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
        block[word] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
        block[word + 1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
        block[word + 2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
        block[word + 3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
    }
}

#define WORDS words4
#define LANES 4
#define TRANSPOSED transposed4
#if defined(__x86_64__)
#define REGISTER "x"
#else
#define REGISTER "w"
#endif
#define TARGET
#define KERNEL narrow4
#define VECTORS 1
#include "kernel.h"
#define KERNEL narrow8
#define VECTORS 2
#include "kernel.h"
#undef WORDS
#undef LANES
#undef TRANSPOSED
#undef REGISTER
#undef TARGET

#endif

#if defined(__x86_64__)
#include <immintrin.h>

// With AVX2.

#define AVX2 __attribute__((target("avx2")))

typedef uint32_t words8 __attribute__((vector_size(32)));

AVX2 static inline __m256i rows8(const struct lane *lanes, size_t place) {
    return _mm256_loadu2_m128i((const __m128i *)(lanes[4].bytes + place), (const __m128i *)(lanes[0].bytes + place));
}

AVX2 static inline void transposed8(const struct lane *lanes, size_t offset, words8 block[16]) {
    for (int word = 0; word < 16; word += 4) {
        // Lanes 0 and 4, 1 and 5, and so on, because the instructions move words within 128 bits.
        __m256i rows[4];
        for (int row = 0; row < 4; row++)
            rows[row] = rows8(lanes + row, offset + 4 * word);
        __m256i low01 = _mm256_unpacklo_epi32(rows[0], rows[1]), high01 = _mm256_unpackhi_epi32(rows[0], rows[1]);
        __m256i low23 = _mm256_unpacklo_epi32(rows[2], rows[3]), high23 = _mm256_unpackhi_epi32(rows[2], rows[3]);
        block[word] = (words8)_mm256_unpacklo_epi64(low01, low23);
        block[word + 1] = (words8)_mm256_unpackhi_epi64(low01, low23);
        block[word + 2] = (words8)_mm256_unpacklo_epi64(high01, high23);
        block[word + 3] = (words8)_mm256_unpackhi_epi64(high01, high23);
    }
}

#define WORDS words8
#define LANES 8
#define TRANSPOSED transposed8
#define REGISTER "x"
#define TARGET AVX2
#define KERNEL middle8
#define VECTORS 1
#include "kernel.h"
#define KERNEL middle16
#define VECTORS 2
#include "kernel.h"
#undef WORDS
#undef LANES
#undef TRANSPOSED
#undef TARGET
#undef REGISTER
#undef ROTATED
#undef EARLY
#undef LATE

// With AVX-512, in which each function of the rounds is one instruction with the table of the function's values.

#define AVX512 __attribute__((target("avx512f,avx512vl")))

typedef uint32_t words16 __attribute__((vector_size(64)));

AVX512 static inline __m512i rows16(const struct lane *lanes, size_t place) {
    __m512i rows = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(lanes[0].bytes + place)));
    rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const __m128i *)(lanes[4].bytes + place)), 1);
    rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const __m128i *)(lanes[8].bytes + place)), 2);
    return _mm512_inserti32x4(rows, _mm_loadu_si128((const __m128i *)(lanes[12].bytes + place)), 3);
}

AVX512 static inline void transposed16(const struct lane *lanes, size_t offset, words16 block[16]) {
    for (int word = 0; word < 16; word += 4) {
        // Lanes 0, 4, 8 and 12, then 1, 5, 9 and 13, and so on.
        __m512i rows[4];
        for (int row = 0; row < 4; row++)
            rows[row] = rows16(lanes + row, offset + 4 * word);
        __m512i low01 = _mm512_unpacklo_epi32(rows[0], rows[1]), high01 = _mm512_unpackhi_epi32(rows[0], rows[1]);
        __m512i low23 = _mm512_unpacklo_epi32(rows[2], rows[3]), high23 = _mm512_unpackhi_epi32(rows[2], rows[3]);
        block[word] = (words16)_mm512_unpacklo_epi64(low01, low23);
        block[word + 1] = (words16)_mm512_unpackhi_epi64(low01, low23);
        block[word + 2] = (words16)_mm512_unpacklo_epi64(high01, high23);
        block[word + 3] = (words16)_mm512_unpackhi_epi64(high01, high23);
    }
}

#define REGISTER "v"
#define TARGET AVX512
#define EARLY(FUNCTION, c, d) 0
#define LATE(FUNCTION, b, c, d) FUNCTION##_TERNARY(b, c, d)
#define F_TERNARY(b, c, d) TERNARY(b, c, d, 0xca)
#define G_TERNARY(b, c, d) TERNARY(d, b, c, 0xca)
#define H_TERNARY(b, c, d) TERNARY(b, c, d, 0x96)
#define I_TERNARY(b, c, d) TERNARY(b, c, d, 0x39)

#define WORDS words4
#define LANES 4
#define TRANSPOSED transposed4
#define TERNARY(b, c, d, table) (words4)_mm_ternarylogic_epi32((__m128i)(b), (__m128i)(c), (__m128i)(d), table)
#define ROTATED(words, bits) (words4)_mm_rol_epi32((__m128i)(words), bits)
#define KERNEL wide4
#define VECTORS 1
#include "kernel.h"

#define SLOW(FUNCTION, a, b, c, d, word, bits, constant) \
    { \
        words4 sum = a + (block[word] + constant); \
        __asm__("" : "+v"(sum)); \
        sum += FUNCTION##_TERNARY(b, c, d); \
        a = b + ROTATED(sum, bits); \
    }
#define FAST(FUNCTION, a, b, c, d, word, bits, constant) \
    for (int m = 0; m < 2; m++) { \
        uint32_t sum = fast_##a[m] + (loaded1(bytes[m] + 4 * word) + constant) + FUNCTION##_EARLY(fast_##c[m], fast_##d[m]); \
        __asm__("" : "+r"(sum)); \
        sum += FUNCTION##_LATE(fast_##b[m], fast_##c[m], fast_##d[m]); \
        fast_##a[m] = fast_##b[m] + (sum << bits | sum >> (32 - bits)); \
    }

/// Compresses blocks of two messages in lanes of a vector, and in the same time twice as many blocks of two others without vectors.
AVX512 static void mixed(const struct lane *slow, const struct lane *fast, size_t blocks) {
    words4 a = {0}, b = {0}, c = {0}, d = {0};
    uint32_t fast_a[2], fast_b[2], fast_c[2], fast_d[2];
    for (int m = 0; m < 2; m++) {
        const uint32_t *words = slow[m].message->words, *fast_words = fast[m].message->words;
        a[m] = words[0], b[m] = words[1], c[m] = words[2], d[m] = words[3];
        fast_a[m] = fast_words[0], fast_b[m] = fast_words[1], fast_c[m] = fast_words[2], fast_d[m] = fast_words[3];
    }
    for (size_t place = 0; place < blocks; place++) {
        words4 block[16], before[4] = {a, b, c, d};
        transposed4(slow, place * BLOCK, block);
        const uint8_t *bytes[2] = {fast[0].bytes + 2 * place * BLOCK, fast[1].bytes + 2 * place * BLOCK};
        uint32_t fast_before[2][4];
        for (int m = 0; m < 2; m++) {
            fast_before[m][0] = fast_a[m], fast_before[m][1] = fast_b[m];
            fast_before[m][2] = fast_c[m], fast_before[m][3] = fast_d[m];
        }
        FIRST_HALF(SLOW, FAST)
        for (int m = 0; m < 2; m++) {
            fast_before[m][0] = fast_a[m] += fast_before[m][0], fast_before[m][1] = fast_b[m] += fast_before[m][1];
            fast_before[m][2] = fast_c[m] += fast_before[m][2], fast_before[m][3] = fast_d[m] += fast_before[m][3];
            bytes[m] += BLOCK;
        }
        SECOND_HALF(SLOW, FAST)
        for (int m = 0; m < 2; m++) {
            fast_a[m] += fast_before[m][0], fast_b[m] += fast_before[m][1];
            fast_c[m] += fast_before[m][2], fast_d[m] += fast_before[m][3];
        }
        a += before[0], b += before[1], c += before[2], d += before[3];
    }
    for (int m = 0; m < 2; m++) {
        memcpy(slow[m].message->words, (uint32_t[]){a[m], b[m], c[m], d[m]}, 16);
        memcpy(fast[m].message->words, (uint32_t[]){fast_a[m], fast_b[m], fast_c[m], fast_d[m]}, 16);
    }
}

#undef SLOW
#undef FAST

/// Compresses a third of the blocks of the first two messages together with two thirds of the others, and then the other way round.
AVX512 static void mixed4(const struct lane *lanes, size_t blocks) {
    size_t third = blocks / 3;
    // Four lanes are loaded, of which two are used.
    struct lane first[4] = {lanes[0], lanes[1], lanes[0], lanes[1]}, second[4] = {lanes[2], lanes[3], lanes[2], lanes[3]};
    struct lane rest[4] = {lanes[0], lanes[1], lanes[2], lanes[3]};
    mixed(first, second, third);
    for (int lane = 0; lane < 4; lane++) {
        first[lane].bytes += third * BLOCK;
        second[lane].bytes += 2 * third * BLOCK;
        rest[lane].bytes += 3 * third * BLOCK;
    }
    mixed(second, first, third);
    wide4(rest, blocks - 3 * third);
}

#undef WORDS
#undef LANES
#undef TRANSPOSED
#undef TERNARY
#undef ROTATED

#define WORDS words8
#define LANES 8
#define TRANSPOSED transposed8
#define TERNARY(b, c, d, table) (words8)_mm256_ternarylogic_epi32((__m256i)(b), (__m256i)(c), (__m256i)(d), table)
#define ROTATED(words, bits) (words8)_mm256_rol_epi32((__m256i)(words), bits)
#define KERNEL wide8
#define VECTORS 1
#include "kernel.h"
#undef WORDS
#undef LANES
#undef TRANSPOSED
#undef TERNARY
#undef ROTATED

#define WORDS words16
#define LANES 16
#define TRANSPOSED transposed16
#define TERNARY(b, c, d, table) (words16)_mm512_ternarylogic_epi32((__m512i)(b), (__m512i)(c), (__m512i)(d), table)
#define ROTATED(words, bits) (words16)_mm512_rol_epi32((__m512i)(words), bits)
#define KERNEL wide16
#define VECTORS 1
#include "kernel.h"
#define KERNEL wide32
#define VECTORS 2
#include "kernel.h"

int cmd5_lanes(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return 16;
    return __builtin_cpu_supports("avx2") ? 8 : 4;
}

#elif defined(__aarch64__)

int cmd5_lanes(void) { return 4; }

#else

int cmd5_lanes(void) { return 1; }

#endif

/// The kernels, by the number of messages, and the fastest first. Two vectors take hardly longer than one.
static const struct {
    int lanes;
    int messages;
    void (*compress)(const struct lane *lanes, size_t blocks);
} kernels[] = {
    {1, 1, plain1},
    {1, 2, plain2},
    {1, 3, plain3},
#if defined(__x86_64__)
    {16, 4, mixed4},
#endif
#if defined(__x86_64__) || defined(__aarch64__)
    {4, 4, narrow4},
#endif
#if defined(__x86_64__)
    {16, 8, wide8},
    {8, 8, middle8},
#endif
#if defined(__x86_64__) || defined(__aarch64__)
    {4, 8, narrow8},
#endif
#if defined(__x86_64__)
    {16, 16, wide16},
    {8, 16, middle16},
    {16, 32, wide32},
#endif
};

enum { KERNELS = sizeof kernels / sizeof kernels[0] };

int cmd5_messages(int lanes) {
    int most = 1;
    for (int place = 0; place < KERNELS; place++)
        if (kernels[place].lanes <= lanes)
            most = kernels[place].messages;
    return most;
}

/// Compresses the same number of blocks of each message. There is space for `MOST_MESSAGES`.
static void compress(struct lane *messages, int count, size_t blocks, int lanes) {
    int place = 0;
    while (kernels[place].messages < count || kernels[place].lanes > lanes)
        place++;
    // A lane without a message hashes bytes of another one, into a result that nobody reads.
    struct cmd5_message unused;
    cmd5_start(&unused);
    for (int lane = count; lane < kernels[place].messages; lane++)
        messages[lane] = (struct lane){&unused, messages[0].bytes, blocks};
    kernels[place].compress(messages, blocks);
}

/// Compresses the whole blocks of all pieces. When a message has no more, another one takes its place.
static void compress_all(const struct cmd5_piece *pieces, size_t count, int lanes) {
    struct lane active[MOST_MESSAGES];
    int used = 0, most = cmd5_messages(lanes);
    for (size_t next = 0;;) {
        for (; used < most && next < count; next++)
            if (pieces[next].count >= BLOCK)
                active[used++] = (struct lane){pieces[next].message, pieces[next].bytes, pieces[next].count / BLOCK};
        if (used == 0)
            return;
        size_t blocks = active[0].blocks;
        for (int lane = 1; lane < used; lane++)
            if (active[lane].blocks < blocks)
                blocks = active[lane].blocks;
        compress(active, used, blocks, lanes);
        int left = 0;
        for (int lane = 0; lane < used; lane++)
            if (active[lane].blocks > blocks)
                active[left++] = (struct lane){
                    active[lane].message, active[lane].bytes + blocks * BLOCK, active[lane].blocks - blocks};
        used = left;
    }
}

static void compress_rest(struct cmd5_message *message) {
    struct lane lane = {message, message->rest, 1};
    plain1(&lane, 1);
}

void cmd5_start(struct cmd5_message *message) {
    *message = (struct cmd5_message){.words = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}};
}

void cmd5_update(struct cmd5_piece *pieces, size_t count, int lanes) {
    for (size_t place = 0; place < count; place++) {
        struct cmd5_piece *piece = &pieces[place];
        struct cmd5_message *message = piece->message;
        size_t held = message->length % BLOCK;
        message->length += piece->count;
        if (held == 0 || piece->count == 0)
            continue;
        size_t taken = piece->count < BLOCK - held ? piece->count : BLOCK - held;
        memcpy(message->rest + held, piece->bytes, taken);
        piece->bytes += taken;
        piece->count -= taken;
        if (held + taken == BLOCK)
            compress_rest(message);
    }
    compress_all(pieces, count, lanes);
    for (size_t place = 0; place < count; place++) {
        // If the bytes did not fill the block that was begun, none are left here.
        size_t left = pieces[place].count % BLOCK;
        if (left > 0)
            memcpy(pieces[place].message->rest, pieces[place].bytes + pieces[place].count - left, left);
    }
}

void cmd5_finish(struct cmd5_message *message, uint8_t digest[16]) {
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = message->length * 8;
    // Up to the last 8 bytes of a block, which are the length.
    size_t held = message->length % BLOCK;
    struct cmd5_piece piece = {message, padding, held < 56 ? 56 - held : 120 - held};
    cmd5_update(&piece, 1, 1);
    memcpy(message->rest + 56, &bits, sizeof bits);
    compress_rest(message);
    memcpy(digest, message->words, 16);
}
