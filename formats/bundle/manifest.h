// SPDX-License-Identifier: Apache-2.0
// The manifest of a bundle. It describes the machine that the bundle was made on, and for each file
// what was kept, or why it is missing. It is the last member of the archive, manifest.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file_number.h"
#include "formats/base/result.h"

namespace perftape::json {
class Value;
}

namespace perftape::bundle {

inline constexpr std::string_view kManifestName = "manifest.json";

struct Module {
  std::string name = {};      // "nf_tables"
  std::uint64_t address = 0;  // load address; 0 if it is hidden
  std::uint64_t size = 0;
  BuildId build_id = {};

  bool operator==(const Module&) const = default;
};

enum class FileKind : std::uint8_t { kElf, kDebug, kKallsyms, kVdso, kPerfMap, kJitDump };
std::string_view NameOf(FileKind kind);  // as in the manifest: "elf", …, "perf-map"

// How much of a binary was kept.
enum class Kept : std::uint8_t {
  kNothing,  // `missing` is the reason
  kSymbols,  // the tables for names and unwinding
  kWhole,
};
std::string_view NameOf(Kept kept);  // "nothing", "symbols", "whole"

struct BundledFile {
  std::string path = {};  // as in recordings: "/usr/bin/ls", "[kernel.kallsyms]", "[vdso]"
  FileKind kind = FileKind::kElf;
  BuildId build_id = {};  // empty if the file has none
  std::uint32_t pid = 0;  // the process of a perf map or jitdump; else 0
  Kept kept = Kept::kNothing;
  std::uint64_t size = 0;   // of the original file, in bytes
  std::string member = {};  // the name in the archive; empty if the file is missing
  std::string missing = {};
  // For a file without a build id, or a debug file of one: the number that distinguishes it from
  // other files of this path on that machine, and ContentHash of the original. Both may be unknown.
  // If only the number of a missing file is known, its path now has another file, or the file was
  // changed.
  FileNumber number = {};
  std::string content = {};

  bool operator==(const BundledFile&) const = default;
};

struct Manifest {
  std::string perftape_version = {};
  std::string host = {};            // uname's nodename
  std::string kernel_release = {};  // uname's release
  std::string machine = {};         // uname's machine
  std::string boot_id = {};         // /proc/sys/kernel/random/boot_id
  BuildId kernel_build_id = {};
  std::string reference_symbol = {};  // "_text" or "_stext", with its address
  std::uint64_t reference_address = 0;
  std::vector<Module> modules = {};
  std::vector<BundledFile> files = {};

  bool operator==(const Manifest&) const = default;
};

// Encodes as JSON. Equal manifests give equal bytes.
std::string EncodeManifest(const Manifest& manifest);
json::Value ManifestJson(const Manifest& manifest);
// Returns kCorrupt if `json` is not JSON or lacks a required field, and kUnsupported for a later
// version. Ignores unknown fields.
Result<Manifest> DecodeManifest(std::string_view json);

// Finds a file that has no build id. `instance` (InstanceOf) distinguishes several files of one
// path if it is one of kFileInstance. Files whose number is unknown may be any file.
struct FileByPath {
  std::string_view path;
  FileKind kind = FileKind::kElf;
  std::uint64_t instance = 0;
};
struct FoundByPath {
  const BundledFile* file = nullptr;  // null: none, or several; one that is kept goes first
  bool has_several = false;           // different ones, and nothing says which it is
};
FoundByPath Find(const Manifest& manifest, const FileByPath& wanted);

}  // namespace perftape::bundle
