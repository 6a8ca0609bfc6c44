// SPDX-License-Identifier: Apache-2.0
// The frames of a profile: functions, with their names, binaries and source lines. Many addresses
// share one frame.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "convert/model/arena.h"
#include "convert/model/profile.h"
#include "formats/base/bytes_hash.h"

namespace perftape::convert {

// The numbers are part of the format of a flame graph's page (flame_graph/page/tree.js).
enum class FrameType : std::uint8_t {
  kThread = 0,  // a root frame: comm, pid, tid
  kUser = 1,
  kKernel = 2,
  kInlined = 3,  // a call that the compiler replaced by the function's code
  kJit = 4,      // code of a just-in-time compiler
};

using FrameId = std::uint32_t;

struct Frame {
  std::string_view name;  // "main"; "[libc.so.6]" or "[unknown]" if it has none
  bool has_name = false;  // a function's name is known
  FrameType type = FrameType::kUser;
  StringId dso = {};            // path of the mapped file; empty if unknown
  StringId source = {};         // source file; empty if unknown
  std::int64_t first_line = 0;  // of the lines that were hit; 0 if unknown
  std::int64_t last_line = 0;
};

// The properties by which frames are equal.
enum class FrameIdentity : std::uint8_t {
  // Name and dso: a function is one frame, also where it is inlined. It has the type of the dso.
  kFunction,
  // Name, dso and type: inlined calls are frames of their own.
  kType,
  // The name: two builds can have different binaries and inline different calls. The type and dso
  // of such a frame are the first ones in their order.
  kName,
};

class FrameTable {
 public:
  // Adds the frames of all locations. `profile` must outlive this object.
  FrameTable(const Profile& profile, FrameIdentity identity);
  FrameTable(const FrameTable&) = delete;
  FrameTable& operator=(const FrameTable&) = delete;
  FrameTable(FrameTable&&) = default;

  // Returns the frames of a location, innermost first; several if calls were inlined. Valid as long
  // as this object.
  std::span<const FrameId> Of(LocationId location) const {
    const std::uint32_t begin = begins_[location.index];
    return std::span(of_locations_).subspan(begin, begins_[location.index + 1] - begin);
  }
  // Returns the frame with a name that is not a function: that of a thread, or of stacks without
  // frames.
  FrameId Add(std::string_view name, FrameType type);
  // Returns the same frame with another name.
  FrameId AddRenamed(FrameId frame, std::string_view name);

  const Frame& operator[](FrameId frame) const { return frames_[frame]; }
  std::size_t size() const { return frames_.size(); }
  // Valid as long as this object.
  std::string_view NameOf(FrameId frame) const { return frames_[frame].name; }
  // Returns the last component of the dso's path.
  std::string_view BinaryOf(FrameId frame) const;

  // Returns ranks from 0, by FrameId: by name, type and dso.
  std::vector<std::uint32_t> Ranks() const;

 private:
  using NameId = std::uint32_t;

  void AddFramesOf(const Location& location);
  NameId NameIdOf(const Location& location, const Line& line);
  NameId NameOfDso(StringId dso);
  NameId InternName(std::string_view name);
  FrameId Intern(NameId name, Frame frame);
  void JoinBuilds(Frame& known, const Frame& frame) const;
  void JoinSource(Frame& known, const Frame& frame) const;

  const Profile* profile_;
  FrameIdentity identity_;
  Arena arena_;                          // owns names that are not in the profile
  std::vector<std::string_view> names_;  // by NameId
  tsl::robin_map<std::string_view, NameId> name_ids_;
  std::vector<NameId> of_texts_;  // by StringId; kUnset if not looked up yet
  std::vector<FrameType> of_mappings_;
  std::vector<Frame> frames_;
  tsl::robin_map<std::uint64_t, std::vector<FrameId>, BytesHash> ids_;  // by name and type
  std::vector<FrameId> of_locations_;
  std::vector<std::uint32_t> begins_;  // in of_locations_, by LocationId, and the end
};

// Appends the frames of a stack to `frames`, leaf first.
void AppendFrames(const Profile& profile, const FrameTable& table, StackId stack,
                  std::vector<FrameId>& frames);

}  // namespace perftape::convert
