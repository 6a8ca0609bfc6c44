// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/write_bundle.h"

#include <sys/stat.h>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/process_identity.h"
#include "formats/base/symbol_limits.h"
#include "formats/bundle/content_hash.h"
#include "formats/elf/build_id.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/headers.h"
#include "formats/elf/slim.h"
#include "formats/go/slim_copy.h"
#include "formats/perfdata/mapping_name.h"
#include "record/symbols/debug_files.h"

namespace perftape::record {
namespace {

using bundle::BundledFile;
using bundle::FileKind;
using bundle::Kept;

// The content of one file in the bundle: the bytes of `mapped`, else `slim`.
struct Content {
  BundledFile about;
  std::optional<MappedFile> mapped = {};
  std::vector<std::byte> slim = {};

  Bytes bytes() const { return mapped ? mapped->bytes() : Bytes(slim); }
};

constexpr std::string_view kTruncated = "was truncated while it was read";
constexpr std::string_view kChanged = "changed in place since it was first sampled";

// The limits in bytes for one file and for the bundle.
struct Limits {
  std::uint64_t file = symbol_limits::kWholeFile;
  std::uint64_t bundle = symbol_limits::kWholeBundle;
};

Limits LimitsOf(BundleDepth depth) {
  if (depth != BundleDepth::kSymbols) return {};
  return {symbol_limits::kSymbolTables, symbol_limits::kBundle};
}

// Does not read the bytes yet.
Content WholeFile(BundledFile about, int fd) {
  Result<MappedFile> mapped = MappedFile::FromFd(fd, about.path);
  if (!mapped) {
    about.missing = mapped.error().message;
    return {std::move(about)};
  }
  about.kept = Kept::kWhole;
  about.size = mapped->bytes().size();
  return {std::move(about), *std::move(mapped)};
}

// Makes the file missing if it is larger than `limit`.
Content WholeFileUpTo(std::uint64_t limit, Content whole) {
  if (!whole.mapped || whole.about.size <= limit) return whole;
  whole.about.kept = Kept::kNothing;
  whole.about.missing = MoreThanIsRead(whole.about.size, limit);
  return {std::move(whole.about)};
}

// Whether the bytes of the open file are no longer those that were sampled. Nobody else can tell a
// changed file without a build id.
bool WasChanged(const HitBinary& binary) {
  struct stat status = {};
  if (!binary.build_id.empty() || ::fstat(binary.file.get(), &status) != 0) return false;
  return static_cast<std::uint64_t>(status.st_size) != binary.size ||
         ModifiedNs(status) != binary.modified_ns;
}

// The hashes that identify files without a build id. Not thread-safe.
class ContentHashes {
 public:
  // Returns the hash of the file; empty beyond the limits of one and of all.
  std::string Of(const MappedFile& file) {
    std::string hash = bundle::ContentHash(file, std::min(symbol_limits::kHashedFile, room_));
    if (!hash.empty()) room_ -= file.bytes().size();
    return hash;
  }
  void Insert(const std::string& hash) { seen_.insert(hash); }
  bool Contains(const std::string& hash) const { return !hash.empty() && seen_.contains(hash); }

