// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/push/payload.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "convert/export/to_otlp.h"
#include "convert/model/saturating.h"
#include "formats/base/file.h"
#include "formats/pprof/gzip.h"
#include "tools/serve/channels/message_header.h"

namespace perftape::serve {
namespace {

struct PayloadHeader {
  static constexpr std::uint64_t kMagic = 0x646f6c7961707470;
  std::uint64_t bytes = 0, samples = 0;
};

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::string_view kWrongHeader = "pushes: the header of a payload is wrong";

std::uint64_t CountOf(std::span<const convert::Sample> samples) {
  std::int64_t count = 0;
  for (const convert::Sample& sample : samples) count = convert::AddUpToLimit(count, sample.count);
  return static_cast<std::uint64_t>(count);
}

Status AppendPayloads(const convert::Profile& profile, convert::SampleRange range,
                      std::size_t largest, std::vector<Payload>& payloads) {
  if (range.size() == 0) return {};
  const std::string encoded =
      convert::EncodeOtlp(profile, {.samples = range}, otlp::Encoding::kProtobuf).bytes;
  if (encoded.size() > largest && range.size() > 1) {
    const std::uint32_t middle = range.begin + range.size() / 2;
    TRY(AppendPayloads(profile, {range.begin, middle}, largest, payloads));
    return AppendPayloads(profile, {middle, range.end}, largest, payloads);
  }
  TRY_ASSIGN(std::vector<std::byte> gzip, pprof::Gzip(AsBytes(encoded)));
  const std::span<const convert::Sample> all = profile.samples();
  payloads.push_back(
      {.body = std::move(gzip), .samples = CountOf(all.subspan(range.begin, range.size()))});
  return {};
}

}  // namespace

Result<std::vector<Payload>> PayloadsOf(const convert::Profile& profile, std::size_t largest) {
  std::vector<Payload> payloads;
  TRY(AppendPayloads(profile, {0, static_cast<std::uint32_t>(profile.samples().size())}, largest,
                     payloads));
  return payloads;
}

Status WritePayload(int fd, const Payload& payload) {
  TRY(WriteHeader(fd, PayloadHeader{.bytes = payload.body.size(), .samples = payload.samples}));
  return WriteAll(fd, payload.body);
}

Status PayloadReader::Add(Bytes bytes, const std::function<void(Payload)>& sink) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  Bytes rest = bytes_;
  while (true) {
    Bytes after = rest;
    TRY_ASSIGN(const std::optional<PayloadHeader> header,
               ReadHeader<PayloadHeader>(after, kWrongHeader));
    if (!header) break;
    if (header->bytes > kMostBytes) return Fail(ErrorCode::kCorrupt, std::string(kWrongHeader));
    if (after.size() < header->bytes) break;
    const Bytes body = after.first(header->bytes);
    sink({.body = {body.begin(), body.end()}, .samples = header->samples});
    rest = after.subspan(body.size());
  }
  bytes_.erase(bytes_.begin(), bytes_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  return {};
}

}  // namespace perftape::serve
