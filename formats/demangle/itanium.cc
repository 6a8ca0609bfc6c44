// SPDX-License-Identifier: Apache-2.0
#include "formats/demangle/itanium.h"

#include <algorithm>
#include <utility>

#include "formats/demangle/itanium_operators.h"

namespace perftape::demangle {
namespace {

// Limits for forged names.
constexpr unsigned kDeepest = 192;
constexpr unsigned kMostSteps = 20000;

// The end of the name, if the compiler made a copy of the function: ".cold", ".constprop.0".
std::string_view WithoutSuffix(std::string_view text) {
  return text.substr(0, text.find('.'));
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    if (!joined.empty()) joined += ", ";
    joined += text;
  }
  return joined;
}

}  // namespace

std::optional<std::string> ItaniumName::Demangle(std::string_view mangled, Demangling how) {
  if (!mangled.starts_with("_Z")) return std::nullopt;
  const std::string_view whole = mangled.substr(2), text = WithoutSuffix(whole);
  ItaniumName name(text, how);
  std::string shown = name.Encoding(false);
  if (name.has_failed_ || name.at_ != text.size() || shown.empty()) return std::nullopt;
  const bool has_suffix = how == Demangling::kFull || how == Demangling::kSignature;
  if (has_suffix && text.size() != whole.size()) {
    shown.append(" [clone ").append(whole.substr(text.size())).append("]");
  }
  return shown;
}

std::string ItaniumName::Fail() {
  has_failed_ = true;
  return {};
}

// Called by each part of a name that may contain itself.
bool ItaniumName::CanGoOn() {
  if (depth_ > kDeepest || ++steps_ > kMostSteps) has_failed_ = true;
  return !has_failed_;
}

bool ItaniumName::Eat(std::string_view text) {
  if (has_failed_ || !text_.substr(at_).starts_with(text)) return false;
  at_ += text.size();
  return true;
}

std::size_t ItaniumName::Number() {
  if (!IsDigit(Peek())) has_failed_ = true;
  std::size_t number = 0;
  while (IsDigit(Peek()) && number < 1000000) {
    number = number * 10 + static_cast<std::size_t>(text_[at_++] - '0');
  }
  return number;
}

// "_" is 0, "0_" is 1; digits and upper-case letters.
std::size_t ItaniumName::SequenceId() {
  if (Eat("_")) return 0;
  std::size_t number = 0;
  while (!Eat("_")) {
    const char c = Peek();
    const bool is_letter = c >= 'A' && c <= 'Z';
    if ((!IsDigit(c) && !is_letter) || number > 1000000) {
      has_failed_ = true;
      return 0;
    }
    number = number * 36 + static_cast<std::size_t>(is_letter ? c - 'A' + 10 : c - '0');
    ++at_;
  }
  return number + 1;
}

std::string ItaniumName::Encoding(bool is_local) {
  if (!CanGoOn()) return {};
  if (Peek() == 'T' || Peek() == 'G') return SpecialName();
  Name name = ReadName(Scope::kEntity);
  std::string text = std::move(name.text);
  const auto is_end = [&] { return at_ >= text_.size() || (is_local && Peek() == 'E'); };
  if (is_end()) return text;
  std::string type;
  if (name.has_arguments && name.has_return_type) {
    Type of_return = ReadType();
    if (how_ == Demangling::kFull && !is_local)
      type = of_return.left + " ", name.qualifiers += of_return.right;
  }
  const std::string parameters = Parameters(is_local ? 'E' : '\0');
  const auto requirement = Requirement();
  const bool has_parameters = how_ == Demangling::kFull || how_ == Demangling::kSignature ||
                              (is_local && how_ == Demangling::kTemplates);
  if (has_parameters) text += "(" + parameters + ")" + name.qualifiers;
  if (how_ == Demangling::kFull && requirement && !is_local) text += " requires " + *requirement;
  return type + text;
}

std::string ItaniumName::SpecialName() {
  for (const auto& [code, words] : kSpecialTypes) {
    if (Eat(code)) return std::string(words) + ReadType().text();
  }
  for (const auto& [code, words] : kSpecialNames) {
    if (Eat(code)) return std::string(words) + ReadName(Scope::kEntity).text;
  }
  return Fail();
}

// Up to the end of the name, a requires-clause, or `end`.
std::string ItaniumName::Parameters(char end) {
  std::vector<std::string> texts;
  while (!has_failed_ && at_ < text_.size() && Peek() != 'Q' && (end == '\0' || Peek() != end)) {
    texts.push_back(ReadType().text());
  }
  if (texts.size() == 1 && texts[0] == "void") return {};
  return Joined(texts);
}

