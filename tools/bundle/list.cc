// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <span>
#include <string>

#include "formats/base/counted.h"
#include "formats/json/write.h"
#include "tools/bundle/open.h"
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::bundle_tool {
namespace {

using bundle::BundledFile;
using bundle::Manifest;

struct ListPlan : cli::BaseOptions {
  std::string bundle;
  bool as_json = false;
};

constexpr cli::Option kListOutputRows[] = {
    cli::JsonRow("print the manifest, and how many bytes of each file are kept, as one JSON object",
                 cli::Set<&ListPlan::as_json>),
};

constexpr cli::Option kListOtherRows[] = {
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kListOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kListOutputRows),
                                         cli::InGroup(cli::Group::kOther, kListOtherRows));

constexpr cli::Example kListExamples[] = {
    {"perftape-bundle list perf.data", "the bundle in a recording"},
    {"perftape-bundle list --json symbols.tar.zst", "for programs"},
};

constexpr cli::Command kListCommand = {
    .name = "perftape-bundle list",
    .purpose =
        "Print the machine that made a bundle and, for each file, its build id, what is kept, and "
        "its size on that machine, or the reason why it is missing.",
    .operands = "BUNDLE",
    .options = kListOptions,
    .examples = kListExamples,
};

Result<ListPlan> ListPlanOf(ListPlan plan) {
  TRY_ASSIGN(plan.bundle, OnlyBundle(plan));
  return plan;
}

// Returns the number of bytes that the bundle has of a file.
constexpr std::size_t kIdWidth = 40;  // digits of a build id

std::uint64_t KeptSize(const bundle::Bundle& bundle, const BundledFile& file) {
  const auto bytes = bundle.Find(file.member);
  return bytes ? bytes->size() : 0;
}

std::string MachineText(const Manifest& manifest) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format("{:<12}{}\n", label, cli::EscapeForTerminal(value));
  };
  add("made by", manifest.perftape_version.empty() ? "" : "perftape " + manifest.perftape_version);
  add("host", manifest.host);
  add("kernel", manifest.kernel_release);
  add("machine", manifest.machine);
  add("boot", manifest.boot_id);
  add("kernel id", manifest.kernel_build_id.hex());
  if (!manifest.reference_symbol.empty()) {
    add("reference",
        fmt::format("{} at {:#x}", manifest.reference_symbol, manifest.reference_address));
  }
  if (!manifest.modules.empty()) add("modules", std::to_string(manifest.modules.size()));
  return text.empty() ? text : text + "\n";
}

std::string FileText(const bundle::Bundle& bundle, const BundledFile& file) {
  std::string id = file.build_id.empty() ? "-" : file.build_id.hex();
  if (file.build_id.empty() && !file.content.empty()) {
    id = cli::EscapeForTerminal("sha256:" + file.content).substr(0, kIdWidth);
  }
  std::string path = cli::EscapeForTerminal(file.path);
  if (file.pid != 0) path += fmt::format(" (process {})", file.pid);
  if (!file.missing.empty()) path += ": " + cli::EscapeForTerminal(file.missing);
  return fmt::format("{:<40}  {:<8}  {:<7}  {:>10}  {:>10}  {}\n", id, NameOf(file.kind),
                     NameOf(file.kept), KeptSize(bundle, file), file.size, path);
}

std::string ListText(const bundle::Bundle& bundle) {
  const Manifest& manifest = bundle.manifest();
  std::string text = MachineText(manifest);
  text += fmt::format("{:<40}  {:<8}  {:<7}  {:>10}  {:>10}  {}\n", "BUILD ID", "KIND", "KEPT",
                      "BYTES", "OF", "FILE");
  std::uint64_t kept = 0, bytes = 0, of = 0;
  for (const BundledFile& file : manifest.files) {
    text += FileText(bundle, file);
    kept += file.kept == bundle::Kept::kNothing ? 0 : 1;
    bytes += KeptSize(bundle, file);
    of += file.size;
  }
  return text + fmt::format("{}, {} kept: {} of {} bytes\n", Counted(manifest.files.size(), "file"),
                            kept, bytes, of);
}

std::string ListJson(const bundle::Bundle& bundle) {
  const Manifest& manifest = bundle.manifest();
  json::Value json = {cli::SchemaMember(cli::kBundleListSchema)};
  json.Merge(bundle::ManifestJson(manifest));
  const std::span<json::Value> files = json["files"].elements();
  for (std::size_t i = 0; i < manifest.files.size(); ++i) {
    files[i]["kept_size"] = KeptSize(bundle, manifest.files[i]);
  }
  const bundle::PassedOver& passed_over = bundle.passed_over();
  json["passed_over"] = {{"unsafe_names", passed_over.unsafe_names},
                         {"kinds", passed_over.kinds},
                         {"duplicates", passed_over.duplicates}};
  return json::Text(json, json::Layout::kIndented);
}

Status Confine(const ListPlan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.bundle, grants);
  return sandbox::Confine(grants);
}

Result<int> Run(const ListPlan& plan, cli::Console& console) {
  TRY_ASSIGN(const bundle::Bundle bundle, OpenNamed(plan.bundle, console));
  TRY(cli::PrintToStdout(plan.as_json ? ListJson(bundle) : ListText(bundle)));
  return cli::kDone;
}

}  // namespace

const cli::Command& ListCommand() {
  return kListCommand;
}

int ListMain(int argc, char** argv) {
  return cli::Main<ListPlan>({kListCommand, &ListPlanOf, &Run, &Confine, true}, argc, argv);
}

}  // namespace perftape::bundle_tool
