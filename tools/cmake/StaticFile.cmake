# SPDX-License-Identifier: Apache-2.0
# perftape_describe_static_file(TARGET): writes TARGET.sha256 and TARGET.spdx.json beside a static program: its checksum,
# as `sha256sum --check` reads it, and what it consists of, as SPDX 2.3.
include_guard()

# Returns what dpkg knows of a package of Debian or Ubuntu, in FORMAT; "" on other systems. For another architecture,
# that is the package that tests/guest/debian.py has unpacked.
function(perftape_ask_dpkg result package format)
  find_program(PERFTAPE_DPKG_QUERY dpkg-query)
  find_program(PERFTAPE_DPKG_DEB dpkg-deb)
  set(command "")
  if(NOT CMAKE_CROSSCOMPILING)
    set(command ${PERFTAPE_DPKG_QUERY} ${package})
  else()
    file(GLOB archive ${CMAKE_SYSROOT}/../cache/archives/${package}_*.deb)
    if(archive)
      set(command ${PERFTAPE_DPKG_DEB} ${archive})
    endif()
  endif()
  set(answer "")
  if(command AND PERFTAPE_DPKG_QUERY AND PERFTAPE_DPKG_DEB)
    list(INSERT command 1 --show "--showformat=${format}\\n")
    execute_process(COMMAND ${command} OUTPUT_VARIABLE answer ERROR_QUIET)
    string(REGEX REPLACE "\n.*" "" answer "${answer}")  # a package can be installed for several architectures
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

# Returns the package URL of the source package that a package was built from; "" if dpkg does not know it. Security
# notices name source packages.
function(perftape_purl_of result package)
  set(purl "")
  set(source "")
  if(package)
    perftape_ask_dpkg(source ${package} "\${source:Package}@\${source:Version}")
  endif()
  if(source)
    set(distribution debian)
    if(EXISTS /etc/os-release AND NOT CMAKE_CROSSCOMPILING)  # what is unpacked for another architecture is Debian's
      file(STRINGS /etc/os-release distribution REGEX "^ID=")
      string(REGEX REPLACE "ID=\"?([a-z]+).*" "\\1" distribution "${distribution}")
    endif()
    string(REPLACE "+" "%2B" source "${source}")
    set(purl "pkg:deb/${distribution}/${source}?arch=source")
  endif()
  set(${result} "${purl}" PARENT_SCOPE)
endfunction()

# Returns what REGEX captures in a header, joined by points.
function(perftape_version_in_header result header regex)
  string(MAKE_C_IDENTIFIER "PERFTAPE_HEADER_${header}" path)
  find_file(${path} ${header})
  set(version "")
  if(${path})
    file(STRINGS ${${path}} lines REGEX "${regex}")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "${regex}" matched "${line}")
      list(APPEND version ${CMAKE_MATCH_1})
    endforeach()
  endif()
  list(JOIN version "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

function(perftape_describe_static_file target)
  # Name of pkg-config, name for people, licence, package of Debian.
  set(packages
    "libarchive,libarchive,BSD-2-Clause,libarchive-dev"
    "libbpf,libbpf,LGPL-2.1-only OR BSD-2-Clause,libbpf-dev"
    "libelf,elfutils libelf,GPL-2.0-or-later OR LGPL-3.0-or-later,libelf-dev"
    "libzstd,zstd,BSD-3-Clause OR GPL-2.0-only,libzstd-dev"
    "zlib,zlib,Zlib,zlib1g-dev"
    "libdeflate,libdeflate,MIT,libdeflate-dev"
    "liblzma,liblzma,LicenseRef-public-domain,liblzma-dev"
    "libsodium,libsodium,ISC,libsodium-dev"
    "libxxhash,xxHash,BSD-2-Clause,libxxhash-dev"
    "fmt,fmt,MIT,libfmt-dev"
    "nlohmann_json,JSON for Modern C++,MIT,nlohmann-json3-dev")
  foreach(row IN LISTS packages)
    string(REPLACE "," ";" row "${row}")
    list(GET row 0 module)
    list(GET row 1 name)
    list(GET row 2 licence)
    list(GET row 3 package)
    string(MAKE_C_IDENTIFIER "PERFTAPE_SBOM_${module}" prefix)
    pkg_check_modules(${prefix} QUIET ${module})
    list(APPEND libraries "${name},${${prefix}_VERSION},${licence},${package}")
  endforeach()
  find_package(Boost REQUIRED COMPONENTS program_options)
  find_package(tsl-robin-map REQUIRED)
  perftape_version_in_header(bzip2 bzlib.h "bzip2/libbzip2 version ([0-9.]+)")
  perftape_version_in_header(glibc features.h "#define[ \t]+__GLIBC[_MINOR]*__[ \t]+([0-9]+)")
  perftape_version_in_header(protozero protozero/version.hpp "PROTOZERO_VERSION_[MAJORINPTCH]+ ([0-9]+)")
  # These two name no version.
  perftape_ask_dpkg(libiberty libiberty-dev "\${Version}")
  perftape_ask_dpkg(re2 libre2-dev "\${Version}")
  set(gcc ${CMAKE_CXX_COMPILER_VERSION})
  string(REGEX REPLACE "^([0-9]+).*" "libstdc++-\\1-dev" libstdcxx ${gcc})
  if(CMAKE_CROSSCOMPILING)
    set(libstdcxx "")  # the cross compiler may bring its own
  endif()
  string(REGEX REPLACE "^([0-9]+[.][0-9]+).*" "libboost\\1-dev" boost ${Boost_VERSION_STRING})
  list(APPEND libraries
    "bzip2,${bzip2},bzip2-1.0.6,libbz2-dev"
    "Boost,${Boost_VERSION_STRING},BSL-1.0,${boost}"
    "glibc,${glibc},LGPL-2.1-or-later,libc6-dev"
    "libstdc++ and libgcc,${gcc},GPL-3.0-or-later WITH GCC-exception-3.1,${libstdcxx}"
    "protozero,${protozero},BSD-2-Clause,libprotozero-dev"
    "robin-map,${tsl-robin-map_VERSION},MIT,robin-map-dev"
    "libiberty,${libiberty},LGPL-2.1-or-later AND (GPL-2.0-or-later WITH GCC-exception-2.0),libiberty-dev"
    "RE2,${re2},BSD-3-Clause,libre2-dev")
  foreach(library IN LISTS libraries)
    string(REGEX MATCH "^(.*),([^,]*)$" matched "${library}")
    perftape_purl_of(purl "${CMAKE_MATCH_2}")
    list(APPEND rows "${CMAKE_MATCH_1},${purl}")
  endforeach()
  list(SORT rows CASE INSENSITIVE)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DFILE=$<TARGET_FILE:${target}> -DVERSION=${PROJECT_VERSION}
            "-DLIBRARIES=${rows}" -P ${PROJECT_SOURCE_DIR}/tools/cmake/describe_static_file.cmake
    VERBATIM)
endfunction()
