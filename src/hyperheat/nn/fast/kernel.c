/* Attention inside small edges, fused with the gather that feeds it.

   Edge e of a group holds the cells first + e*l .. first + (e+1)*l. The queries, keys and values of cell c are
   table[pairs[c][0]] + table[pairs[c][1]], a row of 3*heads*k numbers. Nothing but the result leaves the cache. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE void gather(const float *restrict table, const int64_t *restrict pairs, int64_t cell, int l,
                          int width, float *restrict cells) {
    for (int i = 0; i < l; i++) {
        const float *a = table + pairs[2 * (cell + i)] * width;
        const float *b = table + pairs[2 * (cell + i) + 1] * width;
        float *to = cells + (int64_t)i * width;
        for (int x = 0; x < width; x++) to[x] = a[x] + b[x];
    }
}

ALWAYS_INLINE float dot(const float *restrict a, const float *restrict b, int k) {
    float sum = 0;
    for (int x = 0; x < k; x++) sum += a[x] * b[x];
    return sum;
}

/* weights[i][j] = softmax over j of q_i . k_j / sqrt(k), for one head whose queries begin at `cells`. */
ALWAYS_INLINE void softmax_weights(const float *restrict cells, int l, int width, int dim, int k,
                                   float *restrict weights) {
    const float scale = 1.0f / sqrtf((float)k);
    for (int i = 0; i < l; i++) {
        float *row = weights + i * l, highest = -INFINITY, total = 0;
        for (int j = 0; j < l; j++) {
            row[j] = scale * dot(cells + (int64_t)i * width, cells + (int64_t)j * width + dim, k);
            highest = row[j] > highest ? row[j] : highest;
        }
        for (int j = 0; j < l; j++) total += row[j] = expf(row[j] - highest);
        for (int j = 0; j < l; j++) row[j] /= total;
    }
}

/* to = sum over j of weights[j * step] * rows[j], the sum kept in registers. */
ALWAYS_INLINE void combine(float *restrict to, const float *restrict rows, int width, const float *restrict weights,
                           int step, int l, int k) {
    float sum[k];
    for (int x = 0; x < k; x++) sum[x] = 0;
    for (int j = 0; j < l; j++)
        for (int x = 0; x < k; x++) sum[x] += weights[j * step] * rows[(int64_t)j * width + x];
    for (int x = 0; x < k; x++) to[x] = sum[x];
}

ALWAYS_INLINE void forward_edge(const float *restrict cells, float *restrict out, float *restrict weights,
                                int l, int heads, int k) {
    const int dim = heads * k, width = 3 * dim;
    for (int h = 0; h < heads; h++) {
        softmax_weights(cells + h * k, l, width, dim, k, weights);
        for (int i = 0; i < l; i++)
            combine(out + i * dim + h * k, cells + 2 * dim + h * k, width, weights + i * l, 1, l, k);
    }
}

/* With p the weights and g the gradient of the result: the gradient of the scores is
   s_ij = p_ij (g_i . v_j - sum_j p_ij g_i . v_j) / sqrt(k). */
ALWAYS_INLINE void backward_edge(const float *restrict cells, const float *restrict grad_out,
                                 float *restrict grad, float *restrict weights, int l, int heads, int k) {
    const int dim = heads * k, width = 3 * dim;
    const float scale = 1.0f / sqrtf((float)k);
    float *scores = weights + l * l;
    for (int h = 0; h < heads; h++) {
        const float *q = cells + h * k, *key = q + dim, *value = q + 2 * dim, *up = grad_out + h * k;
        float *grad_q = grad + h * k, *grad_key = grad_q + dim, *grad_value = grad_q + 2 * dim;
        softmax_weights(q, l, width, dim, k, weights);
        for (int i = 0; i < l; i++) {
            float *row = scores + i * l, mean = 0;
            for (int j = 0; j < l; j++) {
                row[j] = dot(up + i * dim, value + (int64_t)j * width, k);
                mean += weights[i * l + j] * row[j];
            }
            for (int j = 0; j < l; j++) row[j] = scale * weights[i * l + j] * (row[j] - mean);
        }
        for (int i = 0; i < l; i++) {
            combine(grad_q + (int64_t)i * width, key, width, scores + i * l, 1, l, k);
            combine(grad_key + (int64_t)i * width, q, width, scores + i, l, l, k);
            combine(grad_value + (int64_t)i * width, up, dim, weights + i, l, l, k);
        }
    }
}

/* The common head widths are compiled as constants, so that the loops over them are unrolled. */
#define FOR_HEAD_WIDTH(call)                 \
    switch (k) {                             \
        case 8: { enum { K = 8 }; call; break; }   \
        case 16: { enum { K = 16 }; call; break; } \
        case 32: { enum { K = 32 }; call; break; } \
        case 64: { enum { K = 64 }; call; break; } \
        default: { const int K = k; call; }  \
    }

static int each_edge(const float *table, const int64_t *pairs, const float *grad_out, float *result, int64_t first,
                     int64_t edges, int l, int heads, int k, int threads) {
    const int dim = heads * k, width = 3 * dim;
    int failed = 0;
#pragma omp parallel num_threads(threads)
    {
        float *cells = malloc(sizeof(float) * ((size_t)l * width + 2 * (size_t)l * l));
        if (cells == NULL) {
#pragma omp atomic write
            failed = 1;
        }
        float *weights = cells + (size_t)l * width;
#pragma omp for schedule(static)
        for (int64_t e = 0; e < edges; e++) {
            if (cells == NULL) continue;
            const int64_t cell = first + e * l;
            gather(table, pairs, cell, l, width, cells);
            if (grad_out == NULL) {
                FOR_HEAD_WIDTH(forward_edge(cells, result + cell * dim, weights, l, heads, K))
            } else {
                FOR_HEAD_WIDTH(backward_edge(cells, grad_out + cell * dim, result + cell * width, weights, l, heads, K))
            }
        }
        free(cells);
    }
    return failed;
}

int hyperheat_attend(const float *table, const int64_t *pairs, float *out, int64_t first, int64_t edges, int l,
                     int heads, int k, int threads) {
    return each_edge(table, pairs, NULL, out, first, edges, l, heads, k, threads);
}

int hyperheat_attend_backward(const float *table, const int64_t *pairs, const float *grad_out, float *grad,
                              int64_t first, int64_t edges, int l, int heads, int k, int threads) {
    return each_edge(table, pairs, grad_out, grad, first, edges, l, heads, k, threads);
}
