// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "formats/perfdata/latency_text.h"

namespace perftape::diagnose {
namespace {

using convert::Label;
using convert::LabelsId;
using convert::Profile;

constexpr std::string_view kPeer = "peer", kName = "name", kFile = "file", kNumber = "nr",
                           kLock = "lock", kDevice = "dev", kOrder = "order", kToAddress = "daddr",
                           kToAddressV6 = "daddr_v6", kToPort = "dport";

// Decodes "{0x7f,0x0,0x0,0x1}", as an array of a tracepoint is written (TextOf in tracepoints.h).
std::vector<std::byte> BytesOf(std::string_view array) {
  std::vector<std::byte> bytes;
  while (!array.empty()) {
    const std::size_t at = array.find("0x");
    if (at == std::string_view::npos) break;
    array.remove_prefix(at + 2);
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(array.data(), array.data() + array.size(), byte, 16);
    if (error != std::errc{}) return {};
    bytes.push_back(static_cast<std::byte>(byte));
    array.remove_prefix(static_cast<std::size_t>(end - array.data()));
  }
  return bytes;
}

}  // namespace

std::vector<std::string> ObjectFields() {
  std::vector<std::string> fields;
  for (const std::string_view field :
       {kPeer, kName, kFile, kNumber, kLock, kDevice, kOrder, kToAddress, kToAddressV6, kToPort}) {
    fields.emplace_back(field);
  }
  return fields;
}

std::string FieldText(const Profile& profile, LabelsId labels, std::string_view field) {
  const Label* const label = convert::FindLabel(profile, labels, convert::FieldLabelKey(field));
  if (label == nullptr) return {};
  const std::string_view text = profile.text(label->text);
  return text.empty() ? fmt::format("{}", label->number) : std::string(text);
}

std::string ObjectOf(const Profile& profile, LabelsId labels) {
  const auto text_of = [&](std::string_view field) { return FieldText(profile, labels, field); };
  const std::string name = text_of(kName), peer = text_of(kPeer);
  if (!name.empty() && !peer.empty()) return fmt::format("{} at {}", name, peer);
  if (!name.empty()) return name;
  if (!peer.empty()) return peer;
  if (std::string file = text_of(kFile); !file.empty()) return file;
  for (const auto& [field, noun] : {std::pair{kNumber, "system call"}, std::pair{kLock, "lock"},
                                    std::pair{kDevice, "device"}, std::pair{kOrder, "order"}}) {
    const std::string text = text_of(field);
    if (!text.empty()) return fmt::format("{} {}", noun, text);
  }
  return {};
}

std::string PeerOf(const Profile& profile, LabelsId labels) {
  std::uint16_t port = 0;
  const std::string port_text = FieldText(profile, labels, kToPort);
  (void)std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  const std::vector<std::byte> address = BytesOf(FieldText(profile, labels, kToAddress));
  const bool is_zero = std::ranges::all_of(address, [](std::byte b) { return b == std::byte{}; });
  if (address.size() > sizeof(std::uint32_t)) return perfdata::SocketAddressText(address);
  if (!is_zero) return perfdata::IpAddressText(address, port);
  return perfdata::IpAddressText(BytesOf(FieldText(profile, labels, kToAddressV6)), port);
}

bool IsOrdinaryFile(std::string_view object) {
  if (!object.starts_with('/') && !object.starts_with("...")) return false;
  return std::ranges::none_of(
      std::initializer_list<std::string_view>{"/dev/", "/proc/", "/sys/"},
      [&](std::string_view directory) { return object.starts_with(directory); });
}

}  // namespace perftape::diagnose
