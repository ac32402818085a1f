/* Attention inside edges, fused with the gather that feeds it.

   Edge e of a group holds the cells first + e*l .. first + (e+1)*l. The queries, keys and values of cell c are
   table[pairs[c][0]] + table[pairs[c][1]], a row of 3*dim numbers, dim = heads*k. Nothing but the result leaves the cache.

   Gathered rows have their heads innermost: number x of head h is at x*heads + h. So a vector of LANES numbers holds the
   same numbers of all heads, LANES / heads of them, and a dot product of all heads at once is a sum of products of
   vectors, folded at the end; lane i of the result belongs to head i % heads. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LANES 16

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Rows of weights of an edge of l cells that are computed at once: so many that they stay in the nearest cache. */
ALWAYS_INLINE int rows_at_once(int l) {
    const int most = 1024 / l > 4 ? 1024 / l : 4;
    return most < l ? most : l;
}

#ifdef __clang__
#define ROTATED(x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#else
#define ROTATED(x, ...) __builtin_shuffle(x, (whole){__VA_ARGS__})
#endif

/* to[x*heads + h] = a[h*k + x] + b[h*k + x] */
ALWAYS_INLINE void gather(const float *restrict a, const float *restrict b, float *restrict to, int heads, int k) {
    for (int x = 0; x < k; x++)
        for (int h = 0; h < heads; h++) to[x * heads + h] = a[h * k + x] + b[h * k + x];
}

ALWAYS_INLINE void scatter(const float *restrict from, float *restrict to, int heads, int k) {
    for (int h = 0; h < heads; h++)
        for (int x = 0; x < k; x++) to[h * k + x] = from[x * heads + h];
}

/* Every lane gets the sum of the lanes of its head. */
ALWAYS_INLINE lanes fold(lanes sum, int heads) {
    if (heads <= 8) sum += ROTATED(sum, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    if (heads <= 4) sum += ROTATED(sum, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3);
    if (heads <= 2) sum += ROTATED(sum, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1);
    if (heads <= 1) sum += ROTATED(sum, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0);
    return sum;
}

/* to[r * apart + j] = scale * a_r . b_j for `rows` rows a_r, in every head. */
ALWAYS_INLINE void dots(const float *restrict a, int a_step, const float *restrict b, int b_step, int l, int n,
                        int heads, float scale, lanes *restrict to, int apart, int rows) {
    for (int j = 0; j < l; j++) {
        const lanes *other = (const lanes *)(b + (int64_t)j * b_step);
        lanes sum[rows];
        for (int r = 0; r < rows; r++) sum[r] = (lanes){0};
        for (int v = 0; v < n; v++)
            for (int r = 0; r < rows; r++) sum[r] += ((const lanes *)(a + r * a_step))[v] * other[v];
        for (int r = 0; r < rows; r++) to[(int64_t)r * apart + j] = scale * fold(sum[r], heads);
    }
}

ALWAYS_INLINE lanes larger(lanes a, lanes b) {
    const whole more = a > b;
    return (lanes)(((whole)a & more) | ((whole)b & ~more));
}

/* e^x for x <= 0, to within two units of the last place: 2^n e^r with r in [-log(2)/2, log(2)/2]. */
ALWAYS_INLINE lanes exponential(lanes x) {
    x = larger((lanes){0} - 87.0f, x); /* NaN stays NaN */
    const whole power = __builtin_convertvector(x * 1.44269504f - 0.5f, whole); /* towards zero */
    const lanes n = __builtin_convertvector(power, lanes);
    const lanes r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    lanes p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return (lanes)((whole)p + (power << 23));
}

/* scores[j] becomes the softmax over j, in every head. */
ALWAYS_INLINE void softmax(lanes *restrict scores, int l) {
    lanes highest = (lanes){0} - INFINITY, total = {0};
    for (int j = 0; j < l; j++) highest = larger(scores[j], highest);
    for (int j = 0; j < l; j++) total += scores[j] = exponential(scores[j] - highest);
    total = 1.0f / total;
    for (int j = 0; j < l; j++) scores[j] *= total;
}

/* to_r += sum over j of weights[r * apart + j * stride] * b_j for `rows` rows to_r, the sums kept in registers. */
ALWAYS_INLINE void combine(float *restrict to, int to_step, const float *restrict b, int b_step,
                           const lanes *restrict weights, int apart, int stride, int l, int n, int rows) {
    lanes sum[rows][n];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < n; v++) sum[r][v] = ((lanes *)(to + r * to_step))[v];
    for (int j = 0; j < l; j++) {
        const lanes *other = (const lanes *)(b + (int64_t)j * b_step);
        for (int v = 0; v < n; v++)
            for (int r = 0; r < rows; r++) sum[r][v] += weights[(int64_t)r * apart + (int64_t)j * stride] * other[v];
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < n; v++) ((lanes *)(to + r * to_step))[v] = sum[r][v];
}