 private:
  std::uint64_t room_ = symbol_limits::kAllHashedFiles;
  std::set<std::string> seen_;
};

Content SlimOf(Content whole, BundleDepth depth, std::uint64_t limit) {
  if (depth == BundleDepth::kWhole || !whole.mapped) {
    return WholeFileUpTo(limit, std::move(whole));
  }
  const Result<elf::ElfFile> image = elf::ElfFile::FromBytes(whole.mapped->bytes());
  if (!image) return WholeFileUpTo(limit, std::move(whole));
  const elf::SlimDwarf dwarf =
      depth == BundleDepth::kDebug ? elf::SlimDwarf::kKeep : elf::SlimDwarf::kDrop;
  auto slim = go::SlimCopy(*image, dwarf, limit);
  if (whole.mapped->was_truncated()) {
    whole.about.missing = kTruncated;
    return {std::move(whole.about)};
  }
  if (!slim) return WholeFileUpTo(limit, std::move(whole));
  whole.about.kept = Kept::kSymbols;
  return {std::move(whole.about), std::nullopt, *std::move(slim)};
}

// A file whose hash `hashes` contains has no bytes in the result: they are in the bundle already.
Content Slimmed(const HitBinary& binary, BundleDepth depth, std::uint64_t limit,
                ContentHashes& hashes) {
  BundledFile about{.path = binary.path,
                    .kind = binary.kind,
                    .build_id = binary.build_id,
                    .size = binary.size,
                    .missing = binary.missing,
                    .number = binary.number};
  if (!about.missing.empty()) return {std::move(about)};
  if (!binary.slim.empty()) {
    about.kept = Kept::kSymbols;
    return {std::move(about), std::nullopt, binary.slim};
  }
  Content content = WholeFile(std::move(about), binary.file.get());
  if (content.mapped && binary.build_id.empty()) {
    content.about.content = binary.content.empty() ? hashes.Of(*content.mapped) : binary.content;
  }
  if (hashes.Contains(content.about.content)) {
    content.mapped.reset();
  } else {
    content = SlimOf(std::move(content), depth, limit);
  }
  if (!content.about.missing.empty() || !WasChanged(binary)) return content;
  content.about.missing = kChanged;
  content.about.content.clear();
  return {std::move(content.about)};
}

bool HasSymbols(const elf::ElfFile& file) {
  return std::ranges::any_of(
      file.sections(), [](const elf::Section& section) { return section.type == SHT_SYMTAB; });
}

// Returns a slim copy with the symbols of a debug file; nothing if it has none.
std::optional<Content> NamesOf(const Content& debug) {
  if (!debug.mapped) return std::nullopt;
  const Result<elf::ElfFile> file = elf::ElfFile::FromBytes(debug.bytes());
  if (!file || !HasSymbols(*file)) return std::nullopt;
  auto slim = elf::SlimCopy(*file, {.dwarf = elf::SlimDwarf::kDrop});
  if (!slim || debug.mapped->was_truncated()) return std::nullopt;
  Content names = {.about = debug.about, .slim = *std::move(slim)};
  names.about.kept = Kept::kSymbols;
  return names;
}

struct Kernel {
  bundle::Manifest system;
  Result<std::string> kallsyms;
};

// Returns a copy that an earlier bundle contains; nothing if it cannot be read.
std::optional<Content> CopyOf(const BundledCopy& copy) {
  Result<MappedFile> mapped = MappedFile::FromFd(copy.bytes.get(), copy.about.path);
  if (!mapped) return std::nullopt;
  return Content{.about = copy.about, .mapped = *std::move(mapped)};
}

// Keeps a slim copy for the next bundle. Without room for it, it is made again.
void KeepCopy(const Content& content, HitBinary& binary) {
  if (content.slim.empty() || !content.about.missing.empty()) return;
  Result<UniqueFd> file = CreateUnlinked();
  if (!file || !WriteAll(file->get(), content.slim)) return;
  binary.copies.push_back({.about = content.about, .bytes = *std::move(file)});
}

Kernel ReadKernel(const KernelRoots& roots) {
  bundle::Manifest system = DescribeSystem(roots);
  Result<std::string> kallsyms = ReadKallsyms(roots, system);
  return {std::move(system), std::move(kallsyms)};
}

class Filling {
 public:
  Filling(bundle::BundleWriter writer, BundleDepth depth, NextBundle next, OthersFiles& others)
      : writer_(std::move(writer)),
        depth_(depth),
        next_(next),
        others_(others),
        limits_(LimitsOf(depth)) {}

