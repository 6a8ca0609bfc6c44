// SPDX-License-Identifier: Apache-2.0
#include "formats/demangle/demangle.h"

// Without this, libiberty declares a basename() that contradicts <cstring>'s.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "formats/demangle/itanium.h"
#include "formats/demangle/other_languages.h"

namespace perftape::demangle {
namespace {

// libiberty recurses for each level of a name. For C++, recursion up to this length is safe.
// libiberty's own limit is 1024 characters, which today's names exceed. Rust names can refer back
// to their own parts, so short ones can recurse without end; for these libiberty's limit stays.
constexpr std::size_t kLongestMangled = 4096;
// Each pair of a type with itself doubles the text, so 200 characters can expand to gigabytes.
constexpr std::size_t kLongestName = 64 << 10;

// Not a std::string: longjmp must not skip a destructor.
struct Output {
  char text[kLongestName];
  std::size_t size;
  std::jmp_buf too_long;
};

void Append(const char* text, std::size_t size, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  // libiberty cannot be stopped otherwise. Its frames that longjmp skips own nothing, except one
  // identifier of a Rust name in punycode.
  if (size > kLongestName - output.size) std::longjmp(output.too_long, 1);
  for (std::size_t i = 0; i < size; ++i) output.text[output.size++] = text[i];
}

// Returns the text that `print(Append, &output)` produces; nothing if it fails or the text is too
// long. No frame in between may own anything that needs a destructor.
template <class Print>
std::optional<std::string> Collect(const Print& print) {
  static thread_local Output output;
  output.size = 0;
  if (setjmp(output.too_long) != 0) return std::nullopt;
  if (print(&Append, &output) == 0 || output.size == 0) return std::nullopt;
  return std::string(output.text, output.size);
}

int OptionsFor(Demangling how) {
  int parts = 0;
  if (how == Demangling::kFull) parts = DMGL_PARAMS;
  if (how == Demangling::kSignature) parts = DMGL_PARAMS | DMGL_RET_DROP;
  return DMGL_ANSI | DMGL_NO_RECURSE_LIMIT | parts;
}

std::optional<std::string> DemangleRust(const std::string& name, int options = DMGL_ANSI) {
  return Collect([&](demangle_callbackref append, void* output) {
    return rust_demangle_callback(name.c_str(), options, append, output);
  });
}

std::optional<std::string> DemangleCpp(const std::string& name, Demangling how) {
  return Collect([&](demangle_callbackref append, void* output) {
    return cplus_demangle_v3_callback(name.c_str(), OptionsFor(how), append, output);
  });
}

using Component = demangle_component;

// Removes the arguments of templates and functions from a name that libiberty has parsed, so that
// it prints the rest.
class Simplifier {
 public:
  // Changes `parsed`. Returns null if the name cannot be shown without those arguments.
  Component* Simplify(Component* parsed) {
    if (parsed == nullptr) return nullptr;
    const auto [known, is_new] = done_.try_emplace(parsed, parsed);
    if (!is_new) return known->second;
    Component* simple = Reduce(parsed);
    done_[parsed] = simple;
    return simple;
  }

