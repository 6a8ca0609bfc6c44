// SPDX-License-Identifier: Apache-2.0
// What a profile was made of, as far as that decides where its names may come from.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>

#include "formats/base/input.h"

namespace perftape {

class Recording {
 public:
  // Where it was made. Recordings of equal machines may be merged before they are given names.
  struct Machine {
    // This one, since it was booted: what is here now was there then.
    bool is_this_boot = false;
    auto operator<=>(const Machine&) const = default;
  };

  // Of nobody knows which machine: a pprof, folded lines.
  Recording() = default;
  // Of several, which brought nothing along.
  explicit Recording(const Machine& machine) : machine_(machine) {}
  // Of a perf.data that was read.
  explicit Recording(const Input& input);

  const Machine& machine() const { return machine_; }

  // The kernel's symbols that the directory of a recording brings along (perf record --kcore).
  const std::optional<std::filesystem::path>& kallsyms() const { return kallsyms_; }

  // Whether it must be given its names before it is merged with others.
  bool brings_names() const { return kallsyms_.has_value(); }

 private:
  Machine machine_;
  std::optional<std::filesystem::path> kallsyms_;
};

}  // namespace perftape
