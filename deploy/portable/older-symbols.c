/* Functions of the C library at their older versions.
 *
 * glibc 2.35 gave hypot and hypotf new versions that do not set errno. A program that is linked on Debian 12 (glibc 2.36) asks
 * for these, and for nothing else above GLIBC_2.34. The older versions return the same values, and every glibc has them. The
 * linker's option --wrap leads the calls of the program and of the Swift runtime here. scripts/symbols reports any other
 * function whose version is too new. */

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#else
#error "The first version of glibc on this architecture is missing here."
#endif

__asm__(".symver older_hypot, hypot@" FIRST_VERSION);
__asm__(".symver older_hypotf, hypotf@" FIRST_VERSION);

double older_hypot(double x, double y);
float older_hypotf(float x, float y);

double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return older_hypot(x, y); }

float __wrap_hypotf(float x, float y);
float __wrap_hypotf(float x, float y) { return older_hypotf(x, y); }
