// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/debug_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/file_number.h"
#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "formats/base/text.h"
#include "formats/bundle/content_hash.h"
#include "formats/dwarf/debug_sections.h"
#include "formats/elf/build_id.h"
#include "formats/elf/debug_link.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/elf/stored_file.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::symbolize {
namespace {

namespace fs = std::filesystem;

// Returns `path` below the directory `root`, even if it contains "..".
fs::path Below(const fs::path& root, const fs::path& path) {
  return root / path.lexically_normal().relative_path();
}

std::string Different(const BuildId& found, const BuildId& wanted) {
  return "build id " + (found.empty() ? "absent" : found.hex()) + ", but the recorded one is " +
         wanted.hex();
}

// Returns the first entry of a manifest that identifies a binary without a build id; or null.
const bundle::BundledFile* IdentityOf(const BinaryQuery& query) {
  if (!query.build_id.empty()) return nullptr;
  for (const SharedBundle& bundle : query.bundles) {
    const bundle::BundledFile* const entry =
        bundle::Find(bundle->manifest(), {.path = query.filename, .instance = query.instance}).file;
    if (entry != nullptr && (!entry->content.empty() || entry->number.is_known())) return entry;
  }
  return nullptr;
}

bool HasContent(const BinaryQuery& query) {
  const bundle::BundledFile* const identity = IdentityOf(query);
  return identity != nullptr && !identity->content.empty();
}

// Returns why the file at `path` is not the recorded one, which has no build id; empty if it may
// be.
std::string DifferenceFrom(const BinaryQuery& query, const fs::path& path) {
  const bundle::BundledFile* const identity = IdentityOf(query);
  if (identity != nullptr && !identity->content.empty()) {
    const auto fd = OpenRegularFile(path);
    if (!fd) return {};  // whoever opens it reports it
    const auto file = MappedFile::FromFd(fd->get(), path.native());
    if (!file) return file.error().message;
    const bool is_it = bundle::ContentHash(*file, symbol_limits::kHashedFile) == identity->content;
    return is_it ? "" : "its content differs from that of the recorded file";
  }
  if (identity != nullptr && identity->kept == bundle::Kept::kNothing) return identity->missing;
  struct stat status = {};
  if ((query.instance & kFileInstance) == 0 || ::stat(path.c_str(), &status) != 0) return {};
  if (InstanceOf(NumberOf(status)) == query.instance) return {};
  return "several files had this path during the recording, and this is a different one";
}

void AddNew(const std::vector<std::string>& notes, std::vector<std::string>& all) {
  for (const std::string& note : notes) {
    if (std::ranges::find(all, note) == all.end()) all.push_back(note);
  }
}

// What a file must contain to be useful.
enum class Content : std::uint8_t { kAny, kSymbols, kDwarf };

bool Has(const elf::ElfFile& file, Content content) {
  switch (content) {
    case Content::kAny:
      break;
    case Content::kSymbols:
      return std::ranges::any_of(file.sections(), [](const elf::Section& section) {
        return section.type == SHT_SYMTAB && section.size != 0;
      });
    case Content::kDwarf:  // DWARF of relocatable files is not read
      return file.header().type != ET_REL && dwarf::HasDwarf(file, dwarf::Part::kLinked);
  }
  return true;
}

}  // namespace

// Opens the first of several candidates that matches, and notes why the others did not.
class DebugFiles::Search {
 public:
  // `wanted` is empty if files are identified by path only.
  explicit Search(const BuildId& wanted, Content content = Content::kAny)
      : wanted_(wanted), content_(content) {}

