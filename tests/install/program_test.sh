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
for wrong in "--prefix $work/a b" "--prefix" "$work/a"; do
  # shellcheck disable=SC2086  # several arguments
  ! "$install" "$tree" $wrong 2>/dev/null || { echo "install: takes $wrong" >&2 && exit 1; }
done
[[ ! -e $work/a ]]
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
    finds() {
      rm -rf asked && mkdir asked && cp program.cc asked
      sed "s/find_package(weft/& $1/" CMakeLists.txt >asked/CMakeLists.txt
      cmake -S asked -B asked/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1
    }
    for wanted in "$version" "${version%.*}" "${version%.*}...<1" "0...$version"; do
      finds "$wanted" || { cat cmake.log >&2 && exit 1; }
    done
    for wanted in 99.0 "0...<$version" "$version COMPONENTS none"; do
      ! finds "$wanted" || { echo "install: find_package(weft $wanted) finds version $version" >&2 && exit 1; }
    done
    ;;
esac

./program
# It ends by writing its weights: 784 * 128 + 128 + 128 * 10 + 10 floats and a header.
size=$(stat -c %s mlp.safetensors)
((size > 407080 && size < 412000)) || { echo "install: mlp.safetensors has $size bytes" >&2 && exit 1; }

if [[ $way == gcc ]]; then
  build=$(grep -v pkg-config commands)

  # Programs of several processes have their headers beside weft.h.
  printf '#include "distributed/distributed.h"\nint main() { return weft::distributed::init().size() - 1; }\n' >program.cc
  eval "$build -o group"
  ./group

  # A project's own header of the same name as one of weft's.
  mkdir -p data && echo 'inline int own() { return 3; }' >data/dataset.h
  printf '#include "data/dataset.h"\n#include "weft.h"\nint main() { return int(weft::ones({own()}).sum().item()) - 3; }\n' >program.cc
  eval "${build/ -I / -I . -I } -o own"
  ./own
  sed -i 's|"weft.h"|<weft/weft.h>|' program.cc
  eval "${build/include\/weft/include} -o own"
  ./own

  # The library lies in a shared one that is opened later, used on a thread and closed: it stays, for its threads and static tensors.
  cat >program.cc <<'EOF'
#include "weft.h"
static weft::Tensor kept;
extern "C" __attribute__((visibility("default"))) double count() {
  kept = kept.defined() ? kept + 1 : weft::ones({5});
  return kept.sum().item();
}
EOF
  eval "$build -shared -fPIC -fvisibility=hidden -Wl,--exclude-libs,ALL -fno-gnu-unique -o plugin.so"
  cat >host.cc <<'EOF'
#include <dlfcn.h>
#include <thread>
int main() {
  double last = 0;
  for (int i = 0; i < 3; ++i) {
    void* plugin = dlopen("./plugin.so", RTLD_NOW);
    auto count = plugin ? reinterpret_cast<double (*)()>(dlsym(plugin, "count")) : nullptr;
    if (!count) return 2;
    std::thread([&] { last = count(); }).join();
    dlclose(plugin);
  }
  return last == 15 ? 0 : 1;
}
EOF
  g++ -std=c++20 host.cc -o host
  ./host

  # A thread makes its first tensor while another opens a plug-in, which makes one before dlopen() returns.
  cat >program.cc <<'EOF'
#include "weft.h"
extern "C" void opening();
static const weft::Tensor made = (opening(), weft::ones({3}));
EOF
  eval "$build -c -fPIC -o plugin.o"
  g++ -shared plugin.o -o plugin.so
  cat >program.cc <<'EOF'
#include <dlfcn.h>
#include <atomic>
#include <chrono>
#include <thread>
#include "weft.h"
std::atomic<bool> opens{false};
extern "C" void opening() {
  opens = true, opens.notify_all();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the other thread waits for the loader meanwhile
}
int main() {
  std::thread other([] { opens.wait(false), weft::ones({3}); });
  const bool opened = dlopen("./plugin.so", RTLD_NOW) != nullptr;
  opens = true, opens.notify_all();
  other.join();
  return opened ? 0 : 1;
}
EOF
  eval "$build -rdynamic -o host"
  timeout 60 ./host || { echo "install: dlopen() and a first tensor wait for each other" >&2 && exit 1; }

  # What would crash does not link, and says why; an old standard does not compile.
  ! eval "$build -D_GLIBCXX_DEBUG -o wrong" 2>why || { echo "install: _GLIBCXX_DEBUG links" >&2 && exit 1; }
  grep -q library_built_with_GLIBCXX_DEBUG why || { cat why >&2 && exit 1; }
  ! eval "${build/c++20/c++17} -c -o old.o" 2>why || { echo "install: C++17 compiles" >&2 && exit 1; }
  grep -q 'weft needs C++20' why || { head -n 20 why >&2 && exit 1; }
fi
echo "install: the README's program runs, built by $way"
