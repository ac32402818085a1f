/* The maximum over the rows of each segment, and its gradient: every row is read once, where torch takes a pass for
   each of gathering, comparing and masking.

   Segment s holds the rows entries[offsets[s]] .. entries[offsets[s + 1] - 1] of x. Each row belongs to one segment, so
   threads that share the segments never write the same row. Columns are taken VECTORS of LANES at a time, so that what
   is known of a segment stays in registers. */

#include <stdint.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LANES 16

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t bits __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint16_t halves __attribute__((vector_size(2 * LANES), aligned(2), may_alias));

typedef float f32;
typedef uint16_t bf16; /* the upper half of a float */

ALWAYS_INLINE lanes read_f32(const f32 *x) { return *(const lanes *)x; }
ALWAYS_INLINE void write_f32(f32 *to, lanes x) { *(lanes *)to = x; }
ALWAYS_INLINE lanes round_f32(lanes x) { return x; }

ALWAYS_INLINE lanes read_bf16(const bf16 *x) { return (lanes)(__builtin_convertvector(*(const halves *)x, bits) << 16); }
ALWAYS_INLINE void write_bf16(bf16 *to, lanes x) { *(halves *)to = __builtin_convertvector((bits)x >> 16, halves); }

/* To the nearest number of 16 bits, ties to even; NaN stays NaN. */
ALWAYS_INLINE lanes round_bf16(lanes x) {
    const bits up = (bits)x + 0x7fff + (((bits)x >> 16) & 1);
    const bits nan = (bits)(x != x);
    return (lanes)((up & ~nan) | ((bits)x & nan));
}

ALWAYS_INLINE lanes choose(whole condition, lanes a, lanes b) {
    return (lanes)(((whole)a & condition) | ((whole)b & ~condition));
}

/* The larger number, or NaN if either is. */
ALWAYS_INLINE lanes larger(lanes a, lanes b) { return choose((b > a) | (b != b), b, a); }

#define SEGMENT_MAX(type)                                                                                               \
    ALWAYS_INLINE void max_##type(const type *restrict x, const int64_t *restrict entries, int64_t count,               \
                                  type *restrict out, int64_t dim, int vectors) {                                       \
        lanes highest[vectors];                                                                                         \
        for (int v = 0; v < vectors; v++) highest[v] = count ? read_##type(x + entries[0] * dim + v * LANES) : (lanes){0}; \
        for (int64_t i = 1; i < count; i++)                                                                             \
            for (int v = 0; v < vectors; v++)                                                                           \
                highest[v] = larger(highest[v], read_##type(x + entries[i] * dim + v * LANES));                         \
        for (int v = 0; v < vectors; v++) write_##type(out + v * LANES, highest[v]);                                    \
    }                                                                                                                   \
                                                                                                                        \
    /* Rows that tie for the maximum share its gradient. */                                                             \
    ALWAYS_INLINE void max_backward_##type(const type *restrict x, const int64_t *restrict entries, int64_t count,      \
                                           const type *restrict out, const type *restrict up, type *restrict grad,      \
                                           int64_t dim, int vectors) {                                                  \
        const lanes one = (lanes){0} + 1.0f;                                                                            \
        lanes highest[vectors], share[vectors];                                                                         \
        for (int v = 0; v < vectors; v++) highest[v] = read_##type(out + v * LANES), share[v] = (lanes){0};             \
        for (int64_t i = 0; i < count; i++)                                                                             \
            for (int v = 0; v < vectors; v++)                                                                           \
                share[v] += choose(read_##type(x + entries[i] * dim + v * LANES) == highest[v], one, (lanes){0});       \
        for (int v = 0; v < vectors; v++)                                                                               \
            share[v] = round_##type(read_##type(up + v * LANES) / choose(share[v] > one, share[v], one));               \
        for (int64_t i = 0; i < count; i++)                                                                             \
            for (int v = 0; v < vectors; v++) {                                                                         \
                const whole is_highest = read_##type(x + entries[i] * dim + v * LANES) == highest[v];                   \
                write_##type(grad + entries[i] * dim + v * LANES, choose(is_highest, share[v], (lanes){0}));            \
            }                                                                                                           \
    }                                                                                                                   \
                                                                                                                        \
    void hyperheat_segment_max_##type(const type *x, const int64_t *entries, const int64_t *offsets, type *out,         \
                                      int64_t segments, int64_t dim, int threads) {                                     \
        EACH_BLOCK(max_##type(x + d, in, count, out + row + d, dim, VECTORS))                                           \
    }                                                                                                                   \
                                                                                                                        \
    void hyperheat_segment_max_backward_##type(const type *x, const int64_t *entries, const int64_t *offsets,           \
                                               const type *out, const type *up, type *grad, int64_t segments,           \
                                               int64_t dim, int threads) {                                              \
        EACH_BLOCK(max_backward_##type(x + d, in, count, out + row + d, up + row + d, grad + d, dim, VECTORS))          \
    }

/* Calls with column d of segment s, whose `count` rows are numbered at `in` and whose results are at `row`. */
#define EACH_BLOCK(call)                                                                      \
    _Pragma("omp parallel for schedule(static) num_threads(threads)")                         \
    for (int64_t s = 0; s < segments; s++) {                                                  \
        const int64_t *in = entries + offsets[s], count = offsets[s + 1] - offsets[s];        \
        const int64_t row = s * dim;                                                          \
        int64_t d = 0;                                                                        \
        for (; d + 8 * LANES <= dim; d += 8 * LANES) { enum { VECTORS = 8 }; call; }          \
        for (; d < dim; d += LANES) { enum { VECTORS = 1 }; call; }                           \
    }

SEGMENT_MAX(f32)
SEGMENT_MAX(bf16)