  std::optional<elf::ElfFile> Try(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(elf::StoredPath(path), error) && !error) {
      NoteAbsent(path.native() + ": not there");
    }
    return TryIfThere(path);
  }

  std::optional<elf::ElfFile> TryIfThere(const fs::path& named) {
    const fs::path path = elf::StoredPath(named);
    const auto id = elf::ReadBuildId(path);
    if (!id) {
      NoteUnusable(path, id.error());
      return std::nullopt;
    }
    if (!Fits(path.native(), *id)) return std::nullopt;
    return AcceptIfMatching(path.native(), elf::ElfFile::Open(path));
  }

  std::optional<elf::ElfFile> Try(const SharedBundle& bundle, Bytes image,
                                  const std::string& name) {
    auto file = elf::ElfFile::FromBytes(image);
    if (file && !Fits(name, file->build_id())) return std::nullopt;
    auto opened = AcceptIfMatching(name, std::move(file));
    if (opened) bundle_ = bundle;
    return opened;
  }

  // Compares the CRC instead of the build id.
  std::optional<elf::ElfFile> TryByCrc(const fs::path& path, std::uint32_t crc) {
    auto file = elf::ElfFile::Open(path);
    if (!file) {
      NoteUnusable(path, file.error());
      return std::nullopt;
    }
    if (!Has(*file, content_)) return std::nullopt;
    if (elf::DebugLinkCrc(file->image()) != crc) {
      Note(path.native() + ": its CRC differs from the one in .gnu_debuglink");
      return std::nullopt;
    }
    return AcceptIfMatching(path.native(), std::move(file));
  }

  // Returns whether files in it can be searched; if not, adds one note with the reason.
  bool CanSearch(const fs::path& directory) {
    std::error_code error;
    (void)fs::exists(directory / ".", error);
    if (error != std::errc::permission_denied) return true;
    Note(directory.native() + ": " + error.message());
    return false;
  }

  void NoteAbsent(std::string what) { absent_.push_back(std::move(what)); }
  void Note(std::string what) { notes_.push_back(std::move(what)); }

  const std::string& opened_name() const { return opened_name_; }
  const SharedBundle& bundle() const { return bundle_; }
  bool found_other_build() const { return found_other_build_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& absent() const { return absent_; }

 private:
  bool Fits(const std::string& name, const BuildId& id) {
    if (wanted_.empty() || id.Matches(wanted_)) return true;
    found_other_build_ = true;
    Note(name + ": " + Different(id, wanted_));
    return false;
  }

  // If the path is a directory, or one of its directories is a file, another layout is used there.
  void NoteUnusable(const fs::path& path, const Error& error) {
    std::error_code ignored;
    const fs::file_type type = fs::status(path, ignored).type();
    if (type == fs::file_type::not_found || type == fs::file_type::directory) return;
    Note(error.message);
  }

  std::optional<elf::ElfFile> AcceptIfMatching(const std::string& name, Result<elf::ElfFile> file) {
    if (!file) {
      const std::string& message = file.error().message;
      Note(message.starts_with(name) ? message : name + ": " + message);
      return std::nullopt;
    }
    if (!Has(*file, content_)) return std::nullopt;
    opened_name_ = name;
    return *std::move(file);
  }

  BuildId wanted_;
  Content content_;
  bool found_other_build_ = false;
  std::string opened_name_;  // the file that was opened last
  SharedBundle bundle_;      // the bundle of that file, if it is from one
  std::vector<std::string> notes_;
  std::vector<std::string> absent_;
};

namespace {

std::optional<elf::ElfFile> TryBundles(auto& search, const BinaryQuery& query, const BuildId& id,
                                       bundle::FileKind kind) {
  for (const SharedBundle& bundle : query.bundles) {
    const bundle::FoundByPath found = bundle::Find(
        bundle->manifest(), {.path = query.filename, .kind = kind, .instance = query.instance});
    const bundle::BundledFile* const entry = found.file;
    const std::string name = "bundle: " + query.filename;
    std::optional<Bytes> bytes;
    if (!id.empty()) bytes = bundle->Find(id, kind);
    if (!bytes && id.empty() && entry != nullptr) bytes = bundle->Find(entry->member);
    if (bytes) {
      if (auto file = search.Try(bundle, *bytes, name)) return file;
    } else if (entry != nullptr && !entry->missing.empty()) {
      search.Note(name + ": " + entry->missing);
    } else if (entry != nullptr && !entry->build_id.empty() && !id.empty() &&
               kind == bundle::FileKind::kElf) {
      search.Note(name + ": " + Different(entry->build_id, id));
    } else if (id.empty() && found.has_several) {
      search.Note(name +
                  ": has several files for this path, and nothing shows which one was recorded");
    } else if (kind == bundle::FileKind::kElf) {
      search.NoteAbsent(name + ": not there");
    }
  }
  return std::nullopt;
}

std::optional<elf::ElfFile> TryAll(auto& search, const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) {
    if (auto file = search.TryIfThere(path)) return file;
  }
  return std::nullopt;
}

