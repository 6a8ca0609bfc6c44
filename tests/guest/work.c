// SPDX-License-Identifier: Apache-2.0
/*
 * The workload in the guests: `work SECONDS` computes in outer > middle > leaf, reads, causes page
 * faults, and sleeps.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXTERN_FUNCTION __attribute__((noinline, noclone, used))
#define NO_TAIL_CALL __asm__ volatile("")

static volatile uint64_t sink;

EXTERN_FUNCTION uint64_t work_leaf(uint64_t rounds) {
  uint64_t x = rounds;

  for (uint64_t i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

EXTERN_FUNCTION void work_middle(void) {
  sink += work_leaf(100000);
  NO_TAIL_CALL;
}

EXTERN_FUNCTION void work_outer(void) {
  work_middle();
  NO_TAIL_CALL;
}

EXTERN_FUNCTION void work_read(int fd) {
  static char buffer[1 << 16];

  if (pread(fd, buffer, sizeof(buffer), 0) < 0) exit(1);
  NO_TAIL_CALL;
}

EXTERN_FUNCTION void work_fault(void) {
  const size_t size = 1 << 18;
  char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  for (size_t i = 0; i < size; i += 4096) ((volatile char*)memory)[i] = 1;
  munmap(memory, size);
  NO_TAIL_CALL;
}

EXTERN_FUNCTION void work_sleep(void) {
  usleep(3000);
  NO_TAIL_CALL;
}

static double seconds(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  const double end = seconds() + (argc > 1 ? atof(argv[1]) : 1);
  const int zero = open("/dev/zero", O_RDONLY);

  while (seconds() < end) {
    for (int i = 0; i < 8; i++) work_outer();
    work_read(zero);
    work_fault();
    work_sleep();
  }
  return 0;
}
