// SPDX-License-Identifier: Apache-2.0
// A bundle that is opened for reading, made by perftape or by `perf archive`. Its members are
// unpacked once into an unlinked, mapped file. No member name is ever used as a path on this
// machine.
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
  // Opens a separate file, uncompressed or compressed with zstd, bzip2, gzip or xz, or a perf.data
  // with an embedded bundle. "-" is stdin. Returns kNotFound for a perf.data without a bundle,
  // kCorrupt or kTruncated for a file that is not an archive, and kUnsupported if it unpacks to
  // more than `limits`.
  static Result<Bundle> Open(const std::filesystem::path& path, const UnpackLimits& limits = {});
  // Opens the bundle that is embedded in a perf.data. Returns nothing if there is none, or only
  // the notes of the recording (recording_notes.h). A recording in pipe form never has one. The
  // other errors are those of Open.
  static Result<std::optional<Bundle>> OpenEmbedded(Input& input, const UnpackLimits& limits = {});
  // Opens an archive in memory. The bytes are not needed after the call.
  static Result<Bundle> FromBytes(Bytes archive, const UnpackLimits& limits = {});

  Bundle(Bundle&&) noexcept;
  Bundle& operator=(Bundle&&) noexcept;
  ~Bundle();

  // The manifest. For a `perf archive`, it is made from the names of the members.
  const Manifest& manifest() const;

  // All members in the order of the archive, including the manifest; and the numbers of ignored
  // ones.
  std::span<const UnpackedMember> members() const;
  const PassedOver& passed_over() const;
  // Valid as long as the Bundle.
  Bytes BytesOf(const UnpackedMember& member) const;

  // Finds the bytes of a member by its name in the archive, or by build id and type. Returns
  // nothing if there is no such member. The bytes live as long as the Bundle, even if it is moved.
  std::optional<Bytes> Find(std::string_view member) const;
  std::optional<Bytes> Find(const BuildId& build_id, FileKind kind) const;

 private:
  struct Contents;
  explicit Bundle(std::unique_ptr<Contents> contents);
  static Result<Manifest> ReadManifest(const Contents& contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace perftape::bundle