std::optional<elf::ElfFile> TryDirectories(auto& search, const std::vector<fs::path>& directories,
                                           const BuildId& id, elf::BuildIdFile what,
                                           std::string_view recorded_path) {
  if (id.empty()) return std::nullopt;
  for (const fs::path& directory : directories) {
    if (!search.CanSearch(directory)) continue;
    if (auto file = TryAll(search, elf::SearchPathsIn(directory, id, what, recorded_path)))
      return file;
    search.NoteAbsent(directory.native() + ": nothing with build id " + id.hex());
  }
  return std::nullopt;
}

// Tries the recorded path below `root`. If the file was marked as deleted, a new file may have the
// path without the mark. It is used only if its build id matches.
std::optional<elf::ElfFile> TryPath(auto& search, const fs::path& root, const BinaryQuery& query) {
  if (!perfdata::IsFilePath(query.filename)) return std::nullopt;
  if (query.build_id.empty()) {
    const fs::path path = elf::StoredPath(Below(root, query.filename));
    if (const std::string difference = DifferenceFrom(query, path); !difference.empty()) {
      search.Note(path.native() + ": " + difference);
      return std::nullopt;
    }
  }
  if (auto file = search.Try(Below(root, query.filename))) return file;
  const std::string_view path = perfdata::WithoutDeleted(query.filename);
  if (path == query.filename || query.build_id.empty()) return std::nullopt;
  return search.Try(Below(root, path));
}

}  // namespace

DebugFiles::DebugFiles(fs::path symfs, std::vector<fs::path> directories)
    : symfs_(std::move(symfs)), directories_(std::move(directories)) {
  if (!symfs_.empty()) directories_.insert(directories_.begin(), symfs_ / "usr/lib/debug");
}

std::optional<elf::ElfFile> DebugFiles::FindImage(const BinaryQuery& query, Search& search) const {
  if (auto file = TryBundles(search, query, query.build_id, bundle::FileKind::kElf)) return file;
  if (!symfs_.empty()) {
    if (auto file = TryPath(search, symfs_, query)) return file;
  }
  if (auto file = TryDirectories(search, directories_, query.build_id, elf::BuildIdFile::kImage,
                                 query.filename)) {
    return file;
  }
  if (query.not_local.empty()) return TryPath(search, "/", query);
  if (perfdata::IsFilePath(query.filename)) {
    search.NoteAbsent(query.filename + " of this machine: " + query.not_local);
  }
  return std::nullopt;
}

std::optional<elf::ElfFile> DebugFiles::FindDebug(const BinaryQuery& query,
                                                  const elf::ElfFile* image, const BuildId& id,
                                                  Search& search) const {
  if (!id.empty()) {
    if (auto file = TryBundles(search, query, id, bundle::FileKind::kDebug)) return file;
  }
  if (auto file =
          TryDirectories(search, directories_, id, elf::BuildIdFile::kDebug, query.filename)) {
    return file;
  }
  return image == nullptr ? std::nullopt : FindByLink(*image, query, search);
}

DebugFile DebugFiles::Find(const BinaryQuery& query) const {
  DebugFile found;
  Search images(query.build_id);
  found.image = FindImage(query, images);
  const BuildId id = found.image ? found.image->build_id() : query.build_id;
  Search debugs(id);
  found.debug = FindDebug(query, found.image ? &*found.image : nullptr, id, debugs);
  if (!found.debug && id.empty() && images.bundle()) {
    // Other files in the same bundle are from the same machine and time.
    const SharedBundle own[] = {images.bundle()};
    found.debug =
        TryBundles(debugs, {.filename = query.filename, .instance = query.instance, .bundles = own},
                   id, bundle::FileKind::kDebug);
  }

  for (const Search* search : {&images, &debugs}) {
    if (search->bundle()) found.bundles.push_back(search->bundle());
    AddNew(search->notes(), found.tried);
  }
  if (!found.image && !found.debug) {
    found.miss = images.found_other_build() ? Miss::kWrongBuildId : Miss::kNoFile;
    found.problem = Joined(images.notes(), "; ");
    found.tried.insert(found.tried.end(), images.absent().begin(), images.absent().end());
    return found;
  }
  found.source = found.image ? images.opened_name() : debugs.opened_name();
  if (found.image && found.debug) found.source += " with " + debugs.opened_name();
  if (!found.image) found.image = std::exchange(found.debug, std::nullopt);
  Complete(query, found);
  if (query.build_id.empty() && !HasContent(query)) found.source += ", build id unchecked";
  found.searched = SearchedFor(query);
  FindSupplementary(query, found);
  return found;
}

