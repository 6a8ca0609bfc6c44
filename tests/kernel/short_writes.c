// SPDX-License-Identifier: Apache-2.0
// Preloaded by faults_test.py: each second write(2) and pwrite(2) of a program writes only a part
// of its bytes, as the kernel does when a signal arrives or a disk is nearly full. Counts them in
// the first word of the file whose descriptor is in SHORT_WRITES_FD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_ullong* counter;
static atomic_uint calls;

__attribute__((constructor)) static void map_counter(void) {
  const char* fd = getenv("SHORT_WRITES_FD");
  if (!fd) return;
  void* page = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
  if (page != MAP_FAILED) counter = page;
}

static size_t shortened(size_t size) {
  // Small writes are messages: triggers of the kernel, of which a part is an error.
  if (!counter || size < 64 || atomic_fetch_add(&calls, 1) % 2 == 0) return size;
  atomic_fetch_add(counter, 1);
  return 1 + size / 3;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static ssize_t (*next)(int, const void*, size_t);
  if (!next) next = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  return next(fd, bytes, shortened(size));
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  static ssize_t (*next)(int, const void*, size_t, off64_t);
  if (!next) next = (ssize_t(*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  return next(fd, bytes, shortened(size), offset);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return pwrite64(fd, bytes, size, offset);
}
