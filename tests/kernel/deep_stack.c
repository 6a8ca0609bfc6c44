// SPDX-License-Identifier: Apache-2.0
// Burns CPU time DEPTH frames deep for SECONDS: deep_stack DEPTH SECONDS. The build leaves out
// frame pointers, so only unwind tables lead to the callers.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long counter;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static unsigned long burn(double end_s) {
  unsigned long sum = 0;
  while (now_s() < end_s) {
    for (int i = 0; i < 10000; ++i) sum += counter++;
  }
  return sum;
}

// The result of the call is changed, so that it is no tail call.
__attribute__((noinline)) static unsigned long descend(int depth, double end_s) {
  if (depth <= 1) return burn(end_s) + 1;
  return descend(depth - 1, end_s) + counter % 3;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  printf("%lu\n", descend(atoi(argv[1]), now_s() + atof(argv[2])));
  return 0;
}
