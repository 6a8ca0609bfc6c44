// SPDX-License-Identifier: Apache-2.0
// The names of the files of a rotating recording. In the last component of the path, %t is the time
// at which the file begins, %n its number, %h the name of the host, and %% a percent sign. Without
// %t and %n, "." and the time are appended, as perf record --switch-output does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

// What distinguishes a file from the others of one pattern.
struct FileStamp {
  std::uint64_t centiseconds = 0;  // of CLOCK_REALTIME
  std::uint64_t number = 0;
};

// The name of an existing file, and its number; 0 if the pattern has none.
struct NumberedName {
  std::string name;
  std::uint64_t number = 0;
};

class NamePattern {
 public:
  // kInvalidArgument for another character after %, a % in a directory, and an empty name.
  static Result<NamePattern> Parse(const std::filesystem::path& output, std::string_view host);

  // The directory of all files; "." if the pattern names none.
  const std::filesystem::path& directory() const { return directory_; }
  bool has_time() const { return Has(Part::kTime); }

  // The name in the directory. The time is local, with perf's 16 digits: year, month, day, hour,
  // minute, second and hundredths (tools/perf/util/util.c, fetch_current_timestamp).
  std::string NameOf(const FileStamp& stamp) const;
  std::filesystem::path PathOf(const FileStamp& stamp) const { return prefix_ / NameOf(stamp); }

  // Returns whether a name may be of this pattern. If so and it has a number, sets `number`.
  bool Matches(std::string_view name, std::uint64_t& number) const;
  // Returns the names in the directory that match, in any order.
  Result<std::vector<NumberedName>> NamesInDirectory() const;

 private:
  enum class Part : std::uint8_t { kText, kTime, kNumber };
  struct Piece {
    Part part = Part::kText;
    std::string text = {};
  };
  bool Has(Part part) const;
  void AddText(std::string_view text);

  std::filesystem::path prefix_;  // the directory as given, may be empty
  std::filesystem::path directory_;
  std::vector<Piece> pieces_;
};

// Gives each file a name that no file has. Not thread-safe.
class FileNames {
 public:
  // Numbers continue after the highest one in the directory.
  explicit FileNames(NamePattern pattern);

  // Returns the path of the next file, which begins at `realtime_ns`. Later calls return later
  // times and higher numbers, even if the clock does not advance.
  std::filesystem::path Next(std::uint64_t realtime_ns);

  const NamePattern& pattern() const { return pattern_; }

 private:
  NamePattern pattern_;
  FileStamp last_;
};

}  // namespace perftape::record
