# SPDX-License-Identifier: Apache-2.0
# The types of targets that perftape consists of, and the flags that they share.
include_guard()
include(GoogleTest)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
option(PERFTAPE_STATIC "Link all tools into one static program, perftape" OFF)
# A web server and a client with TLS: two libraries that nothing else needs, and slow to compile. In the
# static file the server would be a tenth of its size, and with TLS a file cannot be static.
option(PERFTAPE_SERVE "Build perftape-serve, which needs Boost.Beast and libcurl" ON)
set(PERFTAPE_FMT fmt::fmt)
if(PERFTAPE_STATIC)
  set(PERFTAPE_SERVE OFF)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(Boost_USE_STATIC_LIBS ON)
  set(PERFTAPE_FMT fmt::fmt-header-only)  # Debian has no archive of it
  # Functions with the same code become one. Of the linkers in binutils only gold does this.
  set(folding -fuse-ld=gold -Wl,--icf=safe)
  include(CheckLinkerFlag)
  check_linker_flag(CXX "${folding}" PERFTAPE_CAN_FOLD)
  if(PERFTAPE_CAN_FOLD)
    set(PERFTAPE_FOLDING ${folding})
  endif()
endif()
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()
# Halves the time of a build from scratch. Not for daily work: more is compiled again after a change, and a file with a
# missing include still compiles.
option(PERFTAPE_FAST_BUILD "Compile common headers once, and several files of a library together" OFF)
# A build that optimizes less, to compile faster, optimizes the former fully; one that optimizes fully, not the latter.
set(PERFTAPE_HOT_FLAGS "" CACHE STRING "More compiler flags for the libraries that run for each byte or sample")
set(PERFTAPE_TOOL_FLAGS "" CACHE STRING "More compiler flags for the libraries of the tools, which read options and print")
set(PERFTAPE_TEST_FLAGS "" CACHE STRING "More compiler flags for GoogleTest programs, whose time is that of the compiler")
# Looking for what to warn of is a twentieth of the time.
option(PERFTAPE_WARNINGS "Compile with the project's warnings" ON)
# 3,400 processes with a sanitizer start for 0.1 s each.
option(PERFTAPE_TESTS_TOGETHER "Run the tests of each GoogleTest program in one process" OFF)

# The programs for the tests of one label. `cmake --build … --target tests-LABEL` builds only these.
add_custom_target(perftape-tools)
foreach(label IN ITEMS unit fuzz cli interop root lint timing)
  add_custom_target(tests-${label})
endforeach()
foreach(label IN ITEMS cli interop root lint timing)
  add_dependencies(tests-${label} perftape-tools)
endforeach()

# perftape_archive_needs(LIBRARY other …): what an outside library needs if it is an archive. A shared library names this
# itself. pkg-config would name what all of the archive needs, instead of what is called.
function(perftape_archive_needs library)
  if(PERFTAPE_STATIC)
    target_link_libraries(${library} INTERFACE ${ARGN})
  endif()
endfunction()

function(perftape_set_flags target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
  if(PERFTAPE_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  endif()
  target_compile_options(${target} PRIVATE
    -fno-omit-frame-pointer
    -ffunction-sections  # the linker removes uncalled functions, and lint.callers finds them
    -pthread  # some libraries require it, so precompiled headers need it too
    # Builds for users contain no path of the machine that built them: they are the same everywhere.
    "$<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.;-ffile-prefix-map=${PROJECT_BINARY_DIR}=./build>"
    # False warnings of GCC 12: uninitialized members in inlined std::optional and std::expected,
    # overlapping copies in std::string (PR 105651) and, at -O3, accesses out of bounds in std::vector.
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>"
    # std::stable_sort of libstdc++ 12 calls a function that C++17 deprecates, and clang warns about it.
    # clang's -Wconversion includes more than that of GCC, which builds the releases.
    "$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations;-Wno-sign-conversion>")
  if(PERFTAPE_FAST_BUILD)
    # A file that is compiled together with others counts as a header for this warning.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
      # A local name may be that of a constant of another file, which only clang calls shadowing.
      $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>
      # GCC collects garbage only if it has allocated 512 MB.
      $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
  endif()
  if(PERFTAPE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${PERFTAPE_SANITIZE} -fno-sanitize-recover=all)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-null-dereference>)
    target_link_options(${target} PUBLIC -fsanitize=${PERFTAPE_SANITIZE})
    if(PERFTAPE_FAST_BUILD)
      # Reports need lines, but no types and variables, which cost a fifth of the time.
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-gline-tables-only>)
    endif()
  endif()
  if(PERFTAPE_LIBFUZZER)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# With PERFTAPE_FAST_BUILD, makes a target use the precompiled headers of its kind: std; HOT or TOOL, which are the same
