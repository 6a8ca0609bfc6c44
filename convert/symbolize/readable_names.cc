// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/readable_names.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"

namespace perftape::symbolize {
namespace {

constexpr std::string_view kPlt = "@plt";

}  // namespace

std::string ReadableName(std::string_view name, demangle::Demangling how) {
  const bool is_plt = name.ends_with(kPlt);
  std::string shown(name.substr(0, name.size() - (is_plt ? kPlt.size() : 0)));
  shown = demangle::Demangle(shown, how);
  return is_plt ? shown.append(kPlt) : shown;
}

convert::Profile DemangleNames(const convert::Profile& profile, demangle::Demangling how) {
  if (how == demangle::Demangling::kNone) return profile;
  std::vector<std::pair<convert::FunctionId, std::string>> mangled;
  for (std::uint32_t i = 0; i < profile.functions().size(); ++i) {
    const convert::Function& function = profile.functions()[i];
    const bool is_readable =
        function.system_name != convert::StringId{} && function.system_name != function.name;
    if (is_readable) continue;
    const std::string_view name = profile.text(function.name);
    std::string shown = ReadableName(name, how);
    if (shown != name) mangled.emplace_back(convert::FunctionId{i}, std::move(shown));
  }
  if (mangled.empty()) return profile;

  convert::ProfileBuilder builder;
  convert::ProfileCopier copier(profile, builder);
  for (const auto& [id, shown] : mangled) {
    convert::Function function = profile[id];
    function.system_name = copier.Copy(function.name);
    function.name = builder.Add(shown);
    function.filename = copier.Copy(function.filename);
    copier.Set(id, builder.Add(function));
  }
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) copier.Copy(convert::EventId{i});
  for (const convert::Sample& sample : profile.samples()) builder.Add(copier.Copy(sample));
  builder.SetMetadata(profile.metadata());
  return std::move(builder).Finish();
}

}  // namespace perftape::symbolize
