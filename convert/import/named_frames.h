// SPDX-License-Identifier: Apache-2.0
// Frames of formats that have names, and no addresses: each becomes a location with one line, in
// the mapping that folded stacks use.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "convert/model/profile_builder.h"

namespace perftape::convert {

struct NamedFrame {
  std::string_view name = {};   // may be empty
  std::string_view file = {};   // of the source; empty if unknown
  std::int64_t line = 0;        // 0 if unknown
  std::int64_t start_line = 0;  // the first line of the function; 0 if unknown
  bool is_kernel = false;
};

class NamedFrames {
 public:
  // Adds to `builder`, which must outlive this object. With `map_kernel_addresses`, frames that are
  // only a kernel address are put at it (ImportOptions).
  NamedFrames(ProfileBuilder& builder, bool map_kernel_addresses);
  ~NamedFrames();

  LocationId Add(const NamedFrame& frame);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perftape::convert
