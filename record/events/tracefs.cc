// SPDX-License-Identifier: Apache-2.0
#include "record/events/tracefs.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "formats/base/file.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

std::optional<std::filesystem::path> FindMount(const std::string& mounts) {
  std::optional<std::filesystem::path> in_debugfs;
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, path, type;
    words >> device >> path >> type;
    if (type == "tracefs") return path;
    if (type == "debugfs") in_debugfs = std::filesystem::path(path) / "tracing";
  }
  return in_debugfs;
}

// Returns the names of the directories in `path` that contain `file`, sorted.
std::vector<std::string> DirectoriesWith(const std::filesystem::path& path, const char* file) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (std::filesystem::exists(at->path() / file, ignored)) {
      names.push_back(at->path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

Result<Tracefs> Tracefs::Find(const std::filesystem::path& mounts) {
  TRY_ASSIGN(const std::string table, ReadWholeFile(mounts));
  const std::optional<std::filesystem::path> root = FindMount(table);
  if (!root) {
    return FailMissing(ErrorCode::kUnsupported, "", {Missing(Requirement::kTracefsMount)});
  }
  Tracefs tracefs(*root);
  const std::filesystem::path events = *root / "events";
  if (access(events.c_str(), R_OK | X_OK) != 0) {
    const std::string directory = events.string();
    return FailMissing(ErrorCode::kPermission, "",
                       {Missing(Requirement::kTracefsAccess, {directory, RecorderPath()})});
  }
  return tracefs;
}

std::vector<std::string> Tracefs::Subsystems() const {
  return DirectoriesWith(root_ / "events", "enable");
}

std::vector<std::string> Tracefs::TracepointsOf(std::string_view subsystem) const {
  return DirectoriesWith(root_ / "events" / subsystem, "id");
}

Result<std::string> Tracefs::ReadFormat(std::string_view subsystem, std::string_view name) const {
  return ReadWholeFile(root_ / "events" / subsystem / name / "format");
}

Result<std::string> Tracefs::Read(std::string_view file) const {
  return ReadWholeFile(root_ / file);
}

}  // namespace perftape::record
