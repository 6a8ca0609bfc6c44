// SPDX-License-Identifier: Apache-2.0
// What a profile was made of, as far as that decides where its names may come from.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/build_id.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/bundle/bundle.h"

namespace perftape::symbolize {

// A module where it was loaded.
struct RecordedModule {
  std::string name;  // as the kernel calls it: "nf_tables"
  std::uint64_t start = 0, limit = 0;
  auto operator<=>(const RecordedModule&) const = default;
};

// The kernel that was running, as far as the recording says.
struct RecordedKernel {
  BuildId build_id = {};
  // The symbol whose address shows where it was loaded ("_text" or "_stext"; empty if unknown) and
  // its address; 0 if not recorded.
  std::string reference = {};
  std::uint64_t reference_address = 0;
  std::uint64_t limit = 0;  // where its own code ended, by the recording; 0 where not recorded
  std::vector<RecordedModule> modules = {};
  auto operator<=>(const RecordedKernel&) const = default;
};

// As far as the profile's mappings tell.
RecordedKernel KernelOf(const convert::Profile& profile);

class Recording {
 public:
  // Where it was made. Recordings of equal machines may be merged before they are given names.
  struct Machine {
    // Empty where it is this one, since it was booted; else what says that it is not.
    std::string other_than_here = "nothing tells on which machine it was recorded";
    std::string kernel_release = {};
    RecordedKernel kernel = {};
    auto operator<=>(const Machine&) const = default;
  };

  // Of nobody knows which machine: a pprof, folded lines.
  Recording() = default;
  // Of several, which brought nothing along.
  explicit Recording(Machine machine) : machine_(std::move(machine)) {}
  // Of a perf.data that was read, which must live as long.
  explicit Recording(Input& input);

  // By the manifest of its bundle too, once that was opened.
  const Machine& machine() const { return machine_; }
  // The kernel's symbols that the directory of a recording brings along (perf record --kcore).
  const std::optional<std::filesystem::path>& kallsyms() const { return kallsyms_; }

  // Whether it must be given its names before it is merged with others.
  bool brings_names() const { return kallsyms_.has_value() || has_bundle_; }

  // The bundle in the recording, unpacked at the first call; null where there is none, or it cannot
  // be read, of which `problem` then tells.
  std::shared_ptr<const bundle::Bundle> OwnBundle();
  const std::string& bundle_problem() const { return bundle_problem_; }

 private:
  Machine machine_;
  std::optional<std::filesystem::path> kallsyms_;
  bool has_bundle_ = false;
  Input* input_ = nullptr;  // while the bundle is not opened
  std::shared_ptr<const bundle::Bundle> bundle_;
  std::string bundle_problem_;
};

}  // namespace perftape::symbolize
