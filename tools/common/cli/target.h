// SPDX-License-Identifier: Apache-2.0
// The target of an option: a field of the tool's struct, and the conversion of the text to the
// field's type. A path of member pointers names the field.
//
//   cli::Set<&Plan::show_sources>                       a switch
//   cli::SetTo<IfExists::kReplace, &Plan::if_exists>    a switch that sets a value
//   cli::AddTo<Section::kHeader, &Plan::sections>       a switch that adds to a list
//   cli::Store<&Plan::output>                           a text; appended if the field is a list
//   cli::StoreAs<cli::ParseCpuList, &Plan::filter, &Filter::cpus>
//                                                       the result of a function of the text
//   cli::StoreChoice<kRoots, &Plan::root>               a value from a table of words
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/base/result.h"
#include "tools/common/cli/values.h"

namespace perftape::cli {

struct Option;

// One option of a command line.
struct GivenOption {
  const Option* row;
  std::string spelled;  // "-F" or "--freq", as the user typed it
};

enum class VersionForm : std::uint8_t { kText, kJson };

// The fields that all tools have. A tool's struct derives from it.
struct BaseOptions {
  BaseOptions() = default;
  BaseOptions(const BaseOptions&) = default;
  BaseOptions(BaseOptions&&) = default;
  BaseOptions& operator=(const BaseOptions&) = default;
  BaseOptions& operator=(BaseOptions&&) = default;
  virtual ~BaseOptions() = default;

  std::vector<std::string> operands;
  bool help = false;
  bool help_all = false;
  std::optional<VersionForm> version;
  std::optional<std::string> completion;
  bool quiet = false;
  bool verbose = false;
  bool no_sandbox = false;
  bool no_progress = false;
  std::vector<GivenOption> given;  // in the order of the words
};

// One word of an option with choices, and its value. The note is for --help: "default".
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
  std::string_view note = {};
};

// A choice, as shown by help, completion and errors.
struct Offer {
  std::string word;
  std::string note = {};
};

struct Target {
  // Sets the field. `spelled` is the option as typed, for the error.
  Status (*store)(BaseOptions& options, std::string_view spelled, std::string_view text) = nullptr;
  // Whether every value is used, not only the last one.
  bool is_list = false;
  // Null for an option without choices.
  std::vector<Offer> (*offers)() = nullptr;
};

// Returns the error kInvalidArgument "unknown value 'x' for --root: choose comm or none".
std::unexpected<Error> UnknownValue(std::string_view spelled, std::string_view text,
                                    std::span<const Offer> offers);