# ones with the flags of such libraries; or TEST, which includes GoogleTest's headers.
function(perftape_precompile name kind)
  if(NOT PERFTAPE_FAST_BUILD)
    return()
  endif()
  get_target_property(type ${name} TYPE)
  if(CMAKE_POSITION_INDEPENDENT_CODE AND type STREQUAL "EXECUTABLE")
    return()  # precompiled with -fPIC, as libraries are, they do not fit -fPIE
  endif()
  # Also targets without fmt need the macros that its header was precompiled with.
  target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:${PERFTAPE_FMT},INTERFACE_COMPILE_DEFINITIONS>)
  set(shared perftape_${kind}_headers)
  if(NOT TARGET ${shared})
    set(headers <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cstdint> <cstring> <expected> <filesystem>
      <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <ranges> <set> <span> <string> <thread> <tuple>
      <unordered_map> <utility> <variant> <vector> <fmt/core.h>)
    if(kind STREQUAL TEST)
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    set(empty ${PROJECT_BINARY_DIR}/${shared}.cc)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(${shared} OBJECT ${empty})
    perftape_set_flags(${shared})
    target_link_libraries(${shared} PRIVATE ${PERFTAPE_FMT})
    perftape_set_kind_flags(${shared} ${kind})
    if(kind STREQUAL TEST)
      target_link_libraries(${shared} PRIVATE GTest::gmock GTest::gtest)
    endif()
    target_precompile_headers(${shared} PRIVATE ${headers})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${shared})
endfunction()

# The flags of PERFTAPE_<kind>_FLAGS, if there are some, after all others.
function(perftape_set_kind_flags target kind)
  separate_arguments(flags NATIVE_COMMAND "${PERFTAPE_${kind}_FLAGS}")
  target_compile_options(${target} PRIVATE ${flags})
endfunction()

# perftape_library(NAME [HOT] SOURCES a.cc … [LINKS other …] [PRIVATE_LINKS outside …])
# A library without sources consists of its headers. HOT libraries run for each byte or sample of a file. Other libraries
# in tools/ are those of the kind TOOL.
function(perftape_library name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  list(TRANSFORM ARG_LINKS REPLACE "^fmt::fmt$" ${PERFTAPE_FMT})
  list(TRANSFORM ARG_PRIVATE_LINKS REPLACE "^fmt::fmt$" ${PERFTAPE_FMT})
  add_library(${name} STATIC ${ARG_SOURCES})
  perftape_set_flags(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  # GCC applies the optimization level of precompiled headers to what includes them: other flags are another kind.
  set(kind std)
  if(ARG_HOT AND PERFTAPE_HOT_FLAGS)
    set(kind HOT)
  elseif(NOT ARG_HOT AND PERFTAPE_TOOL_FLAGS AND CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/tools")
    set(kind TOOL)
  endif()
  perftape_set_kind_flags(${name} ${kind})
  if(ARG_SOURCES)
    perftape_precompile(${name} ${kind})
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${PERFTAPE_FAST_BUILD} UNITY_BUILD_BATCH_SIZE 64)
  endif()
  if(ARG_SOURCES AND NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    set_property(GLOBAL APPEND PROPERTY PERFTAPE_LIBRARIES ${name})
  endif()
endfunction()

# perftape_tool(NAME SOURCES a.cc … LINKS …): an executable in build/<preset>/bin.
function(perftape_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  perftape_set_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  target_link_options(${name} PRIVATE -Wl,--gc-sections)
  if(PERFTAPE_STATIC)
    # With all code in one partition, optimization at link time leaves 45 KB less.
    target_link_options(${name} PRIVATE -static -s -flto-partition=one ${PERFTAPE_FOLDING})
  endif()
  perftape_precompile(${name} std)
  add_dependencies(perftape-tools ${name})
  if(NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    set_property(GLOBAL APPEND PROPERTY PERFTAPE_TOOLS ${name})
  endif()
endfunction()

# perftape_test(NAME SOURCES a_test.cc … [ALONE b_test.cc …] LINKS … [LABEL unit]): one gtest executable.
# Each of its tests is a test of CTest, unless PERFTAPE_TESTS_TOGETHER. Files that define the same names
# as others are not compiled together with them: ALONE.
function(perftape_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;ALONE;LINKS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set(alone FALSE)
  if(ARG_LABEL MATCHES "^(root|interop)$")
    set(alone TRUE)  # they count samples, and a parallel test would use CPU time
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_ALONE})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  perftape_set_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest_main)
  perftape_set_kind_flags(${name} TEST)
  perftape_precompile(${name} TEST)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${PERFTAPE_FAST_BUILD} UNITY_BUILD_BATCH_SIZE 8)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_dependencies(tests-${ARG_LABEL} ${name})
  set(environment PERFTAPE_SOURCE_DIR=${PROJECT_SOURCE_DIR} PERFTAPE_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  if(PERFTAPE_TESTS_TOGETHER)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 --gtest_output=xml:${PROJECT_BINARY_DIR}/gtest/${name}.xml)
    set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} RUN_SERIAL ${alone} ENVIRONMENT "${environment}")
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
      PROPERTIES LABELS ${ARG_LABEL} RUN_SERIAL ${alone} ENVIRONMENT "${environment}")
  endif()
endfunction()