  Status Add(Content content) {
    const std::string path = content.about.path;
    TRY(Add(std::move(content.about), content.bytes()));
    if (content.mapped && content.mapped->was_truncated()) {
      summary_.missing.push_back(path + ": " + std::string(kTruncated));
    }
    return {};
  }

  Status Add(BundledFile about, Bytes content) {
    if (const BundledFile* same = about.missing.empty() ? writer_.AddSame(about) : nullptr) {
      Count(*same);
      return {};
    }
    if (about.missing.empty() && content.size() > limits_.bundle - written_) {
      about.missing = "left out: the bundle would have more than " +
                      std::to_string(limits_.bundle) + " bytes of files";
    }
    Count(about);
    if (!about.missing.empty()) {
      writer_.AddMissing(std::move(about));
      return {};
    }
    written_ += content.size();
    return writer_.Add(std::move(about), content);
  }

  void Count(const BundledFile& about) {
    if (about.missing.empty()) {
      ++summary_.files;
      summary_.original_bytes += about.size;
    } else {
      summary_.missing.push_back(about.path + ": " + about.missing);
    }
  }

  // Prepares the next file while the previous one is compressed.
  Status AddBinaries(const HitFiles& files) {
    const std::vector<std::shared_ptr<HitBinary>>& binaries = files.binaries();
    const auto begin = [&](std::size_t i) {
      const std::uint64_t limit = std::min(limits_.file, limits_.bundle - written_);
      // Deferred if no thread can be started.
      return std::async(std::launch::async | std::launch::deferred,
                        [&hashes = hashes_, &binary = *binaries[i], depth = depth_, limit] {
                          std::optional<Content> copy;
                          if (!binary.copies.empty()) copy = CopyOf(binary.copies.front());
                          return copy ? *std::move(copy) : Slimmed(binary, depth, limit, hashes);
                        });
    };
    std::future<Content> next;
    if (!binaries.empty()) next = begin(0);
    for (std::size_t i = 0; i < binaries.size(); ++i) {
      Content content = next.get();
      hashes_.Insert(content.about.content);
      if (i + 1 < binaries.size()) next = begin(i + 1);
      HitBinary& binary = *binaries[i];
      const bool is_copied = !binary.copies.empty();
      binary.content = content.about.content;
      if (!is_copied && next_ == NextBundle::kFollows) KeepCopy(content, binary);
      TRY(Add(std::move(content)));
      if (is_copied) {
        TRY(AddCopiedDebugFiles(binary));
      } else if (depth_ != BundleDepth::kWhole) {
        TRY(AddDebugFiles(binary));
      }
    }
    return {};
  }

  Status AddCopiedDebugFiles(const HitBinary& binary) {
    for (std::size_t i = 1; i < binary.copies.size(); ++i) {
      std::optional<Content> copy = CopyOf(binary.copies[i]);
      if (copy) TRY(Add(*std::move(copy)));
    }
    return {};
  }

  // The symbols of a stripped binary are in its separate debug file. The DWARF there is added only
  // on request.
  Status AddDebugFiles(HitBinary& binary) {
    if (!binary.file) return {};
    const Result<MappedFile> mapped = MappedFile::FromFd(binary.file.get(), binary.path);
    if (!mapped) return {};
    const Result<elf::ElfFile> image = elf::ElfFile::FromBytes(mapped->bytes());
    if (!image) return {};
    if (depth_ == BundleDepth::kSymbols && HasSymbols(*image)) return {};
    for (const SeparateDebugFile& found :
         FindDebugFiles(*image, binary.path, elf::DefaultDebugDirs(), others_)) {
      if (!found.refused.empty()) {
        summary_.missing.push_back(found.path.native() + ", which " + binary.path +
                                   " names: " + found.refused);
        continue;
      }
      // Next to the binary, where perf looks for it. A dwz file has another build id.
      const bool is_of_binary = found.build_id == binary.build_id;
      Content content = WholeFile({.path = is_of_binary ? binary.path : found.path.native(),
                                   .kind = FileKind::kDebug,
                                   .build_id = found.build_id,
                                   .number = is_of_binary ? binary.number : FileNumber{}},
                                  found.file.get());
      if (depth_ == BundleDepth::kSymbols) {
        std::optional<Content> names = NamesOf(content);
        if (!names) continue;
        content = *std::move(names);
        if (!binary.copies.empty()) KeepCopy(content, binary);
      }
      TRY(Add(WholeFileUpTo(limits_.file, std::move(content))));
    }
    return {};
  }

