// SPDX-License-Identifier: Apache-2.0
// Which addresses of an address space are taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "formats/perfdata/abi.h"

namespace perftape::convert {

class AddressRoom {
 public:
  static constexpr std::uint64_t kPage = 0x1000;
  // The last one that a call chain can hold, also 1 higher, as that of a caller.
  static constexpr std::uint64_t kLast = perfdata::kContextMax - 2;

  // False where some of it is taken already, or there is no such place.
  bool Take(std::uint64_t start, std::uint64_t size);
  // Returns a place above 4 GiB that lies as far behind the start of a page as `like` does; nothing
  // where none was found.
  std::optional<std::uint64_t> TakeAnywhere(std::uint64_t size, std::uint64_t like);

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by start
  std::uint64_t next_ = std::uint64_t{1} << 32;  // what TakeAnywhere tries first
};

}  // namespace perftape::convert
