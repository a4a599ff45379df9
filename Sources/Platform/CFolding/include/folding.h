#pragma once

#include <stddef.h>
#include <stdint.h>

// Shortens a message to 16 bytes with the same remainder, by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009). A library's CRC of these bytes, with a register of 0 before them,
// is then the CRC of the message, and several times as fast to compute.
//
// `state` is the register before the message, without the final inversion. The functions return the number of bytes at the start
// of the message that `shortened` stands for; 0 = the message is too short, or the width is 0, and `shortened` is unchanged.

/// Returns the number of bits that the CPU's instructions for this multiply at once: 512 or 128; 0 = it has none.
int folding_width(void);

/// Shortens a message for CRC-32 (ISO 3309, reflected), which liblzma computes.
///
/// `width` is at most that of `folding_width`.
size_t folding_crc32(const uint8_t *bytes, size_t count, uint32_t state, int width, uint8_t shortened[16]);

/// Shortens a message for CRC-64 (ECMA-182, reflected), which liblzma computes.
///
/// `width` is at most that of `folding_width`.
size_t folding_crc64(const uint8_t *bytes, size_t count, uint64_t state, int width, uint8_t shortened[16]);