 private:
  Component* Reduce(Component* parsed) {
    switch (parsed->type) {
      case DEMANGLE_COMPONENT_TEMPLATE:
        return WithoutArguments(parsed);
      case DEMANGLE_COMPONENT_TYPED_NAME:  // its right side is the parameters
      case DEMANGLE_COMPONENT_RESTRICT_THIS:
      case DEMANGLE_COMPONENT_VOLATILE_THIS:
      case DEMANGLE_COMPONENT_CONST_THIS:
      case DEMANGLE_COMPONENT_REFERENCE_THIS:
      case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
        return Simplify(parsed->u.s_binary.left);
      case DEMANGLE_COMPONENT_SUB_STD:  // "std::basic_iostream<char, std::char_traits<char> >"
        CutAtBracket(parsed);
        return parsed;
      case DEMANGLE_COMPONENT_LAMBDA:
        Empty(parsed->u.s_unary_num.sub);
        return parsed;
      case DEMANGLE_COMPONENT_CTOR:
        return SimplifyIn(parsed, parsed->u.s_ctor.name);
      case DEMANGLE_COMPONENT_DTOR:
        return SimplifyIn(parsed, parsed->u.s_dtor.name);
      case DEMANGLE_COMPONENT_DEFAULT_ARG:
        return SimplifyIn(parsed, parsed->u.s_unary_num.sub);
      case DEMANGLE_COMPONENT_QUAL_NAME:
      case DEMANGLE_COMPONENT_LOCAL_NAME:
      case DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE:
      case DEMANGLE_COMPONENT_MODULE_ENTITY:
        if (SimplifyIn(parsed, parsed->u.s_binary.right) == nullptr) return nullptr;
        return SimplifyIn(parsed, parsed->u.s_binary.left);
      case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
        return ArgumentFor(parsed);
      case DEMANGLE_COMPONENT_CONVERSION:
      case DEMANGLE_COMPONENT_TAGGED_NAME:
      case DEMANGLE_COMPONENT_VTABLE:
      case DEMANGLE_COMPONENT_VTT:
      case DEMANGLE_COMPONENT_TYPEINFO:
      case DEMANGLE_COMPONENT_TYPEINFO_NAME:
      case DEMANGLE_COMPONENT_TYPEINFO_FN:
      case DEMANGLE_COMPONENT_THUNK:
      case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
      case DEMANGLE_COMPONENT_COVARIANT_THUNK:
      case DEMANGLE_COMPONENT_GUARD:
      case DEMANGLE_COMPONENT_TLS_INIT:
      case DEMANGLE_COMPONENT_TLS_WRAPPER:
      case DEMANGLE_COMPONENT_REFTEMP:
      case DEMANGLE_COMPONENT_HIDDEN_ALIAS:
      case DEMANGLE_COMPONENT_TRANSACTION_CLONE:
      case DEMANGLE_COMPONENT_NONTRANSACTION_CLONE:
      case DEMANGLE_COMPONENT_POINTER:
      case DEMANGLE_COMPONENT_REFERENCE:
      case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
      case DEMANGLE_COMPONENT_CONST:
      case DEMANGLE_COMPONENT_VOLATILE:
        return SimplifyIn(parsed, parsed->u.s_binary.left);
      default:
        return parsed;
    }
  }

  Component* SimplifyIn(Component* parent, Component*& child) {
    Component* simple = Simplify(child);
    if (simple == nullptr) return nullptr;
    child = simple;
    return parent;
  }

  // The type of "operator T" may be one of the removed arguments.
  Component* WithoutArguments(Component* parsed) {
    Component* const outer = std::exchange(arguments_, parsed->u.s_binary.right);
    Component* simple = Simplify(parsed->u.s_binary.left);
    arguments_ = outer;
    return simple;
  }

  Component* ArgumentFor(const Component* parameter) const {
    const Component* list = arguments_;
    for (long i = 0; list != nullptr && i < parameter->u.s_number.number; ++i) {
      list = list->u.s_binary.right;
    }
    if (list == nullptr || list->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST) return nullptr;
    Component* argument = list->u.s_binary.left;
    const bool is_pack =
        argument == nullptr || argument->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST;
    return is_pack || argument->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM ? nullptr : argument;
  }

  static void CutAtBracket(Component* abbreviation) {
    auto& [text, size] = abbreviation->u.s_string;
    const std::string_view whole(text, static_cast<std::size_t>(size));
    if (const std::size_t at = whole.find('<'); at != whole.npos) size = static_cast<int>(at);
  }

  static void Empty(Component* list) {
    if (list == nullptr) return;
    list->type = DEMANGLE_COMPONENT_ARGLIST;
    list->u.s_binary.left = nullptr;
    list->u.s_binary.right = nullptr;
  }

  Component* arguments_ = nullptr;  // of the template that is being reduced
  // Substitutions make a name a graph. Each of its nodes is visited once.
  std::unordered_map<Component*, Component*> done_;
};

std::optional<std::string> DemangleCppSimply(const std::string& name) {
  constexpr int kOptions = DMGL_ANSI;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  void* memory = nullptr;
  Component* parsed = cplus_demangle_v3_components(name.c_str(), kOptions, &memory);
  const std::unique_ptr<void, Free> owner(memory);
  Component* simple = Simplifier().Simplify(parsed);
  if (simple == nullptr) return std::nullopt;
  return Collect([&](demangle_callbackref append, void* output) {
    return cplus_demangle_print_callback(kOptions, simple, append, output);
  });
}

// Returns the size of the literal at the start of `text`: "…" or '…', with backslashes; 0 if there
// is none.
std::size_t LiteralSize(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      // A lone ' begins the name of a lifetime. A character literal has at most 4 bytes, or a
      // backslash.
      return text[0] == '"' || i <= 5 || text[1] == '\\' ? i + 1 : 0;
    }
  }
  return 0;
}

// Returns the size of the group at the start of `text`, from `open` to the matching `close`. All of
// `text` if it is not closed.
std::size_t GroupSize(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t literal = LiteralSize(text.substr(i)); literal != 0) {
      i += literal - 1;
    } else if (text[i] == open) {
      ++depth;
    } else if (text[i] == close && !(close == '>' && text[i - 1] == '-')) {
      if (--depth == 0) return i + 1;
    }
  }
  return text.size();
}

