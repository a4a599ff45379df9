#include "folding.h"

/// Powers of x modulo a polynomial, with reversed bits, that move 16 bytes by a distance in bits: the first of each pair is
/// x^(distance + 63), for the half with the higher powers, and the second x^(distance - 1).
struct folding_powers {
    uint64_t by128[2];
    uint64_t by512[2];
    uint64_t by2048[2];
};

static const struct folding_powers powers32 = {
    {0x65673b4600000000, 0x9ba54c6f00000000},
    {0x653d982200000000, 0xcad38e8f00000000},
    {0x7cc8e1e700000000, 0x03f9f86300000000},
};

static const struct folding_powers powers64 = {
    {0xe05dd497ca393ae4, 0xdabe95afc7875f40},
    {0x6ae3efbb9dd441f3, 0x081f6054a7842df4},
    {0x8260adf2381ad81c, 0xf31fd9271e228b79},
};

#if defined(__x86_64__)
#include <immintrin.h>

#define NARROW __attribute__((target("pclmul,sse2")))
#define WIDE __attribute__((target("avx512f,vpclmulqdq,pclmul,sse2")))

typedef __m128i block;

int folding_width(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq"))
        return 512;
    return __builtin_cpu_supports("pclmul") ? 128 : 0;
}

NARROW static inline block loaded(const void *bytes) { return _mm_loadu_si128(bytes); }

NARROW static inline void store(void *bytes, block value) { _mm_storeu_si128(bytes, value); }

NARROW static inline block sum(block first, block second) { return _mm_xor_si128(first, second); }

NARROW static inline block moved(block value, block powers, block next) {
    block high = _mm_clmulepi64_si128(value, powers, 0x00);
    block low = _mm_clmulepi64_si128(value, powers, 0x11);
    return sum(sum(high, low), next);
}

#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>

#define NARROW __attribute__((target("+crypto")))

typedef uint8x16_t block;

int folding_width(void) {
    // HWCAP_PMULL of the kernel's interface.
    return getauxval(AT_HWCAP) & 1 << 4 ? 128 : 0;
}

NARROW static inline block loaded(const void *bytes) { return vld1q_u8(bytes); }

NARROW static inline void store(void *bytes, block value) { vst1q_u8(bytes, value); }

NARROW static inline block sum(block first, block second) { return veorq_u8(first, second); }

NARROW static inline block moved(block value, block powers, block next) {
    poly64x2_t values = vreinterpretq_p64_u8(value), by = vreinterpretq_p64_u8(powers);
    block high = vreinterpretq_u8_p128(vmull_p64(vgetq_lane_p64(values, 0), vgetq_lane_p64(by, 0)));
    block low = vreinterpretq_u8_p128(vmull_high_p64(values, by));
    return sum(sum(high, low), next);
}

#endif

#if defined(NARROW)

/// Four blocks at a time, because each multiplication takes as long as four can be started.
NARROW static size_t fold_narrow(
    const uint8_t *bytes, size_t count, uint64_t state, const struct folding_powers *powers, uint8_t shortened[16]) {
    block far = loaded(powers->by512), near = loaded(powers->by128);
    const uint64_t states[2] = {state, 0};
    block lanes[4];
    for (int lane = 0; lane < 4; lane++)
        lanes[lane] = loaded(bytes + 16 * lane);
    lanes[0] = sum(lanes[0], loaded(states));
    size_t used = 64;
    for (; count - used >= 64; used += 64)
        for (int lane = 0; lane < 4; lane++)
            lanes[lane] = moved(lanes[lane], far, loaded(bytes + used + 16 * lane));
    block whole = lanes[0];
    for (int lane = 1; lane < 4; lane++)
        whole = moved(whole, near, lanes[lane]);
    store(shortened, whole);
    return used;
}

#endif

#if defined(WIDE)

WIDE static size_t fold_wide(
    const uint8_t *bytes, size_t count, uint64_t state, const struct folding_powers *powers, uint8_t shortened[16]) {
    __m512i far = _mm512_broadcast_i32x4(loaded(powers->by2048));
    block near = loaded(powers->by128);
    __m512i lanes[4];
    for (int lane = 0; lane < 4; lane++)
        lanes[lane] = _mm512_loadu_si512(bytes + 64 * lane);
    lanes[0] = _mm512_xor_si512(lanes[0], _mm512_zextsi128_si512(_mm_set_epi64x(0, (long long)state)));
    size_t used = 256;
    for (; count - used >= 256; used += 256) {
        for (int lane = 0; lane < 4; lane++) {
            __m512i high = _mm512_clmulepi64_epi128(lanes[lane], far, 0x00);
            __m512i low = _mm512_clmulepi64_epi128(lanes[lane], far, 0x11);
            __m512i next = _mm512_loadu_si512(bytes + used + 64 * lane);
            lanes[lane] = _mm512_xor_si512(_mm512_xor_si512(high, low), next);
        }
    }
    block blocks[16];
    for (int lane = 0; lane < 4; lane++)
        _mm512_storeu_si512(blocks + 4 * lane, lanes[lane]);
    block whole = blocks[0];
    for (int place = 1; place < 16; place++)
        whole = moved(whole, near, blocks[place]);
    store(shortened, whole);
    return used;
}

#endif

#if !defined(NARROW)
int folding_width(void) { return 0; }
#endif

static size_t fold(
    const uint8_t *bytes, size_t count, uint64_t state, const struct folding_powers *powers, int width,
    uint8_t shortened[16]) {
#if defined(WIDE)
    if (width >= 512 && count >= 1024)
        return fold_wide(bytes, count, state, powers, shortened);
#endif
#if defined(NARROW)
    if (width >= 128 && count >= 128)
        return fold_narrow(bytes, count, state, powers, shortened);
#endif
    return 0;
}

size_t folding_crc32(const uint8_t *bytes, size_t count, uint32_t state, int width, uint8_t shortened[16]) {
    return fold(bytes, count, state, &powers32, width, shortened);
}

size_t folding_crc64(const uint8_t *bytes, size_t count, uint64_t state, int width, uint8_t shortened[16]) {
    return fold(bytes, count, state, &powers64, width, shortened);
}
