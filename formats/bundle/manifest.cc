// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/manifest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "formats/bundle/json_fields.h"
#include "formats/json/write.h"

namespace perftape::bundle {
namespace {

constexpr std::uint64_t kManifestVersion = 1;
// A manifest has about 300 bytes a file. Its parsed form is several times as large.
constexpr std::size_t kLargestManifest = std::size_t{16} << 20;
// The manifest, a list in it, an entry, a field.
constexpr std::size_t kMaxManifestDepth = 4;

constexpr std::array kKinds = {"elf", "debug", "kallsyms", "vdso", "perf-map", "jitdump"};
constexpr std::array kKept = {"nothing", "symbols", "whole"};
static_assert(kKinds.size() == std::to_underlying(FileKind::kJitDump) + 1);
static_assert(kKept.size() == std::to_underlying(Kept::kWhole) + 1);

// Addresses are written as text, because many JSON readers support numbers only up to 2^53.
void PutAddress(Json& object, const char* key, std::uint64_t address) {
  std::array<char, 16> digits = {};
  const auto end = std::to_chars(digits.begin(), digits.end(), address, 16).ptr;
  object[key] = "0x" + std::string(digits.begin(), end);
}

Json ModuleJson(const Module& module) {
  Json json = Json::EmptyObject();
  Put(json, "name", module.name);
  PutAddress(json, "address", module.address);
  json["size"] = module.size;
  Put(json, "build_id", module.build_id.hex());
  return json;
}

Json FileJson(const BundledFile& file) {
  Json json = Json::EmptyObject();
  Put(json, "path", file.path);
  json["kind"] = NameOf(file.kind);
  Put(json, "build_id", file.build_id.hex());
  if (file.pid != 0) json["pid"] = file.pid;
  json["kept"] = NameOf(file.kept);
  json["size"] = file.size;
  Put(json, "member", file.member);
  Put(json, "missing", file.missing);
  if (file.number.is_known()) {
    PutAddress(json, "device", file.number.device);
    PutAddress(json, "inode", file.number.inode);
  }
  Put(json, "sha256", file.content);
  return json;
}

Result<Module> ReadModule(const Json& json, std::size_t index) {
  Fields at(json);
  Module module;
  module.name = at.Text("name");
  module.address = at.Address("address");
  module.size = at.Number("size");
  module.build_id = at.BuildId("build_id");
  if (!at.wrong().empty()) return WrongField("modules[" + std::to_string(index) + "]", at.wrong());
  return module;
}

Result<BundledFile> ReadFile(const Json& json, std::size_t index) {
  Fields at(json);
  BundledFile file;
  file.path = at.Text("path");
  file.kind = at.OneOf<FileKind>("kind", kKinds);
  file.build_id = at.BuildId("build_id");
  const std::uint64_t pid = at.Number("pid");
  at.Check(pid <= UINT32_MAX, "pid");
  file.pid = static_cast<std::uint32_t>(pid);
  file.kept = at.OneOf<Kept>("kept", kKept);
  file.size = at.Number("size");
  file.member = at.Text("member");
  file.missing = at.Text("missing");
  file.number = {.device = at.Address("device"), .inode = at.Address("inode")};
  file.content = at.Text("sha256");
  if (!at.wrong().empty()) return WrongField("files[" + std::to_string(index) + "]", at.wrong());
  return file;
}

}  // namespace

std::string_view NameOf(FileKind kind) {
  return kKinds[std::to_underlying(kind)];
}

std::string_view NameOf(Kept kept) {
  return kKept[std::to_underlying(kept)];
}

Json ManifestJson(const Manifest& manifest) {
  Json json = Json::EmptyObject();
  json["version"] = kManifestVersion;
  Put(json, "perftape_version", manifest.perftape_version);
  Put(json, "host", manifest.host);
  Put(json, "kernel_release", manifest.kernel_release);
  Put(json, "machine", manifest.machine);
  Put(json, "boot_id", manifest.boot_id);
  Put(json, "kernel_build_id", manifest.kernel_build_id.hex());
  Put(json, "reference_symbol", manifest.reference_symbol);
  if (!manifest.reference_symbol.empty() || manifest.reference_address != 0) {
    PutAddress(json, "reference_address", manifest.reference_address);
  }
  json["modules"] = Json::EmptyList();
  for (const Module& module : manifest.modules) json["modules"].push_back(ModuleJson(module));
  json["files"] = Json::EmptyList();
  for (const BundledFile& file : manifest.files) json["files"].push_back(FileJson(file));
  return json;
}

std::string EncodeManifest(const Manifest& manifest) {
  return json::Text(ManifestJson(manifest), json::Layout::kNarrow);
}

Result<Manifest> DecodeManifest(std::string_view text) {
  TRY_ASSIGN(const Json json, ParseObject("manifest", text, kLargestManifest, kMaxManifestDepth));
  Fields at(json);
  const std::uint64_t version = at.Number("version");
  if (version > kManifestVersion) {
    return Fail(ErrorCode::kUnsupported,
                "manifest: version " + std::to_string(version) + "; this perftape reads version 1");
  }
  at.Check(version == kManifestVersion, "version");
  at.Check(at.Has("files"), "files");
  Manifest manifest;
  manifest.perftape_version = at.Text("perftape_version");
  manifest.host = at.Text("host");
  manifest.kernel_release = at.Text("kernel_release");
  manifest.machine = at.Text("machine");
  manifest.boot_id = at.Text("boot_id");
  manifest.kernel_build_id = at.BuildId("kernel_build_id");
  manifest.reference_symbol = at.Text("reference_symbol");
  manifest.reference_address = at.Address("reference_address");
  for (const Json& json_module : at.List("modules")) {
    TRY_ASSIGN(Module module, ReadModule(json_module, manifest.modules.size()));
    manifest.modules.push_back(std::move(module));
  }
  for (const Json& json_file : at.List("files")) {
    TRY_ASSIGN(BundledFile file, ReadFile(json_file, manifest.files.size()));
    manifest.files.push_back(std::move(file));
  }
  if (!at.wrong().empty()) return WrongField("manifest", at.wrong());
  return manifest;
}

FoundByPath Find(const Manifest& manifest, const FileByPath& wanted) {
  const bool is_of_several = (wanted.instance & kFileInstance) != 0;
  FoundByPath found;
  for (const BundledFile& file : manifest.files) {
    if (file.kind != wanted.kind || file.path != wanted.path) continue;
    if (is_of_several && file.number.is_known() && InstanceOf(file.number) != wanted.instance) {
      continue;
    }
    const bool is_kept = file.kept != Kept::kNothing;
    if (found.file == nullptr || (is_kept && found.file->kept == Kept::kNothing)) {
      found.file = &file;
    } else if (is_kept && file.number.is_known() && found.file->number.is_known() &&
               file.member != found.file->member) {
      return {.file = nullptr, .has_several = true};
    }
  }
  return found;
}

}  // namespace perftape::bundle