// The first source often has less than a later one: a bundle has no DWARF, an installed binary has
// no symbol table. Only an equal build id, or equal content, proves that two files are of the same
// binary.
void DebugFiles::Complete(const BinaryQuery& query, DebugFile& found) const {
  BinaryQuery later = query;
  later.build_id = found.image->build_id();
  if (later.build_id.empty()) return CompleteByContent(query, found);
  const auto has = [&](Content content) {
    return Has(*found.image, content) || (found.debug && Has(*found.debug, content));
  };
  const auto find = [&](Content content, std::string_view role) {
    Search search(later.build_id, content);
    auto file = FindDebug(later, &*found.image, later.build_id, search);
    if (!file) file = FindImage(later, search);
    if (file) found.source.append(role).append(search.opened_name());
    if (search.bundle()) found.bundles.push_back(search.bundle());
    AddNew(search.notes(), found.tried);
    return file;
  };
  if (!found.debug && !has(Content::kSymbols)) found.debug = find(Content::kSymbols, " with ");
  if (query.wants_lines && !has(Content::kDwarf)) {
    found.lines = find(Content::kDwarf, ", lines from ");
  }
}

void DebugFiles::CompleteByContent(const BinaryQuery& query, DebugFile& found) const {
  const auto has_lines = [](const elf::ElfFile& file) { return Has(file, Content::kDwarf); };
  if (!query.wants_lines || has_lines(*found.image) || (found.debug && has_lines(*found.debug)) ||
      !HasContent(query)) {
    return;
  }
  Search search({}, Content::kDwarf);
  for (const fs::path& root : SearchedFor(query).roots) {
    found.lines = TryPath(search, root, query);
    if (found.lines) break;
  }
  if (found.lines) found.source += ", lines from " + search.opened_name();
  AddNew(search.notes(), found.tried);
}

std::optional<elf::ElfFile> DebugFiles::FindByLink(const elf::ElfFile& image,
                                                   const BinaryQuery& query, Search& search) const {
  const auto link = elf::ReadDebugLink(image);
  if (!link || !perfdata::IsFilePath(query.filename)) return std::nullopt;
  for (const fs::path& root : SearchedFor(query).roots) {
    for (const fs::path& path :
         elf::SearchPathsOfDebugLink(link->file_name, query.filename, root, directories_)) {
      if (auto file = search.TryByCrc(path, link->crc)) return file;
    }
  }
  return std::nullopt;
}

elf::SearchedDirectories DebugFiles::SearchedFor(const BinaryQuery& query) const {
  elf::SearchedDirectories searched = {.roots = {}, .debug_dirs = directories_};
  if (!symfs_.empty()) searched.roots.push_back(symfs_);
  if (query.not_local.empty()) searched.roots.emplace_back("/");
  return searched;
}

void DebugFiles::FindSupplementary(const BinaryQuery& query, DebugFile& found) const {
  const elf::ElfFile& linking = found.lines   ? *found.lines
                                : found.debug ? *found.debug
                                              : *found.image;
  const auto link = elf::ReadDebugAltLink(linking);
  if (!link || link->build_id.empty()) return;
  Search search(link->build_id);
  auto& file = found.supplementary;
  file = TryBundles(search, query, link->build_id, bundle::FileKind::kDebug);
  if (file) found.bundles.push_back(search.bundle());
  if (!file) {
    file = TryDirectories(search, directories_, link->build_id, elf::BuildIdFile::kDebug, {});
  }
  if (file) return;
  const elf::LinkSearchPaths found_links =
      elf::SearchPathsOfDebugAltLink(link->file_name, linking.path(), found.searched);
  file = TryAll(search, found_links.paths);
  if (file) return;
  if (!found_links.outside.empty())
    search.Note(found_links.Refusal() + ", named by .gnu_debugaltlink");
  AddNew(search.notes(), found.tried);
}

}  // namespace perftape::symbolize
