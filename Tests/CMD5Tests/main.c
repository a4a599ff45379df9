/* Compares digests with those of a plain implementation of RFC 1321, for all instructions of the CPU, in every lane, and for lengths
 * around the edges of blocks. In C, so that it runs where there is no Swift: scripts/lab arm64 runs it under an emulator. */

#include "md5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, LONGEST = (1 << 20) + 1, MOST = 33 };

static uint8_t bytes[LONGEST + MOST];
static uint64_t state = 0x9e3779b97f4a7c15;

/// Returns a number below the limit.
static size_t below(size_t limit) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (size_t)(state >> 33) % limit;
}

static void compress(uint32_t words[4], const uint8_t *block) {
    static const int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = words[0], b = words[1], c = words[2], d = words[3];
    for (int step = 0; step < 64; step++) {
        int round = step / 16;
        uint32_t value = round == 0 ? (b & c) | (~b & d) : round == 1 ? (b & d) | (c & ~d) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
        int place = (round == 0 ? step : round == 1 ? 5 * step + 1 : round == 2 ? 3 * step + 5 : 7 * step) % 16;
        uint32_t word = 0;
        for (int byte = 3; byte >= 0; byte--)
            word = word << 8 | block[4 * place + byte];
        uint32_t sum = a + value + word + (uint32_t)(int64_t)(4294967296.0 * fabs(sin(step + 1)));
        int bits = rotations[round][step % 4];
        a = d;
        d = c;
        c = b;
        b += sum << bits | sum >> (32 - bits);
    }
    words[0] += a;
    words[1] += b;
    words[2] += c;
    words[3] += d;
}

static void plain(const uint8_t *message, size_t count, uint8_t digest[16]) {
    uint32_t words[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    size_t whole = count / BLOCK * BLOCK;
    for (size_t place = 0; place < whole; place += BLOCK)
        compress(words, message + place);
    uint8_t end[2 * BLOCK] = {0};
    memcpy(end, message + whole, count - whole);
    end[count - whole] = 0x80;
    size_t size = count - whole < 56 ? BLOCK : 2 * BLOCK;
    for (int byte = 0; byte < 8; byte++)
        end[size - 8 + byte] = (uint8_t)((uint64_t)count * 8 >> 8 * byte);
    for (size_t place = 0; place < size; place += BLOCK)
        compress(words, end + place);
    for (int byte = 0; byte < 16; byte++)
        digest[byte] = (uint8_t)(words[byte / 4] >> 8 * (byte % 4));
}

/// Hashes messages that begin at `bytes + number`, in up to `pieces` pieces each, and compares.
static int wrong(const size_t *lengths, int count, int pieces, int lanes) {
    struct cmd5_message messages[MOST];
    size_t done[MOST] = {0};
    for (int number = 0; number < count; number++)
        cmd5_start(&messages[number]);
    for (int turn = pieces; turn > 0; turn--) {
        struct cmd5_piece next[MOST];
        for (int number = 0; number < count; number++) {
            size_t left = lengths[number] - done[number];
            size_t taken = turn == 1 ? left : below(left + 1);
            next[number] = (struct cmd5_piece){&messages[number], bytes + number + done[number], taken};
            done[number] += taken;
        }
        cmd5_update(next, (size_t)count, lanes);
    }
    int found = 0;
    for (int number = 0; number < count; number++) {
        uint8_t digest[16], expected[16];
        cmd5_finish(&messages[number], digest);
        plain(bytes + number, lengths[number], expected);
        if (memcmp(digest, expected, 16) != 0) {
            printf("%d lanes: message %d of %d with %zu bytes is wrong\n", lanes, number, count, lengths[number]);
            found++;
        }
    }
    return found;
}

/// The test suite of RFC 1321, appendix A.5.
static int wrong_vectors(void) {
    static const struct {
        const char *text, *digest;
    } vectors[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890", "57edf4a22be3c955ac49da2e2107b67a"},
    };
    int found = 0;
    for (size_t place = 0; place < sizeof vectors / sizeof vectors[0]; place++) {
        struct cmd5_message message;
        cmd5_start(&message);
        struct cmd5_piece piece = {&message, (const uint8_t *)vectors[place].text, strlen(vectors[place].text)};
        cmd5_update(&piece, 1, 1);
        uint8_t digest[16];
        cmd5_finish(&message, digest);
        char text[33];
        for (int byte = 0; byte < 16; byte++)
            sprintf(text + 2 * byte, "%02x", digest[byte]);
        if (strcmp(text, vectors[place].digest) != 0) {
            printf("\"%s\" has %s\n", vectors[place].text, text);
            found++;
        }
    }
    return found;
}

static int faults(int lanes) {
    int found = 0;
    size_t lengths[MOST];
    int most = cmd5_messages(lanes);
    // Each length in each lane, with neighbours that end earlier and later.
    for (size_t length = 0; length <= 4 * BLOCK + 1; length++) {
        for (int number = 0; number < MOST; number++)
            lengths[number] = (length + (size_t)number * 7) % (4 * BLOCK + 2);
        found += wrong(lengths, MOST, 1 + (int)(length % 3), lanes);
    }
    // Each number of messages.
    for (int count = 1; count <= most; count++) {
        for (int number = 0; number < count; number++)
            lengths[number] = 10 * BLOCK + below(BLOCK);
        found += wrong(lengths, count, 2, lanes);
    }
    for (int number = 0; number < MOST; number++)
        lengths[number] = LONGEST - (size_t)number % 3;
    found += wrong(lengths, most, 1, lanes);
    for (int round = 0; round < 200; round++) {
        int count = 1 + (int)below(MOST);
        for (int number = 0; number < count; number++)
            lengths[number] = below(below(4) == 0 ? 5000 : 300);
        found += wrong(lengths, count, 1 + (int)below(5), lanes);
    }
    return found;
}

int main(void) {
    for (size_t place = 0; place < sizeof bytes; place++)
        bytes[place] = (uint8_t)below(256);
    int found = wrong_vectors();
    const int kinds[] = {1, 4, 8, 16};
    for (int kind = 0; kind < 4; kind++) {
        if (kinds[kind] > cmd5_lanes())
            printf("not run: %d lanes, which the CPU does not have\n", kinds[kind]);
        else
            found += faults(kinds[kind]);
    }
    printf("cmd5_lanes is %d; faults: %d\n", cmd5_lanes(), found);
    return found > 0;
}
