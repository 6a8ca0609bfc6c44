// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "formats/base/file.h"

namespace perftape::sandbox {
namespace {

constexpr int kLastOfLinux5_8 = 39;

// The two halves of the sets, in the layout of the kernel.
using Halves = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

__user_cap_header_struct HeaderOf(pid_t thread) {
  return {.version = _LINUX_CAPABILITY_VERSION_3, .pid = thread};
}

constexpr pid_t kCallingThread = 0;

// Both are async-signal-safe, and return false with an errno.
bool ReadCapabilities(pid_t thread, ThreadCapabilities& capabilities) {
  __user_cap_header_struct header = HeaderOf(thread);
  Halves halves = {};
  if (syscall(SYS_capget, &header, halves.data()) != 0) return false;
  capabilities = {.effective = halves[0].effective | CapabilitySet{halves[1].effective} << 32,
                  .permitted = halves[0].permitted | CapabilitySet{halves[1].permitted} << 32};
  return true;
}

bool WriteCapabilities(const ThreadCapabilities& kept) {
  __user_cap_header_struct header = HeaderOf(kCallingThread);
  Halves halves = {};
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i].effective = static_cast<__u32>(kept.effective >> (32 * i));
    halves[i].permitted = static_cast<__u32>(kept.permitted >> (32 * i));
    halves[i].inheritable = 0;
  }
  return syscall(SYS_capset, &header, halves.data()) == 0;
}

std::atomic<CapabilitySet> kept_by_all_threads = 0;
static_assert(std::atomic<CapabilitySet>::is_always_lock_free);

void ReduceInThisThread(int /*signal*/) {
  const int error_number = errno;
  const CapabilitySet kept = kept_by_all_threads;
  ThreadCapabilities own;
  if (ReadCapabilities(kCallingThread, own)) {
    (void)WriteCapabilities({.effective = own.effective & kept, .permitted = own.permitted & kept});
  }
  errno = error_number;
}

// Returns the threads of this process that have other capabilities.
std::vector<pid_t> ThreadsWithMoreThan(CapabilitySet kept) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/task", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    ThreadCapabilities own;
    if (ReadCapabilities(thread, own) && (own.permitted & ~kept) != 0) threads.push_back(thread);
  }
  return threads;
}

// Whether the signal waits, and is not blocked, so that its handler runs before the thread does
// anything else. Hexadecimal sets in /proc/PID/status have bit N - 1 for signal N.
bool WaitsForSignal(pid_t thread, int signal) {
  const auto text = ReadWholeFile("/proc/self/task/" + std::to_string(thread) + "/status");
  if (!text) return true;  // it has ended
  const auto has = [&](std::string_view field) {
    const std::size_t at = text->find(field);
    if (at == std::string::npos) return false;
    std::uint64_t set = 0;
    const char* const begin = text->data() + at + field.size();
    std::from_chars(begin, text->data() + text->size(), set, 16);
    return (set >> (signal - 1) & 1) != 0;
  };
  return has("\nSigPnd:\t") && !has("\nSigBlk:\t");
}

}  // namespace

Result<ThreadCapabilities> OwnCapabilities() {
  ThreadCapabilities own;
  if (!ReadCapabilities(kCallingThread, own)) return FailErrno("sandbox: capget", errno);
  return own;
}

Status SetOwnCapabilities(const ThreadCapabilities& kept) {
  if (!WriteCapabilities(kept)) return FailErrno("sandbox: capset", errno);
  return {};
}

Status KeepInAllThreads(CapabilitySet kept) {
  constexpr auto kPatience = std::chrono::seconds(1);
  constexpr auto kPause = std::chrono::microseconds(100);
  kept_by_all_threads = kept;
  const int signal = SIGRTMIN;
  struct sigaction action = {};
  action.sa_handler = &ReduceInThisThread;
  action.sa_flags = SA_RESTART;
  // It stays installed for threads that are not ready in time.
  if (sigaction(signal, &action, nullptr) != 0) return FailErrno("sandbox: sigaction", errno);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::vector<pid_t> threads = ThreadsWithMoreThan(kept);
  for (; !threads.empty() && std::chrono::steady_clock::now() < end;
       threads = ThreadsWithMoreThan(kept)) {
    for (const pid_t thread : threads) {
      if (!WaitsForSignal(thread, signal)) (void)tgkill(getpid(), thread, signal);
    }
    std::this_thread::sleep_for(kPause);
  }
  for (const pid_t thread : threads) {
    if (!WaitsForSignal(thread, signal)) {
      return Fail(ErrorCode::kIo, "sandbox: a thread keeps its capabilities, because signal " +
                                      std::to_string(signal) +
                                      " is blocked: use --no-sandbox to record anyway");
    }
  }
  return {};
}

int LastCapability() {
  const Result<std::string> text = ReadWholeFile("/proc/sys/kernel/cap_last_cap");
  int last = 0;
  if (!text) return kLastOfLinux5_8;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), last);
  return error == std::errc() ? last : kLastOfLinux5_8;
}

CapabilitySet FileCapabilities(const std::filesystem::path& program) {
  std::array<std::byte, 64> attribute;
  const ssize_t size =
      getxattr(program.c_str(), "security.capability", attribute.data(), attribute.size());
  if (size < 0) return 0;
  return DecodeFileCapabilities(Bytes(attribute).first(static_cast<std::size_t>(size)));
}

CapabilitySet DecodeFileCapabilities(Bytes attribute) {
  constexpr std::uint32_t kEffective = 1;  // VFS_CAP_FLAGS_EFFECTIVE
  constexpr std::size_t kSize = 20;        // of version 2; version 3 adds a user id
  constexpr std::uint32_t kVersion2 = 2, kVersion3 = 3;
  if (attribute.size() < kSize) return 0;
  ByteReader at(attribute, std::endian::little);
  std::uint32_t magic = 0, permitted_low = 0, inheritable_low = 0, permitted_high = 0;
  at.Fixed(magic);  // { __le32 magic_etc;
  at.Fixed(permitted_low);
  at.Fixed(inheritable_low);
  at.Fixed(permitted_high);  //   struct { __le32 permitted, inheritable; } data[2]; }
  const std::uint32_t version = magic >> 24;
  if (version != kVersion2 && version != kVersion3) return 0;
  if ((magic & kEffective) == 0) return 0;
  return permitted_low | CapabilitySet{permitted_high} << 32;
}

}  // namespace perftape::sandbox