/* Rows are taken two at a time, which halves the reading of what they are multiplied with. */
#define IN_PAIRS(index, count, ...)                                     \
    for (int index = 0; index < (count); index += 2) {                  \
        if (index + 1 < (count)) { enum { ROWS = 2 }; __VA_ARGS__; }    \
        else { enum { ROWS = 1 }; __VA_ARGS__; }                        \
    }

/* `result` has room for two rows, `weights` for 2 l vectors. */
ALWAYS_INLINE void forward_edge(const float *restrict cells, float *restrict out, float *restrict result,
                                lanes *restrict weights, int l, int heads, int k, int n) {
    const int dim = heads * k, width = 3 * dim;
    const float scale = 1.0f / sqrtf((float)k);
    IN_PAIRS(i, l, {
        dots(cells + (int64_t)i * width, width, cells + dim, width, l, n, heads, scale, weights, l, ROWS);
        for (int r = 0; r < ROWS; r++) softmax(weights + r * l, l);
        for (int x = 0; x < ROWS * dim; x++) result[x] = 0;
        combine(result, dim, cells + 2 * dim, width, weights, l, 1, l, n, ROWS);
        for (int r = 0; r < ROWS; r++) scatter(result + r * dim, out + (int64_t)(i + r) * dim, heads, k);
    })
}

/* With p the weights and g the gradient of the result: the gradient of the scores is
   s_ij = p_ij (g_i . v_j - sum_j p_ij g_i . v_j) / sqrt(k). Some rows i at a time, so that their p and s stay in the
   cache; `up` is the gradient of the result as gathered, `grad` what is returned, both with the heads innermost. */
ALWAYS_INLINE void backward_edge(const float *restrict cells, const float *restrict up, float *restrict grad,
                                 lanes *restrict weights, int l, int heads, int k, int n) {
    const int dim = heads * k, width = 3 * dim, most = rows_at_once(l);
    const float scale = 1.0f / sqrtf((float)k), *keys = cells + dim, *values = cells + 2 * dim;
    for (int64_t x = 0; x < (int64_t)l * width; x++) grad[x] = 0;
    for (int from = 0; from < l; from += most) {
        const int rows = l - from < most ? l - from : most;
        const float *queries = cells + (int64_t)from * width, *g = up + (int64_t)from * dim;
        lanes *scores = weights + (int64_t)rows * l;
        IN_PAIRS(i, rows, {
            lanes *p = weights + (int64_t)i * l, *s = scores + (int64_t)i * l;
            dots(queries + (int64_t)i * width, width, keys, width, l, n, heads, scale, p, l, ROWS);
            dots(g + (int64_t)i * dim, dim, values, width, l, n, heads, 1.0f, s, l, ROWS);
            for (int r = 0; r < ROWS; r++, p += l, s += l) {
                lanes mean = {0};
                softmax(p, l);
                for (int j = 0; j < l; j++) mean += p[j] * s[j];
                for (int j = 0; j < l; j++) s[j] = scale * p[j] * (s[j] - mean);
            }
            combine(grad + (int64_t)(from + i) * width, width, keys, width, scores + (int64_t)i * l, l, 1, l, n, ROWS);
        })
        IN_PAIRS(j, l, {
            float *to = grad + (int64_t)j * width;
            combine(to + dim, width, queries, width, scores + j, 1, l, rows, n, ROWS);
            combine(to + 2 * dim, width, g, dim, weights + j, 1, l, rows, n, ROWS);
        })
    }
}

