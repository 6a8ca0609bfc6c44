// SPDX-License-Identifier: Apache-2.0
#include "convert/export/generated_symbols.h"

#include <algorithm>
#include <ranges>
#include <system_error>
#include <utility>

#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/elf/elf_writer.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {
namespace {

namespace fs = std::filesystem;

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
}

bool IsPlainComponent(std::string_view part) {
  constexpr std::size_t kLongest = 255;  // NAME_MAX
  return !part.empty() && part != "." && part != ".." && part != ".build-id" &&
         part.size() <= kLongest && std::ranges::none_of(part, IsControl);
}

bool IsPlainPath(std::string_view path) {
  constexpr std::size_t kLongest = 2048;
  if (path.size() > kLongest || !perfdata::IsFilePath(path)) return false;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (!IsPlainComponent(path.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

std::string SymbolFilePath(std::string_view filename) {
  if (IsPlainPath(filename)) return std::string(filename);
  std::string name(BaseName(filename));
  std::erase_if(name, [](char c) { return IsControl(c) || c == '/' || c == '[' || c == ']'; });
  return IsPlainComponent(name) ? "/" + name : "/unknown";
}

GeneratedSymbolFiles::~GeneratedSymbolFiles() {
  // Directories stay if another process has added files to them.
  std::error_code ignored;
  for (const fs::path& path : made_ | std::views::reverse) fs::remove(path, ignored);
}

Status GeneratedSymbolFiles::Write(const GeneratedSymbolFile& file, const fs::path& directory) {
  const std::string id = file.build_id.hex();
  const fs::path below = fs::path(file.path).relative_path() / id;
  const fs::path elf = directory / below / "elf";
  TRY(MakeDirectories(elf.parent_path()));
  std::error_code ignored;
  if (!fs::exists(elf, ignored)) {
    TRY_ASSIGN(OutputFile out, OutputFile::Create(elf, IfExists::kReplace));
    TRY(out.Write(elf::NamedFunctionsFile(file.names)));
    TRY(std::move(out).Commit());
    made_.push_back(elf);
  }
  const fs::path link = directory / ".build-id" / id.substr(0, 2) / id.substr(2);
  TRY(MakeDirectories(link.parent_path()));
  return MakeLink(link, fs::path("../..") / below);
}

Status GeneratedSymbolFiles::MakeDirectories(const fs::path& path) {
  std::error_code error;
  if (path.empty() || fs::is_directory(path, error)) return {};
  if (path.has_relative_path()) TRY(MakeDirectories(path.parent_path()));
  if (fs::create_directory(path, error)) made_.push_back(path);
  if (error) return FailErrno(path.native(), error.value());
  return {};
}

Status GeneratedSymbolFiles::MakeLink(const fs::path& link, const fs::path& target) {
  std::error_code error;
  fs::create_symlink(target, link, error);
  if (!error) {
    made_.push_back(link);
    return {};
  }
  if (error == std::errc::file_exists) return {};
  return FailErrno(link.native(), error.value());
}

}  // namespace perftape::convert
