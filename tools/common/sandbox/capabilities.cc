// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>

#include "formats/base/file.h"

namespace perftape::sandbox {
namespace {

constexpr int kLastOfLinux5_8 = 39;

// The two halves of the sets, in the layout of the kernel.
using Halves = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

__user_cap_header_struct OwnThread() {
  return {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
}

}  // namespace

Result<ThreadCapabilities> OwnCapabilities() {
  __user_cap_header_struct header = OwnThread();
  Halves halves = {};
  if (syscall(SYS_capget, &header, halves.data()) != 0) return FailErrno("sandbox: capget", errno);
  return ThreadCapabilities{
      .effective = halves[0].effective | CapabilitySet{halves[1].effective} << 32,
      .permitted = halves[0].permitted | CapabilitySet{halves[1].permitted} << 32};
}

Status SetOwnCapabilities(const ThreadCapabilities& kept) {
  __user_cap_header_struct header = OwnThread();
  Halves halves = {};
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i].effective = static_cast<__u32>(kept.effective >> (32 * i));
    halves[i].permitted = static_cast<__u32>(kept.permitted >> (32 * i));
    halves[i].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, halves.data()) != 0) return FailErrno("sandbox: capset", errno);
  return {};
}

int LastCapability() {
  const Result<std::string> text = ReadWholeFile("/proc/sys/kernel/cap_last_cap");
  int last = 0;
  if (!text) return kLastOfLinux5_8;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), last);
  return error == std::errc() ? last : kLastOfLinux5_8;
}

}  // namespace perftape::sandbox