  Status AddKernel(const Kernel& kernel) {
    BundledFile about{.path = std::string(perfdata::kKernelMappingName),
                      .kind = FileKind::kKallsyms,
                      .build_id = kernel.system.kernel_build_id};
    if (!kernel.kallsyms) {
      about.missing = kernel.kallsyms.error().message;
      return Add(std::move(about), {});
    }
    about.kept = Kept::kWhole;
    about.size = kernel.kallsyms->size();
    return Add(std::move(about), AsBytes(*kernel.kallsyms));
  }

  Status AddVdso() {
    const Bytes image = VdsoOfThisProcess();
    BundledFile about{
        .path = std::string(perfdata::kVdsoMappingName), .kind = FileKind::kVdso, .build_id = {}};
    about.build_id = elf::BuildIdOf(image).value_or(BuildId{});
    about.size = image.size();
    about.kept = Kept::kWhole;
    if (image.empty()) about.missing = "this process has none";
    return Add(std::move(about), image);
  }

  Status AddJit(JitFile file) {
    if (!file.file) return Add(std::move(file.about), {});
    const bool is_map = file.about.kind == FileKind::kPerfMap;
    const std::uint64_t limit = is_map ? symbol_limits::kPerfMap : symbol_limits::kJitDump;
    Content content = WholeFileUpTo(limit, WholeFile(file.about, file.file.get()));
    if (content.bytes().size() > symbol_limits::kAllJitFiles - jit_written_) {
      content.about.missing = "left out: perf maps and jitdumps have more than " +
                              std::to_string(symbol_limits::kAllJitFiles) + " bytes in all";
    }
    if (content.about.missing.empty()) jit_written_ += content.bytes().size();
    return Add(std::move(content));
  }

  Result<BundleSummary> Finish(bundle::Manifest system) && {
    TRY_ASSIGN(summary_.bytes, std::move(writer_).Finish(std::move(system)));
    return std::move(summary_);
  }

 private:
  bundle::BundleWriter writer_;
  BundleDepth depth_;
  NextBundle next_;
  OthersFiles& others_;
  Limits limits_;
  ContentHashes hashes_;                         // of what AddBinaries has added
  std::uint64_t written_ = 0, jit_written_ = 0;  // bytes of all files and of JIT files
  BundleSummary summary_;
};

}  // namespace

Result<BundleSummary> WriteBundle(BundleContents contents, BundleDepth depth,
                                  bundle::BundleWriter writer, const KernelRoots& roots) {
  OthersFiles opened_here;
  OthersFiles& others = contents.others == nullptr ? opened_here : *contents.others;
  Filling bundle(std::move(writer), depth, contents.next, others);
  // Reading kallsyms takes a tenth of a second.
  std::future<Kernel> kernel_read =
      std::async(std::launch::async | std::launch::deferred, [&] { return ReadKernel(roots); });
  TRY(bundle.AddBinaries(contents.files));
  for (JitFile& file : contents.jit) TRY(bundle.AddJit(std::move(file)));
  if (contents.files.has_vdso()) TRY(bundle.AddVdso());
  Kernel kernel = kernel_read.get();
  if (contents.files.has_kernel()) TRY(bundle.AddKernel(kernel));
  return std::move(bundle).Finish(std::move(contents.other_system).value_or(kernel.system));
}

}  // namespace perftape::record
