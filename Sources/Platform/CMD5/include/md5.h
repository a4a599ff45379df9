#pragma once

#include <stddef.h>
#include <stdint.h>

// MD5 (RFC 1321) of several messages at the same time. Each step for a message needs the result of the step before, so a CPU that
// hashes one message is mostly waiting. Other messages fill that time: each has a lane of the CPU's vectors, or takes turns with one
// or two others without vectors.
//
// `lanes` chooses the instructions: 16 = AVX-512, 8 = AVX2, 4 = SSE2 or NEON, 1 = no vectors. It is at most that of `cmd5_lanes`.

/// A message of which more may follow.
struct cmd5_message {
    uint32_t words[4];
    /// The number of bytes so far.
    uint64_t length;
    /// The last `length % 64` bytes, which fill no block yet.
    uint8_t rest[64];
};

/// The next bytes of a message.
struct cmd5_piece {
    struct cmd5_message *message;
    const uint8_t *bytes;
    size_t count;
};

/// Returns the number of lanes of the CPU's widest vectors.
int cmd5_lanes(void);

/// Returns the number of messages that `cmd5_update` hashes at the same time.
int cmd5_messages(int lanes);

/// Begins an empty message.
void cmd5_start(struct cmd5_message *message);

/// Adds bytes to any number of messages, one piece to each. The lengths may differ. Changes the pieces.
void cmd5_update(struct cmd5_piece *pieces, size_t count, int lanes);

/// Returns the digest of a message, and leaves the message undefined.
void cmd5_finish(struct cmd5_message *message, uint8_t digest[16]);
