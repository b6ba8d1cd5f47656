/* How functions of mfopt_core are compiled. */
#ifndef MFOPT_DISPATCH_H
#define MFOPT_DISPATCH_H

#include <string.h> /* any header of the C library: it says whether that is glibc */

/* One function, several instruction sets, chosen when the library is loaded (x86-64 with glibc's ifunc). Elsewhere,
 * or with MFOPT_PLAIN_C, the same source is compiled once for the baseline of the machine. */
#if !defined(MFOPT_PLAIN_C) && defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) \
    && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define BUILD "x86-64 dispatch"
#else
#define DISPATCH
#define BUILD "plain C"
#endif

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#endif
