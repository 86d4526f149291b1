#!/usr/bin/env bash
# The README's program, built with an installed weft as the README says: `program_test.sh WAY TREE INSTALL README`, WAY one of gcc,
# pkg-config and cmake. Passes with a line that says so where the tool is not installed.
set -euo pipefail
way=$1 tree=$2 install=$PWD/$3 readme=$4

tool=$way
[[ $way != gcc ]] || tool=g++
if ! command -v "$tool" >/dev/null || ! command -v g++ >/dev/null; then
  echo "install: skipped, there is no $tool"
  exit 0
fi

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/install.XXXXXX")
prefix=$work/prefix
"$install" "$tree" --prefix "$prefix"
# `block LANGUAGE TEXT`: the README's first block in that language that has the text.
block() {
  awk -v fence='```' -v language="$1" -v text="$2" '
    $0 == fence && inside { inside = 0; if (index(lines, text)) { printf "%s", lines; exit } next }
    inside { lines = lines $0 "\n" }
    $0 == fence language { inside = 1; lines = "" }' "$readme"
}
block cpp 'int main' >"$work/program.cc"
block sh 'pkg-config' | sed "s|DIR|$prefix|g" >"$work/commands"
block cmake 'find_package' >"$work/lines.cmake"
cd "$work"

# What is installed needs none of the libraries behind it to compile, and is complete.
if grep -rnE 'include *[<"](Eigen|unsupported|dnnl|oneapi|spdlog|fmt|nlohmann|png|zlib)' "$prefix/include"; then
  echo "install: the headers above need a library of the kernels" >&2
  exit 1
fi

case $way in
  gcc) eval "$(grep -v pkg-config commands) -o program" ;;
  pkg-config) eval "$(grep pkg-config commands) -o program" ;;
  cmake)
    { printf 'cmake_minimum_required(VERSION 3.16)\nproject(program CXX)\n' && cat lines.cmake; } >CMakeLists.txt
    cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 || { cat cmake.log >&2 && exit 1; }
    cmake --build build >cmake.log 2>&1 || { cat cmake.log >&2 && exit 1; }
    cp build/program program
    # find_package() takes the version that is there, and no other.
    version=$(sed -n 's/^Version: *//p' "$prefix/lib/pkgconfig/weft.pc")
    for wanted in "$version" "${version%.*}" 99.0; do
      sed "s/find_package(weft/& $wanted/" CMakeLists.txt >"$work/versioned.cmake"
      mkdir -p "asked/$wanted" && cp "$work/versioned.cmake" "asked/$wanted/CMakeLists.txt" && cp program.cc "asked/$wanted"
      if cmake -S "asked/$wanted" -B "asked/$wanted/build" -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1; then
        [[ $wanted != 99.0 ]] || { echo "install: find_package(weft 99.0) finds version $version" >&2 && exit 1; }
      else
        [[ $wanted == 99.0 ]] || { cat cmake.log >&2 && exit 1; }
      fi
    done
    ;;
esac

./program
# It ends by writing its weights: 784 * 128 + 128 + 128 * 10 + 10 floats and a header.
size=$(stat -c %s mlp.safetensors)
((size > 407080 && size < 412000)) || { echo "install: mlp.safetensors has $size bytes" >&2 && exit 1; }

# Programs of several processes have their headers beside weft.h.
if [[ $way == gcc ]]; then
  printf '#include "distributed/distributed.h"\nint main() { return weft::distributed::init().size() - 1; }\n' >program.cc
  eval "$(grep -v pkg-config commands) -o group"
  ./group
fi
echo "install: the README's program runs, built by $way"