std::optional<std::string> ItaniumName::Requirement() {
  if (!Eat("Q")) return std::nullopt;
  return Expression();
}

ItaniumName::Name ItaniumName::ReadName(Scope scope) {
  if (!CanGoOn()) return {};
  ++depth_;
  Name name;
  if (Eat("N")) {
    name = NestedName(scope);
  } else if (Eat("Z")) {
    name = LocalName(scope);
  } else if (Peek() == 'S' && Peek(1) != 't') {
    name.text = Substitution().text();
    if (Peek() == 'I') {
      name.text += Arguments(scope);
      name.has_arguments = true;
    }
  } else {
    if (Eat("St")) name.text = "std::";
    name.text += Unqualified({}, name);
    if (Peek() == 'I') {
      substitutions_.push_back({name.text, {}});
      name.text += Arguments(scope);
      name.has_arguments = true;
    }
  }
  --depth_;
  if (name.text.size() > kLongestPart || substitutions_.size() > kMostParts) has_failed_ = true;
  return name;
}

ItaniumName::Name ItaniumName::NestedName(Scope scope) {
  Name name;
  (void)Eat("H");  // an explicit object parameter: it is the first one
  std::string qualifiers;
  if (Eat("r")) qualifiers += " restrict";
  if (Eat("V")) qualifiers += " volatile";
  if (Eat("K")) qualifiers += " const";
  if (Eat("R")) qualifiers += " &";
  if (Eat("O")) qualifiers += " &&";
  std::string last;
  bool is_pushed = false;
  while (!has_failed_ && !Eat("E")) {
    const std::size_t before = substitutions_.size();
    Component(name, last, scope);
    is_pushed = substitutions_.size() > before;
    if (name.text.size() > kLongestPart) has_failed_ = true;
  }
  if (is_pushed) substitutions_.pop_back();  // the name itself is no part of it
  if (name.text.empty()) has_failed_ = true;
  name.qualifiers = qualifiers;
  return name;
}

void ItaniumName::Component(Name& name, std::string& last, Scope scope) {
  if (!CanGoOn()) return;
  const auto record = [&] { substitutions_.push_back({name.text, {}}); };
  if (Eat("St")) {
    name.text = "std";
    return;
  }
  if (Peek() == 'S') {
    name.text = Substitution().text();
    last = name.text.substr(0, name.text.find('<'));
    const std::size_t scope_end = last.rfind("::");
    if (scope_end != last.npos) last.erase(0, scope_end + 2);
    return;
  }
  if (Peek() == 'I') {
    name.text += Arguments(scope);
    name.has_arguments = true;
    return record();
  }
  if (Peek() == 'T') {
    name.text = TemplateParameter().text();
    return record();
  }
  if (Peek() == 'D' && (Peek(1) == 't' || Peek(1) == 'T')) {
    name.text = ReadType().text();
    return;
  }
  const bool is_friend = Eat("F");
  name.has_arguments = false;
  std::string part = Unqualified(last, name);
  if (is_friend) part.insert(0, "friend ");
  if (!name.text.empty()) name.text += "::";
  name.text += part;
  last = std::move(part);
  record();
}

ItaniumName::Name ItaniumName::LocalName(Scope scope) {
  std::string function = Encoding(true);
  if (!Eat("E")) return {Fail()};
  if (Eat("s")) {
    Discriminator();
    return {function + "::string literal"};
  }
  if (Eat("d")) {
    if (Peek() != '_') (void)Number();
    if (!Eat("_")) return {Fail()};
    function += "::{default arg}";
  }
  Name name = ReadName(scope);
  Discriminator();
  name.text = function + "::" + name.text;
  return name;
}

void ItaniumName::Discriminator() {
  if (Peek() != '_') return;
  if (Peek(1) == '_') {
    at_ += 2;
    (void)Number();
    if (!Eat("_")) has_failed_ = true;
  } else if (IsDigit(Peek(1))) {
    at_ += 2;
  }
}

std::string ItaniumName::Unqualified(std::string_view last, Name& name) {
  (void)Eat("L");  // internal linkage
  std::string text;
  const char c = Peek();
  if (IsDigit(c)) {
    text = SourceName();
  } else if (Eat("Ul")) {
    text = Lambda();
  } else if (Eat("Ut")) {
    text = Unnamed();
  } else if (Eat("DC")) {
    std::vector<std::string> names;
    while (!has_failed_ && !Eat("E")) names.push_back(SourceName());
    text = "[" + Joined(names) + "]";
  } else if (c == 'C' && !last.empty()) {
    ++at_;
    (void)Eat("I");  // inherited
    (void)Number();
    name.has_return_type = false;
    text = last;
  } else if (c == 'D' && !last.empty() && IsDigit(Peek(1))) {
    at_ += 2;
    name.has_return_type = false;
    text = "~" + std::string(last);
  } else {
    text = Operator(name);
  }
  return text + AbiTags();
}