namespace internal {

// Option structs of two tools must have different names, even in unnamed namespaces. The arguments
// of the templates below are pointers to their members, and GCC 12 gives both instances the same
// symbol.
template <class Class, class Member>
Class ClassOf(Member Class::*);

// Returns the field at the end of the path. Throws std::bad_cast if `options` is the struct of
// another tool.
template <auto First, auto... Rest>
auto& FieldOf(BaseOptions& options) {
  auto& own = dynamic_cast<decltype(ClassOf(First))&>(options);
  return ((own.*First).*....*Rest);
}

template <class Field>
constexpr bool kIsText = std::is_constructible_v<Field, std::string_view>;

template <class Field>
concept List = !kIsText<Field> && requires(Field field) {
  field.insert(field.end(), *field.begin());
};

template <class Field>
concept AddsText = requires(Field field, std::string_view text) {
  field.Add(text);
};

template <class Field>
constexpr bool kIsList = List<Field> || AddsText<Field>;

template <auto... Path>
constexpr bool kPathIsList =
    kIsList<std::remove_cvref_t<decltype(FieldOf<Path...>(std::declval<BaseOptions&>()))>>;

template <auto... Path>
Status StoreText(BaseOptions& options, std::string_view, std::string_view text) {
  auto& field = FieldOf<Path...>(options);
  using Field = std::remove_cvref_t<decltype(field)>;
  if constexpr (AddsText<Field>) {
    field.Add(text);
  } else if constexpr (List<Field>) {
    field.emplace_back(text);
  } else {
    field = Field(text);
  }
  return {};
}

template <auto Parser, auto... Path>
Status StoreParsed(BaseOptions& options, std::string_view spelled, std::string_view text) {
  auto& field = FieldOf<Path...>(options);
  auto value = Parser(spelled, text);
  if (!value) return std::unexpected(std::move(value).error());
  if constexpr (List<std::remove_cvref_t<decltype(field)>>) {
    for (auto& one : *value) field.insert(field.end(), std::move(one));
  } else {
    field = *std::move(value);
  }
  return {};
}

template <auto Parser, auto... Path>
Status StoreReplaced(BaseOptions& options, std::string_view spelled, std::string_view text) {
  auto value = Parser(spelled, text);
  if (!value) return std::unexpected(std::move(value).error());
  FieldOf<Path...>(options) = *std::move(value);
  return {};
}

template <const auto& Choices>
std::vector<Offer> OffersOf() {
  std::vector<Offer> offers;
  for (const auto& choice : Choices) {
    offers.push_back({.word = std::string(choice.word), .note = std::string(choice.note)});
  }
  return offers;
}

template <const auto& Choices, auto... Path>
Status StoreOneOf(BaseOptions& options, std::string_view spelled, std::string_view text) {
  for (const auto& choice : Choices) {
    if (choice.word != text) continue;
    FieldOf<Path...>(options) = choice.value;
    return {};
  }
  return UnknownValue(spelled, text, OffersOf<Choices>());
}

template <const auto& Choices, auto... Path>
Status StoreSeveralOf(BaseOptions& options, std::string_view spelled, std::string_view text) {
  auto& field = FieldOf<Path...>(options);
  for (const std::string_view word : SplitAtCommas(text)) {
    const auto* found = Choices;
    while (found != std::end(Choices) && found->word != word) ++found;
    if (found == std::end(Choices)) return UnknownValue(spelled, word, OffersOf<Choices>());
    field.insert(field.end(), found->value);
  }
  return {};
}

template <auto Value, auto... Path>
Status StoreValue(BaseOptions& options, std::string_view, std::string_view) {
  FieldOf<Path...>(options) = Value;
  return {};
}

template <auto Value, auto... Path>
Status AddValue(BaseOptions& options, std::string_view, std::string_view) {
  auto& field = FieldOf<Path...>(options);
  field.insert(field.end(), Value);
  return {};
}

}  // namespace internal

template <auto... Path>
inline constexpr Target Set = {.store = &internal::StoreValue<true, Path...>};

// An option that is accepted without effect.
inline constexpr Target Ignore = {
    .store = [](BaseOptions&, std::string_view, std::string_view) -> Status { return {}; }};

template <auto Value, auto... Path>
inline constexpr Target SetTo = {.store = &internal::StoreValue<Value, Path...>};

// A switch that adds a value to a list.
template <auto Value, auto... Path>
inline constexpr Target AddTo = {.store = &internal::AddValue<Value, Path...>};

// A path or text. If the field is a list, the value is appended.
template <auto... Path>
inline constexpr Target Store = {.store = &internal::StoreText<Path...>,
                                 .is_list = internal::kPathIsList<Path...>};

// Parser(spelled, text) returns a Result. If the field is a list, its elements are appended.
template <auto Parser, auto... Path>
inline constexpr Target StoreAs = {.store = &internal::StoreParsed<Parser, Path...>,
                                   .is_list = internal::kPathIsList<Path...>};

// The same, but the value replaces the list.
template <auto Parser, auto... Path>
inline constexpr Target StoreLast = {.store = &internal::StoreReplaced<Parser, Path...>};

// The same with choices that are known only at run time. Parser rejects all other words.
template <auto Parser, auto Offers, auto... Path>
inline constexpr Target StoreOffered = {.store = &internal::StoreParsed<Parser, Path...>,
                                        .is_list = internal::kPathIsList<Path...>,
                                        .offers = Offers};

// `Choices` is a constant array of Choice.
template <const auto& Choices, auto... Path>
inline constexpr Target StoreChoice = {.store = &internal::StoreOneOf<Choices, Path...>,
                                       .offers = &internal::OffersOf<Choices>};

// The same for a list of values, separated by commas.
template <const auto& Choices, auto... Path>
inline constexpr Target StoreChoices = {.store = &internal::StoreSeveralOf<Choices, Path...>,
                                        .is_list = true,
                                        .offers = &internal::OffersOf<Choices>};

}  // namespace perftape::cli
