// SPDX-License-Identifier: Apache-2.0
// The recording that a profile was made from. It decides which sources of names are valid.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convert/model/profile.h"
#include "convert/symbolize/jit_file_search.h"
#include "convert/symbolize/symbol_options.h"
#include "formats/base/build_id.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/bundle/bundle.h"
#include "formats/perfdata/process_lives.h"
#include "formats/simpleperf/recorded_symbols.h"

namespace perftape::symbolize {

// A module and the addresses at which it was loaded.
struct RecordedModule {
  std::string name;  // the kernel's name for it: "nf_tables"
  std::uint64_t start = 0, limit = 0;
  auto operator<=>(const RecordedModule&) const = default;
};

// The kernel that was running, as far as recorded.
struct RecordedKernel {
  BuildId build_id = {};
  // The symbol whose address shows where the kernel was loaded ("_text" or "_stext"; empty if
  // unknown), and its address; 0 if not recorded.
  std::string reference = {};
  std::uint64_t reference_address = 0;
  std::uint64_t limit = 0;  // the end of the kernel's own code; 0 if not recorded
  std::vector<RecordedModule> modules = {};
  auto operator<=>(const RecordedKernel&) const = default;
};

// Returns the kernel as far as the profile's mappings describe it.
RecordedKernel KernelOf(const convert::Profile& profile);

class ProfileOrigin {
 public:
  // The machine that made the recording. Recordings of equal machines may be merged before they are
  // named.
  struct Machine {
    // Empty if it was this machine in its current boot. Otherwise the reason why it was not.
    std::string other_than_here = "it is unknown on which machine it was recorded";
    // Whether files of this machine may be used whose build id was recorded (MayBeOfBoot).
    bool may_be_here = false;
    std::string kernel_release = {};
    RecordedKernel kernel = {};
    // Of processes that this machine may have perf maps of.
    perfdata::ProcessLives lives = {};
    auto operator<=>(const Machine&) const = default;
  };

  // From an unknown machine: a pprof, folded stacks.
  ProfileOrigin() = default;
  // For several recordings that have no symbol files of their own.
  explicit ProfileOrigin(Machine machine) : machine_(std::move(machine)) {}
  // For a perf.data. The input must outlive this object.
  explicit ProfileOrigin(Input& input);

  // Finds out when the processes with these numbers started and ended. Does nothing for a recording
  // of another machine, or without its input. The first call reads all records. The input must be
  // open.
  void LearnLives(std::span<const std::uint32_t> pids);

  // After OwnBundle the bundle's manifest is considered, too.
  const Machine& machine() const { return machine_; }
  // The kallsyms in the directory of a recording (perf record --kcore).
  const std::optional<std::filesystem::path>& kallsyms() const { return kallsyms_; }

  // Returns whether it must be named before it is merged with others.
  bool brings_names() const { return kallsyms_.has_value() || has_bundle_ || has_simpleperf_; }

  // Returns the bundle in the recording, unpacked at the first call. Null if there is none or it
  // cannot be read; bundle_problem() has the reason.
  std::shared_ptr<const bundle::Bundle> OwnBundle();
  const std::string& bundle_problem() const { return bundle_problem_; }

  // Returns the symbols that simpleperf put into the recording, read at the first call. Null if
  // there are none. The input must be open as long as they are used.
  std::shared_ptr<const simpleperf::RecordedSymbols> SimpleperfSymbols();

 private:
  Machine machine_;
  std::optional<std::filesystem::path> kallsyms_;
  bool has_bundle_ = false;
  bool has_simpleperf_ = false;
  Input* input_ = nullptr;                       // null without one
  bool may_open_bundle_ = false;                 // not yet
  std::optional<perfdata::ProcessLives> lives_;  // of all processes, once read
  std::shared_ptr<const bundle::Bundle> bundle_;
  std::string bundle_problem_;
  std::shared_ptr<const simpleperf::RecordedSymbols> simpleperf_;
};

using SharedBundle = std::shared_ptr<const bundle::Bundle>;

// The symbol sources that one recording adds to those shared by all recordings. These are its
// bundles, and the files of this machine if the recording was made on it.
class RecordingSources {
 public:
  // `given` is the bundle that the user named, or null. `origin` and `options` must outlive this
  // object.
  RecordingSources(ProfileOrigin& origin, const SymbolOptions& options, SharedBundle given = {})
      : origin_(origin), options_(options), given_(std::move(given)) {}

  const ProfileOrigin& origin() const { return origin_; }

  // Returns the recording's own bundle, then the given one. The first call unpacks the own bundle.
  // Its manifest may identify the machine, which can change not_local().
  std::vector<SharedBundle> Bundles();

  // Returns why files of this machine must not be used; empty if they may be used.
  std::string not_local() const;
  // The same for files whose build id was recorded, and is compared.
  std::string not_local_by_build_id() const;

  JitSearchPath MakeJitSearchPath();

  std::shared_ptr<const simpleperf::RecordedSymbols> SimpleperfSymbols() {
    return origin_.SimpleperfSymbols();
  }

 private:
  ProfileOrigin& origin_;
  const SymbolOptions& options_;
  SharedBundle given_;
};

}  // namespace perftape::symbolize
