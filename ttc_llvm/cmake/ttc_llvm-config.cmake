# Tensor transpositions and contractions generated at build time.
#
#   find_package(ttc_llvm CONFIG REQUIRED PATHS <what `ttc --cmake-dir` prints>)
#
#   ttc_add_transpose(<target> [STATIC | SHARED]
#       PERM <p>... | TERMS <x>:<p>,<p>... SIZE <n>... [ORDER C] [DATATYPE <type>] [LDA <n>...] [LDB <n>...]
#       [ALPHA <x>] [BETA <x>] [CONJUGATE] [SATURATE] [INPLACE]
#       <common>...)
#   ttc_add_contraction(<target> [STATIC | SHARED]
#       EINSUM <spec> SIZE <index>:<n>... [ORDER F] [DATATYPE <type>] [STRIDES_A <n>...] [STRIDES_B <n>...]
#       [STRIDES_C <n>...] [ALPHA <x>] [BETA <x>] [CONJUGATE] [CONJUGATE_B]
#       <common>...)
#   ttc_add_library(<target> [STATIC | SHARED] MANIFEST <file> <common>...)
#
#   common: [CPU <name>...] [MAX_IMPLEMENTATIONS <n>] [TIME_LIMIT <seconds>] [NUM_THREADS <n>]
#           [DATABASE <file>] [EMIT <kind>...] [PREFIX <text>] [VISIBILITY default|hidden] [OPTIONS <option>...]
#
# DTYPE, EFFORT and THREADS are other names of DATATYPE, MAX_IMPLEMENTATIONS and NUM_THREADS; types and efforts also by
# name, as float32 and measure.
#
# A <target> of the same directory that exists gets the objects as sources and the header's folder; otherwise a
# library of that name is made (STATIC, SHARED, or as BUILD_SHARED_LIBS says), which can be linked and installed
# like any other. The header is <C name of the problem>.h, or <target>.h for a manifest. EMIT asks for more: omp
# adds the objects with strong OpenMP entries and links an OpenMP library, fortran the module, which is compiled with the target,
# plan the functions <target>_plan_create and so on for shapes known at run time. PREFIX is what names of entries and
# files begin with; VISIBILITY hidden keeps entries inside the library that the objects are linked into.
#
# ORDER C: PERM, SIZE, LDA and LDB are row-major, as --order=C has them. The name of the header, and the order of
# lda, ldb and size in its functions, stay column-major: the header says which numbers they come from.
#
# Builds time nothing: they take the best plan of the solutions database, or the cost model's. With
# MAX_IMPLEMENTATIONS, or where a manifest says so, kernels are tuned while building, one command at a time.
#
# Objects are for this machine unless CPU names another or several; CPU, EMIT and OPTIONS may be empty lists. Builds for
# another system (CMAKE_SYSTEM_PROCESSOR) need a CPU of that one; that is checked when CMake configures.
#
# TTC_EXECUTABLE names the program; by default it is the one that belongs to this file, else the PATH's.

cmake_policy(PUSH)
cmake_policy(VERSION 3.16...3.30)

