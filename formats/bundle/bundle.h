// SPDX-License-Identifier: Apache-2.0
// A bundle opened for reading, of ours or of `perf archive`. Its members are unpacked once into an
// unlinked file that is mapped: no member's name is ever a path on this machine.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/bundle/archive_reader.h"
#include "formats/bundle/manifest.h"

namespace perftape::bundle {

class Bundle {
 public:
  // A file of its own, compressed in whatever way (zstd, bzip2, gzip, xz or not at all), or a
  // perf.data with an embedded one; "-" is stdin. kNotFound for a perf.data without, kCorrupt or
  // kTruncated for what is no archive, kUnsupported where it unpacks to more than `limits` let it.
  static Result<Bundle> Open(const std::filesystem::path& path, const UnpackLimits& limits = {});
  // That of a perf.data; nothing where it has none, as no recording that comes through a pipe has.
  // The other errors are those of Open.
  static Result<std::optional<Bundle>> OpenEmbedded(Input& input, const UnpackLimits& limits = {});
  // An archive in memory, which is needed no longer then.
  static Result<Bundle> FromBytes(Bytes archive, const UnpackLimits& limits = {});

  Bundle(Bundle&&) noexcept;
  Bundle& operator=(Bundle&&) noexcept;
  ~Bundle();

  // Of a `perf archive`, made up from the names of the members.
  const Manifest& manifest() const;

  // All that the archive holds, in its order, the manifest included; and what it had beside.
  std::span<const UnpackedMember> members() const;
  const PassedOver& passed_over() const;
  // Lives as long as the Bundle.
  Bytes BytesOf(const UnpackedMember& member) const;

  // The bytes of a member, by its name in the archive or by whose it is; nothing where it is not
  // there. They live as long as the Bundle, also when it is moved.
  std::optional<Bytes> Find(std::string_view member) const;
  std::optional<Bytes> Find(const BuildId& build_id, FileKind kind) const;

 private:
  struct Contents;
  explicit Bundle(std::unique_ptr<Contents> contents);
  static Result<Manifest> ReadManifest(const Contents& contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace perftape::bundle
