// SPDX-License-Identifier: Apache-2.0
#include "record/probes/explain_missing.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <vector>

#include "formats/base/text.h"
#include "formats/elf/dynamic.h"
#include "record/machine/did_you_mean.h"
#include "record/probes/find_binary.h"
#include "record/probes/function_names.h"
#include "record/probes/probed_binary.h"
#include "record/processes/executable.h"

namespace perftape::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLibraries = 200;  // of one program
constexpr std::size_t kMostNames = 5;        // in a message
constexpr std::string_view kLibc = "libc.so.6";

// Returns the path of a library that `binary` needs, as ld.so(8) searches it. $LD_LIBRARY_PATH is
// not known here.
std::optional<fs::path> FindNeeded(const ProbedBinary& binary, std::string_view name) {
  std::error_code error;
  for (const std::string_view entry : elf::ReadDynamicLinks(binary.file()).run_path) {
    std::string directory(entry);
    for (const std::string_view variable : {"${ORIGIN}", "$ORIGIN"}) {
      if (const std::size_t at = directory.find(variable); at != directory.npos) {
        directory.replace(at, variable.size(), binary.path().parent_path().string());
      }
    }
    const fs::path path = fs::path(directory) / name;
    if (fs::exists(path, error)) return path;
  }
  const Result<fs::path> found = FindBinary(std::string(name));
  return found ? std::optional(*found) : std::nullopt;
}

// Returns the first library that has the function, in the order in which the dynamic linker loads
// them: breadth first.
std::optional<fs::path> FindDefiner(const ProbedBinary& binary, std::string_view name) {
  std::vector<ProbedBinary> libraries;
  libraries.reserve(kMostLibraries);
  std::set<fs::path> seen;
  const ProbedBinary* loading = &binary;
  for (std::size_t next = 0; loading != nullptr;) {
    for (const std::string_view needed : elf::ReadDynamicLinks(loading->file()).needed) {
      const auto path = FindNeeded(*loading, needed);
      if (!path || libraries.size() == kMostLibraries || !seen.insert(*path).second) continue;
      Result<ProbedBinary> library = ProbedBinary::Open(*path);
      if (!library) continue;
      if (library->HasFunction(name)) return *path;
      libraries.push_back(*std::move(library));
    }
    loading = next < libraries.size() ? &libraries[next++] : nullptr;
  }
  return std::nullopt;
}

bool Imports(const ProbedBinary& binary, std::string_view name) {
  const std::string wanted = CanonicalName(name);
  const std::string_view identifier = NecessaryIdentifier(name);
  return std::ranges::any_of(elf::ReadImports(binary.file()), [&](std::string_view import) {
    if (import == name) return true;
    return import.contains(identifier) && IsSpellingOf(wanted, import);
  });
}

// glibc 2.34 moved the functions of these libraries into libc.
std::optional<fs::path> FindInLibc(const ProbedBinary& binary, std::string_view name) {
  if (NoteOnMovedLibrary(binary.path().filename().string()).empty()) return std::nullopt;
  fs::path libc = binary.path().parent_path() / kLibc;
  const Result<ProbedBinary> opened = ProbedBinary::Open(libc);
  if (!opened || !opened->HasFunction(name)) return std::nullopt;
  return libc;
}

// Names that end with the wanted one: "shop::Cart::add(int)" for "add", "main.(*T).Get" for "Get".
std::vector<std::string> QualifiedNames(const std::vector<std::string>& names,
                                        std::string_view wanted) {
  std::vector<std::string> qualified;
  for (const std::string& name : names) {
    const std::string canonical = CanonicalName(name);
    const std::string_view whole = canonical;
    for (const std::string_view text : {whole, whole.substr(0, whole.find('(', 1))}) {
      const bool is_end = text.size() > wanted.size() && text.ends_with(wanted);
      const char before = is_end ? text[text.size() - wanted.size() - 1] : 'a';
      if (before != ':' && before != '.') continue;
      qualified.push_back(name);
      break;
    }
  }
  if (qualified.size() > kMostNames) qualified.resize(kMostNames);
  return qualified;
}

}  // namespace

std::string ExplainMissing(const ProbedBinary& binary, std::string_view name) {
  const std::string path = binary.path().string();
  if (const auto libc = FindInLibc(binary, name)) {
    return fmt::format(
        "no function '{0}' in {1}: since glibc 2.34 it is in libc; probe {2}:{0} instead", name,
        path, libc->string());
  }
  const bool is_imported = Imports(binary, name);
  if (const auto definer = FindDefiner(binary, name)) {
    return fmt::format("no function '{0}' in {1}, which {2} {3}: probe {3}:{0} instead", name, path,
                       is_imported ? "imports it from" : "loads it with", definer->string());
  }
  if (is_imported) {
    return fmt::format(
        "no function '{}' in {}, which imports it from a library that was not found here", name,
        path);
  }
  if (!binary.has_functions()) {
    return fmt::format("{} has no symbols: install its debug symbols", path);
  }
  const std::vector<std::string> names = binary.ReadableNames();
  const std::vector<std::string> qualified = QualifiedNames(names, name);
  return fmt::format("no function '{}' in {}{}", name, path,
                     qualified.empty()
                         ? DidYouMean(name, names)
                         : fmt::format("; did you mean {}?", Joined(qualified, " or ")));
}

std::optional<std::string> DescribeScript(const fs::path& path) {
  constexpr std::size_t kLongestLine = 256;  // BINPRM_BUF_SIZE of linux/binfmts.h
  std::string line(kLongestLine, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(line.data(), kLongestLine);
  line.resize(static_cast<std::size_t>(file.gcount()));
  line.resize(std::min(line.size(), line.find('\n')));
  if (!line.starts_with("#!")) return std::nullopt;
  std::vector<std::string> words;
  for (std::size_t at = 2; at < line.size();) {
    const std::size_t start = line.find_first_not_of(" \t", at);
    if (start == line.npos) break;
    at = std::min(line.find_first_of(" \t", start), line.size());
    words.push_back(line.substr(start, at - start));
  }
  if (words.empty()) return std::nullopt;
  std::string interpreter = words.front();
  if (fs::path(interpreter).filename() == "env") {
    const auto program = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
      return !word.starts_with('-') && !word.contains('=');
    });
    if (program != words.end()) {
      const Result<Executable> found = FindExecutable(*program);
      interpreter = found ? found->path : *program;
    }
  }
  return fmt::format("{} is a script, which has no functions to probe: probe its interpreter, {}",
                     path.string(), interpreter);
}

std::string NoteOnMovedLibrary(std::string_view library) {
  constexpr std::string_view kMoved[] = {"libpthread", "libdl", "libutil", "libanl", "librt"};
  const auto is_it = [&](std::string_view moved) {
    return library == moved || (library.starts_with(moved) && library[moved.size()] == '.') ||
           (library.starts_with(moved) && library[moved.size()] == '-');
  };
  if (std::ranges::none_of(kMoved, is_it)) return "";
  return "; since glibc 2.34 its functions are in libc";
}

}  // namespace perftape::record
