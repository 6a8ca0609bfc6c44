// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/extract.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <map>
#include <optional>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/bundle/layout.h"
#include "formats/bundle/marker.h"
#include "formats/bundle/recording_notes.h"

namespace perftape::bundle {
namespace {

// The name of a file while it is being written. Each process uses its own.
const char* TemporaryName() {
  static const std::string name = ".perftape-extracting-" + std::to_string(getpid());
  return name.c_str();
}

std::unexpected<Error> FailAt(const std::string& name, int error_number) {
  if (error_number == ELOOP || error_number == ENOTDIR) {
    return Fail(ErrorCode::kInvalidArgument,
                name + ": a link or a file is in the way, and is not followed");
  }
  return FailErrno(name, error_number);
}

// Opens the directory `name` in `parent`. Creates it if it does not exist.
Result<UniqueFd> Enter(int parent, const std::string& name, const std::string& whole) {
  if (mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST) return FailAt(whole, errno);
  UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return FailAt(whole, errno);
  return fd;
}

// The path of a member: its open directory, and its name there.
struct MemberPath {
  UniqueFd directory;
  std::string leaf;
  const std::string& whole;  // for messages
};

Result<MemberPath> MemberPathOf(int root, const std::string& name) {
  UniqueFd at = Duplicate(root);
  if (!at) return FailErrno(name, errno);
  std::size_t begin = 0;
  for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', begin)) {
    TRY_ASSIGN(at, Enter(at.get(), name.substr(begin, end - begin), name));
    begin = end + 1;
  }
  return MemberPath{std::move(at), name.substr(begin), name};
}

// Leaves out pieces of zeros, which become holes.
Status WriteSparse(int fd, Bytes bytes) {
  for (std::uint64_t at = 0; at < bytes.size(); at += kIoSize) {
    const Bytes piece = bytes.subspan(at, std::min<std::uint64_t>(kIoSize, bytes.size() - at));
    if (!IsZero(piece)) TRY(WriteAllAt(fd, piece, at));
  }
  if (ftruncate(fd, static_cast<off_t>(bytes.size())) != 0) return FailErrno("ftruncate", errno);
  return {};
}

// Renames the temporary file to its final name.
Status Rename(const MemberPath& path) {
  const int directory = path.directory.get();
  if (renameat(directory, TemporaryName(), directory, path.leaf.c_str()) == 0) return {};
  const auto failure = FailAt(path.whole, errno);
  unlinkat(directory, TemporaryName(), 0);
  return failure;
}

Status WriteFile(const MemberPath& path, Bytes content) {
  const int directory = path.directory.get();
  unlinkat(directory, TemporaryName(), 0);  // left over from an interrupted extraction
  const UniqueFd fd(openat(directory, TemporaryName(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd) return FailAt(path.whole, errno);
  if (auto written = WriteSparse(fd.get(), content); !written) {
    unlinkat(directory, TemporaryName(), 0);
    return Fail(InContext(path.whole, std::move(written).error()));
  }
  return Rename(path);
}

Status WriteLink(const MemberPath& path, const std::string& target) {
  const int directory = path.directory.get();
  unlinkat(directory, TemporaryName(), 0);
  if (symlinkat(target.c_str(), directory, TemporaryName()) != 0) return FailAt(path.whole, errno);
  return Rename(path);
}

enum class Existing : std::uint8_t { kNothing, kSame, kOther };

// Compares an existing file at `path` with the content to be written.
Result<Existing> CompareFile(const MemberPath& path, Bytes content) {
  // Without O_NONBLOCK, a named pipe would block until its other end is opened.
  const UniqueFd fd(openat(path.directory.get(), path.leaf.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return Existing::kNothing;
  if (!fd && errno == ELOOP) return Existing::kOther;  // a link is replaced, never followed
  if (!fd) return FailAt(path.whole, errno);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return FailErrno(path.whole, errno);
  if (S_ISDIR(status.st_mode)) return FailAt(path.whole, EISDIR);
  if (!S_ISREG(status.st_mode)) return Existing::kOther;
  if (static_cast<std::uint64_t>(status.st_size) != content.size()) return Existing::kOther;
  TRY_ASSIGN(const MappedFile file, MappedFile::FromFd(fd.get(), path.whole));
  return std::ranges::equal(file.bytes(), content) ? Existing::kSame : Existing::kOther;
}

Result<Existing> CompareLink(const MemberPath& path, const std::string& target) {
  const int directory = path.directory.get();
  std::array<char, PATH_MAX> now = {};
  const ssize_t size = readlinkat(directory, path.leaf.c_str(), now.data(), now.size());
  if (size < 0 && errno == ENOENT) return Existing::kNothing;
  if (size < 0 && errno == EINVAL) return Existing::kOther;  // not a link
  if (size < 0) return FailAt(path.whole, errno);
  if (std::string_view(now.data(), static_cast<std::size_t>(size)) == target)
    return Existing::kSame;
  // A broken link may be replaced. This only tests whether the target exists.
  const bool leads_nowhere = faccessat(directory, path.leaf.c_str(), F_OK, 0) != 0;
  return leads_nowhere ? Existing::kNothing : Existing::kOther;
}

// Whether a different existing file serves as well. perf has whole binaries, and its own links to
// them.
bool HasBuildIdInName(const UnpackedMember& member) {
  return member.is_link() ? member.name.starts_with(".build-id/") : FileAt(member.name).has_value();
}

// The marker is written before its file, because a marker without a file does no harm.
Status WriteMarker(const MemberPath& file, std::uint64_t size) {
  const std::string whole = MarkerOf(file.whole);
  if (MarkerOf(file.leaf).size() > NAME_MAX) return {};  // perf's cache has no names of that length
  UniqueFd directory = Duplicate(file.directory.get());
  if (!directory) return FailErrno(whole, errno);
  return WriteFile({std::move(directory), MarkerOf(file.leaf), whole}, AsBytes(MarkerText(size)));
}

class Extraction {
 public:
  Extraction(const Bundle& bundle, UniqueFd root, const ExtractOptions& options)
      : bundle_(bundle), root_(std::move(root)), options_(options) {
    for (const BundledFile& file : bundle.manifest().files) {
      if (!file.build_id.empty()) described_.emplace(file.member, &file);
    }
  }

  Result<ExtractReport> Run() && {
    // Links come last, so that none is broken.
    for (const UnpackedMember& member : bundle_.members()) {
      if (member.is_link() || member.name == kManifestName || member.name == kNotesName ||
          IsMarker(member.name))
        continue;
      TRY(ExtractFile(member));
    }
    for (const UnpackedMember& member : bundle_.members()) {
      if (member.is_link()) TRY(ExtractLink(member));
    }
    return std::move(report_);
  }

 private:
  Status ExtractFile(const UnpackedMember& member) {
    const Bytes content = bundle_.BytesOf(member);
    if (const BundledFile* file = Described(member)) {
      if (IsInCache(*file)) {
        ++report_.already_there;
        return {};
      }
      if (options_.is_on_machine && options_.is_on_machine(*file, content)) {
        ++report_.on_machine;
        return {};
      }
    }
    TRY_ASSIGN(const MemberPath path, MemberPathOf(root_.get(), member.name));
    TRY_ASSIGN(const Existing existing, CompareFile(path, content));
    if (!IsWanted(member, existing)) return {};
    TRY(WriteMarker(path, content.size()));
    TRY(WriteFile(path, content));
    ++report_.written;
    report_.bytes += content.size();
    return {};
  }

  // The manifest entry of a member with a build id. Null for others.
  const BundledFile* Described(const UnpackedMember& member) const {
    const auto found = described_.find(member.name);
    return found == described_.end() ? nullptr : found->second;
  }

  // Whether the link of its build id leads to an existing file of the same kind, which may have
  // been recorded under another path. This only tests whether the target exists.
  bool IsInCache(const BundledFile& file) const {
    if (options_.if_exists == IfExists::kReplace) return false;
    const std::string link = LinkTo(file.member, file.build_id).name;
    const std::string leaf = file.member.substr(file.member.rfind('/') + 1);
    struct stat status = {};
    return fstatat(root_.get(), (link + "/" + leaf).c_str(), &status, 0) == 0 &&
           S_ISREG(status.st_mode);
  }

  Status ExtractLink(const UnpackedMember& member) {
    if (!HasTarget(member)) return {};
    TRY_ASSIGN(const MemberPath path, MemberPathOf(root_.get(), member.name));
    TRY_ASSIGN(const Existing existing, CompareLink(path, member.target));
    if (!IsWanted(member, existing)) return {};
    TRY(WriteLink(path, member.target));
    ++report_.written;
    return {};
  }

  // False if none of the files that the link leads to was written.
  bool HasTarget(const UnpackedMember& link) const {
    const std::filesystem::path target =
        std::filesystem::path(link.name).parent_path() / link.target;
    return faccessat(root_.get(), target.lexically_normal().c_str(), F_OK, 0) == 0;
  }

  bool IsWanted(const UnpackedMember& member, Existing existing) {
    if (existing == Existing::kNothing) return true;
    if (existing == Existing::kOther && options_.if_exists == IfExists::kReplace) return true;
    if (existing == Existing::kOther && !HasBuildIdInName(member)) {
      report_.kept.push_back(member.name);
    } else {
      ++report_.already_there;
    }
    return false;
  }

  const Bundle& bundle_;
  UniqueFd root_;
  const ExtractOptions& options_;
  std::map<std::string_view, const BundledFile*> described_;  // by member name
  ExtractReport report_;
};

}  // namespace

Result<ExtractReport> Extract(const Bundle& bundle, const std::filesystem::path& directory,
                              const ExtractOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return FailErrno(directory.native(), error.value());
  UniqueFd root(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return FailErrno(directory.native(), errno);
  auto report = Extraction(bundle, std::move(root), options).Run();
  if (!report) return Fail(InContext(directory.native(), std::move(report).error()));
  return report;
}

}  // namespace perftape::bundle
