// SPDX-License-Identifier: Apache-2.0
// The addresses of samples as lines of text. First all addresses are added, then named at once,
// because symbols are read once for all addresses of a binary, and then printed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/import/first_pass.h"
#include "convert/import/stack_resolver.h"
#include "convert/model/id_table.h"
#include "convert/model/profile.h"
#include "convert/model/profile_builder.h"
#include "convert/script/fields.h"
#include "convert/symbolize/symbol_sources.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/kernel_names.h"

namespace perftape::listing {

// Identify a printed address and a list of them.
using FrameId = std::uint32_t;
using ChainId = std::uint32_t;

// How the addresses of user code are printed in callchains: as offsets in their file by perf 6.1,
// as they were at run time by perf 7.3.
enum class UserAddress : std::uint8_t { kFileOffset, kRuntime };

// Whose address it is, in the process state of the sample's time.
struct FrameContext {
  std::uint32_t pid = 0;
  const perfdata::Processes& processes;
};

class Frames {
 public:
  // `first_pass` must outlive this object.
  Frames(const convert::FirstPass& first_pass, convert::Origin origin, UserAddress form);

  // A frame of a callchain.
  FrameId AddFrame(const perfdata::ChainFrame& frame, const FrameContext& context);
  // The address of a sample or a branch, which is printed as it is.
  FrameId AddAddress(std::uint64_t address, perfdata::CpuMode mode, const FrameContext& context);
  // A callchain, leaf first. Equal ones are resolved once: `hash` identifies its frames and the
  // mappings of their process.
  ChainId FindChain(const convert::Hash128& hash) const;
  static constexpr ChainId kNoChain = convert::IdTable::kNone;
  ChainId AddChain(const convert::Hash128& hash, std::span<const perfdata::ChainFrame> frames,
                   const FrameContext& context);

  // Ends the adding, and gives the frames the names of `sources`. `origin` is the recording's.
  void Name(symbolize::SymbolSources& sources, symbolize::ProfileOrigin origin,
            symbolize::SymbolizeReport& report);
  // Ends the adding without names.
  void LeaveUnnamed();

  std::span<const FrameId> chain(ChainId chain) const;
  // How frames are printed.
  struct Style {
    FieldSet fields;        // ip, sym, symoff, dso, srcline
    std::size_t index = 0;  // a number below kOutputTypes for these fields
  };
  // The lines of a frame in a callchain: several if calls were inlined there. Valid until the next
  // call.
  std::string_view Lines(FrameId frame, const Style& style);
  // What AppendAddress appends, made once. Valid until the next call.
  std::string_view AddressText(FrameId frame, const Style& style);
  // Appends "7f001234 main+0x4 (/usr/bin/ls)", without a line end.
  void AppendAddress(std::string& out, FrameId frame, const Style& style) const;
  // Appends "main+0x4", or "[unknown]".
  void AppendSymbol(std::string& out, FrameId frame, bool has_offset) const;
  // "/usr/bin/ls", "[unknown]".
  std::string DsoOf(FrameId frame) const;
  // "main"; empty if it has no name.
  std::string_view NameOf(FrameId frame) const;

 private:
  struct Frame {
    convert::LocationId location;
    std::uint64_t printed = 0;  // the address in the line
    std::uint32_t pid = 0;      // of memory that may hold JIT code, whose name has it; else 0
    bool is_return = false;     // the location is 1 below the address
    bool is_mapped = false;
    bool is_generated = false;  // in such memory
  };

  struct Address {
    convert::Hash128 hash;
    FrameId frame;
  };

  FrameId Intern(const Frame& frame);
  Frame Resolve(const perfdata::ChainFrame& frame, const FrameContext& context);
  void AppendFrameName(std::string& out, const Frame& frame, std::string_view name,
                       bool has_offset) const;
  void AppendSourceLine(std::string& out, const Frame& frame, const convert::Line* line) const;
  const convert::Location& LocationOf(const Frame& frame) const { return profile_[frame.location]; }

  const UserAddress form_;
  const perfdata::KernelNames& kernel_names_;
  convert::ProfileBuilder builder_;
  convert::StackResolver resolver_;
  std::vector<Frame> frames_;
  convert::IdTable frame_index_;
  std::vector<Address> addresses_;
  convert::IdTable address_index_;
  std::vector<FrameId> frames_of_chains_;
  std::vector<std::size_t> chain_ends_;
  std::vector<convert::Hash128> chain_hashes_;
  convert::IdTable chain_index_;
  convert::Profile profile_;  // after Name
  // By style and frame; empty if not made yet.
  using Texts = std::array<std::vector<std::string>, kOutputTypes>;
  Texts lines_, address_texts_;
};

}  // namespace perftape::listing
