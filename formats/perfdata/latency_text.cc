// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/latency_text.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "formats/perfdata/latency_probes.h"
#include "formats/perfdata/system_call_names.h"

namespace perftape::perfdata {
namespace {

constexpr std::string_view kDnsProbe = "dns";
// RFC 6895, 2.3. A query that got no answer has an errno, which is larger.
constexpr std::string_view kRcodes[] = {
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",  "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
    "NXRRSET", "NOTAUTH", "NOTZONE",  "DSOTYPENI", "RCODE12", "RCODE13", "RCODE14",  "RCODE15"};

// dev_t of the kernel: the minor number has 20 bits (include/linux/kdev_t.h).
std::string DeviceText(std::uint64_t device) {
  constexpr unsigned kMinorBits = 20;
  return fmt::format("{}:{}", device >> kMinorBits, device & ((1U << kMinorBits) - 1));
}

}  // namespace

std::string LatencyErrorText(std::string_view probe, std::int64_t error) {
  if (probe == kDnsProbe && error >= 0 && error < std::ssize(kRcodes)) {
    return std::string(kRcodes[error]);
  }
  const bool is_errno = error > 0 && error < 4096;  // MAX_ERRNO, include/linux/err.h
  const char* const name = is_errno ? strerrorname_np(static_cast<int>(error)) : nullptr;
  return name != nullptr ? name : fmt::format("{}", error);
}

std::string IpAddressText(Bytes address, std::uint16_t port) {
  const bool is_v6 = address.size() == sizeof(in6_addr);
  if (!is_v6 && address.size() != sizeof(in_addr)) return {};
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (inet_ntop(is_v6 ? AF_INET6 : AF_INET, address.data(), text.data(), text.size()) == nullptr) {
    return {};
  }
  return is_v6 ? fmt::format("[{}]:{}", text.data(), port)
               : fmt::format("{}:{}", text.data(), port);
}

std::string SocketAddressText(Bytes address) {
  if (address.size() < sizeof(sockaddr_in)) return {};
  sockaddr_in v4 = {};
  std::memcpy(&v4, address.data(), sizeof v4);
  if (v4.sin_family == AF_UNSPEC) return {};
  // The ports of both are in the same bytes.
  if (v4.sin_family == AF_INET) {
    return IpAddressText(address.subspan(offsetof(sockaddr_in, sin_addr), sizeof(in_addr)),
                         ntohs(v4.sin_port));
  }
  if (v4.sin_family == AF_INET6 && address.size() >= sizeof(sockaddr_in6)) {
    return IpAddressText(address.subspan(offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr)),
                         ntohs(v4.sin_port));
  }
  return fmt::format("family {}", v4.sin_family);
}

std::optional<std::string> LatencyFieldText(std::string_view event, const TracepointField& field,
                                            const FieldValue& value, std::string_view arch) {
  const LatencyProbe* const probe = FindLatencyEvent(event);
  if (probe == nullptr) return std::nullopt;
  if (field.name == kErrorField.name) {
    const auto error = static_cast<std::int64_t>(value.number);
    return error == 0 ? std::string() : LatencyErrorText(probe->name, error);
  }
  if (field.name == kPeerField.name) return SocketAddressText(value.array);
  if (field.name == kDeviceField.name) {
    return value.number == 0 ? std::string() : DeviceText(value.number);
  }
  if (field.name == kNumberField.name) {
    const std::string_view name = SystemCallName(arch, value.number);
    return name.empty() ? std::nullopt : std::optional(std::string(name));
  }
  if (field.name == kLockField.name) return fmt::format("{:#x}", value.number);
  return std::nullopt;
}

}  // namespace perftape::perfdata