bool IsOfIdentifier(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Returns "<Vec as Extend>::extend" for "<Vec<T> as Extend<U>>::extend::<I>". A bracket that is not
// after a path begins a path, and is kept.
std::string WithoutRustGenerics(std::string_view name) {
  std::string simple;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_path = simple.ends_with("::");
    const bool is_generic = name[i] == '<' && !simple.ends_with("for") &&
                            (is_path || (!simple.empty() && IsOfIdentifier(simple.back())));
    if (!is_generic) {
      simple += name[i];
      continue;
    }
    if (is_path) simple.resize(simple.size() - 2);
    i += GroupSize(name.substr(i), '<', '>') - 1;
  }
  return simple;
}

// Returns "tape.reel.reel" for "tape.reel!(char).reel(int) const": the name of a template occurs
// once for itself and once for its content. Removes everything in parentheses; template arguments
// only for kSimple.
std::string WithoutDArguments(std::string_view name, Demangling how) {
  std::string simple;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '(') {
      simple += name[i];
      continue;
    }
    const std::size_t size = GroupSize(name.substr(i), '(', ')');
    const bool is_template = simple.ends_with('!');
    if (is_template && how == Demangling::kTemplates) {
      simple += name.substr(i, size);
    } else if (is_template) {
      simple.pop_back();
    }
    i += size - 1;
  }
  for (const std::string_view word : {" const", " immutable", " inout", " shared"}) {
    if (simple.ends_with(word)) simple.resize(simple.size() - word.size());
  }
  return simple;
}

std::optional<std::string> DemangleD(const std::string& name, Demangling how) {
  // A name may refer back ("Q") to its own parts, which may refer back again. With this limit the
  // result has at most some megabytes. libiberty returns it in one piece.
  constexpr auto kMostReferences = 32;
  if (std::ranges::count(name, 'Q') > kMostReferences) return std::nullopt;
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Free> text(dlang_demangle(name.c_str(), DMGL_PARAMS));
  if (!text || std::string_view(text.get()).size() > kLongestName) return std::nullopt;
  if (how == Demangling::kFull || how == Demangling::kSignature) return text.get();
  const std::string simple = WithoutDArguments(text.get(), how);
  return simple.empty() ? text.get() : simple;  // empty for names that are no functions: "(x)"
}

bool MayBeMangled(const std::string& name) {
  const bool has_prefix =
      name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("_D");
  return has_prefix && name.size() <= kLongestMangled;
}

std::optional<std::string> TryOtherLanguages(const std::string& name, Demangling how) {
  if (name.size() > kLongestMangled) return std::nullopt;
  if (name.starts_with('L')) return DemangleJava(name, how);
  if (name.starts_with("caml")) return DemangleOcaml(name);
  auto rust = DemangleHalfRust(name);
  return rust && how == Demangling::kSimple ? WithoutRustGenerics(*rust) : rust;
}

std::optional<std::string> TryDemangle(const std::string& name, Demangling how) {
  if (name.starts_with("_D")) return DemangleD(name, how);
  // Rust first, because its legacy names are valid C++ names as well.
  if (auto rust = DemangleRust(name)) {
    return how == Demangling::kSimple ? WithoutRustGenerics(*rust) : rust;
  }
  if (how == Demangling::kSimple) {
    if (auto simple = DemangleCppSimply(name)) return simple;
    if (auto simple = ItaniumName::Demangle(name, how)) return simple;
    return DemangleCpp(name, Demangling::kTemplates);
  }
  if (auto known = DemangleCpp(name, how)) return known;
  return ItaniumName::Demangle(name, how);
}

}  // namespace

std::string Demangle(const std::string& name, Demangling how) {
  if (how == Demangling::kNone) return name;
  if (MayBeMangled(name)) return TryDemangle(name, how).value_or(name);
  return TryOtherLanguages(name, how).value_or(name);
}

std::string DemangleWithHashes(const std::string& name) {
  if (!MayBeMangled(name)) return name;
  return DemangleRust(name, DMGL_ANSI | DMGL_VERBOSE).value_or(name);
}

std::string DemangleWithin(const std::string& enclosing, std::string_view name, Demangling how) {
  // A demangler writes the parameters of an enclosing function, but not its return type.
  const bool has_parameters = how == Demangling::kTemplates || how == Demangling::kFull;
  std::string shown = Demangle(enclosing, has_parameters ? Demangling::kSignature : how);
  const bool has_points = enclosing.starts_with("_D");
  return shown.append(has_points ? "." : "::").append(name);
}

}  // namespace perftape::demangle
