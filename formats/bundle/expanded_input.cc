// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/expanded_input.h"

#include <array>
#include <utility>

#include "formats/base/progress.h"
#include "formats/bundle/archive_reader.h"

namespace perftape::bundle {
namespace {

struct Magic {
  std::string_view bytes, name;
};
// gzip (RFC 1952, with its only compression method), bzip2, xz and zstd (RFC 8878).
constexpr auto kMagics = std::to_array<Magic>({{"\x1f\x8b\x08", "gzip"},
                                               {"BZh", "bzip2"},
                                               {{"\xfd"
                                                 "7zXZ\0",
                                                 6},
                                                "xz"},
                                               {"\x28\xb5\x2f\xfd", "zstd"}});

// Plain text may begin with "BZh". In bzip2, a digit follows, then the digits of pi or, in an empty
// file, those of its square root.
bool IsBzip2(std::string_view text) {
  const std::string_view block = text.size() < 10 ? "" : text.substr(4, 6);
  return block == "1AY&SY" || block == "\x17\x72\x45\x38\x50\x90";
}

}  // namespace

std::string_view CompressionOf(Bytes beginning) {
  const std::string_view text = AsText(beginning);
  for (const Magic& magic : kMagics) {
    if (!text.starts_with(magic.bytes)) continue;
    if (magic.name == "bzip2" && !IsBzip2(text)) continue;
    return magic.name;
  }
  return {};
}

Result<Input> Expanded(Input input) {
  if (input.is_directory() || CompressionOf(input.beginning()).empty()) return input;
  TRY_ASSIGN(const Bytes compressed, input.All());
  Result<MappedFile> file = Expand(compressed, {});
  if (!file) return Fail(InContext(input.name(), std::move(file).error()));
  return Input::FromFile(*std::move(file), input.name(), input.path());
}

Result<Input> OpenExpanded(const std::filesystem::path& path) {
  TRY_ASSIGN(Input input, Input::Open(path));
  AddInputToProgress(input.is_stream() ? 0 : input.beginning().size());
  return Expanded(std::move(input));
}

}  // namespace perftape::bundle
