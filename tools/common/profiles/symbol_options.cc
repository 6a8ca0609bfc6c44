// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_options.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <vector>

#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/this_boot.h"
#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/bundle/archive_reader.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/expanded_input.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/elf/index_cache.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::cli {
namespace {

namespace fs = std::filesystem;

bool IsPipe(const fs::path& input) {
  struct stat status = {};
  const int error = input == "-" ? fstat(STDIN_FILENO, &status) : stat(input.c_str(), &status);
  return error == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

constexpr std::size_t kMagicSize = 16;  // at least that of a perf.data, and of compressed files

// Reads only the first bytes, which decide whether it may be a recording. Any compressed file may
// be one.
bool LooksLikeARecording(const fs::path& path) {
  const UniqueFd fd = path == "-" ? Duplicate(STDIN_FILENO)
                                  : UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<std::byte, kMagicSize> magic = {};
  if (!fd) return false;
  if (pread(fd.get(), magic.data(), magic.size(), 0) < 0) return errno == EISDIR;
  return bundle::IsPerfData(magic) || !bundle::CompressionOf(magic).empty();
}

bool IsOfThisBoot(const fs::path& path) {
  Result<Input> input = Input::Open(path);
  if (input && !bundle::CompressionOf(input->beginning()).empty()) {
    // Not all of a compressed profile in another format is expanded.
    if (!bundle::IsPerfData(bundle::ExpandBeginning(input->beginning(), kMagicSize))) return false;
    input = bundle::Expanded(*std::move(input));
  }
  if (!input) return false;
  const symbolize::ProfileOrigin origin(*input);
  return origin.machine().other_than_here.empty() || origin.machine().may_be_here;
}

bool MayUseThisMachine(symbolize::LocalSystem local, std::span<const fs::path> inputs) {
  if (local != symbolize::LocalSystem::kSameBoot) {
    return local == symbolize::LocalSystem::kAlways;
  }
  if (std::ranges::any_of(inputs, IsPipe)) return true;
  std::vector<fs::path> recordings;
  std::ranges::copy_if(inputs, std::back_inserter(recordings), LooksLikeARecording);
  if (recordings.empty()) return false;
  (void)symbolize::FactsOfThisBoot();  // the child gets a copy of the facts
  sandbox::FileGrants grants;
  for (const fs::path& recording : recordings) sandbox::GrantInput(recording, grants);
  sandbox::GrantTemporaryDirectory(grants);
  return sandbox::AskConfined(grants,
                              [&] { return std::ranges::any_of(recordings, IsOfThisBoot); });
}

}  // namespace

void FinishSymbolOptions(SymbolPlan& plan) {
  if (plan.no_lines) plan.symbol_options.source_lines = symbolize::SourceLines::kNone;
  plan.symbol_options.index_cache = elf::UsualIndexCache();
}

void GrantSymbolSources(const symbolize::SymbolOptions& options, std::span<const fs::path> inputs,
                        sandbox::FileGrants& grants) {
  for (const fs::path& source :
       {options.bundle, options.symfs, options.kallsyms, options.vmlinux}) {
    sandbox::GrantInput(source, grants);
  }
  for (const fs::path& directory : options.debug_dirs) sandbox::GrantInput(directory, grants);
  if (options.default_debug_dirs) {
    for (const fs::path& directory : elf::DefaultDebugDirs()) {
      sandbox::GrantInput(directory, grants);
    }
  }
  if (options.source_lines != symbolize::SourceLines::kNone) {
    sandbox::GrantDirectory(options.index_cache, S_IRWXU, grants);
  }
  if (MayUseThisMachine(options.local, inputs)) sandbox::GrantInput("/", grants);
}

}  // namespace perftape::cli
