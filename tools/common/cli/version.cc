// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <sys/utsname.h>

#include "formats/json/write.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/help.h"
#include "tools/common/cli/json_schema.h"

namespace perftape::cli {
namespace {

using Json = json::Value;

// Returns "6.18.5"; empty if it is unknown.
std::string KernelRelease() {
  utsname names = {};
  return uname(&names) == 0 ? names.release : "";
}

std::string AsText(const Command& command) {
  std::string text = fmt::format("{} {}\n", command.name, PERFTAPE_VERSION);
  if (command.libraries != nullptr) {
    std::string_view separator = "libraries: ";
    for (const LibraryVersion& library : command.libraries()) {
      text += fmt::format("{}{} {}", separator, library.name, library.version);
      separator = ", ";
    }
    text += '\n';
  }
  if (command.kernel_features == nullptr) return text;
  text += fmt::format("kernel: Linux {}\n", KernelRelease());
  for (const KernelFeature& feature : command.kernel_features()) {
    text += fmt::format("  {}: {}\n", feature.name, feature.is_there ? "yes" : "no");
  }
  return text;
}

std::string AsJson(const Command& command) {
  Json object = {
      SchemaMember(kVersionSchema), {"name", command.name}, {"version", PERFTAPE_VERSION}};
  if (command.libraries != nullptr) {
    object["libraries"] = Json::EmptyObject();
    for (const LibraryVersion& library : command.libraries()) {
      object["libraries"][library.name] = library.version;
    }
  }
  if (command.kernel_features != nullptr) {
    object["kernel"] = {{"release", KernelRelease()}, {"features", Json::EmptyObject()}};
    for (const KernelFeature& feature : command.kernel_features()) {
      object["kernel"]["features"][feature.name] = feature.is_there;
    }
  }
  return json::Text(object, json::Layout::kIndented);
}

}  // namespace

std::string VersionText(const Command& command, VersionForm form) {
  return form == VersionForm::kJson ? AsJson(command) : AsText(command);
}

}  // namespace perftape::cli
