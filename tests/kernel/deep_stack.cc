// SPDX-License-Identifier: Apache-2.0
// Spends its time below a call chain of known depth, in code without frame pointers.
//
//   deep_stack DEPTH MODE MS
//
// main calls descend(), which calls itself until there are DEPTH frames of it, prints "ready", and
// then works for MS milliseconds. MODE is burn (user code), kernel (reads zeros) or wait (sleeps 1
// ms at a time).
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

volatile std::uint64_t sink;

std::int64_t NowMs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

void ReadZeros() {
  static char zeros[1 << 20];
  const int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < 16; ++i) sink = static_cast<std::uint64_t>(read(fd, zeros, sizeof zeros));
  close(fd);
}

void Work(std::string_view mode) {
  if (mode == "kernel") return ReadZeros();
  if (mode == "wait") {
    usleep(1000);
    return;
  }
  for (int i = 0; i < 100'000; ++i) sink = sink * 3 + 1;
}

}  // namespace

// The frame has 64 bytes of its own, so that a hundred of them do not fit into 8 KiB.
extern "C" __attribute__((noinline)) std::uint64_t descend(int depth, const char* mode, int ms) {
  volatile std::uint64_t own[8];
  own[depth % 8] = static_cast<std::uint64_t>(depth);
  if (depth > 1) return descend(depth - 1, mode, ms) + own[depth % 8];
  std::puts("ready");
  std::fflush(stdout);
  for (const std::int64_t end = NowMs() + ms; NowMs() < end;) Work(mode);
  return own[depth % 8];
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::printf("%d\n", static_cast<int>(descend(std::atoi(argv[1]), argv[2], std::atoi(argv[3]))));
}