get_filename_component(_ttc_package "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
find_program(TTC_EXECUTABLE ttc DOC "The tensor transposition compiler" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
  PATHS "${_ttc_package}/../../../../bin" "${_ttc_package}/../.venv/bin" "$ENV{VIRTUAL_ENV}/bin")
find_program(TTC_EXECUTABLE ttc NO_CMAKE_FIND_ROOT_PATH)

# Sets ttc_llvm_FOUND, and the reason where it is false.
function(_ttc_check)
  file(STRINGS "${_ttc_package}/__init__.py" line REGEX "^__version__ = ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${line}")
  set(ttc_llvm_FOUND FALSE PARENT_SCOPE)
  if(NOT TTC_EXECUTABLE)
    set(ttc_llvm_NOT_FOUND_MESSAGE "the program ttc is not found: give -DTTC_EXECUTABLE=<path>" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${TTC_EXECUTABLE}" --version RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT said STREQUAL "ttc ${version}")
    set(ttc_llvm_NOT_FOUND_MESSAGE
      "${TTC_EXECUTABLE} --version says '${said}', but this package is ${version}: give -DTTC_EXECUTABLE=<path>"
      PARENT_SCOPE)
    return()
  endif()
  set(ttc_llvm_VERSION "${version}" PARENT_SCOPE)
  set(ttc_llvm_FOUND TRUE PARENT_SCOPE)
endfunction()
_ttc_check()

set(_TTC_ONE_VALUE MAX_IMPLEMENTATIONS EFFORT TIME_LIMIT NUM_THREADS THREADS DATABASE PREFIX VISIBILITY)
set(_TTC_ALIASES DTYPE=DATATYPE EFFORT=MAX_IMPLEMENTATIONS THREADS=NUM_THREADS)
set(_TTC_SWITCHES CONJUGATE SATURATE INPLACE)
set(_TTC_LISTS CPU EMIT OPTIONS)
set(_TTC_OF_PROBLEMS ORDER DATATYPE DTYPE ALPHA BETA)
set(_TTC_PACKAGE_FILE "${_ttc_package}/__init__.py")

function(ttc_add_transpose target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED;${_TTC_SWITCHES}" "${_TTC_OF_PROBLEMS};${_TTC_ONE_VALUE}"
    "PERM;TERMS;SIZE;LDA;LDB;${_TTC_LISTS}")
  set(permuted PERM)
  if(DEFINED arg_TERMS)
    set(permuted)
  endif()
  _ttc_check_arguments(ttc_add_transpose "${target}" ${permuted} SIZE)
  _ttc_problem_arguments(PERM SIZE LDA LDB)
  if(DEFINED arg_TERMS)
    string(REPLACE ";" "\\;" terms "${arg_TERMS}") # one argument, in which semicolons stay
    list(APPEND arguments "--terms=${terms}")
  endif()
  _ttc_generate(ttc_add_transpose "${target}")
endfunction()

function(ttc_add_contraction target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED;CONJUGATE;CONJUGATE_B"
    "EINSUM;${_TTC_OF_PROBLEMS};${_TTC_ONE_VALUE}" "SIZE;STRIDES_A;STRIDES_B;STRIDES_C;${_TTC_LISTS}")
  _ttc_check_arguments(ttc_add_contraction "${target}" EINSUM SIZE)
  _ttc_problem_arguments(EINSUM SIZE STRIDES_A STRIDES_B STRIDES_C)
  _ttc_generate(ttc_add_contraction "${target}")
endfunction()

# Sets arguments to those of the problem; ARGN: keywords that are options in small letters, with commas in lists.
macro(_ttc_problem_arguments)
  set(arguments)
  set(manifest)
  foreach(key IN ITEMS ${ARGN})
    if(DEFINED arg_${key})
      string(REPLACE ";" "," values "${arg_${key}}")
      _ttc_option(${key})
      list(APPEND arguments "--${option}=${values}")
    endif()
  endforeach()
  foreach(pair IN ITEMS ORDER=order DATATYPE=dataType DTYPE=dtype ALPHA=alpha BETA=beta)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 key)
    list(GET pair 1 option)
    if(DEFINED arg_${key})
      list(APPEND arguments "--${option}=${arg_${key}}")
    endif()
  endforeach()
  foreach(key IN LISTS _TTC_SWITCHES ITEMS CONJUGATE_B)
    if(arg_${key})
      _ttc_option(${key})
      list(APPEND arguments --${option})
    endif()
  endforeach()
endmacro()

# Sets option to a keyword in small letters.
macro(_ttc_option keyword)
  string(TOLOWER "${keyword}" option)
  string(REPLACE "_" "-" option "${option}")
endmacro()

function(ttc_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED" "MANIFEST;${_TTC_ONE_VALUE}" "${_TTC_LISTS}")
  _ttc_check_arguments(ttc_add_library "${target}" MANIFEST)
  get_filename_component(manifest "${arg_MANIFEST}" ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")
  set(arguments "--manifest=${manifest}" "--name=${target}")
  _ttc_generate(ttc_add_library "${target}")
endfunction()

# Stops at unknown, empty and missing (ARGN: required) keywords.
macro(_ttc_check_arguments function target)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  list(REMOVE_ITEM arg_KEYWORDS_MISSING_VALUES ${_TTC_LISTS})
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${function}(${target}): no value follows ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(arg_STATIC AND arg_SHARED)
    message(FATAL_ERROR "${function}(${target}): STATIC contradicts SHARED")
  endif()
  foreach(pair IN LISTS _TTC_ALIASES)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 alias)
    list(GET pair 1 key)
    if(DEFINED arg_${alias} AND DEFINED arg_${key})
      message(FATAL_ERROR "${function}(${target}): ${key} and ${alias} are two names of one option: give one")
    endif()
  endforeach()
  foreach(key IN ITEMS ${ARGN})
    if(NOT DEFINED arg_${key})
      message(FATAL_ERROR "${function}(${target}): ${key} is missing")
    endif()
  endforeach()
endmacro()

# Adds what `ttc ${arguments}` and the common arguments generate to the target, which is made where it is missing.
function(_ttc_generate function target)
  _ttc_check_target("${function}" "${target}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/ttc/${target}")
  _ttc_common_arguments()
  string(REPLACE ";" "," kinds "obj;header;${arg_EMIT}")
  list(APPEND arguments "--emit=${kinds}" "--output-dir=${folder}")
  get_property(calls GLOBAL PROPERTY "_TTC_CALLS_${target}")
  list(APPEND calls x)
  list(LENGTH calls number)
  set_property(GLOBAL PROPERTY "_TTC_CALLS_${target}" ${calls})
  set(generating ${target}_ttc${number})
  set(record "${folder}/${number}.arguments")
  _ttc_record("${record}" "${arguments}")
  _ttc_list("${function}" "${target}" "${folder}/${number}.files")

  get_property(known GLOBAL PROPERTY _TTC_FILES)
  foreach(file IN LISTS files)
    if(file IN_LIST known)
      message(FATAL_ERROR "${function}(${target}): the target already has ${file}")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY _TTC_FILES ${files})

  add_custom_command(
    OUTPUT ${files}
    COMMAND "${TTC_EXECUTABLE}" ${arguments} --force
    DEPENDS ${manifest} "${record}" "${_TTC_PACKAGE_FILE}"
    COMMENT "Code of ttc for ${target}"
    VERBATIM)
  add_custom_target(${generating} DEPENDS ${files})
  _ttc_one_after_the_other(${generating})
  _ttc_attach("${target}" "${folder}")
  add_dependencies(${target} ${generating})
  if("${objects}" MATCHES "_omp\\.o(;|$)")
    _ttc_link_openmp(${function} "${target}")
  endif()
endfunction()

macro(_ttc_common_arguments)
  if(arg_CPU)
    string(REPLACE ";" "," values "${arg_CPU}")
    list(APPEND arguments "--cpu=${values}")
  endif()
  foreach(option numThreads threads time-limit prefix visibility)
    string(REPLACE "-" "_" keyword "${option}")
    string(REGEX REPLACE "([A-Z])" "_\\1" keyword "${keyword}")
    string(TOUPPER "${keyword}" keyword)
    if(DEFINED arg_${keyword})
      list(APPEND arguments "--${option}=${arg_${keyword}}")
    endif()
  endforeach()
  if(DEFINED arg_DATABASE)
    get_filename_component(database "${arg_DATABASE}" ABSOLUTE)
    list(APPEND arguments "--database=${database}")
  endif()
  if(DEFINED arg_MAX_IMPLEMENTATIONS)
    list(APPEND arguments "--maxImplementations=${arg_MAX_IMPLEMENTATIONS}")
  elseif(DEFINED arg_EFFORT)
    list(APPEND arguments "--effort=${arg_EFFORT}")
  elseif(NOT DEFINED arg_TIME_LIMIT)
    list(APPEND arguments --maxImplementations=1 --quiet)
  endif()
  list(APPEND arguments ${arg_OPTIONS})
endmacro()

function(_ttc_check_target function target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages AND NOT "CXX" IN_LIST languages AND NOT "Fortran" IN_LIST languages)
    message(FATAL_ERROR "${function}(${target}): the project enables no language that links: C, CXX or Fortran")
  endif()
  if(NOT TARGET ${target})
    return()
  endif()
  if(arg_STATIC OR arg_SHARED)
    message(FATAL_ERROR "${function}(${target}): the target exists: STATIC and SHARED are for new ones")
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  get_target_property(alias ${target} ALIASED_TARGET)
  if(imported OR alias OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE)_LIBRARY)$")
    message(FATAL_ERROR "${function}(${target}): objects can be added only to executables"
      " and to static, shared and module libraries of this project")
  endif()
  get_target_property(home ${target} SOURCE_DIR)
  if(NOT home STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "${function}(${target}): the target belongs to ${home}: call ${function} there")
  endif()
