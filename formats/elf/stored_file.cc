// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/stored_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "formats/base/zstd.h"
#include "formats/elf/expand.h"

namespace perftape::elf {
namespace {

constexpr std::array<std::string_view, 3> kCompressedEndings = {".xz", ".zst", ".gz"};

// The first bytes of the formats (RFC 1952, RFC 8878).
constexpr std::string_view kGzipBeginning = "\x1f\x8b\x08";
constexpr std::string_view kXzBeginning = {
    "\xfd"
    "7zXZ\0",
    6};
constexpr std::string_view kZstdBeginning = "\x28\xb5\x2f\xfd";

constexpr std::size_t kFirstStep = std::size_t{1} << 20;

std::unexpected<Error> TooLarge(std::uint64_t limit) {
  return Fail(ErrorCode::kUnsupported, "expands to more than " + std::to_string(limit) + " bytes");
}

Result<std::vector<std::byte>> ExpandZstdFile(Bytes compressed, std::uint64_t limit) {
  ZstdDecompressor decompressor;
  std::vector<std::byte> expanded;
  while (true) {
    const std::size_t before = expanded.size();
    if (before >= limit) return TooLarge(limit);
    const std::uint64_t step =
        std::min<std::uint64_t>(std::max(before, kFirstStep), limit - before);
    expanded.resize(before + step);
    TRY_ASSIGN(const std::size_t made,
               decompressor.Expand(compressed, std::span(expanded).subspan(before)));
    expanded.resize(before + made);
    if (made < step && compressed.empty()) return expanded;
  }
}

}  // namespace

std::filesystem::path StoredPath(const std::filesystem::path& path) {
  std::error_code error;
  if (path.empty() || std::filesystem::exists(path, error)) return path;
  const std::string& name = path.native();
  for (const std::string_view ending : kCompressedEndings) {
    std::filesystem::path other = name + std::string(ending);
    if (std::filesystem::exists(other, error)) return other;
  }
  for (const std::string_view ending : kCompressedEndings) {
    if (!name.ends_with(ending)) continue;
    const std::filesystem::path plain = name.substr(0, name.size() - ending.size());
    const std::filesystem::path stored = StoredPath(plain);
    return std::filesystem::exists(stored, error) ? stored : path;
  }
  return path;
}

bool IsCompressed(Bytes beginning) {
  const std::string_view text = AsText(beginning);
  return text.starts_with(kGzipBeginning) || text.starts_with(kXzBeginning) ||
         text.starts_with(kZstdBeginning);
}

Result<std::vector<std::byte>> ExpandFile(Bytes compressed, std::uint64_t limit) {
  const std::string_view text = AsText(compressed);
  if (text.starts_with(kGzipBeginning)) return ExpandGzip(compressed, limit);
  if (text.starts_with(kXzBeginning)) return ExpandXz(compressed, limit);
  return ExpandZstdFile(compressed, limit);
}

// The signature in the header of arch/x86/boot/header.S.
bool IsBootImage(Bytes image) {
  constexpr std::size_t kOffset = 0x202;
  return image.size() > kOffset + 4 && AsText(image.subspan(kOffset, 4)) == "HdrS";
}

}  // namespace perftape::elf
