/* A wall clock that a file puts forward: its first eight bytes are seconds. CLOCK_MONOTONIC stays what it is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile long long *shift;

__attribute__((constructor)) static void open_shift(void) {
  const char *name = getenv("HISTORY_CLOCK");
  int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  void *mapped = file < 0 ? MAP_FAILED : mmap(0, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) shift = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *found) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, found);
  if (result == 0 && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) found->tv_sec += *shift;
  return result;
}

int gettimeofday(struct timeval *restrict found, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  found->tv_sec = now.tv_sec;
  found->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *found) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  if (found) *found = now.tv_sec;
  return now.tv_sec;
}
