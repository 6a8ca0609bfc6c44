// SPDX-License-Identifier: Apache-2.0
// The manifest of a bundle: the machine that the bundle was made on, and for each file what was
// kept, or why it is missing. It is the member manifest.json, the last of the archive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/result.h"

namespace perftape::bundle {

inline constexpr std::string_view kManifestName = "manifest.json";

struct Module {
  std::string name = {};      // "nf_tables"
  std::uint64_t address = 0;  // where it was loaded; 0 where that is hidden
  std::uint64_t size = 0;
  BuildId build_id = {};

  bool operator==(const Module&) const = default;
};

enum class FileKind : std::uint8_t { kElf, kDebug, kKallsyms, kVdso, kPerfMap, kJitDump };
std::string_view NameOf(FileKind kind);  // "elf", …, "perf-map": the manifest's word

// How much of a binary there is.
enum class Kept : std::uint8_t {
  kNothing,  // `missing` says why
  kSymbols,  // what names and unwinding need
  kWhole,
};
std::string_view NameOf(Kept kept);  // "nothing", "symbols", "whole"

struct BundledFile {
  std::string path = {};  // as recordings call it: "/usr/bin/ls", "[kernel.kallsyms]", "[vdso]"
  FileKind kind = FileKind::kElf;
  BuildId build_id = {};  // empty where it has none
  std::uint32_t pid = 0;  // of a perf map or jitdump: whose; 0 for others
  Kept kept = Kept::kNothing;
  std::uint64_t size = 0;   // in bytes, of the file as it was on the machine
  std::string member = {};  // its name in the archive; empty where it is missing
  std::string missing = {};

  bool operator==(const BundledFile&) const = default;
};

struct Manifest {
  std::string perftape_version = {};
  std::string host = {};            // uname's nodename
  std::string kernel_release = {};  // uname's release
  std::string machine = {};         // uname's machine
  std::string boot_id = {};         // /proc/sys/kernel/random/boot_id
  BuildId kernel_build_id = {};
  std::string reference_symbol = {};  // "_text" or "_stext", and where it was
  std::uint64_t reference_address = 0;
  std::vector<Module> modules = {};
  std::vector<BundledFile> files = {};

  bool operator==(const Manifest&) const = default;
};

// As JSON, the same bytes for equal manifests.
std::string EncodeManifest(const Manifest& manifest);
// kCorrupt where it is no JSON or lacks what it must have, kUnsupported for a later version. Fields
// that this version does not know are passed over.
Result<Manifest> DecodeManifest(std::string_view json);

}  // namespace perftape::bundle
