// Measures CMD5 with pieces of 1 MiB, for numbers of messages and for each kind of instructions, and OpenSSL's MD5 of one such piece
// in the same rounds. Prints one line of JSON for each figure.

#include "md5.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, SIZE = 1 << 20, MOST = 32 };

static uint8_t *blocks[MOST];

static double cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/// Returns the MB/s of OpenSSL.
static double openssl(EVP_MD_CTX *context) {
    double start = cpu_seconds();
    EVP_DigestInit_ex(context, EVP_md5(), NULL);
    EVP_DigestUpdate(context, blocks[0], SIZE);
    return SIZE * 1e-6 / (cpu_seconds() - start);
}

static double together(int count, int lanes) {
    struct cmd5_message messages[MOST];
    struct cmd5_piece pieces[MOST];
    for (int number = 0; number < count; number++) {
        cmd5_start(&messages[number]);
        pieces[number] = (struct cmd5_piece){&messages[number], blocks[number], SIZE};
    }
    double start = cpu_seconds();
    cmd5_update(pieces, (size_t)count, lanes);
    return count * (SIZE * 1e-6) / (cpu_seconds() - start);
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

int main(void) {
    for (int number = 0; number < MOST; number++) {
        blocks[number] = aligned_alloc(4096, SIZE);
        memset(blocks[number], number, SIZE);
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const int kinds[] = {1, 4, 8, 16}, counts[] = {1, 2, 3, 4, 8, 16, 32};
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        for (size_t place = 0; place < sizeof counts / sizeof counts[0]; place++) {
            int lanes = kinds[kind], count = counts[place];
            if (lanes > cmd5_lanes() || count > cmd5_messages(lanes))
                continue;
            double values[ROUNDS], ratios[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                double peer = openssl(context);
                values[round] = together(count, lanes);
                ratios[round] = values[round] / peer;
            }
            printf("{\"figure\": \"md5.%d_lanes.%d_messages\", \"value\": %.0f, \"unit\": \"MB/s\", \"peer\": \"OpenSSL, one message\", "
                   "\"ratio\": %.2f}\n", lanes, count, median(values), median(ratios));
        }
    }
}
