// SPDX-License-Identifier: Apache-2.0
// The stacks of a Firefox profile as stacks of a Profile.
//
// Each frame has a function. Its name is a real name, or the address as text ("0x1a2b") if the name
// was unknown. An address in a library is relative to the start of its image. Only the ELF file
// shows where this address is in the file. So a frame gets its library's mapping, for
// perftape-symbolize, if the file is at the library's path and has its build id. perftape's own
// profiles have offsets. For a profile of samply, names come from the file next to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/import/named_frames.h"
#include "convert/model/profile_builder.h"
#include "formats/elf/elf_file.h"
#include "formats/json_profiles/firefox.h"
#include "formats/json_profiles/samply_symbols.h"

namespace perftape::convert {

class FirefoxFrames {
 public:
  // The references must outlive this object.
  FirefoxFrames(ProfileBuilder& builder, const json_profiles::FirefoxFile& file,
                bool map_kernel_addresses);

  // Sets the names from the file next to the profile. Call it before Begin.
  void SetSymbols(json_profiles::SamplySymbols symbols) { symbols_ = std::move(symbols); }

  // Selects the tables of a thread, which must live until the next call.
  void Begin(const json_profiles::FirefoxThread& thread);

  struct ReadStack {
    StackId id = {};
    std::uint32_t depth = 0;
  };
  // Returns a stack of the thread by its index, the empty one for a negative index. Nothing if it
  // refers to something that is not in the file.
  std::optional<ReadStack> StackOf(std::int64_t index);

  // The number of functions without a name whose address could not become an offset in the file.
  std::uint64_t without_offsets() const { return without_offsets_; }

 private:
  struct Image {
    std::optional<elf::ElfFile> file;  // nothing if it is not the library of the recording
    std::uint64_t base = 0;            // where its first segment begins
  };
  static Image OpenImage(const json_profiles::FirefoxLibrary& library);

  enum class State : std::uint8_t { kNew, kDone, kBroken };
  struct Node {
    ReadStack stack;
    State state = State::kNew;
  };
  std::optional<LocationId> LocationOf(std::int64_t frame);
  LocationId Unnamed(const json_profiles::FirefoxLibrary& library, std::int64_t address,
                     std::string_view name);
  // `offset` is 0 if it is not known.
  LocationId InLibrary(const json_profiles::FirefoxLibrary& library, FileOffset offset,
                       std::span<const Line> lines);
  std::string_view TextOf(std::int64_t index) const;
  const json_profiles::FirefoxLibrary* LibraryOf(std::int64_t function) const;
  // Converts an address of a library. Nothing if it is not known how.
  std::optional<FileOffset> OffsetOf(const json_profiles::FirefoxLibrary& library,
                                     std::int64_t address);

  ProfileBuilder& builder_;
  const json_profiles::FirefoxFile& file_;
  const bool has_offsets_;
  json_profiles::SamplySymbols symbols_;
  NamedFrames frames_;
  const json_profiles::FirefoxThread* thread_ = nullptr;
  const json_profiles::FirefoxTables *stacks_ = nullptr, *frame_table_ = nullptr, *funcs_ = nullptr,
                                     *resources_ = nullptr, *strings_ = nullptr;
  std::vector<Node> shared_nodes_, own_nodes_;
  std::vector<Node>* nodes_ = nullptr;                           // of the thread's stacks
  std::map<std::pair<std::string, std::string>, Image> images_;  // by path and build id
  std::uint64_t without_offsets_ = 0;
};

}  // namespace perftape::convert
