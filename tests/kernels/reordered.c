/* Another processor's kernels, imitated: every product of real numbers in NumPy (not those inside LAPACK or SciPy) is added up in
 * another order, and products of matrices in single precision raise the flag "invalid" although their numbers are finite, as AVX-512
 * kernels do from lanes that nobody reads.
 *
 *     cc -O2 -shared -fPIC tests/kernels/reordered.c -o reordered.so -ldl -lm
 *     LD_PRELOAD=$PWD/reordered.so pytest
 *
 * The inner dimension K is cut at a third, and the far part is added first: A B = A[:, h:] B[h:] + A[:, :h] B[:h]. That is a reordering
 * that a kernel may choose, with an error that obeys the same bound (K eps |A| |B|), so a test that holds on every kernel holds here.
 * The names are those of the OpenBLAS that NumPy's wheels bring (64-bit integers, suffix 64_). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fenv.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t n64;
enum { ROWS = 101, PLAIN = 111 }; /* of CBLAS */

static int openblas(struct dl_phdr_info *library, size_t size, void *path) {
    (void)size;
    if (!strstr(library->dlpi_name, "scipy_openblas64_")) return 0;
    *(const char **)path = library->dlpi_name;
    return 1;
}

static void *next(const char *name) { /* from the library itself: it is loaded for NumPy alone, where RTLD_NEXT does not look */
    const char *path = NULL;
    dl_iterate_phdr(openblas, &path);
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL, *found = library ? dlsym(library, name) : NULL;
    if (!found) abort();
    return found;
}

/* How far the second part of an operand lies: `along_columns` where the cut index runs along a row of the stored matrix. */
static n64 offset(int order, int along_columns, n64 leading, n64 cut) {
    return (order == ROWS) == (along_columns != 0) ? cut : cut * leading;
}

#define PRODUCTS(T, gemm, syrk, gemv, dot, FLAG)                                                                                   \
    void gemm(int order, int ta, int tb, n64 M, n64 N, n64 K, T alpha, const T *A, n64 lda, const T *B, n64 ldb, T beta, T *C,     \
              n64 ldc) {                                                                                                           \
        static void (*real)(int, int, int, n64, n64, n64, T, const T *, n64, const T *, n64, T, T *, n64);                         \
        if (!real) *(void **)&real = next(#gemm);                                                                                  \
        n64 h = (K + 1) / 3;                                                                                                       \
        if (h == 0) {                                                                                                              \
            real(order, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);                                                     \
        } else {                                                                                                                   \
            const T *far_A = A + offset(order, ta == PLAIN, lda, h), *far_B = B + offset(order, tb != PLAIN, ldb, h);              \
            real(order, ta, tb, M, N, K - h, alpha, far_A, lda, far_B, ldb, beta, C, ldc);                                         \
            real(order, ta, tb, M, N, h, alpha, A, lda, B, ldb, 1, C, ldc);                                                        \
        }                                                                                                                          \
        FLAG;                                                                                                                      \
    }                                                                                                                              \
    void syrk(int order, int uplo, int t, n64 N, n64 K, T alpha, const T *A, n64 lda, T beta, T *C, n64 ldc) {                     \
        static void (*real)(int, int, int, n64, n64, T, const T *, n64, T, T *, n64);                                              \
        if (!real) *(void **)&real = next(#syrk);                                                                                  \
        n64 h = (K + 1) / 3;                                                                                                       \
        if (h == 0) {                                                                                                              \
            real(order, uplo, t, N, K, alpha, A, lda, beta, C, ldc);                                                               \
        } else {                                                                                                                   \
            real(order, uplo, t, N, K - h, alpha, A + offset(order, t == PLAIN, lda, h), lda, beta, C, ldc);                       \
            real(order, uplo, t, N, h, alpha, A, lda, 1, C, ldc);                                                                  \
        }                                                                                                                          \
        FLAG;                                                                                                                      \
    }                                                                                                                              \
    void gemv(int order, int t, n64 M, n64 N, T alpha, const T *A, n64 lda, const T *x, n64 incx, T beta, T *y, n64 incy) {        \
        static void (*real)(int, int, n64, n64, T, const T *, n64, const T *, n64, T, T *, n64);                                   \
        if (!real) *(void **)&real = next(#gemv);                                                                                  \
        n64 K = t == PLAIN ? N : M, h = (K + 1) / 3;                                                                               \
        if (h == 0 || incx < 0) {                                                                                                  \
            real(order, t, M, N, alpha, A, lda, x, incx, beta, y, incy);                                                           \
        } else {                                                                                                                   \
            const T *far = A + offset(order, t == PLAIN, lda, h);                                                                  \
            n64 m = t == PLAIN ? M : M - h, n = t == PLAIN ? N - h : N;                                                            \
            real(order, t, m, n, alpha, far, lda, x + h * incx, incx, beta, y, incy);                                              \
            real(order, t, t == PLAIN ? M : h, t == PLAIN ? h : N, alpha, A, lda, x, incx, 1, y, incy);                            \
        }                                                                                                                          \
    }                                                                                                                              \
    T dot(n64 N, const T *x, n64 incx, const T *y, n64 incy) {                                                                     \
        static T (*real)(n64, const T *, n64, const T *, n64);                                                                     \
        if (!real) *(void **)&real = next(#dot);                                                                                   \
        n64 h = (N + 1) / 3;                                                                                                       \
        T sum = h == 0 || incx < 0 || incy < 0 ? real(N, x, incx, y, incy)                                                         \
                                               : real(N - h, x + h * incx, incx, y + h * incy, incy) + real(h, x, incx, y, incy);  \
        return sum;                                                                                                                \
    }

PRODUCTS(double, scipy_cblas_dgemm64_, scipy_cblas_dsyrk64_, scipy_cblas_dgemv64_, scipy_cblas_ddot64_, )
PRODUCTS(float, scipy_cblas_sgemm64_, scipy_cblas_ssyrk64_, scipy_cblas_sgemv64_, scipy_cblas_sdot64_, feraiseexcept(FE_INVALID))