/* The common widths are compiled as constants, so that the loops over them are unrolled. */
#define FOR_WIDTH(call)                                          \
    switch (heads * 1024 + dim / LANES) {                        \
        case 8 * 1024 + 4: { enum { H = 8, N = 4 }; call; break; }   \
        case 8 * 1024 + 6: { enum { H = 8, N = 6 }; call; break; }   \
        case 8 * 1024 + 8: { enum { H = 8, N = 8 }; call; break; }   \
        case 8 * 1024 + 12: { enum { H = 8, N = 12 }; call; break; } \
        case 8 * 1024 + 16: { enum { H = 8, N = 16 }; call; break; } \
        default: { const int H = heads, N = dim / LANES; call; }     \
    }

ALWAYS_INLINE void edge(const float *restrict table, const int64_t *restrict pairs, const float *restrict grad_out,
                        float *restrict result, int64_t cell, float *restrict room, int l, int heads, int n) {
    const int dim = n * LANES, k = dim / heads, width = 3 * dim;
    float *cells = room, *up = cells + (size_t)l * width, *grad = up + (size_t)(l + 1) * dim;
    for (int i = 0; i < l; i++)
        for (int part = 0; part < 3; part++)
            gather(table + pairs[2 * (cell + i)] * width + part * dim, table + pairs[2 * (cell + i) + 1] * width + part * dim,
                   cells + (size_t)i * width + part * dim, heads, k);
    if (grad_out == NULL) {
        forward_edge(cells, result + cell * dim, up, (lanes *)grad, l, heads, k, n);
        return;
    }
    for (int i = 0; i < l; i++)
        for (int x = 0; x < k; x++)
            for (int h = 0; h < heads; h++) up[(size_t)i * dim + x * heads + h] = grad_out[(cell + i) * dim + h * k + x];
    backward_edge(cells, up, grad, (lanes *)(grad + (size_t)l * width), l, heads, k, n);
    for (int i = 0; i < 3 * l; i++) scatter(grad + (size_t)i * dim, result + cell * width + (size_t)i * dim, heads, k);
}

static int each_edge(const float *table, const int64_t *pairs, const float *grad_out, float *result, int64_t first,
                     int64_t edges, int l, int heads, int dim, int threads) {
    const size_t rows = rows_at_once(l) > 1 ? rows_at_once(l) : 1;
    const size_t numbers = (size_t)l * 7 * dim + 2 * dim + 2 * (size_t)LANES * l * rows;
    int failed = 0;
#pragma omp parallel num_threads(threads)
    {
        float *room = malloc(sizeof(float) * numbers);
        if (room == NULL) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for schedule(static)
        for (int64_t e = 0; e < edges; e++) {
            if (room == NULL) continue;
            FOR_WIDTH(edge(table, pairs, grad_out, result, first + e * l, room, l, H, N))
        }
        free(room);
    }
    return failed;
}

int hyperheat_attend(const float *table, const int64_t *pairs, float *out, int64_t first, int64_t edges, int l,
                     int heads, int dim, int threads) {
    return each_edge(table, pairs, NULL, out, first, edges, l, heads, dim, threads);
}

int hyperheat_attend_backward(const float *table, const int64_t *pairs, const float *grad_out, float *grad,
                              int64_t first, int64_t edges, int l, int heads, int dim, int threads) {
    return each_edge(table, pairs, grad_out, grad, first, edges, l, heads, dim, threads);
}