std::string ItaniumName::AbiTags() {
  std::string tags;
  while (Eat("B")) tags += "[abi:" + SourceName() + "]";
  return tags;
}

std::string ItaniumName::SourceName() {
  const std::size_t size = Number();
  if (has_failed_ || size == 0 || size > text_.size() - at_) return Fail();
  const std::string_view name = text_.substr(at_, size);
  at_ += size;
  if (name.starts_with("_GLOBAL_") && name.size() > 9 && name[9] == 'N') {
    return "(anonymous namespace)";
  }
  return std::string(name);
}

std::string ItaniumName::Operator(Name& name) {
  if (Eat("cv")) {
    name.has_return_type = false;
    return "operator " + ReadType().text();
  }
  if (Eat("li")) return "operator\"\" " + SourceName();
  const OperatorName* const found = FindOperator(text_.substr(at_));
  if (found == nullptr) return Fail();
  at_ += 2;
  const bool is_word = found->symbol[0] >= 'a' && found->symbol[0] <= 'z';
  return (is_word ? "operator " : "operator") + std::string(found->symbol);
}

std::string ItaniumName::Lambda() {
  ++lambda_depth_;
  TemplateHeads();
  (void)Requirement();
  std::string parameters = Parameters('E');
  (void)Requirement();
  --lambda_depth_;
  if (!Eat("E")) return Fail();
  std::size_t number = Peek() == '_' ? 1 : Number() + 2;
  if (!Eat("_")) return Fail();
  if (is_simple()) parameters.clear();
  return "{lambda(" + parameters + ")#" + std::to_string(number) + "}";
}

std::string ItaniumName::Unnamed() {
  const std::size_t number = Peek() == '_' ? 1 : Number() + 2;
  if (!Eat("_")) return Fail();
  return "{unnamed type#" + std::to_string(number) + "}";
}

std::string ItaniumName::Arguments(Scope scope) {
  if (!Eat("I") || !CanGoOn()) return Fail();
  ++depth_;
  std::vector<Argument> arguments;
  if (scope == Scope::kEntity && lambda_depth_ == 0) arguments_.clear();
  while (!has_failed_ && !Eat("E")) {
    if (Requirement()) continue;
    arguments.push_back(ReadArgument());
    if (scope == Scope::kEntity && lambda_depth_ == 0) arguments_ = arguments;
  }
  --depth_;
  if (is_simple()) return {};
  std::vector<std::string> texts;
  for (const Argument& argument : arguments) {
    for (const Type& type : argument.types) texts.push_back(type.text());
  }
  std::string text = "<" + Joined(texts);
  if (text.size() > kLongestPart) return Fail();
  return text.append(text.ends_with('>') ? " >" : ">");
}

ItaniumName::Argument ItaniumName::ReadArgument() {
  if (!CanGoOn()) return {};
  (void)TemplateHead();  // where the parameter is not as the argument suggests
  if (Eat("J")) {
    Argument pack = {.types = {}, .is_pack = true};
    while (!has_failed_ && !Eat("E")) {
      for (Type& type : ReadArgument().types) pack.types.push_back(std::move(type));
    }
    return pack;
  }
  if (Eat("X")) {
    std::string text = Expression();
    if (!Eat("E")) has_failed_ = true;
    return {.types = {{std::move(text), {}}}};
  }
  if (Peek() == 'L') return {.types = {{Literal(), {}}}};
  return {.types = {ReadType()}};
}

void ItaniumName::TemplateHeads() {
  while (!has_failed_ && TemplateHead()) {
  }
}

// Skips the declaration of a template parameter, if there is one.
bool ItaniumName::TemplateHead() {
  if (!CanGoOn()) return false;
  if (Eat("Ty")) return true;
  if (Eat("Tk")) {
    (void)ReadName(Scope::kType);
    return true;
  }
  if (Eat("Tn")) {
    (void)ReadType();
    return true;
  }
  if (Eat("Tp")) {
    ++depth_;
    const bool is_head = TemplateHead();
    --depth_;
    return is_head;
  }
  if (!Eat("Tt")) return false;
  ++depth_;
  TemplateHeads();
  (void)Requirement();
  --depth_;
  if (!Eat("E")) has_failed_ = true;
  return true;
}

}  // namespace perftape::demangle
