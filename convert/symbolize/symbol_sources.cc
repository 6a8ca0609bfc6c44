// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/symbol_sources.h"

#include <utility>

#include "convert/symbolize/local_symbolizer.h"

namespace perftape {
namespace {

OldNames OldNamesOf(const SymbolOptions& options) {
  return options.replace_names ? OldNames::kReplace : OldNames::kKeep;
}

}  // namespace

struct SymbolSources::Places {
  SymbolOptions options;
  std::unique_ptr<LocalSymbolizer> local;
};

SymbolSources::SymbolSources(std::unique_ptr<Places> places) : places_(std::move(places)) {}
SymbolSources::SymbolSources(SymbolSources&&) noexcept = default;
SymbolSources& SymbolSources::operator=(SymbolSources&&) noexcept = default;
SymbolSources::~SymbolSources() = default;

Result<SymbolSources> SymbolSources::Open(const SymbolOptions& options) {
  auto places = std::make_unique<Places>();
  places->options = options;
  TRY_ASSIGN(places->local, LocalSymbolizer::Create(options));
  return SymbolSources(std::move(places));
}

Profile SymbolSources::Name(const Profile& profile, const Recording& recording,
                            SymbolizeReport& report) {
  if (recording.kallsyms() && places_->options.kallsyms.empty()) {
    SymbolOptions own = places_->options;
    own.kallsyms = *recording.kallsyms();
    if (auto local = LocalSymbolizer::Create(own)) {
      return Symbolize(profile, **local, report, OldNamesOf(own));
    }
  }
  return Symbolize(profile, *places_->local, report, OldNamesOf(places_->options));
}

Result<Profile> SymbolizeFrom(const Profile& profile, const SymbolOptions& options,
                              const Recording& recording, SymbolizeReport& report) {
  TRY_ASSIGN(SymbolSources sources, SymbolSources::Open(options));
  return sources.Name(profile, recording, report);
}

}  // namespace perftape