endfunction()

# The arguments as a file, touched where they change only: commands depend on it.
function(_ttc_record file arguments)
  set(before "")
  if(EXISTS "${file}")
    file(READ "${file}" before)
  endif()
  string(REPLACE ";" "\n" text "${arguments}")
  if(NOT text STREQUAL before)
    file(WRITE "${file}" "${text}")
  endif()
endfunction()

# Sets files to what ttc would write; asks again where the manifest or ttc is newer than the answer.
macro(_ttc_list function target answer)
  set(fresh TRUE)
  foreach(input IN ITEMS "${manifest}" "${record}" "${_TTC_PACKAGE_FILE}")
    if(input AND "${input}" IS_NEWER_THAN "${answer}")
      set(fresh FALSE)
    endif()
  endforeach()
  if(NOT fresh)
    execute_process(COMMAND "${TTC_EXECUTABLE}" ${arguments} --list-files
      RESULT_VARIABLE status OUTPUT_VARIABLE listed ERROR_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${function}(${target}): ${said}")
    elseif(said)
      message(WARNING "${function}(${target}): ${said}")
    endif()
    execute_process(COMMAND "${TTC_EXECUTABLE}" ${arguments} --print-target
      OUTPUT_VARIABLE triple ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    _ttc_check_system(${function} "${target}" "${triple}")
    file(WRITE "${answer}" "${listed}\n")
  endif()
  file(STRINGS "${answer}" files)
  list(TRANSFORM files PREPEND "${folder}/")
endmacro()

# Stops where objects for a triple do not fit the system that CMake builds for.
function(_ttc_check_system function target triple)
  string(REGEX MATCH "^[^-]*" objects "${triple}")
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" system)
  foreach(pair IN ITEMS amd64=x86_64 x64=x86_64 arm64=aarch64 ppc64le=powerpc64le ppc64=powerpc64)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 other)
    list(GET pair 1 name)
    if(system STREQUAL other)
      set(system ${name})
    endif()
  endforeach()
  set(known "x86_64|aarch64|riscv64|powerpc64le|powerpc64|wasm32|i[3-6]86|arm|armv[5-7].*|riscv32|ppc|mips.*|s390x")
  set(wrong)
  if(system MATCHES "^(${known})$" AND NOT system STREQUAL objects)
    set(wrong "CMAKE_SYSTEM_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR}")
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Windows"
      OR (CMAKE_SYSTEM_NAME STREQUAL "Darwin" AND NOT triple MATCHES "darwin")
      OR (CMAKE_SYSTEM_NAME STREQUAL "Linux" AND triple MATCHES "darwin"))
    set(wrong "CMAKE_SYSTEM_NAME ${CMAKE_SYSTEM_NAME}")
  endif()
  if(wrong)
    message(FATAL_ERROR "${function}(${target}): objects for ${triple} do not fit ${wrong}:"
      " give a CPU of that system, such as those that ttc info --targets lists")
  endif()
