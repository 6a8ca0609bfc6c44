// SPDX-License-Identifier: Apache-2.0
// Publishes a process context as an OpenTelemetry SDK does (OTEP 4719), and uses CPU time. Tests
// compile it.
//
//   published MEMORY PAYLOAD STEP...
//
// MEMORY is memfd or anon. PAYLOAD is the ProcessContext message in hexadecimal digits. The steps:
//
//   publish
//   withhold        publish a payload that never becomes readable (userfaultfd)
//   spin=SECONDS
//   fork            the child, which has no context, goes on
//   exec=PAYLOAD    start again with this payload and the next steps
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

struct header {
  char signature[8];
  uint32_t version, payload_bytes;
  uint64_t published_ns, payload;
};

static void Check(int holds, const char* what) {
  if (holds) return;
  perror(what);
  exit(1);
}

static uint64_t NowNs(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void Spin(double seconds) {
  const uint64_t end = NowNs(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
  while (NowNs(CLOCK_MONOTONIC) < end) {
  }
}

static uint32_t Decode(const char* digits, unsigned char* bytes) {
  const size_t size = strlen(digits) / 2;
  for (size_t i = 0; i < size; ++i) sscanf(digits + 2 * i, "%2hhx", &bytes[i]);
  return (uint32_t)size;
}

static void* Map(const char* memory) {
  const size_t size = 4096;
  void* mapped = MAP_FAILED;
  if (strcmp(memory, "memfd") == 0) {
    const int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
    Check(fd >= 0 && ftruncate(fd, (off_t)size) == 0, "memfd");
    mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
  } else {
    mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Check(prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, mapped, size, "OTEL_CTX") == 0, "PR_SET_VMA");
  }
  Check(mapped != MAP_FAILED, "mmap");
  Check(madvise(mapped, size, MADV_DONTFORK) == 0, "MADV_DONTFORK");
  return mapped;
}

static void Publish(const char* memory, void* payload, uint32_t payload_bytes) {
  struct header* header = Map(memory);
  header->version = 2;
  header->payload_bytes = payload_bytes;
  header->payload = (uintptr_t)payload;
  memcpy(header->signature, "OTEL_CTX", sizeof header->signature);
  __atomic_store_n(&header->published_ns, NowNs(CLOCK_BOOTTIME), __ATOMIC_RELEASE);
}

// Memory whose first use waits for ever.
static void* Withheld(void) {
  const size_t size = 4096;
  const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  Check(fd >= 0, "userfaultfd");
  struct uffdio_api api = {.api = UFFD_API};
  Check(ioctl(fd, UFFDIO_API, &api) == 0, "UFFDIO_API");
  void* mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Check(mapped != MAP_FAILED, "mmap");
  struct uffdio_register registered = {.range = {(uintptr_t)mapped, size},
                                       .mode = UFFDIO_REGISTER_MODE_MISSING};
  Check(ioctl(fd, UFFDIO_REGISTER, &registered) == 0, "UFFDIO_REGISTER");
  return mapped;
}

int main(int count, char** arguments) {
  unsigned char* const bytes = malloc(65536);
  Check(count > 3, "usage");
  const char* const memory = arguments[1];
  const uint32_t size = Decode(arguments[2], bytes);
  for (int i = 3; i < count; ++i) {
    const char* const step = arguments[i];
    if (strncmp(step, "spin=", 5) == 0) {
      Spin(atof(step + 5));
    } else if (strcmp(step, "publish") == 0) {
      Publish(memory, bytes, size);
    } else if (strcmp(step, "withhold") == 0) {
      Publish(memory, Withheld(), size);
    } else if (strcmp(step, "fork") == 0) {
      const pid_t child = fork();
      Check(child >= 0, "fork");
      if (child > 0) {
        int status = 0;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
      }
    } else if (strncmp(step, "exec=", 5) == 0) {
      arguments[i - 2] = arguments[0];
      arguments[i - 1] = (char*)memory;
      arguments[i] = arguments[i] + 5;
      execv("/proc/self/exe", &arguments[i - 2]);
      Check(0, "exec");
    }
  }
  return 0;
}
