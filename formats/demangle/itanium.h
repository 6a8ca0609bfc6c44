// SPDX-License-Identifier: Apache-2.0
// A demangler for constructs that libiberty supports only since GCC 14: constrained template
// parameters (Tk), requires-clauses (Q), explicit object parameters (NH) and member-like friends
// (F) of C++20 and C++23 (https://itanium-cxx-abi.github.io/cxx-abi/abi.html). It reads whole
// names, but is used only for names that libiberty cannot demangle. It writes as libiberty does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/demangle/demangle.h"

namespace perftape::demangle {

class ItaniumName {
 public:
  // Nothing if the name is not a C++ name, or has a construct that is not supported here.
  static std::optional<std::string> Demangle(std::string_view mangled, Demangling how);

 private:
  // A type as what precedes and follows a declared name: "void (*" and ")(int)".
  struct Type {
    std::string left, right;
    std::string text() const { return left + right; }
  };
  // An argument of a template; a pack has any number of types.
  struct Argument {
    std::vector<Type> types;
    bool is_pack = false;
  };
  struct Name {
    std::string text;
    std::string qualifiers = {};  // of a member function: " const"
    bool has_arguments = false;   // ends with template arguments
    bool has_return_type = true;  // if it has arguments; constructors and conversions have none
  };
  enum class Scope : std::uint8_t { kEntity, kType };  // what a name is the name of

  // Limits for forged names. The text of a part may double with each reference to it.
  static constexpr std::size_t kLongestPart = 16 << 10;
  static constexpr std::size_t kMostParts = 2048;

  ItaniumName(std::string_view text, Demangling how) : text_(text), how_(how) {}

  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  bool is_simple() const { return how_ == Demangling::kSimple; }
  std::string Encoding(bool is_local);
  std::string SpecialName();
  std::string Parameters(char end);
  std::optional<std::string> Requirement();
  Name ReadName(Scope scope);
  Name NestedName(Scope scope);
  void Component(Name& name, std::string& last, Scope scope);
  Name LocalName(Scope scope);
  void Discriminator();
  std::string Unqualified(std::string_view last, Name& name);
  std::string SourceName();
  std::string Operator(Name& name);
  std::string Lambda();
  std::string Unnamed();
  std::string AbiTags();
  std::string Arguments(Scope scope);
  Argument ReadArgument();
  void TemplateHeads();
  bool TemplateHead();

  Type ReadType();
  std::optional<Type> Builtin();
  Type ExtendedBuiltin();
  Type TypeWithoutRecord(bool& is_recorded);
  Type Qualified();
  Type Pointer(std::string_view mark);
  Type Array();
  Type FunctionType(std::string_view qualifiers);
  Type MemberPointer();
  Type Expansion();
  Type Substitution();
  Type TemplateParameter();

  std::string Expression();
  std::string Literal();
  std::string FunctionParameter();
  std::string Call();
  std::string List(std::string_view open, std::string_view close);
  std::string OperatorExpression();
  std::string RequiresExpression();

  bool Eat(std::string_view text);
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::size_t Number();
  std::size_t SequenceId();
  std::string Fail();
  bool CanGoOn();

  std::string_view text_;
  std::size_t at_ = 0;
  Demangling how_;
  bool has_failed_ = false;
  unsigned depth_ = 0;
  unsigned steps_ = 0;
  std::vector<Type> substitutions_;
  std::vector<Argument> arguments_;             // of the entity, which T_ refers to
  std::optional<std::size_t> pack_index_ = {};  // in an expansion
  std::optional<std::size_t> pack_size_ = {};   // of the pack that it refers to
  unsigned lambda_depth_ = 0;
};

}  // namespace perftape::demangle