endfunction()

# Links an OpenMP library, which objects of EMIT omp call.
function(_ttc_link_openmp function target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language IN ITEMS C CXX Fortran)
    if(language IN_LIST languages)
      find_package(OpenMP QUIET COMPONENTS ${language})
      if(OpenMP_${language}_FOUND)
        set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${OpenMP_${language}_LIBRARIES})
        get_target_property(type ${target} TYPE)
        if(type STREQUAL "STATIC_LIBRARY")
          set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${OpenMP_${language}_LIBRARIES})
        endif()
        return()
      endif()
    endif()
  endforeach()
  message(FATAL_ERROR "${function}(${target}): EMIT omp needs an OpenMP library, and CMake finds none")
endfunction()

# Commands that may time kernels must not run side by side.
function(_ttc_one_after_the_other generating)
  if(NOT manifest AND NOT DEFINED arg_MAX_IMPLEMENTATIONS AND NOT DEFINED arg_EFFORT AND NOT DEFINED arg_TIME_LIMIT)
    return()
  endif()
  get_property(last GLOBAL PROPERTY _TTC_LAST)
  if(last)
    add_dependencies(${generating} ${last})
  endif()
  set_property(GLOBAL PROPERTY _TTC_LAST ${generating})
endfunction()

macro(_ttc_attach target folder)
  set(objects ${files})
  list(FILTER objects INCLUDE REGEX "\\.o$")
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(headers ${files})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  if(NOT TARGET ${target})
    set(linkage)
    if(arg_STATIC)
      set(linkage STATIC)
    elseif(arg_SHARED)
      set(linkage SHARED)
    endif()
    add_library(${target} ${linkage})
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    foreach(language IN ITEMS Fortran CXX C)
      if(language IN_LIST languages)
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language})
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES _TTC_OWN TRUE Fortran_MODULE_DIRECTORY "${folder}")
  endif()
  get_target_property(own ${target} _TTC_OWN)
  if(own)
    set_property(TARGET ${target} APPEND PROPERTY PUBLIC_HEADER ${headers})
  endif()
  set(sources ${files})
  list(FILTER sources INCLUDE REGEX "\\.(o|h|f90)$")
  target_sources(${target} PRIVATE ${sources})
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${folder}>")
endmacro()

unset(_ttc_package)
cmake_policy(POP)
