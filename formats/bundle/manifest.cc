// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/manifest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "formats/base/unsafe_text.h"
#include "formats/base/utf8.h"

namespace perftape::bundle {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kManifestVersion = 1;
// A manifest has about 300 bytes a file. Its parsed form is several times as large.
constexpr std::size_t kLargest = std::size_t{16} << 20;
// The manifest, a list in it, an entry, a field.
constexpr int kMaxManifestDepth = 4;

constexpr std::array kKinds = {"elf", "debug", "kallsyms", "vdso", "perf-map", "jitdump"};
constexpr std::array kKept = {"nothing", "symbols", "whole"};
static_assert(kKinds.size() == std::to_underlying(FileKind::kJitDump) + 1);
static_assert(kKept.size() == std::to_underlying(Kept::kWhole) + 1);

std::string HexOf(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::optional<std::string> BytesOfHex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* end = text.data() + i + 2;
    const auto [stopped, error] = std::from_chars(text.data() + i, end, byte, 16);
    if (error != std::errc{} || stopped != end) return {};
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// Adds a text. File names may be any bytes, but JSON is UTF-8. So other bytes are written as
// hexadecimal digits under a different key. Leaves out an empty text.
void Put(Json& object, const std::string& key, const std::string& text) {
  if (text.empty()) return;
  if (IsUtf8(text)) {
    object[key] = text;
  } else {
    object[key + "_hex"] = HexOf(text);
  }
}

// Addresses are written as text, because many JSON readers support numbers only up to 2^53.
void PutAddress(Json& object, const char* key, std::uint64_t address) {
  std::array<char, 16> digits = {};
  const auto end = std::to_chars(digits.begin(), digits.end(), address, 16).ptr;
  object[key] = "0x" + std::string(digits.begin(), end);
}

Json ModuleJson(const Module& module) {
  Json json = Json::object();
  Put(json, "name", module.name);
  PutAddress(json, "address", module.address);
  json["size"] = module.size;
  Put(json, "build_id", module.build_id.hex());
  return json;
}

Json FileJson(const BundledFile& file) {
  Json json = Json::object();
  Put(json, "path", file.path);
  json["kind"] = NameOf(file.kind);
  Put(json, "build_id", file.build_id.hex());
  if (file.pid != 0) json["pid"] = file.pid;
  json["kept"] = NameOf(file.kept);
  json["size"] = file.size;
  Put(json, "member", file.member);
  Put(json, "missing", file.missing);
  return json;
}

// Reads the fields of one object. An absent field is empty. wrong() returns the first field of a
// wrong type, so callers check it once, at the end.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) { Check(object.is_object(), "it"); }

  std::string Text(const std::string& key) {
    if (const Json* text = Find(key)) {
      Check(text->is_string(), key);
      return text->is_string() ? text->get<std::string>() : std::string();
    }
    const Json* hex = Find(key + "_hex");
    if (hex == nullptr) return {};
    auto bytes = hex->is_string() ? BytesOfHex(hex->get<std::string>()) : std::nullopt;
    Check(bytes.has_value(), key + "_hex");
    return bytes.value_or("");
  }

  std::uint64_t Number(const std::string& key) {
    const Json* number = Find(key);
    if (number == nullptr) return 0;
    Check(number->is_number_unsigned(), key);
    return number->is_number_unsigned() ? number->get<std::uint64_t>() : 0;
  }

  std::uint64_t Address(const std::string& key) {
    const std::string text = Text(key);
    if (text.empty()) return 0;
    std::uint64_t address = 0;
    const char* end = text.data() + text.size();
    const char* digits = text.data() + std::min<std::size_t>(text.size(), 2);
    const auto [stopped, error] = std::from_chars(digits, end, address, 16);
    Check(text.starts_with("0x") && error == std::errc{} && stopped == end, key);
    return address;
  }

  perftape::BuildId BuildId(const std::string& key) {
    const std::string text = Text(key);
    if (text.empty()) return {};
    const auto id = perftape::BuildId::FromHex(text);
    Check(id.has_value(), key);
    return id.value_or(perftape::BuildId());
  }

  // The index of the field's text among `names`.
  template <class Enum, std::size_t kCount>
  Enum OneOf(const std::string& key, const std::array<const char*, kCount>& names) {
    const auto* found = std::ranges::find(names, Text(key));
    Check(found != names.end(), key);
    return found == names.end() ? Enum{} : static_cast<Enum>(found - names.begin());
  }

  // The entries of a list. Empty if the list is absent.
  std::span<const Json> List(const std::string& key) {
    const Json* list = Find(key);
    if (list == nullptr) return {};
    Check(list->is_array(), key);
    return list->is_array() ? std::span<const Json>(*list->get_ptr<const Json::array_t*>())
                            : std::span<const Json>();
  }

  void Check(bool right, const std::string& key) {
    if (!right && wrong_.empty()) wrong_ = key;
  }
  // The name of the first wrong field. Empty if all are right.
  const std::string& wrong() const { return wrong_; }

 private:
  const Json* Find(const std::string& key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  const Json& object_;
  std::string wrong_;
};

std::unexpected<Error> Wrong(const std::string& position, const std::string& field) {
  return Fail(ErrorCode::kCorrupt, position + ": " + field + " is not what it should be");
}

Result<Module> ReadModule(const Json& json, std::size_t index) {
  Fields at(json);
  Module module;
  module.name = at.Text("name");
  module.address = at.Address("address");
  module.size = at.Number("size");
  module.build_id = at.BuildId("build_id");
  if (!at.wrong().empty()) return Wrong("modules[" + std::to_string(index) + "]", at.wrong());
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
  if (!at.wrong().empty()) return Wrong("files[" + std::to_string(index) + "]", at.wrong());
  return file;
}

Result<Json> ParseJson(std::string_view text) {
  if (text.size() > kLargest)
    return Fail(ErrorCode::kUnsupported, "manifest: larger than " + std::to_string(kLargest));
  // The parser discards deeper levels, so that brackets cost no memory.
  const auto not_too_deep = [](int depth, Json::parse_event_t, Json&) {
    return depth <= kMaxManifestDepth;
  };
  Json json = Json::parse(text, not_too_deep, /*allow_exceptions=*/false);
  if (!json.is_object()) return Fail(ErrorCode::kCorrupt, "manifest: is no JSON object");
  return json;
}

}  // namespace

std::string_view NameOf(FileKind kind) {
  return kKinds[std::to_underlying(kind)];
}

std::string_view NameOf(Kept kept) {
  return kKept[std::to_underlying(kept)];
}

std::string EncodeManifest(const Manifest& manifest) {
  Json json = Json::object();
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
  json["modules"] = Json::array();
  for (const Module& module : manifest.modules) json["modules"].push_back(ModuleJson(module));
  json["files"] = Json::array();
  for (const BundledFile& file : manifest.files) json["files"].push_back(FileJson(file));
  return EscapedJson(json.dump(1)) + "\n";
}

Result<Manifest> DecodeManifest(std::string_view text) {
  TRY_ASSIGN(const Json json, ParseJson(text));
  Fields at(json);
  const std::uint64_t version = at.Number("version");
  if (version > kManifestVersion) {
    return Fail(ErrorCode::kUnsupported,
                "manifest: version " + std::to_string(version) + "; this perftape reads version 1");
  }
  at.Check(version == kManifestVersion, "version");
  at.Check(json.contains("files"), "files");
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
  if (!at.wrong().empty()) return Wrong("manifest", at.wrong());
  return manifest;
}

}  // namespace perftape::bundle
