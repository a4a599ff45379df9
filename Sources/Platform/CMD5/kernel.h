// The compression function (RFC 1321, section 3.4) for `VECTORS` vectors of `LANES` messages each. md5.c includes this file once
// for each kind, after it has defined
//   KERNEL            the name of the function
//   TARGET            its attributes
//   WORDS             the type of a vector: one word of each message
//   TRANSPOSED        the function that loads a block of each message of a vector
//   REGISTER          the constraint for registers of this type
//   ROTATED           the rotation of each word to the left
//   EARLY, LATE       the function of a round of the words b, c and d as a sum, of which the first part does not depend on b

TARGET static void KERNEL(const struct lane *lanes, size_t blocks) {
    WORDS a[VECTORS], b[VECTORS], c[VECTORS], d[VECTORS];
    uint32_t words[4][VECTORS * LANES];
    for (int lane = 0; lane < VECTORS * LANES; lane++)
        for (int word = 0; word < 4; word++)
            words[word][lane] = lanes[lane].message->words[word];
    memcpy(a, words[0], sizeof a);
    memcpy(b, words[1], sizeof b);
    memcpy(c, words[2], sizeof c);
    memcpy(d, words[3], sizeof d);
    for (size_t offset = 0; offset < blocks * BLOCK; offset += BLOCK) {
        WORDS block[VECTORS][16], before[4][VECTORS];
        for (int v = 0; v < VECTORS; v++) {
            TRANSPOSED(lanes + v * LANES, offset, block[v]);
            before[0][v] = a[v];
            before[1][v] = b[v];
            before[2][v] = c[v];
            before[3][v] = d[v];
        }
        // The word b is the result of the step before, and known last. The empty assembly keeps the compiler from adding in another
        // order, in which more additions wait for b.
#define STEP(FUNCTION, a, b, c, d, word, bits, constant) \
    for (int v = 0; v < VECTORS; v++) { \
        WORDS sum = a[v] + (block[v][word] + constant) + EARLY(FUNCTION, c[v], d[v]); \
        __asm__("" : "+" REGISTER(sum)); \
        sum += LATE(FUNCTION, b[v], c[v], d[v]); \
        a[v] = b[v] + ROTATED(sum, bits); \
    }
        STEPS(STEP)
#undef STEP
        for (int v = 0; v < VECTORS; v++) {
            a[v] += before[0][v];
            b[v] += before[1][v];
            c[v] += before[2][v];
            d[v] += before[3][v];
        }
    }
    memcpy(words[0], a, sizeof a);
    memcpy(words[1], b, sizeof b);
    memcpy(words[2], c, sizeof c);
    memcpy(words[3], d, sizeof d);
    for (int lane = 0; lane < VECTORS * LANES; lane++)
        for (int word = 0; word < 4; word++)
            lanes[lane].message->words[word] = words[word][lane];
}

#undef KERNEL
#undef VECTORS
