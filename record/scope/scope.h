// SPDX-License-Identifier: Apache-2.0
// The scope of a recording restricts its targets to cgroups and to threads with certain names. This
// file also checks what the namespaces of the recorder itself (namespaces(7)) hide.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "record/scope/cgroups.h"

namespace perftape::record {

// The scope as the user names it. A task must match one entry of each list that is not empty.
struct ScopeOptions {
  std::vector<std::string> cgroups;     // find_cgroups.h
  std::vector<std::string> containers;  // find_cgroups.h
  std::vector<std::string> pods;        // find_cgroups.h
  std::vector<std::string> comms;       // comm_globs.h
  bool all_cgroups = false;             // samples contain the cgroup; also with `cgroups`
  bool namespaces = false;              // NAMESPACES records

  bool has_cgroups() const { return !cgroups.empty() || !containers.empty() || !pods.empty(); }
};

struct Scope {
  // The hierarchy whose cgroups are in samples; nothing if they are not recorded.
  std::optional<CgroupHierarchy> recorded = {};
  std::vector<CgroupDirectory> cgroups = {};  // only these and their descendants; empty: all
  std::uint32_t v1_subsystem = 0;             // of `recorded`, by the kernel's number, if it is v1
  std::vector<wire_globs> comms = {};         // only names that match one; empty: all
  bool namespaces = false;

  // Whether it restricts nothing.
  bool has_every_task() const { return cgroups.empty() && comms.empty(); }
  // Whether the kernel reports new cgroups of this hierarchy.
  bool reports_new_cgroups() const { return recorded && recorded->is_perfs; }
};

// Fails as FindCgroups, FindContainers and CompileCommGlobs do, and with kInvalidArgument for more
// cgroups than WIRE_MAX_CGROUPS. `v1_subsystem` stays 0 (CgroupSubsystem in
// bpf/kernel_facts.h).
Result<Scope> ResolveScope(const ScopeOptions& options);

enum class NamespaceType : std::uint8_t { kPid, kCgroup };

// Returns the inode of this process's namespace; 0 if it is the initial one, or the kernel has
// none.
std::uint32_t ChildNamespace(NamespaceType type);

// Returns a sentence for each kind of names that a recording of the whole system lacks.
std::vector<std::string> UnseenFromNamespaces(const Scope& scope);

}  // namespace perftape::record
